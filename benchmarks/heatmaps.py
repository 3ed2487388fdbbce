"""Heatmaps of the means of an experiment: ε by δ, a panel for each mechanism. Confidential unless the logs are public.

python benchmarks/heatmaps.py RESULTS.summary.csv FOLDER
"""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

COLOURS = {"higher": "cividis", "lower": "cividis_r", "closer to zero": "PuOr"}  # better values are brighter


def rendered(figure: Figure) -> bytes:
    """The content of a PNG file with the figure."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return content.getvalue()


def heatmap(name: str, rows: pl.DataFrame) -> Figure:
    """Draw the means of one metric on one log side by side, on one scale."""
    original = rows.filter(pl.col("label") == "original")["mean"][0]
    panels = rows.filter(pl.col("label") != "original")
    epsilons, deltas = (panels[axis].unique(maintain_order=True).to_list() for axis in ("epsilon", "delta"))
    labels, better = panels["label"].unique(maintain_order=True).to_list(), panels["better"][0]
    means = panels["mean"].drop_nulls()
    low, high = float(means.min()), float(means.max())  # type: ignore[arg-type]
    if better == "closer to zero":
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    figure = Figure(figsize=(2.9 * len(labels) + 0.9, 3.3), layout="constrained")
    every: Any = figure.subplots(1, len(labels), sharey=True, squeeze=False)[0]
    for axes, label in zip(every, labels, strict=True):
        found = {(row["epsilon"], row["delta"]): row for row in panels.filter(pl.col("label") == label).to_dicts()}
        values = [[mean(found.get((epsilon, delta))) for delta in deltas] for epsilon in epsilons]
        image = axes.imshow(values, cmap=COLOURS[better], vmin=low, vmax=high, aspect="auto")
        axes.set_facecolor("0.85")  # where nothing was run, or a metric failed
        for row, line in enumerate(values):
            for column, value in enumerate(line):
                axes.text(column, row, number(value), ha="center", va="center", fontsize=8, color=ink(image, value))
        axes.set_xticks(range(len(deltas)), [f"{delta:g}" for delta in deltas])
        axes.set_yticks(range(len(epsilons)), [f"{epsilon:g}" for epsilon in epsilons])
        axes.set_xlabel("δ")
        axes.set_title(label, fontsize=10, parse_math=False)
    every[0].set_ylabel("ε")
    figure.colorbar(image, ax=every, pad=0.01, label=f"{better} is better")
    figure.suptitle(f"{name}, mean of the runs (original {number(original)})", fontsize=11, parse_math=False)
    return figure


def mean(row: dict[str, Any] | None) -> float:
    """The mean of a cell, or NaN if a run has no value."""
    return math.nan if row is None or row["failed"] or row["mean"] is None else float(row["mean"])


def number(value: float) -> str:
    """Format a metric in few characters."""
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:,.0f}" if abs(value) < 10_000 else f"{value / 1000:,.0f}k"


def ink(image: Any, value: float) -> str:
    red, green, blue, _ = image.cmap(image.norm(value))
    return "w" if not math.isnan(value) and 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "k"


if __name__ == "__main__":
    summary, folder = pl.read_csv(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for (log, metric), rows in summary.group_by("log", "metric", maintain_order=True):
        figure = heatmap(f"{log}: {str(metric).replace('_', ' ')}", rows)
        (folder / f"{log}-{metric}.png").write_bytes(rendered(figure))
