"""The description of a mechanism from what a user states: flags, keys of a project file, or fields of the web app."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ParameterError, shown
from ..model.detail_settings import described_details
from ..trusted.guarantee import PrivacyUnit
from ..trusted.numbers import typed_whole_number
from . import MECHANISMS
from .ladder import Ladder
from .optimal import Optimal

DETAILS = ("without", "attribute", "bins", "zone", "resolution")
"""Settings of times and attributes, for mechanisms that release them."""

_NUMBERS = ("minimum_cases", "splits", "max_length", "prune")


def described_mechanism(stated: Mapping[str, Any], epsilon: str, delta: str, unit: PrivacyUnit) -> dict[str, Any]:
    """Describe the mechanism that a user states, for `from_description` with `missing="default"`.

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
