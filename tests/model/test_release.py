"""A release is made by a mechanism or read from a file: a guarantee cannot be stated for other numbers."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

import travas
from travas import Ledger, Log, Mechanism, Optimal, ParameterError, ProcessMap, Reading, anonymize
from travas.mechanisms.synthesis import Synthesis
from travas.pipeline import Request, run

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
        ("case:travas:abstraction", LADDER), ("case:travas:trace", LADDER), ("case:travas:origin", Synthesis(1, "1e-6")),
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


def test_a_map_has_no_table_of_events() -> None:
    counts = Log.from_mapping({(("a", "b"),): 500}, ("concept:name", "case:travas:trace"))
    assert anonymize(counts, ProcessMap(1, "1e-6")).columns == counts.columns


@pytest.mark.parametrize("columns", [("concept:name", 5), ("concept:name", ""), "concept:name", 5, ["concept:name"]])
def test_columns_of_counts_are_names(columns: Any) -> None:
    with pytest.raises(ParameterError, match="^columns (is|has) .*; use (a tuple of )?names") as refused:
        Log.from_mapping({(("a", "b"),): 500}, columns)
    assert refused.value.field == "columns"
