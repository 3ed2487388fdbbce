"""Forecasts and comparisons as pictures and in notebooks. All that is computed from the original log is marked confidential."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..errors import CONFIDENTIAL_HEADING
from ..log.log import Log
from ..mechanisms.mechanism import Mechanism
from ..outputs.pictures import write_picture
from ..plots.chevrons import chevrons
from ..plots.figures import Panel, draw_panels, draw_survival
from ..plots.notebook_parts import fragment, heading, paragraph, table, warning
from ..trusted.numbers import as_text
from .metrics import EdgeDifference, directly_follows_difference

if TYPE_CHECKING:
    from .forecast import Chance, Expected, Forecast


def forecast_html(cells: Sequence[Expected], sentences: Sequence[str]) -> str:
    """Show a forecast in a notebook. Confidential."""
    abstractions = list(map(str, dict.fromkeys(cell.abstraction for cell in cells)))
    parts = [warning(CONFIDENTIAL_HEADING), heading("Forecast")]
    for what in ("cases", "variants"):
        rows: dict[tuple[str, str], list[str]] = {}
        for cell in cells:
            shares = rows.setdefault((as_text(cell.epsilon), as_text(cell.delta)), [])
            shares.append(f"{float(getattr(cell, what)):.0%}")
        parts.append(paragraph(f"Expected share of the {what} kept"))
        parts.append(table(["ε", "δ", *abstractions], [[*at, *shares] for at, shares in rows.items()]))
    parts += map(paragraph, sentences)
    return fragment(parts)


def comparison_html(
    values: Mapping[str, Any], meanings: Mapping[str, str], words: Mapping[str, str], remarks: Sequence[str]
) -> str:
    """Show a comparison in a notebook. Confidential."""
    parts = [warning(CONFIDENTIAL_HEADING), heading("Comparison with the original log")]
    numbers = [(name, text) for name, value in values.items() if (text := _in_one_line(value)) is not None]
    rows = [[name.replace("_", " "), text, meanings[name]] for name, text in numbers]
    parts += [table(["Metric", "Value", "Meaning"], rows)] if rows else []
    parts += [table(["Compared", "Result"], words.items())] if words else []
    if ranked := values.get("top_variants"):
        rows = [[f"{count:,}", f"{other:,}", Markup(chevrons(trace))] for trace, count, other in ranked]
        parts += [paragraph("Most frequent original variants"), table(["Original", "Released", "Variant"], rows)]
    parts += [paragraph(f"Note: {remark}.") for remark in remarks]
    return fragment(parts)


def _in_one_line(value: Any) -> str | None:
    """Format a value in one line; None for tables."""
    if isinstance(value, EdgeDifference):
        return f"{len(value.lost):,} lost, {len(value.added):,} new, {value.kept:,} kept"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
    return None


def draw_comparison(original: Log, released: Log, path: Path) -> Path:
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
