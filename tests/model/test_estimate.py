from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import isfinite

import pytest

from travas import Log, Optimal, explain
from travas.log.traces import Trace
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.mechanisms.selection import PartitionSelection, Travas
from travas.releases.estimate import MOST_THRESHOLDS, estimate
from travas.sources.example_log import hospital_traces
from travas.trusted.samplers import Seeded

PARAMETERS = [("0.01", "1e-12"), ("0.01", "0.5"), ("1", "1e-6"), ("20", "1e-12"), ("20", "0.5")]


def rules(least: int = 1) -> list[PartitionSelection]:
    return [make(e, d, least) for make in (Optimal, Travas) for e, d in PARAMETERS]


@pytest.mark.parametrize("least", [1, 12])
def test_never_negative_infinite_or_absurd(least: int) -> None:
    for rule in rules(least):
        c = rule.centre
        for noisy in ((c,), (c, c, c), (c, c + 1, c + 50), (c + 10**6,), (c, c + 10**9), tuple(range(c, c + 400))):
            found = estimate(rule.curve, noisy)
            assert all(isfinite(count) and count >= least for count in found.counts)
            assert min(found.spread) >= 1
            assert found.missing_cases is not None and found.missing_cases_interval is not None
            assert 0 <= found.missing_cases <= MOST_THRESHOLDS * len(noisy) * c
            low, high = found.missing_cases_interval
            assert 0 <= low <= found.missing_cases <= high < float("inf")
            assert sum(found.spread) == pytest.approx(sum(found.counts) + found.missing_cases, abs=len(noisy) + 1)


def test_what_is_missing_of_the_demo_log_lies_in_the_interval() -> None:
    """Most of its variants are single cases, of which a release shows nothing: the interval must be wide enough."""
    true: Counter[Trace] = Counter(hospital_traces())
    log = Log.from_mapping(true)
    within: list[bool] = []
    for seed in range(20):
        release = with_random_bytes(mechanism("optimal", "1", "1e-6"), Seeded(seed)).release(log)
        missing = sum(true.values()) - sum(true[trace] for trace in release.variants)
        low, high = release.estimate.missing_cases_interval or (0, 0)
        within.append(low <= missing <= high < true.total())
    assert sum(within) >= 19


def test_nothing_released_tells_nothing() -> None:
    found = estimate(Optimal(1, "1e-6").curve, ())
    assert found.spread == () and found.missing_cases is None


@pytest.mark.parametrize("make", [Optimal, Travas])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.01"), ("0.1", "0.1"), ("2", "1e-4"), ("0.05", "0.5")])
def test_an_interval_covers_any_true_count_exactly(make: type[PartitionSelection], epsilon: str, delta: str) -> None:
    """By enumeration: for every n, the chance over the kept outcomes that the interval holds n is at least 95 %."""
    rule = make(epsilon, delta)
    table = rule.noise.table
    for cases in (1, 2, 3, table.length // 2, table.length - 1, table.length, table.length + 5):
        if cases < 1:
            continue
        drawn = range(1, min(cases, table.length) + 1)
        noisy = tuple(cases - n + rule.centre for n in drawn)
        intervals = estimate(rule.curve, noisy).intervals
        chances = [table.keep_probability(n) - table.keep_probability(n - 1) for n in drawn]
        covered = sum(
            chance for chance, (low, high) in zip(chances, intervals or (), strict=True) if low <= cases <= high
        )
        assert covered >= rule.keep_probability(cases) * 95 / 100 - 1e-9


def test_it_is_post_processing() -> None:
    """The same noisy counts give the same estimates whatever log they came from."""
    rule = Optimal("1", "0.1")
    one = rule.release(Log.from_mapping({(str(n),): 3 + n for n in range(50)}))
    other = replace(one, variants=tuple((f"x{n:03d}",) for n in range(len(one.noisy))))
    assert one.estimate == other.estimate == estimate(rule.curve, one.noisy)


# ---- The words about ε, δ, units and what is missing.


@pytest.mark.parametrize(
    ("epsilon", "delta", "stated", "reasons"),
    [
        (Fraction(1), Fraction(1, 10**6), None, 0),
        (Fraction(4), Fraction(1, 10**4), None, 0),
        (Fraction(4), Fraction(1, 10**4), 1000, 0),
        (Fraction(4), Fraction(1, 10**4), 1001, 1),
        (Fraction(4) + Fraction(1, 10**9), Fraction(1, 10**4), None, 1),
        (Fraction(4), Fraction(1, 10**4) + Fraction(1, 10**12), None, 1),
        (Fraction(15), Fraction(1, 2), 10, 3),
        (Fraction(1), Fraction(0), 10**9, 0),
    ],
)
def test_the_policy_line_is_exact(epsilon: Fraction, delta: Fraction, stated: int | None, reasons: int) -> None:
    words = explain.weak_protection(epsilon, delta, stated)
    assert len(words) == reasons
    assert not words or words[0].startswith("Weak protection: ")
