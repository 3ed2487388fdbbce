"""Figures of evaluation results. All but `draw_chances` show values of the original log and are marked confidential."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CONFIDENTIAL_HEADING
from ..model.mechanism import Mechanism
from ..model.variants import Variants
from ..outputs.picture_file import write_picture
from ..plots.figures import Panel, draw_panels, draw_survival
from ..trusted.numbers import as_text
from .metrics import directly_follows_difference

if TYPE_CHECKING:
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
