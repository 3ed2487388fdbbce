"""Composition against enumeration in exact fractions: never below the truth, and close to it."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from travas import Optimal, ParameterError, PrivacyUnit, plan
from travas.budget.accounting import Spending, basic, compose
from travas.log.plain import plain
from travas.mechanisms import mechanism
from travas.mechanisms.synthesis import Synthesis
from travas.search.person_tables import GaussianTable
from travas.search.table_builders import exponential_bounds
from travas.trusted.guarantee import Standing
from travas.trusted.losses import Grid, Step, _gaussian_pairs, of_pairs
from travas.trusted.numbers import ONE
from travas.trusted.stage_check import dominating_pair

Pair = tuple[int, int]


def worst(epsilon: Fraction, delta: Fraction) -> list[Pair]:
    """The worst pair of distributions that (ε, δ) allows: δ reveals everything, the rest is randomised response."""
    lost = math.ceil(delta * ONE)
    _, growth = exponential_bounds(epsilon)
    more = -(-(ONE - lost) * growth // (growth + (1 << 192)))
    return [(lost, 0), (more, ONE - lost - more), (ONE - lost - more, more), (0, lost)]


def pairs_of(spending: Spending) -> list[list[Pair]]:
    """The outcomes of every step of one release."""
    found = []
    for step in spending.losses():
        assert isinstance(step, Step) and step.cases == 1
        if step.noise is None:
            found += [worst(step.epsilon / step.counts, step.delta / step.counts)] * step.counts
        else:
            found += [list(zip([*step.noise.weights, 0], [0, *step.noise.weights], strict=True))] * step.counts
    return found


def true_delta(tables: Sequence[Sequence[Pair]], epsilon: Fraction) -> Fraction:
    """δ of a composition, output by output, the worse of both directions; e^ε is off by less than 2^-190.

    What stands for an unknown mechanism is itself rounded up, by less than 2^-120: that is taken off again.
    """
    rounding = Fraction(len(tables), 1 << 120) if any(len(pairs) == 4 for pairs in tables) else 0
    growth = Fraction(exponential_bounds(epsilon)[0], 1 << 192)
    scale = ONE ** len(tables)
    found: list[Fraction] = []
    for direction in (tables, [[(q, p) for p, q in pairs] for pairs in tables]):
        joint = [
            (math.prod(p for p, _ in outcome), math.prod(q for _, q in outcome)) for outcome in product(*direction)
        ]
        found.append(sum(max(Fraction(0), p - growth * q) for p, q in joint) / scale)
    return max(found) - rounding


def spend(name: str, epsilon: str, delta: str, max_cases: int = 1) -> Spending:
    if name not in ("optimal", "travas", "synthesis"):
        return Spending(name, Fraction(epsilon), Fraction(delta))
    unit = PrivacyUnit("patient", max_cases) if max_cases > 1 else PrivacyUnit()
    return Spending.of(mechanism(name, epsilon, delta, unit=unit))


SMALL = {
    "two alike": [spend("optimal", "1", "0.05")] * 2,
    "three alike": [spend("optimal", "1/2", "0.1")] * 3,
    "the paper's": [spend("travas", "1", "0.05")] * 3,
    "mixed": [spend("optimal", "1", "0.05"), spend("travas", "0.7", "0.1"), spend("optimal", "1/3", "0.2")],
    "off the grid": [spend("optimal", "0.523456789", "0.3"), spend("travas", "1.987654321", "0.01")],
    "unknown mechanisms": [spend("prefix-tree", "1/2", "0"), spend("prefix-tree", "0.3", "0.01")],
    "a person of three counts": [spend("optimal", "6", "0.02", 3)],
    "a person of four counts with one table for all": [spend("optimal", "10", "0.1", 4)],
    "a person of two counts twice": [spend("optimal", "4", "0.1", 2)] * 2,
    "large": [spend("optimal", "12", "1e-9"), spend("travas", "20", "1e-6")],
}


@pytest.mark.parametrize("name", SMALL)
def test_never_below_enumeration_and_close_to_it(name: str) -> None:
    spendings = SMALL[name]
    tables, composed = [pairs for s in spendings for pairs in pairs_of(s)], compose(spendings)
    total, delta = basic(spendings)
    assert composed(total) <= delta
    for share in ("0", "0.1", "0.25", "1/3", "0.5", "0.77", "0.9", "0.999", "1", "1.2"):
        epsilon = total * Fraction(share)
        truth, reported = true_delta(tables, epsilon), composed(epsilon)
        assert reported >= truth
        assert reported <= truth * Fraction(1001, 1000) + Fraction(1, 10**8), (share, float(reported), float(truth))


@given(
    st.lists(
        st.builds(
            spend,
            st.sampled_from(["optimal", "travas", "another"]),
            st.fractions(Fraction(1, 4), 3, max_denominator=50).map(str),
            st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=100).map(str),
        ),
        min_size=1,
        max_size=2,
    ),
    st.fractions(0, 2, max_denominator=1000),
)
@settings(max_examples=30)
def test_never_below_enumeration_at_any_parameters(spendings: list[Spending], share: Fraction) -> None:
    epsilon = basic(spendings)[0] * share
    assert compose(spendings)(epsilon) >= true_delta([pairs for s in spendings for pairs in pairs_of(s)], epsilon)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12),
    st.fractions(Fraction(1, 100), 2, max_denominator=100),
    st.fractions(0, 6, max_denominator=100),
)
def test_the_grid_makes_no_event_less_revealing(pairs: list[Pair], interval: Fraction, epsilon: Fraction) -> None:
    """For any two vectors and any border, in exact integers."""
    scaled = [(p * ONE // 64, q * ONE // 64) for p, q in pairs]
    reported = of_pairs(scaled, Grid(interval)).delta(epsilon)
    growth = Fraction(exponential_bounds(epsilon)[0], 1 << 192)
    truth = sum(max(Fraction(0), p - growth * q) for p, q in pairs) / 64
    assert reported >= truth * (1 - Fraction(1, 1 << 180))


def test_one_release_costs_what_its_table_spends() -> None:
    from travas.mechanisms import mechanism

    for name in ("optimal", "travas"):
        rule = mechanism(name, "0.5", "1e-4")
        reported = compose([spend(name, "0.5", "1e-4")])(Fraction(1, 2))
        assert rule.guarantee().delta_spent <= reported <= rule.guarantee().delta_spent * Fraction(10**6 + 1, 10**6)


def test_parameters_without_protection_compose_to_delta_1() -> None:
    for spendings in ([spend("another", "25", "0.1")], [spend("another", "1", "0.1"), spend("another", "30", "0")]):
        epsilon, delta = basic(spendings)
        assert compose(spendings)(epsilon) == delta and compose(spendings)(epsilon / 2) > Fraction(99, 100)


def test_tiny_deltas_of_persons_are_composed_from_their_table() -> None:
    for delta in ("1e-6", "1e-13"):
        person = spend("optimal", "1", delta, 10)
        one, half = compose([person]), Fraction(1, 2)
        assert one(Fraction(1)) <= person.delta
        assert one(half) < compose([spend("unknown", "1", delta)])(half) / 10


def test_a_charge_with_another_table_or_option_is_the_worst_case() -> None:
    unit = PrivacyUnit("patient", 10)
    charged = Spending.of(mechanism("optimal", "1", "1e-6", unit=unit))
    (step,) = charged.losses()
    assert isinstance(step, Step) and step.noise is not None and step.noise.counts == 10
    for wrong in (
        dict(charged.description) | {"person_table": plain(GaussianTable(Fraction(13), 73))},
        dict(charged.description) | {"an option of a later version": 1},
    ):
        found = Spending("optimal", Fraction(1), Fraction(1, 10**6), unit, Standing.VERIFIED, wrong).losses()
        assert found == (Step(Fraction(1), Fraction(1, 10**6)),)


def test_a_plan_fits() -> None:
    for releases, delta in ((1, "1e-6"), (12, "0.01"), (3, "0")):
        found = plan(releases, epsilon=2, delta=delta)
        assert found.basic == (Fraction(2) / releases, Fraction(delta) / releases)
        assert found.exact is not None and found.exact[0] >= found.basic[0]
        if delta != "0":
            assert compose([Spending.of(Optimal(*found.exact))] * releases)(Fraction(2)) <= Fraction(delta)
    even = plan(12, epsilon=1, delta="1e-6")  # 0.2 % more ε at half of δ keeps less
    assert even.exact == even.basic
    assert plan(30, epsilon=2, delta="1e-5").exact[0] > Fraction(2, 30) * Fraction(5, 4)
    for wrong in (0, -1, True, 1.5, 10**6):
        with pytest.raises(ParameterError, match="releases is"):
            plan(wrong, epsilon=2, delta="1e-6")  # type: ignore[arg-type]


# ----------------------------------------------------------------------------------------------------- Gaussian noise


def gaussian_delta(mu: float, revealed: float, epsilon: float) -> float:
    """The closed form of a Gaussian pair, and of a part that reveals everything."""
    own = norm.sf(epsilon / mu - mu / 2) - math.exp(epsilon) * norm.sf(epsilon / mu + mu / 2)
    return float(revealed + (1 - revealed) * own)


def gaussian_epsilon(mu: float, revealed: float, delta: float) -> float:
    return float(brentq(lambda epsilon: gaussian_delta(mu, revealed, epsilon) - delta, 1e-6, 40))


@pytest.mark.parametrize(("times", "known"), [(2, 1.4034), (10, 3.1401)])
def test_synthetic_logs_of_persons_compose_tightly(times: int, known: float) -> None:
    """Two at (1, 1e-6) cost 1.403 at 2e-6 and not 2; never below the closed form."""
    one = spend("synthesis", "1", "1e-6", 2)
    found, delta = compose([one] * times), times * Fraction(1, 10**6)
    mu = float(dominating_pair(Synthesis(1, "1e-6", unit=PrivacyUnit("patient", 2)).noise.calibration)[0])
    closed = gaussian_epsilon(mu * times**0.5, 1 - (1 - 1e-7) ** times, times * 1e-6)
    assert found(Fraction(closed * (1 + 1e-4))) <= delta <= found(Fraction(closed * (1 - 1e-9)))
    assert closed == pytest.approx(known, abs=1e-3)


@pytest.mark.parametrize(("times", "known"), [(1, 0.991), (2, 1.402), (10, 3.15)])
def test_synthetic_logs_of_cases_compose_as_their_curve_says(times: int, known: float) -> None:
    """The figure is the least of its digits at which the composition is at most δ; once it is that of the curve."""
    found, delta = compose([spend("synthesis", "1", "1e-6")] * times), times * Fraction(1, 10**6)
    assert found(Fraction(str(known))) <= delta < found(Fraction(str(known)) - Fraction(1, 500))


def test_gaussian_pairs_are_rounded_to_the_safe_side() -> None:
    """Off the grid or rounded the other way, δ would be too small: p covers 1, q does not exceed it."""
    interval = Fraction(1, 64)
    pairs = _gaussian_pairs(Synthesis(1, "1e-3", unit=PrivacyUnit("patient", 2)).noise, interval)
    assert sum(p for p, _ in pairs) >= ONE >= sum(q for _, q in pairs)
    assert sum(p for p, _ in pairs) - ONE < ONE >> 80
    steps = [math.log(p / q) / float(interval) for p, q in pairs if p and q][1:]
    assert all(low < high for low, high in pairwise(steps))
    assert all(math.floor(high) == math.floor(low) + 1 for low, high in pairwise(steps))  # one pair in every cell


# ------------------------------------------------------------------------------------------- twins of the engine


def dp_accounting_delta(spendings: list[Spending], epsilon: float) -> float:
    """Google's dp-accounting on the same outcomes, a table at a time: another code, in floating point."""
    from dp_accounting.pld import privacy_loss_distribution as theirs

    parts, hidden = [], 1.0
    for spending in spendings:
        if spending.mechanism == "synthesis":
            rule = mechanism("synthesis", spending.epsilon, spending.delta, unit=spending.unit)
            mu, revealed = dominating_pair(rule.noise.calibration)  # type: ignore[attr-defined]
            parts.append(theirs.from_gaussian_mechanism(1 / float(mu), value_discretization_interval=1e-4))
            hidden *= 1 - float(revealed)
            continue
        for pairs in pairs_of(spending):
            both = ({i: math.log(x / ONE) for i, x in enumerate(column) if x} for column in zip(*pairs, strict=True))
            log_q, log_p = reversed(list(both))
            parts.append(
                theirs.from_two_probability_mass_functions(
                    log_q, log_p, value_discretization_interval=1e-4, symmetric=False
                )
            )
    own = float(reduce(lambda total, part: total.compose(part), parts).get_delta_for_epsilon(epsilon))
    return 1 - hidden * (1 - own)


@pytest.mark.parametrize(
    ("spendings", "epsilon"),
    [
        ([("optimal", "1/4", "1e-6", 1)] * 12, "2"),
        ([("optimal", "0.3", "1e-6", 1), ("travas", "0.5", "1e-5", 1), ("optimal", "1", "1e-4", 1)], "1.5"),
        ([("optimal", "1", "1e-3", 3)], "0.75"),
        ([("optimal", f"{number}/120", "1e-6", 1) for number in range(10, 40)], "3"),
        ([("synthesis", "1/2", "1e-6", 2)] * 3 + [("optimal", "1/2", "1e-6", 1)] * 2, "1.5"),
    ],
    ids=["twelve alike", "different", "a person with parts", "thirty different", "three synthetic logs and two others"],
)
def test_not_looser_than_dp_accounting(spendings: list[tuple[str, str, str, int]], epsilon: str) -> None:
    made = [spend(*each) for each in spendings]
    found, theirs = float(compose(made)(Fraction(epsilon))), dp_accounting_delta(made, float(epsilon))
    assert theirs * 0.99 - 1e-10 <= found <= theirs * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ladder", {"rungs": "full,prefix:4,prefix:2"}),
        ("utravas", {"splits": 2}),
        ("prefix-tree", {"max_length": 3, "prune": 2, "alphabet": ["a", "b"]}),
        ("sacofa", {"max_length": 3, "prune": 2, "alphabet": ["a", "b"]}),
    ],
)
def test_every_mechanism_is_charged_for_its_own_losses(name: str, options: dict[str, Any]) -> None:
    """Not for the worst case that (ε, δ) allows."""
    rule = mechanism(name, "1", "1e-6", **options)
    own = compose([Spending.of(rule)] * 8)
    worst_case = compose([spend("unknown", "1", "1e-6")] * 8)
    assert own(Fraction(4)) < worst_case(Fraction(4)) * Fraction(9, 10)
    assert own(Fraction(8)) <= basic([Spending.of(rule)] * 8)[1]
