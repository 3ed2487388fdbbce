"""The process map on the page."""

from __future__ import annotations

from nicegui import ui

from ..plots.html import BROWSER
from ..plots.map_graph import ProcessGraph


class MapElement(ui.element, component="browser/process_map.js", esm={"travas-maps": str(BROWSER)}):
    """A process map. Names are text in it."""

    def __init__(self, graph: ProcessGraph, name: str = "") -> None:
        """Show a map."""
        super().__init__()
        self._props["model"] = graph.model()
        self._props["name"] = name
