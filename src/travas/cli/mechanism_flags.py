"""The options of a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from ..mechanisms import MECHANISMS, from_description
from ..model.abstraction.rules import read_activities
from ..model.mechanism import Mechanism
from ..privacy.guarantee import PrivacyUnit
from ..privacy.numbers import typed_whole_number
from .options import panel_option, with_options

Description = dict[str, Any]
"""The description of a mechanism from the options, without ε, δ and the unit."""

_MECHANISM_OPTIONS = {
    "mechanism": (
        panel_option(
            str,
            "Mechanism",
            f"One of: {', '.join(MECHANISMS)}; or an entry point or module:Class of another package. "
            "Releases by synthesis are made with travas synthesize, process maps with travas map.",
            "NAME",
            tuple(MECHANISMS),
        ),
        "optimal",
    ),
    "minimum_cases": (
        panel_option(
            str | None,
            "Mechanism",
            "optimal, travas, ladder: never release a variant with fewer cases (persons, with --unit).",
            "T",
        ),
        None,
    ),
    "splits": (
        panel_option(str | None, "Mechanism", "utravas: number of runs. Default: computed from ε and δ.", "NUMBER"),
        None,
    ),
    "max_length": (
        panel_option(
            str | None, "Mechanism", "prefix-tree, sacofa: maximum number of activities per variant.", "NUMBER"
        ),
        None,
    ),
    "prune": (
        panel_option(
            str | None, "Mechanism", "prefix-tree, sacofa: threshold that noisy counts must exceed.", "NUMBER"
        ),
        None,
    ),
    "ladder": (
        panel_option(
            str | None,
            "Mechanism",
            "Generalise rare variants step by step: default, or abstractions from fine to coarse, such as full,first,prefix:6.",
            "RUNGS",
        ),
        None,
    ),
    "shares": (
        panel_option(
            str | None,
            "Mechanism",
            "ladder: share of (ε, δ) per rung, such as 1/2,1/4,1/4, or adaptive. Default: equal; adaptive for --ladder default.",
            "PARTS",
        ),
        None,
    ),
    "alphabet": (
        panel_option(
            Path | None,
            "Mechanism",
            "prefix-tree, sacofa: file of activities, one per line. Required for an established guarantee.",
            "FILE",
        ),
        None,
    ),
}


def with_mechanism(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the `description` parameter of a command with the options of a mechanism."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        name, path = values.pop("mechanism"), values.pop("alphabet")
        rungs, shares = values.pop("ladder"), values.pop("shares")
        typed = ("minimum_cases", "splits", "max_length", "prune")
        numbers = {option: typed_whole_number(values.pop(option), option) for option in typed}
        if rungs is not None and name not in ("optimal", "ladder"):
            raise ParameterError(
                f"mechanism is {name!r} and ladder is also set; set only one of them", field="mechanism"
            )
        mechanism = name if rungs is None else "ladder"
        options = {"rungs": rungs, "shares": shares, **numbers}
        stated = {option: value for option, value in options.items() if value is not None}
        return {"description": {"mechanism": mechanism} | stated_alphabet(path) | stated}

    return with_options(command, "description", _MECHANISM_OPTIONS, collect)


def stated_alphabet(path: Path | None) -> Description:
    """The activities of a public file, as part of the description of a mechanism; empty if there is none."""
    return {} if path is None else {"alphabet": read_activities(path)}


def build(description: Description, epsilon: str, delta: str, unit: PrivacyUnit) -> Mechanism:
    """Build the mechanism that the options describe."""
    of_unit = {"name": unit.name, "max_cases": unit.max_cases}
    described = description | {"epsilon": epsilon, "delta": delta, "unit": of_unit}
    return from_description(described, references="follow", missing="default")
