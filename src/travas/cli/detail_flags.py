"""The options of times and case attributes of synthetic logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, get_args

import typer

from ..errors import ParameterError
from ..model.detail_options import TIMES_IF_RECORDED, Resolution
from .options import with_options

_PANEL = "Times and attributes"

DEFAULT_DETAILS: dict[str, Any] = {"times": TIMES_IF_RECORDED.describe(), "attributes": [], "shares": None}
"""What is described if no option is set."""


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
    "resolution": _option(
        str | None, "To what generated times are rounded. Default: second.", "|".join(get_args(Resolution))
    ),
    "shares": _option(
        str | None,
        "Parts of the budget: times=0.25,attributes=0.1 (the default); the rest is for the control flow.",
        "PARTS",
    ),
}


def with_details(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the `details` parameter of a command with the options of times and attributes."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        chosen = {name: values.pop(name) for name in _OPTIONS}
        times = _times(chosen["without"], chosen["zone"], chosen["resolution"])
        attributes = _attributes(chosen["attribute"] or [], chosen["bins"] or [])
        return {"details": {"times": times, "attributes": attributes, "shares": chosen["shares"]}}

    return with_options(command, "details", _OPTIONS, collect)


def _times(without: str | None, zone: str | None, resolution: str | None) -> dict[str, Any] | None:
    """Described times: required if something is said about them."""
    said = {name: value for name, value in (("zone", zone), ("resolution", resolution)) if value is not None}
    if without is None:
        return said or TIMES_IF_RECORDED.describe()
    if without != "times":
        raise ParameterError(f"--without is {without!r}; use --without times")
    for name in said:
        raise ParameterError(f"--{name} is set but times are left out; remove --{name} or --without", field=name)
    return None


def _attributes(names: list[str], bins: list[str]) -> list[dict[str, Any]]:
    """Described attributes: an attribute with bins is a number, also if it is named by --attribute too."""
    edges: dict[str, list[str]] = {}
    for text in bins:
        name, equals, numbers = text.rpartition("=")
        if not equals or not name or not numbers.strip():
            raise ParameterError(f"--bins is {text!r}; use NAME=1,2,5", field="bins")
        if name in edges:
            raise ParameterError(f"--bins is set twice for {name!r}; set it once", field="bins")
        edges[name] = [number.strip() for number in numbers.split(",")]
    return [{"name": name, "bins": edges.get(name, [])} for name in dict.fromkeys([*names, *edges])]
