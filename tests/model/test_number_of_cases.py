"""The largest log: up to it every sum of a mechanism is exact, beyond it a log is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import travas
from travas import LogError
from travas.log.log import MAX_CASES, Log
from travas.mechanisms import mechanism as by_name
from travas.trusted.numbers import MAX_EPSILON


@pytest.mark.parametrize(
    "counts",
    [{("a",): MAX_CASES + 1}, {("a",): MAX_CASES, ("b",): 1}, {("a",): 2**53 - 1}, {("a",): 2**62, ("b",): 2**62}],
)
@pytest.mark.parametrize("release", [travas.anonymize, travas.synthesize, travas.process_map])
def test_a_larger_log_is_refused(release: type, counts: dict[tuple[str, ...], int]) -> None:
    with pytest.raises(LogError, match="100,000,000,000.*confidential"):
        release(counts, epsilon=1, delta="1e-6")


def test_counts_whose_sum_does_not_fit_into_64_bits_are_refused() -> None:
    variants = Log.from_mapping({(name,): 1 for name in "abcd"})
    with pytest.raises(LogError, match="more than 100,000,000,000 cases"):
        replace(variants, counts=np.full(4, 2**62, dtype=np.int64))  # their sum in 64 bits is 0


@pytest.mark.parametrize("delta", ["1e-6", "1/2", "0.999"])
@pytest.mark.parametrize("name", ["synthesis", "map"])
def test_no_sum_of_the_largest_log_overflows(name: str, delta: str) -> None:
    """A case adds at most the contribution of a stage to each cell; noise beyond 2⁴⁰ has no probability worth stating."""
    contributions = by_name(name, MAX_EPSILON, delta).contributions  # type: ignore[attr-defined]
    assert max(contributions.values()) * MAX_CASES + 2**40 < 2**63


def test_activities_of_the_largest_log_are_kept() -> None:
    log = {("a", "b"): MAX_CASES - 1_000_000, ("c",): 1_000_000}
    assert set(travas.synthesize(log, epsilon=20, delta="1/2").variants) >= set(log)
    assert set(travas.process_map(log, epsilon=20, delta="1/2").measurements.activities) == {"a", "b", "c"}
