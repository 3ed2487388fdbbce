"""Output of the command line about a process map. All of it is public."""

from __future__ import annotations

import math
from typing import Any

from ..maps.map_release import NOTICE, MapNode, MapRelease
from ..plots.svg import activity_text, printable
from ..synthesis.measured_numbers import MeasuredNumber
from .console import grid, panel
from .guarantee_output import heading, protection

SHOWN = 12
"""The number of pairs in the table on the screen; the file has all."""


def content_facts(released: MapRelease) -> dict[str, Any]:
    """Return what `--json` states about a process map only."""
    total = released.total
    return {
        "kind": released.mechanism.kind,
        "map": NOTICE,
        "activities": len(released.activities),
        "pairs": len(released.pairs),
        "expected_false_pairs": round(released.expected_false_pairs, 2),
        "cases_measured": [math.floor(total.low), math.ceil(total.high)],
        "parts": list(released.parts),
    }


def show(released: MapRelease, facts: dict[str, Any]) -> None:
    """Print the facts of a process map, and its most frequent pairs."""
    table = grid()
    table.add_row("release", facts["release"])
    table.add_row("guarantee", facts["guarantee"])
    table.add_row("map", f"{facts['activities']:,} activities, {facts['pairs']:,} directly-follows pairs")
    low, high = facts["cases_measured"]
    table.add_row("measured", f"{low:,} to {high:,} cases in the original log (95 %)")
    table.add_row("false pairs", f"about {facts['expected_false_pairs']:.1f} expected by noise alone")
    table.add_row("privacy", protection(released.guarantee))
    for warning in facts["warnings"]:
        table.add_row("warning", warning)
    for reason in released.guarantee.assumptions:
        table.add_row("assumed", reason)
    panel(table, *heading("Process map", released.guarantee, facts["warnings"]))
    _show_pairs(released)


def _show_pairs(released: MapRelease) -> None:
    pairs = sorted(released.pairs, key=lambda pair: -pair.cases.value)[:SHOWN]
    if not pairs:
        return
    table = grid()
    for pair in pairs:
        table.add_row(f"{_name(pair.before)} → {_name(pair.after)}", _number(pair.cases))
    panel(table, f"Most frequent pairs ({len(pairs)} of {len(released.pairs):,}), in cases", "cyan")


def _name(node: MapNode) -> str:
    if node.activity is None:
        return f"({node.kind})"
    return printable(activity_text(node.activity))


def _number(number: MeasuredNumber) -> str:
    return f"{round(number.value):,} ({math.floor(number.low):,} to {math.ceil(number.high):,})"
