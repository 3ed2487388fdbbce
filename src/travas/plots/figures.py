"""Figures with matplotlib, from plain values; no log is read.

Callers mark figures with values of the original log as confidential (`evaluation`).
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import MissingExtraError
from ..log.traces import Activity, Trace
from ..mechanisms.mechanism import Mechanism
from ..releases.release import ReleasedLog, count_noun
from ..trusted.numbers import as_text

_BLUE, _ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito: distinct for colour-blind readers, and in grey
_COLOURS = (_BLUE, _ORANGE, "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
_SHOWN = 15

PictureFormat = Literal["png", "svg", "pdf"]

PlotPoint = tuple[float | str, float]


@dataclass(frozen=True)
class Panel:
    """One pair of axes with lines.

    Attributes:
        title: Its heading.
        x_label: The label of the horizontal axis.
        y_label: The label of the vertical axis.
        lines: Points by the name of the line.
        top: The upper end of the vertical axis; None: from the data.
        scale: The scale of the vertical axis.
    """

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Sequence[PlotPoint]]
    top: float | None = None
    scale: Literal["linear", "log"] = "linear"


def draw_release(release: ReleasedLog, form: PictureFormat) -> bytes:
    """Draw the most frequent variants by estimate, with intervals, and the probability of release."""
    figure, left, right = _two_panels()
    _draw_variants(left, release)
    _draw_keep_probability(right, release.mechanism)
    guarantee = release.guarantee
    rules = f" · {', '.join(map(str, release.used_abstractions))}" if release.is_abstracted else ""
    figure.suptitle(
        f"{release.headline} · ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)} · {guarantee.standing}{rules}",
        parse_math=False,
    )
    return rendered(figure, form)


def draw_survival(
    ranked: Sequence[tuple[int, int | None]],
    lost: Sequence[tuple[Trace, int]],
    lost_title: str,
    title: str,
    form: PictureFormat,
) -> bytes:
    """Draw the frequencies in both logs on a log scale, and the lost directly-follows steps."""
    figure, left, right = _two_panels()
    ranks = range(1, len(ranked) + 1)
    left.loglog(ranks, [before for before, _ in ranked], color=_BLUE, label="original")
    kept = [(rank, after) for rank, (_, after) in zip(ranks, ranked, strict=True) if after is not None]
    left.loglog([r for r, _ in kept], [n for _, n in kept], ".", color=_ORANGE, label="released", markersize=4)
    left.set_xlabel("variant, by its original frequency")
    left.set_ylabel("cases")
    left.set_title("Frequencies of the variants", fontsize=10)
    left.legend(frameon=False)
    shown = lost[:_SHOWN]
    bars = right.barh(range(len(shown)), [count for _, count in shown], color=_BLUE)
    right.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=8)
    right.set_yticks(range(len(shown)), [_label(edge) for edge, _ in shown], fontsize=8, parse_math=False)
    right.invert_yaxis()
    right.margins(x=0.15)
    right.set_xlabel("how often in the original")
    right.set_title(lost_title, fontsize=10)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title)
    return rendered(figure, form)


def draw_panels(rows: Sequence[Sequence[Panel]], title: str, form: PictureFormat) -> bytes:
    """Draw rows of panels with lines; the same line has the same style everywhere."""
    figure = new_figure((11, 1.2 + 2.8 * len(rows) if len(rows) > 1 else 5.2))
    axes_of = figure.subplots(len(rows), len(rows[0]), squeeze=False)
    styles = line_styles()
    style_of: dict[str, dict[str, Any]] = {}
    for row, panels in zip(axes_of, rows, strict=True):
        for axes, panel in zip(row, panels, strict=True):
            for name, points in panel.lines.items():
                style = style_of.setdefault(name, next(styles))
                axes.plot([x for x, _ in points], [y for _, y in points], label=name, **style)
            axes.set_title(panel.title, fontsize=10)
            axes.set_xlabel(panel.x_label)
            axes.set_ylabel(panel.y_label)
            axes.set_yscale(panel.scale)
            if panel.scale == "linear":
                axes.set_ylim(0, panel.top)
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
    axes_of[0][0].legend(frameon=False, fontsize=8)
    if title:
        figure.suptitle(title)
    return rendered(figure, form)


def number(value: float) -> str:
    """Format a metric in few characters."""
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:,.0f}" if abs(value) < 10_000 else f"{value / 1000:,.0f}k"


# ------------------------------------------------------------------------------------------------------------- parts


def line_styles() -> Iterator[dict[str, Any]]:
    """Return the colours of Okabe and Ito with a marker each, so that they are distinct without colour."""
    while True:
        for dash in ("-", "--", ":"):
            for colour, marker in zip(_COLOURS, "osD^vP*", strict=True):
                yield {"color": colour, "marker": marker, "linestyle": dash, "markersize": 4}


def _two_panels() -> tuple[Any, Any, Any]:
    figure = new_figure((11, 5.2))
    return figure, *figure.subplots(1, 2, width_ratios=(3, 2))


def new_figure(size: tuple[float, float]) -> Any:
    """A figure of this size in inches, without a window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a picture", "plot") from None
    return Figure(figsize=size, layout="constrained")


def rendered(figure: Any, form: PictureFormat) -> bytes:
    """The content of a file with the figure."""
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # matplotlib warns about missing glyphs
        undated = {"CreationDate": None} if form == "pdf" else {"Date": None} if form == "svg" else None
        figure.savefig(content, format=form, dpi=110, metadata=undated)
    return content.getvalue()


def _draw_variants(axes: Any, release: ReleasedLog) -> None:
    """Draw the estimates rather than the counts in the file, which also represent what was not released."""
    counts_of, intervals, noun = release.estimated_counts, release.intervals, counted_noun(release.mechanism)
    ranked = sorted(range(len(release.variants)), key=lambda index: (-counts_of[index], release.variants[index]))
    shown = ranked[:_SHOWN]
    rows, counts = range(len(shown)), [max(counts_of[index], 0) for index in shown]
    errors = None
    if intervals is not None:
        ends = [intervals[index] for index in shown]
        errors = (
            [max(count - low, 0) for count, (low, _) in zip(counts, ends, strict=True)],
            [max(high - count, 0) for count, (_, high) in zip(counts, ends, strict=True)],
        )
    bars = axes.barh(rows, counts, xerr=errors if shown else None, color=_BLUE, alpha=0.6, capsize=2)
    axes.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=8)
    axes.set_yticks(rows, [_label(release.variants[index]) for index in shown], fontsize=8, parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    is_synthetic = release.mechanism.kind == "synthetic log"
    estimated = "generated" if is_synthetic else f"estimate{' and 95 % interval' if errors else ''}"
    axes.set_xlabel(f"number of {noun}: {estimated}")
    axes.set_title(
        "Most frequent traces, generated or released" if is_synthetic else "Most frequent variants", fontsize=10
    )
    axes.spines[["top", "right"]].set_visible(False)


def counted_noun(mechanism: Mechanism) -> str:
    """What an axis counts: of persons with several cases, not all cases count."""
    is_capped = mechanism.counted == "cases" and not mechanism.unit.is_case
    return "counted cases" if is_capped else count_noun(mechanism)


def _draw_keep_probability(axes: Any, mechanism: Mechanism) -> None:
    curve = mechanism.keep_curve()
    if curve is None or curve.rungs:
        axes.set_axis_off()
        axes.text(
            0.5, 0.5, f"With {mechanism.name}, what is released\ndepends on more than its own cases.", ha="center"
        )
        return
    points = curve.points()
    axes.plot([cases for cases, _ in points], [share for _, share in points], color=_ORANGE, marker=".")
    axes.set_ylim(0, 1.05)
    axes.set_xlabel(f"number of {counted_noun(mechanism)} of a variant in the original log")
    axes.set_ylabel("probability of release")
    axes.set_title("What is released", fontsize=10)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _label(trace: Trace) -> str:
    names = [_name(activity) for activity in trace]
    text = " → ".join(names if len(names) <= 8 else [*names[:6], f"… {len(names) - 7} more …", names[-1]])
    return text if len(text) <= 60 else text[:57] + "…"


def _name(activity: Activity) -> str:
    return " ".join((activity if isinstance(activity, str) else "/".join(activity)).split())


# -------------------------------------------------------------------------------------------------- experiments

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
