"""Output of the command line about released variants. All of it is public."""

from __future__ import annotations

from typing import Any

from ..errors import number_of
from ..model import explain
from ..model.release import VariantRelease
from .console import grid, panel
from .guarantee_output import heading, protection

_NOT_THE_SIZE = {
    "estimated": ", without what is not released",
    "spread": ", for similarity studies: each count has a share of what is not released",
}


def content_facts(released: VariantRelease) -> dict[str, Any]:
    """Return what `--json` states about released variants only."""
    interval = released.estimate.missing_cases_interval
    return {
        "variants": len(released.variants),
        "cases_in_file": sum(released.counts),
        "not_released_interval": None if interval is None else [round(end) for end in interval],
        "frequencies": released.frequencies,
        "abstractions": list(map(str, released.abstractions)),
        "counted": "cases" if released.mechanism.unit.is_case else released.mechanism.counted,
    }


def show(released: VariantRelease, facts: dict[str, Any]) -> None:
    """Print the facts of released variants."""
    unit, pairs = released.mechanism.unit, explain.pairs(released.mechanism)
    table = grid()
    table.add_row("release", facts["release"])
    table.add_row("guarantee", facts["guarantee"])
    table.add_row("variants", f"{facts['variants']:,}")
    missing = explain.of_missing(released.estimate, pairs)
    if missing is not None:
        table.add_row("not released", missing)
    size = "" if released.frequencies == "noisy" else _NOT_THE_SIZE[released.frequencies]
    table.add_row("in the file", f"{facts['cases_in_file']:,} {pairs} ({released.frequencies}){size}")
    table.add_row("privacy", protection(released.guarantee))
    for warning in facts["warnings"]:
        table.add_row("warning", warning)
    if not unit.is_case:
        table.add_row("counted", explain.counted_per(unit, released.mechanism.counted))
    table.add_row("mechanism", facts["mechanism"])
    if released.is_abstracted:
        for rung, rule in enumerate(released.abstractions):
            if times := released.rungs.count(rung):
                table.add_row("abstraction", f"{rule}: {number_of(times, 'variants')}")
    for reason in released.guarantee.assumptions:
        table.add_row("assumed", reason)
    panel(table, *heading("Released", released.guarantee, facts["warnings"]))
