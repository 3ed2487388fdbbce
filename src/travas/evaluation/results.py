"""The results of an experiment: the mean of every metric with its 95 % interval, as a table and as pictures. Confidential."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import TYPE_CHECKING, Any

from ..errors import CONFIDENTIAL_UNLESS_PUBLIC, OutputError
from ..outputs.atomic import atomic_output
from ..outputs.pictures import write_picture
from ..plots.figures import Heatmap, draw_heatmap, number
from ..trusted.numbers import exact
from .compare import Better, find_metric
from .experiment import ORIGINAL, Grid

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


def draw_experiment(grid: Grid, results: pl.DataFrame, folder: Path) -> list[Path]:
    """Draw, for each log and metric, a heatmap of the means: ε by δ, a panel for each mechanism. Confidential."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created, {error.strerror}; use another path") from None
    paths = []
    rows = summary(grid, results).to_dicts()
    for log, metric in dict.fromkeys((row["log"], row["metric"]) for row in rows):
        heatmap = _heatmap(grid, log, metric, [row for row in rows if (row["log"], row["metric"]) == (log, metric)])
        paths.append(write_picture(folder / f"{log}-{metric}.png".replace("/", "_"), partial(draw_heatmap, heatmap)))
    return paths


def _heatmap(grid: Grid, log: str, metric: str, rows: list[dict[str, Any]]) -> Heatmap:
    value_of = {(row["label"], row["epsilon"], row["delta"]): _complete(row) for row in rows}
    original = next(value for (label, _, _), value in value_of.items() if label == ORIGINAL)
    epsilons = list(dict.fromkeys(value for entry in grid.entries for value in entry.epsilon))
    deltas = list(dict.fromkeys(value for entry in grid.entries for value in entry.delta))
    runs, name = grid.metrics[metric], metric.replace("_", " ")
    panels = {
        entry.label: [
            [value_of.get((entry.label, _float(epsilon), _float(delta)), math.nan) for delta in deltas]
            for epsilon in epsilons
        ]
        for entry in grid.entries
    }
    title = f"{log}: {name}, mean of {runs} run{'s' if runs > 1 else ''} (original {number(original)})"
    return Heatmap(f"{title}\n{CONFIDENTIAL_UNLESS_PUBLIC}", deltas, epsilons, panels, find_metric(metric).better)


def _complete(row: dict[str, Any]) -> float:
    """The mean, or NaN if a run has no value."""
    return math.nan if row["failed"] or row["mean"] is None else float(row["mean"])


def _float(parameter: str) -> float:
    return float(exact(parameter, "a parameter"))
