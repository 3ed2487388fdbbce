"""How a release is written, drawn and turned into a table: the only references to the layers above, by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

WAYS_OUT = {
    "write": "travas.outputs.write:write_release",
    "polars": "travas.outputs.tables:polars_events",
    "pandas": "travas.outputs.tables:pandas_events",
    "draw": "travas.plots.figures:draw_release",
}


def way_out(name: Literal["write", "polars", "pandas", "draw"]) -> Any:
    """The function of this name, imported when it is first used.

    Args:
        name: A key of `WAYS_OUT`.

    Returns:
        A function whose first argument is the release.
    """
    module, function = WAYS_OUT[name].split(":")
    return getattr(import_module(module), function)
