"""The tab Map of a release."""

from __future__ import annotations

from ...plots.map_graph import release_graph
from ...releases.release import Release
from ..map_element import MapElement
from ..parts import note


def draw_map(release: Release) -> None:
    """Show the map of a release: its own numbers, or how often activities follow each other in its traces."""
    graph = release_graph(release)
    if graph.paths:
        MapElement(graph, name="process-map")
    else:
        note("The map is empty.")
