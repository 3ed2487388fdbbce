"""The options of times and case attributes of synthetic logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, get_args

import typer

from ..log.options import Resolution
from .options import with_options

_PANEL = "Times and attributes"


def _option(kind: Any, about: str, metavar: str) -> tuple[Any, Any]:
    return Annotated[kind, typer.Option(help=about, metavar=metavar, rich_help_panel=_PANEL)], None


_OPTIONS = {
    "without": _option(
        str | None, "Leave out times. Default: times are released if the log has a time column.", "times"
    ),
    "attribute": _option(
        list[str] | None, "Case attribute to release: a column, or in XES a trace attribute; repeatable.", "NAME"
    ),
    "bins": _option(
        list[str] | None,
        "Numeric case attribute to release, with increasing edges chosen without looking at the log, such as "
        "amount=0,10,20,50,100; repeatable.",
        "NAME=EDGES",
    ),
    "zone": _option(str | None, "Time zone of weeks, weekdays and hours. Default: UTC.", "Europe/Berlin"),
    "resolution": _option(str | None, "Precision of generated times. Default: second.", "|".join(get_args(Resolution))),
    "shares": _option(
        str | None,
        "Parts of the budget: times=0.25,attributes=0.1 (the default); the rest is for the control flow.",
        "PARTS",
    ),
}


def with_details(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the `details` parameter of a command with the options of times and attributes."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        return {"details": {name: values.pop(name) for name in _OPTIONS}}

    return with_options(command, "details", _OPTIONS, collect)
