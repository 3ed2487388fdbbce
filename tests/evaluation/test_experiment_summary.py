"""The means of an experiment, their intervals and pictures: numbers, and one direction for better."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy import stats

from travas.evaluation.experiment import ORIGINAL, Grid, GridEntry, LogFile, mean_with_interval, summary
from travas.sources.reading import DEFAULT_READING

LOG = LogFile("small", Path("small.csv"), DEFAULT_READING, "0" * 16)
METRIC_RUNS = {"relative_log_similarity": 3, "absolute_log_difference_length": 2}


def entry(label: str) -> GridEntry:
    return GridEntry(label, label, "estimated", ("1", "1/10"), ("0.001",), {"small": {}})


def grid() -> Grid:
    return Grid((LOG,), (entry("optimal"), entry("travas")), METRIC_RUNS)


def row(
    label: str, epsilon: float | None, run: int, similarity: float | None, difference: float | None
) -> dict[str, Any]:
    """A row of results."""
    delta = None if epsilon is None else 0.001
    at = {"log": "small", "unit": "case", "max_cases": 1, "label": label, "mechanism": label, "epsilon": epsilon}
    values = {"relative_log_similarity": similarity, "absolute_log_difference_length": difference}
    return at | {"delta": delta, "run": run} | values


@pytest.fixture
def results() -> pl.DataFrame:
    rows = [row(ORIGINAL, None, 0, 1.0, 0.0)]
    rows += [row("optimal", 1.0, run, value, 10.0 + run) for run, value in enumerate((0.9, 0.8, 0.85))]
    rows += [row("optimal", 0.1, run, value, None if run else 30.0) for run, value in enumerate((0.3, 0.5, 0.4))]
    rows += [row("travas", 1.0, run, value, 8.0) for run, value in enumerate((0.7, 0.7, 0.7))]
    rows += [row("travas", 0.1, run, value, 90.0) for run, value in enumerate((0.1, 0.1, 0.1))]
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.mark.parametrize("number", [2, 3, 10, 31, 32, 60, 500])
def test_the_interval_is_that_of_students_t(number: int) -> None:
    values = [math.sin(7.0 * index) for index in range(number)]
    mean, low, high = mean_with_interval(values)
    expected = stats.t.interval(0.95, number - 1, loc=sum(values) / number, scale=stats.sem(values))
    assert mean == pytest.approx(sum(values) / number)
    assert (low, high) == pytest.approx(tuple(map(float, expected)), rel=1e-4, abs=1e-6)


def test_a_summary_has_a_row_for_each_metric(results: pl.DataFrame) -> None:
    table = summary(grid(), results)
    assert len(table) == 5 * 2
    first = table.filter(label="optimal", epsilon=1.0, metric="relative_log_similarity").row(0, named=True)
    assert (first["runs"], first["failed"], first["better"]) == (3, 0, "higher")
    assert first["mean"] == pytest.approx(0.85) and first["low"] < 0.8 < 0.9 < first["high"]
    difference = table.filter(label="optimal", metric="absolute_log_difference_length").sort("epsilon", descending=True)
    assert difference["runs"].to_list() == [2, 1] and difference["failed"].to_list() == [
        0,
        1,
    ]  # two of three runs have it
    assert difference["mean"].to_list() == [10.5, 30.0] and difference["better"].unique().to_list() == ["lower"]
    types = dict(table.schema)
    assert all(types[name] == pl.Float64 for name in ("epsilon", "delta", "mean", "low", "high"))
    assert all(types[name] == pl.Int64 for name in ("max_cases", "runs", "failed"))
