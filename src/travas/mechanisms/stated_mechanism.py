"""The description of a mechanism from what a user states: flags, keys of a project file, or fields of the web app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ParameterError, shown
from ..log.options import TimesRule
from ..mechanisms import MECHANISMS
from ..trusted.guarantee import PrivacyUnit
from ..trusted.numbers import typed_whole_number
from .ladder import Ladder
from .selection import Optimal


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


DETAILS = ("without", "attribute", "bins", "zone", "resolution")
"""Settings of times and attributes, for mechanisms that release them."""

_NUMBERS = ("minimum_cases", "splits", "max_length", "prune")


def described_mechanism(stated: Mapping[str, Any], epsilon: str, delta: str, unit: PrivacyUnit) -> dict[str, Any]:
    """Describe the mechanism that a user states, for `from_description`.

    Args:
        stated: `mechanism`, by default `optimal`; `ladder`, the rungs of a ladder, which is then the mechanism and
            contradicts any other; options of the mechanism, whole numbers as text; and settings of times and attributes:
            see `described_details`. None is a setting that is not set.
        epsilon: ε for one unit.
        delta: δ for one unit.
        unit: The protected unit.

    Returns:
        The description. Values are checked when the mechanism is made.

    Raises:
        ParameterError: Settings contradict each other, or one is not a number.
    """
    options = {name: value for name, value in stated.items() if value is not None}
    name = options.pop("mechanism", Ladder.name if "ladder" in options else Optimal.name)
    if "ladder" in options:
        if name != Ladder.name:
            raise ParameterError(
                f"mechanism is {shown(name)} and ladder is also set; remove one of them", field="mechanism"
            )
        options["rungs"] = options.pop("ladder")
    for option in _NUMBERS:
        if isinstance(text := options.get(option), str):
            options[option] = typed_whole_number(text, option)
    details = {option: options.pop(option) for option in DETAILS if option in options}
    if has_details(name):
        options |= described_details(**details)
    elif details:
        option = next(iter(details))
        raise ParameterError(
            f"{option} is set but mechanism is {shown(name)}; set mechanism to 'synthesis', or remove {option}",
            field=option,
        )
    of_unit = {"name": unit.name, "max_cases": unit.max_cases}
    return {"mechanism": name, "epsilon": epsilon, "delta": delta, "unit": of_unit} | options


def has_details(mechanism: str) -> bool:
    """Return whether a mechanism of this name can release times and attributes."""
    return isinstance(mechanism, str) and mechanism in MECHANISMS and "attributes" in MECHANISMS[mechanism].options()
