"""Figures of experiments with matplotlib, from plain values. Better is brighter, up, and to the right, for every metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .figures import PictureFormat, line_styles, new_figure, number, rendered

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


@dataclass(frozen=True)
class MeanPoint:
    """A mean with its interval, at a position; without an interval, both ends are the mean."""

    x: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class LineChart:
    """Means by ε: a panel for each δ, a line for each mechanism.

    Attributes:
        title: The heading.
        y_label: The name of the metric.
        panels: The lines by name, by the heading of the panel.
        better: Which values are better.
    """

    title: str
    y_label: str
    panels: Mapping[str, Mapping[str, Sequence[MeanPoint]]]
    better: Direction


@dataclass(frozen=True)
class ParetoPoint:
    """The means of two metrics, what is written next to them, and whether nothing with as much protection is better."""

    x: float
    y: float
    note: str
    is_best: bool


@dataclass(frozen=True)
class ParetoChart:
    """Two metrics against each other: a point for each mechanism, ε and δ.

    Attributes:
        title: The heading.
        labels: The names of both metrics.
        better: Which values of each are better.
        points: The points by mechanism.
    """

    title: str
    labels: tuple[str, str]
    better: tuple[Direction, Direction]
    points: Mapping[str, Sequence[ParetoPoint]]


def draw_heatmap(heatmap: Heatmap, form: PictureFormat) -> bytes:
    """Draw tables of values side by side, on one scale; better values are brighter.

    Args:
        heatmap: The values.
        form: The format of the picture.

    Returns:
        The content of the file.
    """
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


def draw_lines(chart: LineChart, form: PictureFormat) -> bytes:
    """Draw means with 95 % intervals by ε; up is better.

    Args:
        chart: The means.
        form: The format of the picture.

    Returns:
        The content of the file.
    """
    figure = new_figure((4.2 * len(chart.panels) + 2.2, 4.4))
    panels = figure.subplots(1, len(chart.panels), sharey=True, squeeze=False)[0]
    names = list(dict.fromkeys(name for lines in chart.panels.values() for name in lines))
    style_of = dict(zip(names, line_styles(), strict=False))
    for axes, (heading, lines) in zip(panels, chart.panels.items(), strict=True):
        for name, points in lines.items():
            style = style_of[name]
            axes.plot([at.x for at in points], [at.mean for at in points], label=name, **style)
            ends = [at.low for at in points], [at.high for at in points]
            axes.fill_between([at.x for at in points], *ends, color=style["color"], alpha=0.15, linewidth=0)
        axes.set_xscale("log")
        _mark_ticks(axes, sorted({at.x for points in lines.values() for at in points}))
        axes.set_xlabel("ε, stronger protection to the left")
        axes.set_title(heading, fontsize=10)
        _plain(axes)
    _turn(panels[0], "y", chart.better)
    panels[0].set_ylabel(_label(chart.y_label, chart.better, "up"))
    _legend(figure, panels[0])
    figure.suptitle(chart.title, fontsize=11, parse_math=False)
    return rendered(figure, form)


def draw_pareto(chart: ParetoChart, form: PictureFormat) -> bytes:
    """Draw two metrics against each other; up and right are better, and points that are best are filled.

    Args:
        chart: The points.
        form: The format of the picture.

    Returns:
        The content of the file.
    """
    figure = new_figure((8.4, 5.2))
    axes = figure.subplots()
    for (name, points), style in zip(chart.points.items(), line_styles(), strict=False):
        faces = [style["color"] if point.is_best else "none" for point in points]
        axes.scatter(
            [point.x for point in points], [point.y for point in points], marker=style["marker"], s=40,
            edgecolor=style["color"], facecolor=faces,
        )  # fmt: skip
        axes.scatter([], [], marker=style["marker"], s=40, color=style["color"], label=name)
        for point in points:
            at = {"xytext": (5, 3), "textcoords": "offset points"}
            axes.annotate(point.note, (point.x, point.y), fontsize=6, color="0.4", **at)
    for axis, label, better, way in zip("xy", chart.labels, chart.better, ("right", "up"), strict=True):
        _turn(axes, axis, better)
        getattr(axes, f"set_{axis}label")(_label(label, better, way))
    _plain(axes)
    _legend(figure, axes)
    figure.suptitle(chart.title, fontsize=11, parse_math=False)
    return rendered(figure, form)


def _is_dark(image: Any, value: float) -> bool:
    red, green, blue, _ = image.cmap(image.norm(value))
    return bool(0.3 * red + 0.59 * green + 0.11 * blue < 0.5)


def _turn(axes: Any, axis: str, better: Direction) -> None:
    """Turn an axis whose lower values are better, so that the better end is always up or to the right."""
    if better == "lower":
        getattr(axes, f"invert_{axis}axis")()


def _label(metric: str, better: Direction, way: str) -> str:
    return f"{metric}\n({'closer to zero' if better == 'closer to zero' else way} is better)"


def _mark_ticks(axes: Any, values: Sequence[float]) -> None:
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.minorticks_off()


def _plain(axes: Any) -> None:
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: Any, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8)
