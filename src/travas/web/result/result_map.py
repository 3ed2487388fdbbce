"""The tab Map of a release."""

from __future__ import annotations

from typing import cast

from ...plots.map_graph import ProcessGraph, directly_follows, released_graph
from ...releases.process_map import MapRelease
from ...releases.release import Release, ReleasedLog
from ..map_element import MapElement, shown_part
from ..parts import note


def draw_map(release: Release) -> None:
    """Show the map of a release: its own numbers, or how often activities follow each other in its traces."""
    graph = map_of_release(release)
    if not graph.pairs:
        note("The map is empty.")
        return
    MapElement([("process map", shown_part(graph))], name="process-map").classes("map-tab")
    note(" ".join(graph.captions))


def map_of_release(release: Release) -> ProcessGraph:
    """Return the map of any release, with captions that say where its numbers come from."""
    if isinstance(release, MapRelease):
        return released_graph(release)
    release = cast(ReleasedLog, release)
    numbers = (
        "How often an activity directly follows another in the synthetic log, including generated cases."
        if release.mechanism.kind == "synthetic log"
        else "How often an activity directly follows another, by the estimates of the released variants."
    )
    return directly_follows(release.variants, release.estimated_counts).captioned(numbers)
