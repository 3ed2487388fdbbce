"""Privacy curves: against brute force on small tables, against other code, and against the stated (ε, δ)."""

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest

from exact_losses import excess, outputs
from travas import Mechanism, PrivacyUnit
from travas.errors import VerificationError
from travas.mechanisms import MECHANISMS, mechanism
from travas.mechanisms.mechanism import tables_of
from travas.mechanisms.selection import PartitionSelection
from travas.trusted.guarantee import ONE_CASE, Standing
from travas.trusted.losses import Grid, Step, composed, of_pairs, of_response
from travas.trusted.numbers import ONE
from travas.trusted.stage_check import GaussianNoise
from travas.verification.privacy_curve import points

ROUNDING = Fraction(1, 1 << 98)  # what compositions cut from the ends
PERSON = PrivacyUnit("patient", 3)
MANY = PrivacyUnit("patient", 6)
TREE = {"max_length": 3, "prune": 2, "alphabet": ["a", "b"]}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "optimal": [{}, {"minimum_cases": 4}, {"unit": PERSON}, {"unit": MANY}],
    "travas": [{}, {"unit": PERSON}],
    "utravas": [{"splits": 1}, {"splits": 2}, {"splits": 2, "unit": PERSON}],
    "prefix-tree": [TREE, TREE | {"delta": "0"}, TREE | {"unit": PERSON}],
    "sacofa": [TREE, TREE | {"unit": PERSON}],
    "ladder": [{}, {"rungs": "full,prefix:4,prefix:2"}, {"unit": PERSON}],
    "synthesis": [{}, {"unit": PERSON}, {"alphabet": ["a", "b"]}],
}
"""Options of every mechanism with a guarantee; one that is not listed is tried without options."""

MADE = [(name, options) for name in MECHANISMS for options in OPTIONS.get(name, [{}, {"unit": PERSON}])]


def made(name: str, options: dict[str, Any], epsilon: str = "1") -> Mechanism:
    delta = options.get("delta", "1e-3")
    return mechanism(name, epsilon, delta, **{key: value for key, value in options.items() if key != "delta"})


@pytest.mark.parametrize(("name", "options"), MADE)
def test_the_curve_keeps_what_is_stated_and_falls(name: str, options: dict[str, Any]) -> None:
    rule = made(name, options)
    found = points(rule, [rule.epsilon * step / 2 for step in range(5)])
    for earlier, later in pairwise(found):
        assert 0 <= later.at_most <= earlier.at_most <= 1
    stated = found[2]
    assert stated.epsilon == rule.epsilon and stated.at_most <= rule.delta + ROUNDING
    assert found[0].at_most > 0


@pytest.mark.parametrize(("name", "options"), MADE)
def test_the_curve_is_computed_from_the_noise_that_is_sampled(name: str, options: dict[str, Any]) -> None:
    """Every table that a release samples is in what the mechanism states about its losses, and no other."""
    rule = made(name, options)
    losses = rule.losses()
    if isinstance(losses[0], GaussianNoise):
        assert losses == (getattr(rule, "noise", None),)
    else:
        stated = {id(part.noise) for part in losses if isinstance(part, Step) and part.noise is not None}
        assert stated == {id(noise) for noise in tables_of(rule)}


@pytest.mark.parametrize("epsilon", ["0", "0.3", "1", "1.7"])
def test_one_count_is_the_sum_over_all_outputs_of_all_counts(epsilon: str) -> None:
    """Slow twin: the distribution of the whole output for every count, as fractions, in both directions."""
    rule = mechanism("optimal", "1", "0.01")
    assert isinstance(rule, PartitionSelection)
    weights, growth = list(rule.noise.weights), Fraction(math.exp(float(epsilon)))
    near = [([outputs(weights, n + 1)], [outputs(weights, n)]) for n in range(len(weights) + 2)]
    worst = max(excess(*pair, growth) for pair in near)
    (point,) = points(rule, [Fraction(epsilon)])
    assert float(point.at_most) == pytest.approx(float(worst), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("epsilon", ["0", "0.2", "0.5", "0.8"])
def test_a_person_with_three_counts_is_the_sum_over_all_tuples(epsilon: str) -> None:
    """Slow twin of a composition: every triple of outcomes. The bound is above it, and close."""
    pairs = [(ONE // 10, 0), (ONE // 2, ONE // 3), (ONE * 2 // 5, ONE // 2), (0, ONE // 6)]
    at, exact = Fraction(epsilon), 0.0
    for chosen in product(pairs, repeat=3):
        p, q = (math.prod(pair[side] / ONE for pair in chosen) for side in (0, 1))
        exact += max(0.0, p - math.exp(float(at)) * q)
    grid = Grid(Fraction(1, 400))
    bound = float(of_pairs(pairs, grid).repeated(3).delta(at))
    assert exact - 1e-12 <= bound < exact + 0.01


def test_discrete_laplace_noise_is_randomised_response() -> None:
    """P[X = x] ∝ e^(−ε|x|), shifted by one: the sum over all x is the formula that the curve uses."""
    for epsilon in (0.1, 1.0):
        ratio = math.exp(-epsilon)
        chance = [(1 - ratio) / (1 + ratio) * ratio ** abs(x) for x in range(-400, 402)]
        for at in (0.0, epsilon / 2, epsilon):
            exact = sum(max(0.0, p - math.exp(at) * q) for p, q in pairwise(chance))
            bound = of_response(Fraction(epsilon), Fraction(0), Grid(Fraction(epsilon) / 8)).delta(Fraction(at))
            assert float(bound) == pytest.approx(exact, abs=1e-9)


def test_a_table_too_long_for_the_grid_is_bounded_by_what_it_was_verified_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = mechanism("optimal", "1", "1e-3")
    assert isinstance(rule, PartitionSelection)
    step = Step(Fraction(2), Fraction(2, 1000), rule.noise, counts=2)
    exact = composed([(step, 1)])(Fraction(1))
    monkeypatch.setattr("travas.trusted.losses._LONGEST", 3)
    assert composed([(step, 1)])(Fraction(1)) >= exact


def test_no_curve_without_a_guarantee() -> None:
    tree = mechanism("prefix-tree", "1", "1e-3", max_length=3, prune=2)
    assert tree.guarantee().standing is Standing.NOT_ESTABLISHED and tree.unit == ONE_CASE
    with pytest.raises(VerificationError, match="not established"):
        points(tree)
