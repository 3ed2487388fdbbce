"""The options of a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..log.abstraction import read_activities
from ..mechanisms import MECHANISMS, from_description
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.registry import described_mechanism
from ..trusted.guarantee import PrivacyUnit
from .option_names import option_name
from .options import panel_option, with_options

StatedMechanism = dict[str, Any]
"""A mechanism and its options as typed, without ε, δ and the unit; None where an option is not set."""

_MECHANISM_OPTIONS = {
    "mechanism": (
        panel_option(
            str | None,
            "Mechanism",
            f"One of: {', '.join(MECHANISMS)}; or an entry point or module:Class of another package. Default: optimal. "
            "Releases by synthesis are made with travas synthesize, process maps with travas map.",
            "NAME",
            tuple(MECHANISMS),
        ),
        None,
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
            "ladder: ε and δ in equal shares for all rungs, or for one. Default: equal; adaptive for --ladder default.",
            "equal|adaptive",
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
    """Replace the `stated` parameter of a command with the options of a mechanism."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        return {"stated": {option: values.pop(option) for option in _MECHANISM_OPTIONS}}

    return with_options(command, "stated", _MECHANISM_OPTIONS, collect)


def flags_of(stated: StatedMechanism) -> dict[str, object]:
    """Return the values of the options of a mechanism by their flags; None where one is not set."""
    return {option_name(option): value for option, value in stated.items()}


def build(stated: StatedMechanism, epsilon: str, delta: str, unit: PrivacyUnit) -> Mechanism:
    """Build the mechanism that the options state; `alphabet` is the file of the activities."""
    path: Path | None = stated.get("alphabet")
    stated = stated | {"alphabet": None if path is None else read_activities(path)}
    described = described_mechanism(stated, epsilon, delta, unit)
    return from_description(described, references="follow")
