"""CONFIDENTIAL: before and after, a release beside the original log, as plain values of JSON for a screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import attrs

from ..log.abstraction import FULL
from ..log.questions import NO_DETAILS
from ..plots.map_graph import ProcessGraph, compared_graph, directly_follows, released_map
from ..plots.svg import activity_text
from ..releases.process_map import MapRelease
from ..releases.release import Release, ReleasedLog, counted_of, details_of, kind_of
from ..sources.engine import read
from ..sources.reading import Reading
from .compare import METRICS, cases_of_pairs, compare

_STEPS = 12


def before_and_after(log: str, reading: Reading, made: Release, watch: Callable[[str, float], None]) -> dict[str, Any]:
    """CONFIDENTIAL: one map of both, the metrics of `compare`, and what has changed most."""
    details = details_of(made.mechanism) if kind_of(made.mechanism) == "synthetic log" else NO_DETAILS
    reading = reading.for_counts_of(counted_of(made.mechanism))
    plain = attrs.evolve(reading, abstraction=FULL, details=details)
    watch("reading the log", 0.0)
    original = read(log, plain, lambda share: watch("reading the log", share))
    watch("comparing", 0.0)
    compared = compare(original, made)
    metrics = [
        (name.replace("_", " "), f"{value:,}" if isinstance(value, int) else f"{value:.3f}", METRICS[name].meaning)
        for name, value in compared.values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    seen = reading.abstraction.of(original)
    if isinstance(made, MapRelease):
        pairs = cases_of_pairs(seen).items()
        truth = {_names(pair): float(cases) for pair, cases in pairs}
        graph = compared_graph(truth, released_map(made).by_names, "cases")
    else:
        traces = dict(seen.items())
        truth = dict(directly_follows(list(traces), list(traces.values())).by_names)
        log_made = cast(ReleasedLog, made)
        after = directly_follows(log_made.variants, log_made.estimated_counts).by_names
        graph = compared_graph(truth, after, "times")
    return {
        "map": graph.model(),
        "metrics": [*metrics, *((name, text, "") for name, text in compared.in_words().items())],
        "differences": _differences(graph),
        "remarks": compared.remarks,
    }


def _names(pair: tuple[Any, Any]) -> tuple[str | None, str | None]:
    before, after = (None if activity is None else activity_text(activity) for activity in pair)
    return before, after


def _differences(graph: ProcessGraph) -> list[tuple[str, str, str, str, str]]:
    names: Mapping[str, str] = {
        node.key: f"({node.kind})" if node.kind != "activity" else node.name for node in graph.nodes
    }
    ranked = sorted(graph.paths, key=lambda path: -abs(path.count - (path.original or 0)))[:_STEPS]
    return [
        (
            names[path.before],
            names[path.after],
            f"{path.original or 0:,.0f}",
            f"{path.count:,.0f}",
            f"{path.count - (path.original or 0):+,.0f}",
        )
        for path in ranked
    ]
