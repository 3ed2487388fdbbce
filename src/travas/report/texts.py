"""The texts of the report that depend on a mechanism or a reading; the others are in templates/texts.toml."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from ..explain import service_in_words
from ..log.abstraction import STEPS, Abstraction
from ..mechanisms.mechanism import Mechanism
from ..releases.release import TimestampKind, details_of
from ..trusted.guarantee import PrivacyUnit

TEXTS: dict[str, Any] = tomllib.loads(files(__package__).joinpath("templates/texts.toml").read_text(encoding="utf-8"))
"""The texts among which the template chooses, by standing, by what is released, and by times."""


def how_to_read(mechanism: Mechanism, timestamps: TimestampKind) -> list[str]:
    """What readers of a release get wrong most easily."""
    details = details_of(mechanism)
    numbers = any(column.values == "number" for column in details.columns)
    words = {"times": details.times == "read", "numbers": numbers, "artificial": timestamps == "artificial"}
    own = [TEXTS["how_to_read"][topic] for topic, applies in words.items() if applies]
    return [*own, *service_in_words(mechanism)]


def protected_unit(unit: PrivacyUnit, person: str) -> str:
    """What is added or removed between two logs that the release does not tell apart."""
    return "one case" if unit.is_case else f"one {person} with all cases"


def rule(abstraction: Abstraction) -> str:
    """Describe a rule step by step."""
    steps = (f"{step}: {str(STEPS[step.name][1].__doc__).rstrip('.')}" for step in abstraction.steps)
    return "; then ".join(steps) or "full: the unchanged trace"


_RULES = ("order", "ties", "on_missing", "duplicate_cases", "duplicate_events", "lifecycle", "table", "query")


def reading(described: dict[str, Any] | None) -> str:
    """Describe how events became cases and variants, as stated in the guarantee file."""
    if described is None:
        return "not stated: the release was made from counts"
    read = {
        role: ", ".join(names) if isinstance(names, list) else names for role, names in described["columns"].items()
    }
    parts = [f"{role}: {names or 'not read'}" for role, names in read.items()]
    parts += [f"{name.replace('_', ' ')}: {described[name]}" for name in _RULES if described.get(name)]
    return "; ".join([*parts, *(f"only events with {column} = {value}" for column, value in described["where"])])
