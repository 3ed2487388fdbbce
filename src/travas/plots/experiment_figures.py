"""Figures of experiments with matplotlib, from plain values. Better is brighter, for every metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .figures import PictureFormat, new_figure, number, rendered

Direction = Literal["higher", "lower", "closer to zero"]
"""Which values are better."""


@dataclass(frozen=True)
class Heatmap:
    """A table of values for each named panel, on one scale; NaN for missing values."""

    title: str
    columns: Sequence[str]
    rows: Sequence[str]
    panels: Mapping[str, Sequence[Sequence[float]]]
    better: Direction = "higher"


def draw_heatmap(heatmap: Heatmap, form: PictureFormat) -> bytes:
    """Draw tables of values side by side, on one scale; better values are brighter."""
    figure = new_figure((2.9 * len(heatmap.panels) + 0.9, 3.3))
    panels = figure.subplots(1, len(heatmap.panels), sharey=True, squeeze=False)[0]
    shown = [value for table in heatmap.panels.values() for line in table for value in line if not math.isnan(value)]
    low, high = min(shown, default=0), max(shown, default=1)
    if heatmap.better == "closer to zero":
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    colours = {"higher": "cividis", "lower": "cividis_r", "closer to zero": "PuOr"}[heatmap.better]
    for axes, (label, values) in zip(panels, heatmap.panels.items(), strict=True):
        image = axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")
        axes.set_facecolor("0.85")  # where nothing was run, or a metric failed
        for row, line in enumerate(values):
            for column, value in enumerate(line):
                ink = "w" if not math.isnan(value) and _is_dark(image, value) else "k"
                axes.text(column, row, number(value), ha="center", va="center", fontsize=8, color=ink)
        axes.set_xticks(range(len(heatmap.columns)), heatmap.columns)
        axes.set_yticks(range(len(heatmap.rows)), heatmap.rows)
        axes.set_xlabel("δ")
        axes.set_title(label, fontsize=10, parse_math=False)
    panels[0].set_ylabel("ε")
    figure.colorbar(image, ax=panels, pad=0.01, label=f"{heatmap.better} is better")
    figure.suptitle(heatmap.title, fontsize=11, parse_math=False)
    return rendered(figure, form)


def _is_dark(image: Any, value: float) -> bool:
    red, green, blue, _ = image.cmap(image.norm(value))
    return bool(0.3 * red + 0.59 * green + 0.11 * blue < 0.5)
