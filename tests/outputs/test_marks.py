"""Marks of what misleads: artificial timestamps, and traces that a rule may have shortened."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import travas
from travas import Optimal, Reading, verify
from travas.log.abstraction import Abstraction
from travas.releases.release import COMPLETENESS, TIMES_MARK

TABLES = (".csv", ".csv.gz", ".parquet")
OPTIMAL = Optimal(epsilon=1, delta="1e-6")


def table(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)


def abstracted(rule: str) -> Any:
    log = {("a",): 300, ("a", "b", "c"): 400}
    return travas.anonymize(
        pl_log(log), OPTIMAL, reading=Reading(abstraction=Abstraction.parse(rule), order="file"), frequencies="noisy"
    )


def pl_log(log: dict[tuple[str, ...], int]) -> pl.DataFrame:
    traces = [trace for trace, count in log.items() for _ in range(count)]
    rows = [(str(case), activity) for case, trace in enumerate(traces) for activity in trace]
    return pl.DataFrame(rows, schema=["case_id", "activity"], orient="row")


@pytest.mark.parametrize("suffix", TABLES)
def test_tables_mark_artificial_timestamps_in_every_row(suffix: str, tmp_path: Path) -> None:
    path = travas.anonymize({("a", "b"): 300}, OPTIMAL).write(tmp_path / f"out{suffix}")
    frame = table(path)
    assert frame.height > 100 and set(frame[TIMES_MARK]) == {"artificial"}
    assert verify(f"{path}.guarantee.json", path).digest_checked


@pytest.mark.parametrize("suffix", TABLES)
def test_tables_mark_traces_that_a_rule_may_have_cut(suffix: str, tmp_path: Path) -> None:
    path = abstracted("prefix:2").write(tmp_path / f"out{suffix}")
    traces = table(path).group_by("case:concept:name").agg(pl.len(), pl.col(COMPLETENESS).unique().implode().first())
    assert {tuple(row) for row in table(path).select("concept:name", COMPLETENESS).unique().rows()} == {
        ("a", "complete"), ("a", "possibly incomplete"), ("b", "possibly incomplete"),
    }  # fmt: skip
    assert traces.height > 500
    assert verify(f"{path}.guarantee.json", path).digest_checked


def test_xes_marks_them_as_well(tmp_path: Path) -> None:
    path = abstracted("prefix:2").write(tmp_path / "out.xes.gz")
    traces = gzip.decompress(path.read_bytes()).decode().split("<trace>")[1:]
    assert {
        '"travas:trace" value="possibly incomplete"' in trace for trace in traces if trace.count("<event>") == 2
    } == {True}
    assert {'"travas:trace" value="complete"' in trace for trace in traces if trace.count("<event>") == 1} == {True}
    assert verify(f"{path}.guarantee.json", path).digest_checked


@pytest.mark.parametrize(
    ("rule", "trace", "cut"),
    [
        ("full", ("a",), False),
        ("prefix:2", ("a", "b"), True),
        ("prefix:2", ("a",), False),
        ("suffix:1", ("a",), True),
        ("first", ("a",), True),
        ("prefix:3 | fold", ("a",), True),
    ],
)
def test_what_a_rule_may_have_removed(rule: str, trace: tuple[str, ...], cut: bool) -> None:
    assert Abstraction.parse(rule).may_shorten(trace) is cut
