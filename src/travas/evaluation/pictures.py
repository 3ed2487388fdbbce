"""Figures of evaluation results. All but `draw_chances` show values of the original log and are marked confidential."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CONFIDENTIAL_HEADING, OutputError
from ..model.mechanism import Mechanism
from ..model.variants import Variants
from ..outputs.picture_file import write_picture
from ..plots.figures import Heatmap, Panel, draw_heatmap, draw_panels, draw_survival, number
from ..privacy.numbers import as_text
from .grid import ORIGINAL, Grid
from .metrics import directly_follows_difference

if TYPE_CHECKING:
    import polars as pl

    from .forecast import Chance, Forecast


def draw_comparison(original: Variants, released: Variants, path: Path) -> Path:
    """Draw the frequencies of variants in both logs, and the lost directly-follows steps. Confidential."""
    before, after = dict(original.items()), dict(released.items())
    ranked = sorted(before, key=lambda trace: (-before[trace], trace))
    difference = directly_follows_difference(before, after)
    lost, all_steps = list(difference.lost.items()), len(difference.lost) + difference.kept
    pairs = [(before[trace], after.get(trace)) for trace in ranked]
    lost_title = f"Steps lost: {len(lost):,} of {all_steps:,}"
    return write_picture(path, lambda form: draw_survival(pairs, lost, lost_title, CONFIDENTIAL_HEADING, form))


def draw_chances(curves: Sequence[tuple[Mechanism, Sequence[Chance]]], path: Path) -> Path:
    """Draw keep probabilities and interval widths by case count. No log is read."""
    kept, width = {}, {}
    for rule, points in curves:
        name = f"ε = {as_text(rule.epsilon)}, δ = {as_text(rule.delta)}"
        kept[name] = [(at.cases, float(at.kept)) for at in points]
        width[name] = [(at.cases, at.high - at.low) for at in points]
    across = "number of cases of a variant in the original log"
    row = (
        Panel("What is released", across, "probability of release", kept, 1.05),
        Panel("Accuracy of its frequency", across, "width of the 95 % interval, cases", width),
    )
    return write_picture(path, lambda form: draw_panels([row], "", form))


def draw_forecast(forecast: Forecast, path: Path) -> Path:
    """Draw expected shares kept by ε, a line for each abstraction, a row of panels for each δ. Confidential."""
    rows = []
    for delta in dict.fromkeys(cell.delta for cell in forecast.cells):
        cells = [cell for cell in forecast.cells if cell.delta == delta]
        names = list(dict.fromkeys(str(cell.abstraction) for cell in cells))
        rows.append(
            [
                Panel(
                    f"{what}, δ = {as_text(delta)}",
                    "ε",
                    "expected share kept",
                    {
                        name: [
                            (as_text(cell.epsilon), float(getattr(cell, what)))
                            for cell in cells
                            if str(cell.abstraction) == name
                        ]
                        for name in names
                    },
                    1.05,
                )
                for what in ("cases", "variants")
            ]
        )
    return write_picture(path, lambda form: draw_panels(rows, CONFIDENTIAL_HEADING, form))


def draw_experiment(grid: Grid, results: pl.DataFrame, folder: Path) -> list[Path]:
    """Draw a figure for each log and metric: ε by δ, mechanisms side by side on one scale. Confidential.

    Args:
        grid: What was run.
        results: One row per run, as `experiment` returns them.
        folder: The folder of the figures; it is created if necessary.

    Returns:
        The paths of the figures.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created, {error.strerror}; use another path") from None
    return [
        write_picture(
            folder / f"{log.name}-{metric}.png".replace("/", "_"),
            partial(draw_heatmap, _heatmap(grid, results, log.name, metric)),
        )
        for log in grid.logs
        for metric in grid.metrics
    ]


def _heatmap(grid: Grid, results: pl.DataFrame, log: str, metric: str) -> Heatmap:
    import polars as pl

    mine = results.filter(pl.col("log") == log).select("label", "epsilon", "delta", metric)
    original = mine.filter(pl.col("label") == ORIGINAL)[metric][0]
    cells = mine.group_by("label", "epsilon", "delta").agg(pl.col(metric).mean(), failed=pl.col(metric).is_null().any())
    value_of = {row[:3]: math.nan if row[4] else row[3] for row in cells.rows()}
    epsilons = list(dict.fromkeys(value for entry in grid.entries for value in entry.epsilon))
    deltas = list(dict.fromkeys(value for entry in grid.entries for value in entry.delta))
    runs = grid.metrics[metric]
    return Heatmap(
        title=f"{log}: {metric.replace('_', ' ')}, mean of {runs} run{'s' if runs > 1 else ''} "
        f"(original {number(original)})\n{CONFIDENTIAL_HEADING.replace('do not publish', 'publish only if the log is public')}",
        columns=deltas,
        rows=epsilons,
        panels={
            entry.label: [
                [value_of.get((entry.label, epsilon, delta), math.nan) for delta in deltas] for epsilon in epsilons
            ]
            for entry in grid.entries
        },
    )
