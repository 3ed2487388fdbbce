"""How a release is written, drawn and turned into a table: the only references to the layers above, by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

REGISTRY = {
    "write": "travas.outputs.write:write_release",
    "polars": "travas.outputs.event_tables:polars_events",
    "pandas": "travas.outputs.event_tables:pandas_events",
    "draw": "travas.outputs.picture_file:write_release_picture",
    "map table": "travas.outputs.map_writers:map_table",
    "draw map": "travas.outputs.map_files:write_map_picture",
    "html": "travas.outputs.notebook:release_html",
    "map model": "travas.evaluation.pm4py_models:write_model",
}


Registered = Literal["write", "polars", "pandas", "draw", "map table", "draw map", "html", "map model"]


def registered(name: Registered) -> Any:
    """The function of this name, imported when it is first used.

    Args:
        name: A key of `REGISTRY`.

    Returns:
        A function whose first argument is the release.
    """
    module, function = REGISTRY[name].split(":")
    return getattr(import_module(module), function)
