"""What the doctor finds: facts, choices and problems, and the reading that it proposes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
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

STILL_TO_SET = "--epsilon EPSILON --delta DELTA -o OUT"
"""What the doctor does not propose: it must not be chosen by looking at the log."""


@dataclass(frozen=True)
class Observation:
    """One thing that the doctor found. Confidential.

    Attributes:
        topic: What it is about, such as `time`.
        text: One or two sentences.
        level: Whether something is to be done.
        field: The Python name of the parameter that the text says to set, if any.
    """

    topic: str
    text: str
    level: ObservationLevel = "fact"
    field: str = ""


@dataclass(frozen=True)
class ReadingChoice:
    """A setting that the values leave open, and the meaning of each of its values. Confidential."""

    name: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LogDiagnosis:
    """Everything that the doctor found about a log. Confidential.

    Attributes:
        source: The log, as it is written on a command line.
        findings: What was found.
        reading: The reading that is proposed; for a choice, with its first option.
        choices: What the values leave open.
        people: The columns that may identify the person of a case; the first one has the fewest values.
    """

    source: str
    findings: tuple[Observation, ...]
    reading: Reading
    choices: tuple[ReadingChoice, ...] = ()
    people: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return confidential_repr(self)

    @property
    def problems(self) -> tuple[Observation, ...]:
        """What must be fixed before the log can be read."""
        return tuple(finding for finding in self.findings if finding.level == "problem")

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The proposed reading; with a choice, one reading for each option."""
        if not self.choices:
            return (self.reading,)
        first = self.choices[0]
        settings: list[dict[str, Any]] = [{first.name: value} for value, _ in first.options]
        return tuple(attrs.evolve(self.reading, **setting) for setting in settings)

    @property
    def settings(self) -> dict[str, Any]:
        """The proposed settings as they are written in a project, but for what the values leave open."""
        left_open = {choice.name for choice in self.choices}
        return {name: value for name, value in _settings_of(self.reading) if name not in left_open}

    def command_lines(self) -> tuple[str, ...]:
        """Return the command that releases this log, but for its parameters and output; several if something is left open."""
        commands = (["travas", "anonymize", self.source, *_options(reading)] for reading in self.readings)
        return tuple(f"{shlex.join(command)} {STILL_TO_SET}" for command in commands)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "confidential": True,
            "findings": [
                {"topic": f.topic, "level": f.level, "text": f.text, "field": f.field or None} for f in self.findings
            ],
            "choices": {choice.name: dict(choice.options) for choice in self.choices},
            "people": list(self.people),
            "command_lines": list(self.command_lines()),
        }


def _settings_of(reading: Reading) -> Iterator[tuple[str, Any]]:
    """Yield the proposed settings that differ from the defaults, as they are written in a project."""
    for name in PROPOSED:
        if (value := getattr(reading, name)) != getattr(DEFAULT_READING, name):
            yield name, tuple(map("=".join, value)) if name == "where" else "tab" if value == "\t" else value


def _options(reading: Reading) -> Iterator[str]:
    for name, value in _settings_of(reading):
        for each in value if isinstance(value, tuple) else (value,):
            yield from ("--" + name.replace("_", "-"), each)
