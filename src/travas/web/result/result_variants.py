"""The tab Variants of a release: all traces by estimate, with intervals, chevrons, search and the coverage curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nicegui.elements.aggrid  # noqa: F401 (makes AG Grid known to the page)
from nicegui import ui

from ... import explain
from ...plots.charts import coverage_curve
from ...plots.chevrons import colour_of
from ...plots.svg import activity_text
from ...releases.release import ReleasedLog, VariantRelease, count_noun, frequencies_of
from ...releases.synthetic_log import SyntheticRelease
from ..parts import note

MOST_ROWS = 10_000
"""What the table shows at most; the files have all."""


class VariantTable(ui.element, component="../browser/variant_table.js"):
    """A table of traces that scrolls however long it is. Names are text in it."""

    def __init__(self, rows: Sequence[dict[str, Any]], names: Sequence[str], columns: dict[str, str]) -> None:
        """Show traces."""
        super().__init__()
        self._props["rows"], self._props["columns"] = list(rows), columns
        self._props["names"], self._props["colours"] = list(names), [colour_of(name) for name in names]


def draw_variants(release: ReleasedLog) -> None:
    """Show the traces of a release."""
    ranked = ranking(release)
    if not ranked:
        note("The release has no traces.")
        return
    rows, names = variant_rows(release, ranked[:MOST_ROWS])
    VariantTable(rows, names, headings(release)).classes("variant-table")
    for words in remarks(release, len(ranked)):
        note(words)
    estimated = release.estimated_counts
    missing = release.estimate.missing_cases if isinstance(release, VariantRelease) else None
    total = sum(estimated) + (missing or 0)
    picture = coverage_curve([estimated[index] for index in ranked], total, _noun(release))
    ui.html(picture, sanitize=False).classes("fit")


def ranking(release: ReleasedLog) -> list[int]:
    """Return the indexes of the variants in the order in which they are shown: by estimate, then by name."""
    estimates = release.estimated_counts
    return sorted(range(len(estimates)), key=lambda index: (-estimates[index], release.variants[index]))


def headings(release: ReleasedLog) -> dict[str, str]:
    """Return the columns of the table, with their headings."""
    if _is_synthetic(release):
        return {"value": "Cases", "origin": "Origin"}
    interval = {"interval": "95 % interval"} if release.intervals else {}
    rule = {"rule": "Abstraction"} if release.is_abstracted else {}
    in_file = {} if frequencies_of(release) == "estimated" else {"count": "Count in the file"}
    return {"value": f"Estimated number of {count_noun(release.mechanism)}"} | interval | rule | in_file


def variant_rows(release: ReleasedLog, ranked: Sequence[int]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of the table in this order, and the names that their traces refer to."""
    numbers: dict[str, int] = {}
    estimated, intervals = release.estimated_counts, release.intervals
    rows = []
    for index in ranked:
        trace = [numbers.setdefault(activity_text(activity), len(numbers)) for activity in release.variants[index]]
        row: dict[str, Any] = {
            "trace": trace,
            "value": round(estimated[index], 1),
            "count": release.counts[index],
        }
        if intervals:
            row["low"], row["high"] = intervals[index]
        if release.is_abstracted:
            row["rule"] = release.rules[index]
        if isinstance(release, SyntheticRelease):
            row["origin"] = release.origins[index]
        rows.append(row)
    return rows, list(numbers)


def remarks(release: ReleasedLog, number: int) -> list[str]:
    """Return what to know about the table."""
    sentences = []
    if number > MOST_ROWS:
        sentences.append(f"The {MOST_ROWS:,} most frequent of {number:,} traces: the files have them all.")
    if _is_synthetic(release):
        return [*sentences, "Origin: released is a variant of the original log; generated need not occur in it."]
    if release.is_abstracted:
        sentences.append(
            "Abstraction: the public rule by which the trace was generalised before it was counted; full is unchanged."
        )
    about = explain.COUNT_IN_FILE[frequencies_of(release)]
    return [*sentences, f"{about} It adds up to {sum(release.counts):,} {explain.pairs(release.mechanism)}."]


def _is_synthetic(release: ReleasedLog) -> bool:
    return isinstance(release, SyntheticRelease)


def _noun(release: ReleasedLog) -> str:
    return "generated cases" if _is_synthetic(release) else explain.pairs(release.mechanism)
