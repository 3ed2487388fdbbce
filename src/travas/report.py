"""Pictures. Everything drawn here is made from a release: public."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from .errors import MissingExtraError, OutputError
from .mechanisms.selection import PartitionSelection
from .privacy import as_text
from .release import Release
from .variants import Activity, Trace

_BLUE, _ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito: told apart by colour-blind readers, and in grey
_SHOWN = 15


def draw_release(release: Release, path: Path) -> Path:
    """The most frequent variants with their noisy counts, and how likely a variant of n cases was released."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a picture", "plot") from None
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise OutputError(f"{path}: not a picture I can draw by its suffix; take .png, .svg or .pdf")
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_variants(left, release)
    if isinstance(release.mechanism, PartitionSelection):
        _draw_keep_probability(right, release.mechanism)
    guarantee = release.guarantee
    figure.suptitle(
        f"{len(release.variants):,} variants released · ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)} "
        f"· {guarantee.standing}",
        parse_math=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # matplotlib, about letters its font does not have
        figure.savefig(path, dpi=110)
    return path


def _draw_variants(axes: Any, release: Release) -> None:
    ranked = sorted(zip(release.counts, release.variants, strict=True), key=lambda pair: (-pair[0], pair[1]))[:_SHOWN]
    places = range(len(ranked))
    bars = axes.barh(places, [count for count, _ in ranked], color=_BLUE)
    axes.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=8)
    axes.set_yticks(places, [_label(trace) for _, trace in ranked], fontsize=8, parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel("noisy number of cases")
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
