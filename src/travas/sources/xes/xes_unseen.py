"""Attributes that the XES reader looks for and that nothing in a document has: one error or note at its end."""

from __future__ import annotations

from typing import Any

from ...errors import LogError
from ..case_stream import CaseStream
from ..wording import WITHOUT_TIMES, available_names
from .xes_paths import XesPaths

_NAMES = 100


class UnseenAttributes:
    """The attributes that were not seen so far, and the names of those that are present instead."""

    def __init__(self, paths: XesPaths) -> None:
        self._required, self._released = list(paths.required), dict(paths.released)
        self._names = paths.names
        self._present: dict[str, set[str]] = {level: set() for level in paths.names}
        self.is_empty = not (self._required or self._released)

    def look(self, piece: Any) -> None:
        """Record the attributes that a part of a trace has, until every one was seen."""
        self._required = [wanted for wanted in self._required if not wanted.path(piece)]
        self._released = {key: path for key, path in self._released.items() if not path(piece)}
        self.is_empty = not (self._required or self._released)
        for level in self._present if self._released else {wanted.level for wanted in self._required}:
            if len(self._present[level]) < _NAMES:
                self._present[level].update(name[:60] for name in self._names[level](piece))

    def report(self, cases: CaseStream, where: str) -> None:
        """Add a note to the cases for each attribute that was not seen.

        Raises:
            LogError: Missing values are refused, and this is why they are missing.
        """
        for wanted in self._required:
            if present := sorted(self._present[wanted.level], key=lambda name: (":" not in name, name)):
                what = f"no {wanted.level} has the attribute {wanted.key!r} for the {wanted.role}"
                hint = available_names(present, 10, wanted.key)
                if cases.reading.on_missing == "fail" and cases.missing:
                    is_for_times = wanted.role == "timestamp" and not cases.reading.by_time()
                    raise _without_times(where, what, hint) if is_for_times else LogError(f"{where}: {what}; {hint}")
                cases.notes.append(f"{what}; {hint}")
        for key in self._released if cases.traces else ():
            hint = available_names(sorted(self._present["trace"] | self._present["event"]), 30, key)
            cases.notes.append(f"no trace or event has the attribute {key!r}: it is missing in every case; {hint}")


def _without_times(where: str, what: str, hint: str) -> LogError:
    """Return the error for a timestamp that every event lacks, if nothing but the times of a release needs it."""
    remedy = f"set timestamp to the attribute that has the times{WITHOUT_TIMES}"
    return LogError(f"{where}: {what}; {remedy}; {hint}", field="timestamp", other_fields=("times",))
