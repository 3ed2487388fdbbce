"""CONFIDENTIAL: a release compared with the original log, for the tab Before and after."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import attrs

from ...evaluation.compare import METRICS, cases_of_pairs, compare
from ...log.abstraction import FULL
from ...log.log import Log
from ...log.questions import NO_DETAILS
from ...plots.map_graph import Noun, ProcessGraph, compared_graph, directly_follows
from ...plots.svg import activity_text
from ...releases.process_map import MapNode, MapRelease
from ...releases.release import Release, ReleasedLog
from ...sources.reading import Reading
from ..jobs import JobWatch
from ..tasks import read_log

StepCounts = Counter[tuple[str, str]]
"""Numbers by pair of names; the empty name is the start, or the end, of a case."""


@dataclass(frozen=True)
class Difference:
    """A pair of activities, and how often it occurs in both logs."""

    before: str
    after: str
    original: float
    released: float


@dataclass(frozen=True)
class BeforeAfter:
    """CONFIDENTIAL: the metrics of `compare` in words, and how often activities follow each other in both logs."""

    metrics: tuple[tuple[str, str, str], ...]
    differences: tuple[Difference, ...]
    remarks: tuple[str, ...]
    noun: Noun


def compare_release(path: Path, name: str, reading: Reading, release: Release, watch: JobWatch) -> BeforeAfter:
    """Read the original log and compare a release with it. Confidential."""
    # of a map, times are not compared
    details = release.mechanism.details if release.mechanism.kind == "synthetic log" else NO_DETAILS
    plain = attrs.evolve(reading, abstraction=FULL, details=details)
    original = read_log(path, name, plain, watch)
    watch("comparing", 0.0)
    compared = compare(original, release)
    metrics = [
        (name.replace("_", " "), _words(value), METRICS[name].meaning) for name, value in compared.values.items()
    ]
    rows = (*(row for row in metrics if row[1]), *((name, text, "") for name, text in compared.in_words().items()))
    seen = reading.abstraction.of(original)
    if isinstance(release, MapRelease):
        truth = Counter({_names(pair): cases for pair, cases in cases_of_pairs(seen).items()})
        return BeforeAfter(rows, _differences(truth, _map_steps(release)), compared.remarks, "cases")
    return BeforeAfter(
        rows, _differences(_steps(seen), _release_steps(cast(ReleasedLog, release))), compared.remarks, "times"
    )


def both_graph(compared: BeforeAfter) -> ProcessGraph:
    """Both logs on one map."""
    rows = {(row.before or None, row.after or None): row for row in compared.differences}
    return compared_graph(
        {pair: row.original for pair, row in rows.items()},
        {pair: row.released for pair, row in rows.items()},
        compared.noun,
    )


def _differences(before: StepCounts, after: StepCounts) -> tuple[Difference, ...]:
    """All pairs, the largest difference first."""
    rows = [Difference(*pair, before[pair], after[pair]) for pair in {*before, *after}]
    return tuple(sorted(rows, key=lambda row: (-abs(row.original - row.released), row.before, row.after)))


def _names(pair: tuple[Any, Any]) -> tuple[str, str]:
    first, second = ("" if activity is None else activity_text(activity) for activity in pair)
    return first, second


def _steps(log: Log) -> StepCounts:
    traces = dict(log.items())
    return _of_graph(directly_follows(list(traces), list(traces.values())))


def _release_steps(release: ReleasedLog) -> StepCounts:
    return _of_graph(directly_follows(release.variants, release.estimated_counts))


def _of_graph(graph: ProcessGraph) -> StepCounts:
    steps: StepCounts = Counter()
    for (before, after), count in graph.by_names.items():
        steps[before or "", after or ""] = count  # type: ignore[assignment]  # an estimate
    return steps


def _map_steps(release: MapRelease) -> StepCounts:
    def name(node: MapNode) -> str:
        return activity_text(node.activity) if node.activity is not None else "(other)" if node.kind == "other" else ""

    steps: StepCounts = Counter()
    for pair in release.pairs:
        steps[name(pair.before), name(pair.after)] = max(1, round(pair.cases.value))
    return steps


def _words(value: Any) -> str:
    """A metric as text; empty if it is a table."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
