"""What the doctor finds: facts, choices and problems, and the reading that it proposes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import attrs

from ...errors import confidential_repr
from ..reading import DEFAULT_READING, Reading

ObservationLevel = Literal["fact", "choice", "problem"]
"""A fact needs no action; a choice is made by an option; a problem must be fixed in the log, or by an option."""

PROPOSED = (
    "table", "query", "format", "sheet", "encoding", "delimiter", "quote", "case", "activity", "timestamp",
    "timestamp_format", "order", "ties", "on_missing", "lifecycle", "where", "duplicate_cases", "decimal",
)  # fmt: skip
"""The only settings that the doctor proposes. Whatever decides about privacy must not be chosen by looking at the log."""


@dataclass(frozen=True)
class Observation:
    """One thing that the doctor found. Confidential.

    Attributes:
        topic: What it is about, such as `time`.
        text: One or two sentences, with the name of the setting to use, if there is one.
        level: Whether something is to be done.
    """

    topic: str
    text: str
    level: ObservationLevel = "fact"


class Findings:
    """What was found so far, and the reading that is proposed."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.observations: list[Observation] = []
        self.choices: dict[str, dict[str, str]] = {}
        self.people: list[str] = []

    def note(self, topic: str, text: str, level: ObservationLevel = "fact") -> None:
        """Add something that was found."""
        self.observations.append(Observation(topic, text, level))

    def propose(self, **settings: Any) -> None:
        """Change the reading."""
        self.reading = attrs.evolve(self.reading, **settings)


@dataclass(frozen=True)
class LogDiagnosis:
    """Everything that the doctor found about a log. Confidential.

    Attributes:
        findings: What was found.
        reading: The reading that is proposed; for a choice, with its first value.
        choices: The settings that the values of the log leave open: the meaning of each value.
        people: The columns that may identify the person of a case; the first one has the fewest values.
    """

    findings: tuple[Observation, ...]
    reading: Reading
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    people: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return confidential_repr(self)

    @property
    def problems(self) -> tuple[Observation, ...]:
        """What must be fixed before the log can be read."""
        return tuple(finding for finding in self.findings if finding.level == "problem")

    @property
    def settings(self) -> dict[str, Any]:
        """The proposed settings as they are written in a project, but for what the values leave open."""
        values = {name: getattr(self.reading, name) for name in PROPOSED if name not in self.choices}
        values["where"] = tuple(map("=".join, self.reading.where))
        values["delimiter"] = "tab" if self.reading.delimiter == "\t" else self.reading.delimiter
        return {name: value for name, value in values.items() if value != getattr(DEFAULT_READING, name)}

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"confidential": True} | {name: value for name, value in asdict(self).items() if name != "reading"}
