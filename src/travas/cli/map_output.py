"""Output of the command line about a process map. All of it is public."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ..maps.map_release import NOTICE, MapNode, MapRelease
from ..model import explain
from ..outputs.standard_output import StandardOutput
from ..plots.svg import name_of, printable
from ..privacy.guarantee import Standing
from ..privacy.numbers import as_text, rounded_up
from ..synthesis.measured_numbers import MeasuredNumber
from .console import grid, panel

SHOWN = 12
"""The number of pairs in the table on the screen; the file has all."""


def map_facts(released: MapRelease, output: Path | StandardOutput, stated_cases: int | None = None) -> dict[str, Any]:
    """Return the facts of a process map for `--json`. All of them are public."""
    from ..outputs.guarantee_file import guarantee_path

    guarantee, total = released.guarantee, released.total
    return {
        "release": str(output),
        "guarantee": str(guarantee_path(output)),
        "kind": released.mechanism.kind,
        "map": NOTICE,
        "activities": len(released.activities),
        "pairs": len(released.pairs),
        "expected_false_pairs": round(released.expected_false_pairs, 2),
        "cases_measured": [math.floor(total.low), math.ceil(total.high)],
        "parts": list(released.parts),
        "mechanism": guarantee.mechanism,
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "delta_spent": rounded_up(guarantee.delta_spent),
        "standing": str(guarantee.standing),
        "unit": guarantee.unit.name,
        "max_cases": guarantee.unit.max_cases,
        "warnings": [*explain.weak_protection(guarantee.epsilon, guarantee.delta, stated_cases), *_warnings(released)],
    }


def _warnings(released: MapRelease) -> list[str]:
    return [] if released.pairs else [explain.EMPTY_MAP]


def show_map(released: MapRelease, output: Path | StandardOutput, stated_cases: int | None = None) -> None:
    """Print the facts of a process map, and its most frequent pairs."""
    facts = map_facts(released, output, stated_cases)
    established = released.guarantee.standing is not Standing.NOT_ESTABLISHED
    title, colour = ("Process map", "green") if established else ("Process map WITHOUT a guarantee", "red")
    if established and facts["warnings"]:
        title, colour = "Process map, with warnings", "yellow"
    table = grid()
    table.add_row("release", facts["release"])
    table.add_row("guarantee", facts["guarantee"])
    table.add_row("map", f"{facts['activities']:,} activities, {facts['pairs']:,} directly-follows pairs")
    low, high = facts["cases_measured"]
    table.add_row("measured", f"{low:,} to {high:,} cases in the original log (95 %)")
    table.add_row("false pairs", f"about {facts['expected_false_pairs']:.1f} expected by noise alone")
    table.add_row(
        "protects",
        f"ε = {facts['epsilon']}, δ = {facts['delta']} for {released.guarantee.protects}: {facts['standing']}",
    )
    for warning in facts["warnings"]:
        table.add_row("warning", warning)
    for reason in released.guarantee.assumptions:
        table.add_row("assumed", reason)
    panel(table, title, colour)
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
    return printable(name_of(node.activity))


def _number(number: MeasuredNumber) -> str:
    return f"{round(number.value):,} ({math.floor(number.low):,} to {math.ceil(number.high):,})"
