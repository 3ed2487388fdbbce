"""Times and case attributes of synthetic logs as text: what flags and project files set, for a mechanism's description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ParameterError, shown
from .detail_options import TimesRule


def described_details(
    without: str | None = None,
    attribute: Sequence[str] = (),
    bins: Sequence[str] = (),
    zone: str | None = None,
    resolution: str | None = None,
) -> dict[str, Any]:
    """Describe times and attributes, as part of the description of a mechanism.

    Args:
        without: `times` leaves out times; by default they are released if the log has a time column.
        attribute: Names of case attributes.
        bins: Numeric case attributes with increasing edges, such as `age=0,20,40`.
        zone: The time zone of weeks, weekdays and hours. Times are required if it is set.
        resolution: The precision to which generated times are rounded down. Times are required if it is set.

    Returns:
        The descriptions by name.
    """
    return {"times": _times(without, zone, resolution), "attributes": _attributes(attribute, bins)}


def _times(without: str | None, zone: str | None, resolution: str | None) -> dict[str, Any] | None:
    """Described times: those of the default if nothing is said about them."""
    said = {name: value for name, value in (("zone", zone), ("resolution", resolution)) if value is not None}
    if without is None:
        return said
    if without != "times":
        raise ParameterError(f"without is {shown(without)}; use 'times', or leave it out", field="without")
    for name in said:
        raise ParameterError(f"{name} is set but times are left out; remove {name} or without", field=name)
    return None


def _attributes(names: Sequence[str], bins: Sequence[str]) -> list[dict[str, Any]]:
    """Described attributes: an attribute with bins is a number, also if it is named on its own too."""
    edges: dict[str, list[str]] = {}
    for text in bins:
        name, equals, numbers = text.rpartition("=")
        if not equals or not name or not numbers.strip():
            raise ParameterError(f"bins is {shown(text)}; use NAME=1,2,5", field="bins")
        if name in edges:
            raise ParameterError(f"bins is set twice for {shown(name)}; set it once", field="bins")
        edges[name] = [number.strip() for number in numbers.split(",")]
    return [{"name": name, "bins": edges.get(name, [])} for name in dict.fromkeys([*names, *edges])]


def times_rule(stated: Mapping[str, Any]) -> TimesRule:
    """Return whether times are required: if something is said about them."""
    return "required" if stated.get("zone") or stated.get("resolution") else "if recorded"
