"""Composition against enumeration in exact fractions: never below the truth, and close to it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from travas import ParameterError, PrivacyUnit, plan
from travas.budget.accounting import Spending, _Grid, _interval, _slack, basic, compose
from travas.errors import MissingExtraError
from travas.mechanisms import mechanism
from travas.mechanisms.synthesis_mechanism import Synthesis
from travas.model.mechanism import Pair
from travas.search.person_tables import GaussianTable
from travas.search.table_builders import exponential_bounds
from travas.trusted.guarantee import Standing
from travas.trusted.numbers import ONE
from travas.trusted.stages import SMOOTHING_VARIANCE, STANDARD_DEVIATION

ANY = Fraction(1, 100)  # an interval: tables do not depend on it


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
    if max_cases == 1:
        return Spending(name, Fraction(epsilon), Fraction(delta))
    return Spending.of(mechanism(name, epsilon, delta, unit=PrivacyUnit("patient", max_cases)))


def by_count(spending: Spending) -> list[list[Pair]]:
    """The losses of every count that one unit changes."""
    pairs, _, counts = spending.pairs(ANY)
    return [pairs] * counts


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
    tables, composed = [pairs for s in spendings for pairs in by_count(s)], compose(spendings)
    total = basic(spendings)[0]
    for share in ("0", "0.1", "0.25", "1/3", "0.5", "0.77", "0.9", "0.999", "1", "1.2"):
        epsilon = total * Fraction(share)
        truth, reported = true_delta(tables, epsilon), composed.delta(epsilon)
        assert reported >= truth
        assert reported <= truth * Fraction(1001, 1000) + Fraction(1, 10**8), (share, float(reported), float(truth))


@given(
    st.lists(
        st.builds(
            Spending,
            st.sampled_from(["optimal", "travas", "another"]),
            st.fractions(Fraction(1, 4), 3, max_denominator=50),
            st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=100),
        ),
        min_size=1,
        max_size=2,
    ),
    st.fractions(0, 2, max_denominator=1000),
)
@settings(deadline=None, max_examples=60)
def test_never_below_enumeration_at_any_parameters(spendings: list[Spending], share: Fraction) -> None:
    epsilon = basic(spendings)[0] * share
    assert compose(spendings).delta(epsilon) >= true_delta([s.pairs(ANY)[0] for s in spendings], epsilon)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12),
    st.fractions(Fraction(1, 100), 2, max_denominator=100),
    st.integers(1, 60),
    st.fractions(0, 6, max_denominator=100),
)
def test_the_grid_makes_no_event_less_revealing(
    pairs: list[Pair], interval: Fraction, reach: int, epsilon: Fraction
) -> None:
    """Exactly, before any floating point but the last sum, for any two vectors and any border."""
    scaled = [(p * ONE // 64, q * ONE // 64) for p, q in pairs]
    found, infinite = _Grid(interval).losses(scaled, min(reach, int(100 / interval)))
    reported = infinite + sum(
        mass * -math.expm1(float(epsilon - place * interval))
        for place, mass in found.items()
        if place * interval > epsilon
    )
    growth = Fraction(exponential_bounds(epsilon)[0], 1 << 192)
    truth = sum(max(Fraction(0), p - growth * q) for p, q in pairs) / 64
    assert reported >= float(truth) * (1 - 1e-12)


def test_one_release_costs_what_its_table_spends() -> None:
    from travas.mechanisms import mechanism

    for name in ("optimal", "travas"):
        rule = mechanism(name, "0.5", "1e-4")
        reported = compose([spend(name, "0.5", "1e-4")]).delta(Fraction(1, 2))
        assert rule.guarantee().delta_spent <= reported <= rule.guarantee().delta_spent * Fraction(10**6 + 1, 10**6)


def test_exact_is_never_worse_than_the_sum() -> None:
    for spendings in SMALL.values():
        epsilon, delta = basic(spendings)
        assert compose(spendings).delta(epsilon) <= delta
        assert compose(spendings).epsilon(delta) <= epsilon  # type: ignore[operator]


def test_many_releases_cost_far_less_than_their_sum() -> None:
    """A year of daily releases, against the closed form of Kairouz, Oh and Viswanath for (ε, δ) alone."""

    def closed_form(epsilon: float) -> float:
        up = 1 / (1 + math.exp(-0.1))
        loss = sum(
            math.exp(math.lgamma(366) - math.lgamma(i + 1) - math.lgamma(366 - i)) * up**i * (1 - up) ** (365 - i)
            * -math.expm1(epsilon - 0.1 * (2 * i - 365))
            for i in range(366) if 0.1 * (2 * i - 365) > epsilon
        )  # fmt: skip
        return 1 - (1 - 1e-8) ** 365 * (1 - loss)

    worst, ours = compose([spend("another", "0.1", "1e-8")] * 365), compose([spend("optimal", "0.1", "1e-8")] * 365)
    assert basic(ours.spendings) == (Fraction(73, 2), Fraction(365, 10**8))
    for epsilon in (0.0, 3.0, 8.0, 9.5, 12.0):
        truth = closed_form(epsilon)
        assert truth * (1 - 1e-9) <= float(worst.delta(Fraction(epsilon))) <= truth * 1.001 + 1e-7
        assert 0.5 * truth < float(ours.delta(Fraction(epsilon))) < truth + 1e-7  # the table is not the worst case
    found = ours.epsilon(Fraction(1, 10**5))
    assert found is not None and found < 10


def test_the_least_epsilon_is_one_that_holds() -> None:
    for spendings in SMALL.values():
        composed = compose(spendings)
        for delta in (basic(spendings)[1], Fraction(1, 3), Fraction(1, 2)):
            found = composed.epsilon(delta)
            if found is not None:
                assert composed.delta(found) <= delta
                assert found == 0 or composed.delta(found * Fraction(999, 1000)) > delta
    assert compose([spend("optimal", "1", "0.1")]).epsilon(Fraction(1, 100)) is None


def test_nothing_costs_nothing() -> None:
    assert (
        basic([]) == (Fraction(0), Fraction(0))
        and compose([]).delta(Fraction(0)) == 0
        and compose([]).epsilon(Fraction(0)) == 0
    )


def test_parameters_without_protection_compose_to_delta_1() -> None:
    for spendings in ([spend("another", "25", "0.1")], [spend("another", "1", "0.1"), spend("another", "30", "0")]):
        epsilon, delta = basic(spendings)
        assert compose(spendings).delta(epsilon) == delta and compose(spendings).delta(epsilon / 2) == 1


def test_the_slack_covers_what_fourier_transforms_lose() -> None:
    """Against direct sums of products of non-negative numbers, which lose next to nothing."""
    import numpy as np
    from scipy import signal

    random = np.random.default_rng(3)
    for size in (500, 3000, 7001):
        one, other = random.random(size) ** 8, random.random(size) ** 30
        one, other = one / one.sum(), other / other.sum()
        lost = np.abs(signal.fftconvolve(one, other) - np.convolve(one, other)).sum()
        assert 0 < lost < _slack(2, 2 * size) / 10


def test_huge_tables_and_tiny_deltas_of_persons_are_taken_at_their_parameters() -> None:
    assert len(spend("optimal", "1e-4", "1e-9").pairs(ANY)[0]) == 4
    assert len(spend("optimal", "1e-3", "1e-9").pairs(ANY)[0]) > 1000
    for delta, exact in (("1e-6", True), ("1e-13", False)):  # Fourier transforms lose more than such a δ
        person = spend("optimal", "1", delta, 10)
        one, half = compose([person]), Fraction(1, 2)
        assert one.delta(Fraction(1)) <= person.delta
        assert (one.delta(half) < compose([spend("unknown", "1", delta)]).delta(half) / 10) is exact


def test_a_person_of_several_counts_costs_what_the_verifier_found() -> None:
    """Two computations that share nothing: Fourier transforms on a grid of losses, and exact integers on sums of noise."""
    rule = mechanism("optimal", 1, "1e-4", unit=PrivacyUnit("patient", 10))
    spent = rule.guarantee().delta_spent
    found = compose([spend("optimal", "1", "1e-4", 10)]).delta(Fraction(1))
    assert abs(found / spent - 1) < Fraction(1, 1000)
    many = [spend("optimal", "1/2", "1e-6", 10)] * 12
    exact = compose(many).epsilon(Fraction(1, 10**5))
    assert exact is not None and exact < 3  # by (ε, δ) alone: more than 5


def test_a_charge_keeps_the_table_that_it_was_made_with() -> None:
    """Before there was a table for all counts, each was given its part of (ε, δ), and the standing was proven."""
    unit, table = PrivacyUnit("patient", 10), {"person_table": GaussianTable(Fraction("13.515625"), 73).describe()}
    worst = spend("unknown", "1", "1e-6").pairs(ANY)
    parts = spend("optimal", "1/10", "1e-7").pairs(ANY)
    for standing, of_parts, of_table in (
        (None, True, True),
        (Standing.PROVEN, True, False),
        (Standing.VERIFIED, False, True),  # without its table: what it was is not known
    ):
        former = Spending("optimal", Fraction(1), Fraction(1, 10**6), unit, standing)
        assert former.pairs(ANY) == ((*parts[:2], 10) if of_parts else worst)
        charged = Spending("optimal", Fraction(1), Fraction(1, 10**6), unit, standing, table)
        assert (charged.pairs(ANY) != worst and len(charged.pairs(ANY)[0]) == 146) is of_table
    for wrong in (
        {"person_table": GaussianTable(Fraction(13), 73).describe()},
        table | {"an option of a later version": 1},
    ):
        assert Spending("optimal", Fraction(1), Fraction(1, 10**6), unit, Standing.VERIFIED, wrong).pairs(ANY) == worst
    chained = Spending("optimal", Fraction(1), Fraction(1, 10**6), PrivacyUnit("patient", 2), Standing.PROVEN)
    assert chained.pairs(ANY) != worst and chained.pairs(ANY)[2] == 2


def test_every_epsilon_lies_on_the_grid_where_it_can() -> None:
    for epsilons in (["0.2"], ["0.2", "0.5"], ["1/3", "0.2", "1"]):
        interval = _interval([Fraction(e) for e in epsilons])
        assert all((Fraction(e) / interval).denominator == 1 for e in epsilons)
        assert sum(map(Fraction, epsilons)) / interval <= 1 << 13
    assert _interval([Fraction(1, 10**30), Fraction(1)]) > Fraction(1, 1 << 14)


def test_a_plan_fits() -> None:
    for releases, delta in ((1, "1e-6"), (12, "1e-6"), (12, "0.01"), (60, "1e-5"), (3, "0")):
        found = plan(releases, epsilon=2, delta=delta)
        assert found.basic == (Fraction(2) / releases, Fraction(delta) / releases)
        assert found.exact is not None and found.exact[0] >= found.basic[0]
        if delta != "0":
            assert compose([Spending("optimal", *found.exact)] * releases).delta(Fraction(2)) <= Fraction(delta)
    assert plan(60, epsilon=2, delta="1e-5").exact[0] > Fraction(2, 60) * Fraction(3, 2)  # type: ignore[index]
    for wrong in (0, -1, True, 1.5, 10**6):
        with pytest.raises(ParameterError, match="releases is"):
            plan(wrong, epsilon=2, delta="1e-6")  # type: ignore[arg-type]


def test_without_the_extra_the_install_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(MissingExtraError, match=r"travas\[accounting\]"):
        compose([spend("optimal", "1", "0.1")])
    assert plan(12, epsilon=2, delta="1e-6").exact is None


# ----------------------------------------------------------------------------------------------------- Gaussian noise


def gaussian_delta(mu: float, revealed: float, epsilon: float) -> float:
    """The closed form of a Gaussian pair, and of a part that reveals everything."""
    own = norm.sf(epsilon / mu - mu / 2) - math.exp(epsilon) * norm.sf(epsilon / mu + mu / 2)
    return float(revealed + (1 - revealed) * own)


def gaussian_epsilon(mu: float, revealed: float, delta: float) -> float:
    return float(brentq(lambda epsilon: gaussian_delta(mu, revealed, epsilon) - delta, 1e-6, 40))


@pytest.mark.parametrize(("times", "known"), [(2, 1.4034), (10, 3.1401)])
def test_synthetic_logs_compose_tightly(times: int, known: float) -> None:
    """Two at (1, 1e-6) cost 1.403 at 2e-6 and not 2; never below the closed form."""
    one = spend("synthesis", "1", "1e-6")
    found = compose([one] * times).epsilon(times * Fraction(1, 10**6))
    mu = float(Synthesis(epsilon=1, delta="1e-6").gaussian_loss().mu)
    closed = gaussian_epsilon(mu * times**0.5, 1 - (1 - 1e-7) ** times, times * 1e-6)
    assert found is not None
    assert closed * (1 - 1e-9) <= found <= closed * (1 + 1e-4)
    assert float(found) == pytest.approx(known, abs=1e-3)


def test_the_curve_of_one_synthetic_log() -> None:
    loss = Synthesis(epsilon=4, delta="1e-4").gaussian_loss()
    found = compose([spend("synthesis", "4", "1e-4")])
    for epsilon in ("0", "0.5", "1", "2", "3", "3.9"):
        closed = gaussian_delta(float(loss.mu), float(loss.revealed), float(epsilon))
        assert closed * (1 - 1e-9) <= found.delta(Fraction(epsilon)) <= closed * (1 + 1e-3)


def test_synthetic_logs_and_other_releases_compose() -> None:
    found = compose([spend("synthesis", "1", "1e-6"), spend("optimal", "1", "1e-6")]).epsilon(Fraction(2, 10**6))
    assert found is not None and Fraction(14, 10) < found < 2


def test_gaussian_pairs_are_rounded_to_the_safe_side() -> None:
    """Off the grid or rounded the other way, δ would be too small: p covers 1, q does not exceed it."""
    loss = Synthesis(epsilon=1, delta="1e-3").gaussian_loss()
    interval = Fraction(1, 64)
    pairs = loss.pairs(interval)
    assert sum(p for p, _ in pairs) >= ONE >= sum(q for _, q in pairs)
    assert sum(p for p, _ in pairs) - ONE < ONE >> 80
    steps = [math.log(p / q) / float(interval) for p, q in pairs if p and q][1:]
    assert all(low < high for low, high in pairwise(steps))
    assert all(math.floor(high) == math.floor(low) + 1 for low, high in pairwise(steps))  # one pair in every cell


@pytest.mark.parametrize("max_cases", [1, 5])
def test_the_loss_covers_what_is_drawn(max_cases: int) -> None:
    """μ of the ledger is at least that of the contributions, whatever the stages are."""
    for alphabet in (None, ("a", "b")):
        rule = Synthesis(epsilon=1, delta="1e-6", alphabet=alphabet, unit=PrivacyUnit("patient", max_cases))
        squares = sum((max_cases * stage.contribution) ** 2 for stage in rule.noise.calibration.stages)
        loss = rule.gaussian_loss()
        assert Fraction(squares, STANDARD_DEVIATION**2 - SMOOTHING_VARIANCE) <= loss.mu**2
        assert sum(stage.delta for stage in rule.noise.calibration.stages) == loss.revealed
