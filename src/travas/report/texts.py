"""The texts of the report, by mechanism and standing; those that are always the same are in templates/texts.toml."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any, Literal

from ..explain import COUNT_IN_FILE, Released, counted_per, service_in_words
from ..log.abstraction import Abstraction
from ..log.options import BudgetShares
from ..mechanisms.mechanism import Mechanism
from ..releases.release import EVENT_LOGS, TimestampKind, counted_of, details_of, kind_of
from ..trusted.guarantee import PrivacyUnit

Traces = Literal["whole", "generalised"]
"""Whether a public rule generalised traces before counting."""

_TEXTS: dict[str, Any] = tomllib.loads(files(__package__).joinpath("templates/texts.toml").read_text(encoding="utf-8"))

STANDINGS: dict[str, str] = _TEXTS["standings"]
PROOFS: dict[str, str] = _TEXTS["proofs"]
IMPLEMENTATION: str = _TEXTS["implementation"]


def in_words(topic: Literal["utility", "bias"], released: Released, traces: Traces) -> str:
    """Describe what the release can be used for, or its bias."""
    whole = [_TEXTS["whole"][traces]] if topic == "utility" and released == "variants of the log" else []
    generalised = [_TEXTS["generalised"][topic]] if traces == "generalised" else []
    return " ".join([*whole, _TEXTS[topic][released], *generalised])


def how_to_read(mechanism: Mechanism, timestamps: TimestampKind) -> list[str]:
    """What readers of a release get wrong most easily."""
    words = {
        "times": details_of(mechanism).times == "read",
        "numbers": bool(details_of(mechanism).numbers),
        "artificial": timestamps == "artificial",
    }
    own = [_TEXTS["how_to_read"][topic] for topic, applies in words.items() if applies]
    return [*own, *service_in_words(mechanism)]


def protected_unit(unit: PrivacyUnit, person: str) -> str:
    """What is added or removed between two logs that the release does not tell apart."""
    return "one case" if unit.is_case else f"one {person} with all cases"


def protected(mechanism: Mechanism, person: str) -> str:
    """Describe the protected unit."""
    unit = mechanism.unit
    if unit.is_case:
        return "one case"
    most = counted_per(unit, counted_of(mechanism), person)
    return f"one {person} with all cases, identified by the column {unit.name}; the release counts {most}"


def counting(mechanism: Mechanism, person: str) -> str:
    """Describe what is counted."""
    unit = mechanism.unit
    if unit.is_case:
        return "cases"
    what = f"different {person}s, each once per variant" if counted_of(mechanism) == "units" else "cases"
    most = counted_per(unit, counted_of(mechanism), person)
    return f"{what}: {most}. A rule that reads only the cases of that {person} selects them (travas docs unit)"


def rule(abstraction: Abstraction) -> str:
    """Describe a rule step by step."""
    return (
        "; then ".join(
            f"{step}: {(type(step).__doc__ or '').split(chr(10))[0].rstrip('.')}" for step in abstraction.steps
        )
        or "full: the unchanged trace"
    )


def several(unit: PrivacyUnit) -> str:
    """Describe who is protected less."""
    return "Persons with several cases" if unit.is_case else f"Persons with several values in the column {unit.name}"


def frequencies(named: str, released: Released, noun: str) -> str:
    """What the counts in the file are."""
    return str(_TEXTS["frequencies"].get(released, COUNT_IN_FILE[named])).format(noun=noun)


def budget(parameters: dict[str, Any]) -> str:
    """How the budget of a synthetic log is divided; empty where it is not."""
    shares = parameters.get("shares")  # those of a ladder are text
    return BudgetShares(shares["times"], shares["attributes"]).in_words() if isinstance(shares, dict) else ""


def left_out(mechanism: Mechanism, timestamps: TimestampKind) -> str:
    """What a release does not contain."""
    if kind_of(mechanism) not in EVENT_LOGS:
        return "traces, case identifiers, resources, every attribute of cases and events, the header of the source"
    attributes = ", ".join(column.name for column in details_of(mechanism).columns)
    other = f"every attribute other than {attributes}" if attributes else "every other attribute"
    return f"case identifiers, {_TEXTS['times_left_out'][timestamps]}, {other}, the header of the source"


def post_processing(frequencies: str, released: Released, timestamps: TimestampKind) -> str:
    """Describe the post-processing of the noisy counts, which has no privacy cost."""
    words: str = _TEXTS["post_processing"][released]
    estimated = "" if frequencies == "noisy" else _TEXTS["estimated"]
    return words.format(estimated=estimated, times=_TEXTS["times_made"][timestamps])


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
