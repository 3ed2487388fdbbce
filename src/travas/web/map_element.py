"""The process map on the page: pictures of `plots`, which Graphviz lays out in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from nicegui import ui

from ..plots.map_graph import IN_A_BROWSER, ProcessGraph
from ..plots.map_picture import UNPLACED, map_svg

"""What the sliders reach at most; the files have everything."""


class MapElement(
    ui.element,
    component="browser/process_map.js",
    esm={"travas-graphviz": "browser", "travas-map-view": str(files("travas.outputs").joinpath("map_view"))},
):
    """Process maps side by side: one layout, one zoom and one pair of sliders for all. Names are text in the pictures."""

    def __init__(self, graphs: Sequence[tuple[str, ProcessGraph]], name: str = "") -> None:
        """Show maps."""
        super().__init__()
        self._props["pictures"] = [{"label": label, "svg": map_svg(graph, UNPLACED)} for label, graph in graphs]
        self._props["name"] = name


def shown_part(graph: ProcessGraph) -> ProcessGraph:
    """What of a graph the sliders reach; captions are written next to the map."""
    return graph.most_frequent(*IN_A_BROWSER).captioned()
