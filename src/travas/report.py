"""Pictures: of a release, public; of a comparison with the true log, private and marked so."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from .errors import MissingExtraError, OutputError
from .mechanisms.selection import PartitionSelection
from .metrics import directly_follows_difference
from .privacy import as_text
from .release import Release
from .variants import Activity, Trace, Variants

_BLUE, _ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito: told apart by colour-blind readers, and in grey
_SHOWN = 15


def draw_release(release: Release, path: Path) -> Path:
    """The most frequent variants with their counts, and how likely a variant of n cases was released."""
    figure, left, right = _two_panels(path)
    _draw_variants(left, release)
    if isinstance(release.mechanism, PartitionSelection):
        _draw_keep_probability(right, release.mechanism)
    guarantee = release.guarantee
    figure.suptitle(
        f"{len(release.variants):,} variants released · ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)} "
        f"· {guarantee.standing}",
        parse_math=False,
    )
    return _save(figure, path)


def draw_comparison(original: Variants, private: Variants, path: Path) -> Path:
    """Frequencies of the original variants before and after on a log scale, and the steps that are lost. Private."""
    figure, left, right = _two_panels(path)
    true, released = dict(original.items()), dict(private.items())
    ranked = sorted(true, key=lambda trace: (-true[trace], trace))
    places = range(1, len(ranked) + 1)
    left.loglog(places, [true[trace] for trace in ranked], color=_BLUE, label="original")
    kept = [(place, released[trace]) for place, trace in zip(places, ranked, strict=True) if trace in released]
    left.loglog([p for p, _ in kept], [n for _, n in kept], ".", color=_ORANGE, label="private", markersize=4)
    left.set_xlabel("variant, by its original frequency")
    left.set_ylabel("cases")
    left.set_title("Frequencies of the variants", fontsize=10)
    left.legend(frameon=False)
    difference = directly_follows_difference(true, released)
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
    figure.suptitle("PRIVATE: measured against the true log, do not publish")
    return _save(figure, path)


def _two_panels(path: Path) -> tuple[Any, Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a picture", "plot") from None
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise OutputError(f"{path}: not a picture I can draw by its suffix; take .png, .svg or .pdf")
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    return figure, *figure.subplots(1, 2, width_ratios=(3, 2))


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
    axes.set_xlabel(f"number of cases, {release.frequencies}")
    axes.set_title("Most frequent variants", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_keep_probability(axes: Any, mechanism: PartitionSelection) -> None:
    last = mechanism.minimum_cases - 1 + mechanism.noise.table.length
    cases = sorted({1 + (last * step) // 200 for step in range(201)})
    axes.plot(cases, [float(mechanism.keep_probability(number)) for number in cases], color=_ORANGE, marker=".")
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("true number of cases of a variant")
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
