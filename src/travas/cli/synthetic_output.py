"""Output of the command line about a synthetic log. All of it is public."""

from __future__ import annotations

from typing import Any

from ..model.detail_options import BudgetShares
from ..synthesis.detail_words import details_in_words
from ..synthesis.synthetic_release import NOTICE, SyntheticRelease
from .console import grid, panel
from .guarantee_output import heading, protection


def content_facts(released: SyntheticRelease) -> dict[str, Any]:
    """Return what `--json` states about a synthetic log only."""
    quality = released.quality()
    return {
        "kind": released.mechanism.kind,
        "synthetic": NOTICE,
        "generation": released.generation,
        "cases_generated": sum(released.counts),
        "share_from_released_variants": round(released.share_released, 4),
        "variants": len(released.variants),
        "cases_measured": _interval(quality.cases.low, quality.cases.high),
        "noise_share": round(quality.noise_share, 4),
        "pairs": sum(pair.used for pair in quality.pairs),
        "pairs_mostly_noise": len(quality.mostly_noise),
        "timestamps": released.mechanism.timestamps,
        "attributes": [column.attribute for column in released.case_columns],
        "shares": released.mechanism.parameters().get("shares"),
    }


def show(released: SyntheticRelease, facts: dict[str, Any]) -> None:
    """Print the facts of a synthetic log."""
    table = grid()
    table.add_row("release", facts["release"])
    table.add_row("guarantee", facts["guarantee"])
    table.add_row("content", NOTICE)
    table.add_row("generated", f"{facts['cases_generated']:,} cases of {facts['variants']:,} variants")
    if facts["cases_generated"]:
        table.add_row("of these", f"{released.share_released:.1%} have a variant that was released as such")
    low, high = facts["cases_measured"]
    table.add_row("measured", f"{low:,} to {high:,} cases in the original log (95 %)")
    table.add_row("quality", released.quality().in_words())
    for name, text in details_in_words(released.quality()):
        table.add_row(name, text)
    if facts["shares"] is not None:
        table.add_row("budget", BudgetShares(facts["shares"]["times"], facts["shares"]["attributes"]).in_words())
    table.add_row("privacy", protection(released.guarantee))
    if released.generation == "again":
        table.add_row("charged", "nothing: generated again from measurements that were released before")
    for warning in facts["warnings"]:
        table.add_row("warning", warning)
    for reason in released.guarantee.assumptions:
        table.add_row("assumed", reason)
    panel(table, *heading("Synthetic log", released.guarantee, facts["warnings"]))


def _interval(low: float, high: float) -> list[int]:
    return [round(low), round(high)]
