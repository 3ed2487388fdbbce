"""A release is made by a mechanism or read from a file: a guarantee cannot be stated for other numbers."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import travas
from travas import Ledger, Log, LogError, Mechanism, Optimal, ParameterError, Reading, anonymize
from travas.log.log import MAX_CASES
from travas.mechanisms import mechanism as by_name
from travas.mechanisms.synthesis import Synthesis
from travas.pipeline import Request, run
from travas.trusted.numbers import MAX_EPSILON

OPTIMAL = Optimal(epsilon=1, delta="1e-6")
LOG = {("a", "b"): 400, ("a",): 300}


def test_copies_are_identical_to_the_release() -> None:
    release = anonymize(LOG, OPTIMAL)
    assert pickle.loads(pickle.dumps(release)) == copy.copy(release) == release


LADDER = travas.Ladder(1, "1e-6", rungs="full,first")
AGES = Synthesis(1, "1e-6", attributes=["age"])


@pytest.mark.parametrize(
    ("second", "mechanism"),
    [
        ("case:travas:abstraction", LADDER), ("case:travas:origin", Synthesis(1, "1e-6")),
        ("case:age", AGES), ("privacy:standing", OPTIMAL), ("time:timestamp", OPTIMAL), ("case:concept:name", OPTIMAL),
        ("travas:timestamps", OPTIMAL), ("concept:name", OPTIMAL),
    ],
)  # fmt: skip
def test_a_column_that_a_released_log_has_twice_is_refused_before_the_charge(
    second: str, mechanism: Mechanism, book: Ledger, tmp_path: Path
) -> None:
    book.create_account("ward")
    asked: dict[str, Any] = {"ledger": book, "dataset": "ward", "output": tmp_path / "out.csv"}
    counts = Log.from_mapping({(("a", "b"),): 500}, ("concept:name", second))
    if mechanism is not AGES:  # counts have no attributes
        with pytest.raises(ParameterError, match=f"activity has '{second}'") as refused:
            run(Request(counts, mechanism, **asked))
        assert refused.value.field == "activity" and not book.account("ward").entries
    with pytest.raises(ParameterError, match="activity"):
        Request(tmp_path / "log.csv", mechanism, Reading(activity=("concept:name", second)), **asked)


# ---- The largest log: up to it every sum of a mechanism is exact, beyond it a log is refused.


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
