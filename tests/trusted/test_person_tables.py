"""Tables for all counts of one person: exact privacy loss of every placement, and wrong tables that must be refused."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_losses import excess, growth_below, outputs, weights_of
from travas import PrivacyUnit, Standing
from travas.errors import VerificationError
from travas.log.plain import plain
from travas.mechanisms import mechanism
from travas.mechanisms.selection import PartitionSelection
from travas.releases.estimate import estimate_of
from travas.search import person_tables
from travas.search.person_tables import GaussianTable, joint_table, threshold_of, variance_of, verified_noise
from travas.search.table_builders import optimal_table, table_from
from travas.trusted.losses import joint, lattice
from travas.trusted.numbers import ONE
from travas.trusted.tables import Noise, NoiseTable


def table_of(weights: Sequence[int]) -> NoiseTable:
    return table_from(accumulate(weights))


def bound(weights: Sequence[int], epsilon: Fraction, delta: Fraction, counts: int) -> Fraction:
    return joint(weights, counts, lattice(weights, epsilon))(epsilon)


def hockey_stick(weights: Sequence[int], epsilon: Fraction, counts: int) -> Fraction:
    """δ for a number of counts that change by one each, tuple by tuple of their noise, the worse of both directions."""
    growth, worst = growth_below(epsilon), Fraction(0)
    for one in (list(weights), list(reversed(weights))):
        total = Fraction(0)
        for places in combinations_with_replacement(range(len(one)), counts):
            often = math.factorial(counts) // prod(math.factorial(places.count(place)) for place in set(places))
            p = prod(one[place] for place in places)
            q = prod(one[place - 1] if place else 0 for place in places)
            total += often * max(Fraction(0), p - growth * q)
        worst = max(worst, total / ONE**counts)
    return worst


# ------------------------------------------------------------------------------------ placements, output by output


@pytest.mark.parametrize(
    ("epsilon", "delta", "most"), [("3", "0.2", 2), ("6", "0.3", 3), ("14", "0.05", 3), ("1", "0.9", 2)]
)
def test_every_placement_of_the_cases_of_a_person(epsilon: str, delta: str, most: int) -> None:
    """On up to M variants, new or with any number of others, both directions, "absent" included: never beyond (ε, δ)."""
    e, d = Fraction(epsilon), Fraction(delta)
    found = joint_table(e, d, most, table_of([0] * 99 + [ONE]))
    assert found is not None
    noise = verified_noise(found, e, d, most)
    weights, growth, worst = weights_of(noise.table), growth_below(e), Fraction(0)
    for counts in range(1, most + 1):
        for others in combinations_with_replacement(range(len(weights) + 1), counts):
            there, gone = [[outputs(weights, n + more) for n in others] for more in (1, 0)]
            worst = max(worst, excess(there, gone, growth))
    assert 0 < worst <= noise.delta_spent <= d
    assert worst > noise.delta_spent * Fraction(999, 1000)  # the verifier loses next to nothing


# ----------------------------------------------------------------------------------- the verifier on any small table


small_weights = st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any)


def scaled(parts: Sequence[int]) -> list[int]:
    """A distribution over 2^128 with about these proportions."""
    weights = [part * ONE // sum(parts) for part in parts]
    weights[weights.index(max(weights))] += ONE - sum(weights)
    return weights


@given(small_weights, st.integers(1, 3), st.fractions(Fraction(1, 100), 8, max_denominator=100))
@settings(max_examples=30)
def test_never_below_the_brute_force_on_any_table(parts: list[int], counts: int, epsilon: Fraction) -> None:
    """Gaussian or not, with gaps, one-sided, of one entry."""
    weights = scaled(parts)
    found = bound(weights, epsilon, Fraction(1, 10**6), counts)
    assert hockey_stick(weights, epsilon, counts) <= found <= 1


@given(
    st.fractions(Fraction(2, 5), 2, max_denominator=20),
    st.integers(2, 4),
    st.integers(1, 4),
    st.fractions(Fraction(1, 10), 10, max_denominator=100),
)
@settings(max_examples=100)
def test_exact_on_gaussian_tables(sigma: Fraction, threshold: int, counts: int, epsilon: Fraction) -> None:
    weights = weights_of(GaussianTable(sigma, threshold).table())
    truth = hockey_stick(weights, epsilon, counts)
    found = bound(weights, epsilon, Fraction(1, 10**12), counts)
    assert truth <= found <= truth * (1 + Fraction(1, 10**6)) + Fraction(1, 10**12)
    fewer = [hockey_stick(weights, epsilon, m) for m in range(1, counts + 1)]
    assert fewer == sorted(fewer)  # fewer changed counts never cost more


@pytest.mark.parametrize(("counts", "interval"), [(2, "1/4"), (3, "1/10"), (3, "1/3")])
def test_losses_that_share_cells_cost_more_never_less(counts: int, interval: str) -> None:
    weights = weights_of(GaussianTable(Fraction(5, 2), 7).table())
    fine = bound(weights, Fraction(1, 2), Fraction(1, 10**9), counts)
    coarse = joint(weights, counts, Fraction(interval))(Fraction(1, 2))
    assert hockey_stick(weights, Fraction(1, 2), counts) <= fine < coarse < 1


# -------------------------------------------------------------------------------------------- what must be refused


EPSILON, DELTA, COUNTS = Fraction(1), Fraction(1, 10**6), 10
RIGHT = GaussianTable(Fraction("13.515625"), 73)


def test_the_right_table_passes() -> None:
    noise = Noise(RIGHT.table(), EPSILON, DELTA, COUNTS)
    assert DELTA * Fraction(98, 100) < noise.delta_spent <= DELTA


@pytest.mark.parametrize(
    ("shape", "counts"),
    [
        (GaussianTable(RIGHT.sigma * Fraction(98, 100), RIGHT.threshold), COUNTS),  # σ too small
        (GaussianTable(RIGHT.sigma * Fraction(108, 100), RIGHT.threshold), COUNTS),  # σ too large for the ends
        (GaussianTable(RIGHT.sigma, RIGHT.threshold - 1), COUNTS),  # too short
        (RIGHT, COUNTS + 1),
    ],
)
def test_wrong_tables_are_refused(shape: GaussianTable, counts: int) -> None:
    with pytest.raises(VerificationError, match="spends delta .*more than the 1e-6 requested"):
        Noise(shape.table(), EPSILON, DELTA, counts)


@pytest.mark.parametrize("wrong", ["moved", "lowered", "gap", "one end", "shifted"])
def test_tables_with_changed_weights_are_refused(wrong: str) -> None:
    weights = weights_of(RIGHT.table())
    if wrong == "moved":  # from one entry to the next, in the tail
        weights[15], weights[16] = 0, weights[15] + weights[16]
    elif wrong == "lowered":  # near the centre, by a hundredth
        part = weights[70] // 100
        weights[70], weights[71] = weights[70] - part, weights[71] + part
    elif wrong == "gap":
        weights = [*weights[:40], 0, *weights[40:]]
    elif wrong == "one end":  # the direction of one person more only
        weights = [*weights[4:], *weights[:4]]
    else:
        weights = [weights[0] + weights[1], *weights[2:]]
    with pytest.raises(VerificationError, match="spends delta"):
        Noise(table_of(weights), EPSILON, DELTA, COUNTS)


def test_a_table_for_one_count_is_refused_for_two() -> None:
    with pytest.raises(VerificationError, match="spends delta"):
        Noise(optimal_table(EPSILON, DELTA), EPSILON, DELTA, 2)


# --------------------------------------------------------------------------------------------------- which is chosen


@pytest.mark.parametrize(("most", "threshold"), [(2, 27), (3, 40), (5, 51), (10, 73), (20, 103)])
def test_the_table_that_keeps_more(most: int, threshold: int) -> None:
    rule = mechanism("optimal", 1, "1e-6", unit=PrivacyUnit("patient", most))
    assert isinstance(rule, PartitionSelection)
    assert threshold_of(rule.noise.table) == threshold
    assert (rule.joint is not None) is (most > 3)
    parts = optimal_table(Fraction(1, most), Fraction(1, most * 10**6))
    assert threshold <= threshold_of(parts)
    assert rule.keep_probability(threshold) >= Fraction(1, 2) > rule.keep_probability(threshold - 1)
    guarantee = rule.guarantee()
    assert guarantee.standing is (Standing.VERIFIED if most > 3 else Standing.PROVEN)
    assert guarantee.delta_spent <= guarantee.delta


def test_at_equal_thresholds_the_smaller_variance_decides() -> None:
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    alone = optimal_table(epsilon / 3, delta / 3)
    assert threshold_of(alone) == 40 and joint_table(epsilon, delta, 3, alone) is None
    wide = table_of([ONE // 4, *[0] * 38, ONE // 4 + 1, *[0] * 40, ONE // 2 - 1])
    assert threshold_of(wide) == 40 and variance_of(wide) > variance_of(alone)
    found = joint_table(epsilon, delta, 3, wide)
    assert found is not None and found.threshold == 40


@pytest.mark.parametrize("name", ["optimal", "travas"])
def test_estimates_work_from_the_table_that_was_drawn_from(name: str) -> None:
    rule = mechanism(name, 1, "1e-6", minimum_cases=5, unit=PrivacyUnit("patient", 20))
    assert isinstance(rule, PartitionSelection) and rule.joint is not None
    assert rule.centre == 103 + 4 and rule.curve.always_kept == 205 + 4
    noisy = (rule.centre + 300, rule.centre)
    found = estimate_of(rule, noisy)
    assert found.intervals is not None
    low, high = found.intervals[0]
    assert low <= noisy[0] <= high and high - low < 4.2 * 19.4  # 95 % of a Gaussian; (ε, δ)/20 each: 28 wide


def test_the_choice_looks_at_public_parameters_only_and_is_the_same_every_time() -> None:
    first = joint_table(EPSILON, DELTA, COUNTS, optimal_table(EPSILON / COUNTS, DELTA / COUNTS))
    person_tables._least.cache_clear()
    again = joint_table(EPSILON, DELTA, COUNTS, optimal_table(EPSILON / COUNTS, DELTA / COUNTS))
    assert first is not None and again is not None and first == again
    assert list(first.table().boundaries()) == list(again.table().boundaries())
    assert plain(first) == {"sigma": "13.515625", "threshold": 73}
