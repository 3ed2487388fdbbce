"""Forecasts and comparisons in notebooks. Both are marked: they are computed from the original log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..errors import CONFIDENTIAL_HEADING
from ..plots.chevrons import chevrons, colours_of
from ..plots.notebook_parts import fragment, heading, paragraph, table, warning
from ..trusted.numbers import as_text
from .metrics import EdgeDifference

if TYPE_CHECKING:
    from .forecast import Expected


def forecast_html(cells: Sequence[Expected], sentences: Sequence[str]) -> str:
    """Show a forecast in a notebook. Confidential.

    Args:
        cells: The expected shares by ε, δ and abstraction.
        sentences: The recommendation, and what looking at the log costs.

    Returns:
        HTML without scripts, marked.
    """
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
    """Show a comparison in a notebook. Confidential.

    Args:
        values: The values of metrics by name.
        meanings: What each of them means.
        words: What is said about a process map, or about times and attributes, by its name.
        remarks: Remarks about the two logs.

    Returns:
        HTML without scripts, marked.
    """
    parts = [warning(CONFIDENTIAL_HEADING), heading("Comparison with the original log")]
    numbers = [(name, text) for name, value in values.items() if (text := _in_one_line(value)) is not None]
    rows = [[name.replace("_", " "), text, meanings[name]] for name, text in numbers]
    parts += [table(["Metric", "Value", "Meaning"], rows)] if rows else []
    parts += [table(["Compared", "Result"], words.items())] if words else []
    if ranked := values.get("top_variants"):
        colours = colours_of([trace for trace, _, _ in ranked], [count for _, count, _ in ranked])
        rows = [[f"{count:,}", f"{other:,}", Markup(chevrons(trace, colours))] for trace, count, other in ranked]
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
