"""Marks of what misleads: artificial timestamps, and traces that a rule may have changed."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import travas
from travas import Reading
from travas.log.abstraction import Abstraction
from travas.releases.release import RULE, TIMES_MARK

TABLES = (".csv", ".csv.gz", ".parquet")


def table(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)


def abstracted(rule: str) -> Any:
    traces = [("a",)] * 300 + [("a", "b", "c")] * 400
    rows = [(str(case), activity) for case, trace in enumerate(traces) for activity in trace]
    log = pl.DataFrame(rows, schema=["case_id", "activity"], orient="row")
    reading = Reading(abstraction=Abstraction.parse(rule), order="file")
    return travas.anonymize(log, epsilon=1, delta="1e-6", reading=reading, frequencies="noisy")


@pytest.mark.parametrize("suffix", TABLES)
def test_tables_mark_artificial_times_and_generalised_traces(suffix: str, tmp_path: Path) -> None:
    frame = table(abstracted("prefix:2").write(tmp_path / f"out{suffix}"))
    assert frame["case:concept:name"].n_unique() > 500 and set(frame[TIMES_MARK]) == {"artificial"}
    assert set(frame[RULE]) == {"prefix:2"}


def test_xes_marks_them_as_well(tmp_path: Path) -> None:
    traces = abstracted("prefix:2").write(tmp_path / "out.xes").read_text().split("<trace>")[1:]
    assert all('"travas:abstraction" value="prefix:2"' in trace for trace in traces)
