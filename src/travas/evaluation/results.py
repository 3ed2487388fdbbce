"""The results of an experiment: the mean of every metric with its 95 % interval, as a table. Confidential."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import TYPE_CHECKING, Any

from ..outputs.atomic import atomic_output
from .compare import Better, find_metric
from .experiment import Grid

if TYPE_CHECKING:
    import polars as pl


_T = (
    12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139, 2.200985,
    2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963, 2.079614, 2.073873,
    2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272,
)  # fmt: skip
"""The 97.5 % quantiles of Student's t distribution with 1 to 30 degrees of freedom."""

_KEYS = ("log", "unit", "max_cases", "label", "mechanism", "epsilon", "delta")


def summary(grid: Grid, results: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each log, mechanism, ε, δ and metric: the mean of its runs and the interval of the mean."""
    import polars as pl

    rows = []
    for key, runs in results.group_by(_KEYS, maintain_order=True):
        for metric, most in grid.metrics.items():
            wanted = runs.filter(pl.col("run") < most)[metric]
            values = wanted.drop_nulls().to_list()
            found = (metric, find_metric(metric).better, len(values), wanted.null_count(), *mean_with_interval(values))
            rows.append((*key, *found))
    names = (*_KEYS, "metric", "better", "runs", "failed", "mean", "low", "high")
    types: dict[str, Any] = dict.fromkeys(("max_cases", "runs", "failed"), pl.Int64)
    types |= dict.fromkeys(("epsilon", "delta", "mean", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={name: types.get(name, pl.String) for name in names}, orient="row")


def mean_with_interval(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Return the mean of independent values and its 95 % interval by Student's t; None for what is not known."""
    if not values:
        return None, None, None
    mean = fmean(values)
    if len(values) == 1:
        return mean, None, None
    half = _student(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def _student(freedom: int) -> float:
    """Return the 97.5 % quantile; beyond the table, by the expansion of Cornish and Fisher."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def goodness(value: float, better: Better) -> float:
    """Return a number that is larger for better values.

    >>> goodness(3, "higher"), goodness(3, "lower"), goodness(-3, "closer to zero")
    (3, -3, -3)
    """
    return value if better == "higher" else -value if better == "lower" else -abs(value)


def summary_path(results: Path) -> Path:
    """Return the path of the summary, `OUT.summary.csv`, next to the results."""
    return results.with_suffix(".summary.csv")


def write_summary(table: pl.DataFrame, path: Path) -> Path:
    """Write a summary as CSV; one that exists is replaced."""
    with atomic_output(path, "replace") as partial:
        table.write_csv(partial)
    return path
