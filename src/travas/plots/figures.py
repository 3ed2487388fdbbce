"""Pictures: of a release, public; of a comparison with the original log, confidential and marked as such."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CONFIDENTIAL_HEADING, MissingExtraError, OutputError
from ..evaluation.grid import ORIGINAL, Grid
from ..evaluation.metrics import directly_follows_difference
from ..model.mechanism import Mechanism
from ..model.release import Release
from ..model.variants import Activity, Trace, Variants
from ..privacy.numbers import as_text
from ..sources.chunks import check_folder

if TYPE_CHECKING:
    import polars as pl

    from ..evaluation.forecast import Chance, Forecast

_BLUE, _ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito: told apart by colour-blind readers, and in grey
_COLOURS = (_BLUE, _ORANGE, "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
_SHOWN = 15


def draw_release(release: Release, path: Path) -> Path:
    """The most frequent variants with their counts, and how likely a variant of n cases was released."""
    figure, left, right = _two_panels(path)
    _draw_variants(left, release)
    _draw_keep_probability(right, release.mechanism)
    guarantee = release.guarantee
    rules = f" · {', '.join(map(str, release.used_abstractions))}" if release.is_abstracted else ""
    figure.suptitle(
        f"{len(release.variants):,} variants released · ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)} "
        f"· {guarantee.standing}{rules}",
        parse_math=False,
    )
    return _save(figure, path)


def draw_comparison(original: Variants, released: Variants, path: Path) -> Path:
    """Frequencies of the original variants before and after on a log scale, and the steps that are lost. Confidential."""
    figure, left, right = _two_panels(path)
    true, counts = dict(original.items()), dict(released.items())
    ranked = sorted(true, key=lambda trace: (-true[trace], trace))
    places = range(1, len(ranked) + 1)
    left.loglog(places, [true[trace] for trace in ranked], color=_BLUE, label="original")
    kept = [(place, counts[trace]) for place, trace in zip(places, ranked, strict=True) if trace in counts]
    left.loglog([p for p, _ in kept], [n for _, n in kept], ".", color=_ORANGE, label="released", markersize=4)
    left.set_xlabel("variant, by its original frequency")
    left.set_ylabel("cases")
    left.set_title("Frequencies of the variants", fontsize=10)
    left.legend(frameon=False)
    difference = directly_follows_difference(true, counts)
    lost = list(difference.lost.items())[:_SHOWN]
    bars = right.barh(range(len(lost)), [count for _, count in lost], color=_BLUE)
    right.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=8)
    right.set_yticks(range(len(lost)), [_label(edge) for edge, _ in lost], fontsize=8, parse_math=False)
    right.invert_yaxis()
    right.margins(x=0.15)
    right.set_xlabel("how often in the original")
    right.set_title(f"Steps lost: {len(difference.lost):,} of {len(difference.lost) + difference.kept:,}", fontsize=10)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(CONFIDENTIAL_HEADING)
    return _save(figure, path)


def draw_chances(curves: Sequence[tuple[Mechanism, Sequence[Chance]]], path: Path) -> Path:
    """How likely variants are kept by their number of cases, and how wide the interval of their frequency is. No log."""
    figure, left, right = _two_panels(path)
    for (rule, points), style in zip(curves, _styles(), strict=False):
        label = f"ε = {as_text(rule.epsilon)}, δ = {as_text(rule.delta)}"
        cases = [at.cases for at in points]
        left.plot(cases, [float(at.kept) for at in points], label=label, **style)
        right.plot(cases, [at.high - at.low for at in points], label=label, **style)
    left.set_ylabel("probability to be released")
    left.set_ylim(0, 1.05)
    left.legend(frameon=False, fontsize=8)
    right.set_ylabel("width of the interval (95 %), cases")
    right.set_ylim(bottom=0)
    for axes, title in ((left, "What is released"), (right, "How well its frequency is then known")):
        axes.set_xlabel("true number of cases of a variant")
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    return _save(figure, path)


def draw_forecast(found: Forecast, path: Path) -> Path:
    """Expected shares of cases and variants kept, by ε, a line for each abstraction, a row of panels for each δ. Confidential."""
    deltas = list(dict.fromkeys(cell.delta for cell in found.cells))
    figure = _figure(path, (11, 1.2 + 2.8 * len(deltas)))
    panels = figure.subplots(len(deltas), 2, sharex=True, sharey=True, squeeze=False)
    for row, delta in zip(panels, deltas, strict=True):
        for axes, what in zip(row, ("cases", "variants"), strict=True):
            for abstraction, style in zip(dict.fromkeys(c.abstraction for c in found.cells), _styles(), strict=False):
                cells = [c for c in found.cells if c.delta == delta and c.abstraction == abstraction]
                shares = [float(getattr(cell, what)) for cell in cells]
                axes.plot([as_text(cell.epsilon) for cell in cells], shares, label=str(abstraction), **style)
            axes.set_title(f"{what}, δ = {as_text(delta)}", fontsize=10)
            axes.set_ylim(0, 1.05)
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("expected share kept")
    for axes in panels[-1]:
        axes.set_xlabel("ε")
    panels[0][1].legend(frameon=False, fontsize=8)
    figure.suptitle(CONFIDENTIAL_HEADING)
    return _save(figure, path)


def _styles() -> Iterator[dict[str, Any]]:
    """Colours of Okabe and Ito with a marker each: told apart without colour too."""
    for dash in ("-", "--", ":"):
        for colour, marker in zip(_COLOURS, "osD^vP*", strict=True):
            yield {"color": colour, "marker": marker, "linestyle": dash, "markersize": 4}


def draw_experiment(grid: Grid, results: pl.DataFrame, folder: Path) -> list[Path]:
    """A picture for each log and metric: ε by δ, mechanisms side by side, one scale, the original's value. Confidential."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made, {error.strerror}; choose another place") from None
    return [
        _draw_heatmaps(grid, results, log.name, metric, folder / f"{log.name}-{metric}.png".replace("/", "_"))
        for log in grid.logs
        for metric in grid.metrics
    ]


def _draw_heatmaps(grid: Grid, results: pl.DataFrame, log: str, metric: str, path: Path) -> Path:
    import polars as pl

    mine = results.filter(pl.col("log") == log).select("label", "epsilon", "delta", metric)
    original = mine.filter(pl.col("label") == ORIGINAL)[metric][0]
    cells = mine.group_by("label", "epsilon", "delta").agg(pl.col(metric).mean(), failed=pl.col(metric).is_null().any())
    found = {row[:3]: math.nan if row[4] else row[3] for row in cells.rows()}
    epsilons = list(dict.fromkeys(value for entry in grid.entries for value in entry.epsilon))
    deltas = list(dict.fromkeys(value for entry in grid.entries for value in entry.delta))
    shown = [value for (label, _, _), value in found.items() if label != ORIGINAL and not math.isnan(value)]
    figure = _figure(path, (2.9 * len(grid.entries) + 0.9, 3.3))
    panels = figure.subplots(1, len(grid.entries), sharey=True, squeeze=False)[0]
    for axes, entry in zip(panels, grid.entries, strict=True):
        values = [[found.get((entry.label, epsilon, delta), math.nan) for delta in deltas] for epsilon in epsilons]
        image = axes.imshow(
            values, cmap="cividis", vmin=min(shown, default=0), vmax=max(shown, default=1), aspect="auto"
        )
        axes.set_facecolor("0.85")  # shows where nothing was run, or a metric failed
        for row, line in enumerate(values):
            for column, value in enumerate(line):
                dark = not math.isnan(value) and image.norm(value) < 0.5
                axes.text(column, row, _number(value), ha="center", va="center", fontsize=8, color="w" if dark else "k")
        axes.set_xticks(range(len(deltas)), deltas)
        axes.set_yticks(range(len(epsilons)), epsilons)
        axes.set_xlabel("δ")
        axes.set_title(entry.label, fontsize=10, parse_math=False)
    panels[0].set_ylabel("ε")
    figure.colorbar(image, ax=panels, pad=0.01)
    runs = grid.metrics[metric]
    title = (
        f"{log}: {metric.replace('_', ' ')}, mean of {runs} run{'s' if runs > 1 else ''} (original {_number(original)})"
    )
    figure.suptitle(title, fontsize=11, parse_math=False)
    return _save(figure, path)


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:,.0f}" if abs(value) < 10_000 else f"{value / 1000:,.0f}k"


def _two_panels(path: Path) -> tuple[Any, Any, Any]:
    figure = _figure(path, (11, 5.2))
    return figure, *figure.subplots(1, 2, width_ratios=(3, 2))


def _figure(path: Path, size: tuple[float, float]) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a picture", "plot") from None
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise OutputError(f"{path}: not a picture I can draw by its suffix; take .png, .svg or .pdf")
    check_folder(path)
    return Figure(figsize=size, layout="constrained")


def _save(figure: Any, path: Path) -> Path:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # matplotlib, about letters its font does not have
            figure.savefig(path, dpi=110)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written, {error.strerror}; choose another place") from None
    return path


def _draw_variants(axes: Any, release: Release) -> None:
    ranked = sorted(zip(release.counts, release.variants, strict=True), key=lambda pair: (-pair[0], pair[1]))[:_SHOWN]
    places = range(len(ranked))
    bars = axes.barh(places, [count for count, _ in ranked], color=_BLUE)
    axes.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=8)
    axes.set_yticks(places, [_label(trace) for _, trace in ranked], fontsize=8, parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(f"number of {release.mechanism.noun}, {release.frequencies}")
    axes.set_title("Most frequent variants", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_keep_probability(axes: Any, mechanism: Mechanism) -> None:
    last = mechanism.surely_kept()
    if last is None:
        axes.set_axis_off()
        axes.text(
            0.5, 0.5, f"With {mechanism.name}, what is released\ndepends on more than its own cases.", ha="center"
        )
        return
    cases = sorted({1 + (last * step) // 200 for step in range(201)})
    axes.plot(cases, [float(mechanism.keep_probability(number) or 0) for number in cases], color=_ORANGE, marker=".")
    axes.set_ylim(0, 1.05)
    axes.set_xlabel(f"true number of {mechanism.noun} of a variant")
    axes.set_ylabel("probability to be released")
    axes.set_title("What is released", fontsize=10)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _label(trace: Trace) -> str:
    names = [_name(activity) for activity in trace]
    text = " → ".join(names if len(names) <= 8 else [*names[:6], f"… {len(names) - 7} more …", names[-1]])
    return text if len(text) <= 60 else text[:57] + "…"


def _name(activity: Activity) -> str:
    return " ".join((activity if isinstance(activity, str) else "/".join(activity)).split())
