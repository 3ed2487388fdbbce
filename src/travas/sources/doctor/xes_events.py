"""The events of XES files as a table, for the doctor: names, times, transitions and attributes that may name a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from ..case_stream import CaseStream, StreamedCase
from ..reading import ACTIVITY, CASE, TIMESTAMP, Reading
from ..row_selection import LIFECYCLE, TRACE_LEVEL
from ..tabular.column_names import plain
from ..unpacking import chunks
from ..xes.xes_reader import CHUNK, XesDocument
from ..xes.xes_scanner import PlainTrace
from .diagnosis import Observation, ReadingChoice
from .roles import UNIT_WORDS

_KEYS = (ACTIVITY, TIMESTAMP, LIFECYCLE)
_AS_TRACES = Reading(
    order="time", timestamp=TIMESTAMP, duplicate_cases="separate", on_missing="drop", activities=(ACTIVITY,)
)


class TraceNames(CaseStream):
    """Counts the names of traces; their events are collected elsewhere."""

    def __init__(self, where: str, names: Counter[str]) -> None:
        super().__init__(where, _AS_TRACES)
        self._names = names

    def finish(self, case: StreamedCase) -> None:
        """Count the name of a trace."""
        self._names[case.name] += 1


class XesEvents(XesDocument):
    """Collects the events of a document instead of its variants."""

    scanned_keys = _KEYS

    def __init__(self, where: str, columns: dict[str, list[bytes | None]], names: Counter[str]) -> None:
        super().__init__(where, _AS_TRACES, TraceNames(where, names))
        self._columns_read = columns

    def _take(self, piece: Any) -> None:
        events = list(piece.iterchildren(self.paths.event_tag))
        self._check_places(piece, len(list(piece.iterdescendants("{*}event"))))
        case = self.case
        self._identify(piece)
        values = [*(column(piece) for column in self.paths.columns), self.paths.transitions(piece)]
        if any(len(column) not in (0, len(events)) for column in values):
            read = [{child.get("key"): child.get("value") for child in event} for event in events]
            values = [[row.get(key) for row in read] for key in _KEYS]
        table = self._columns_read
        for key, column in zip(_KEYS, values, strict=True):
            table[key] += map(_encoded, column or [None] * len(events))
        table[CASE] += [_encoded(case.name or None)] * len(events)
        for child in piece:
            case.own.setdefault(child.get("key", ""), child.get("value", ""))
        for key, value in case.own.items():
            self._person(key, value.encode(), len(events))

    def _take_plain(self, trace: PlainTrace) -> bool:
        table = self._columns_read
        for wanted, column in zip(_KEYS, trace.columns, strict=True):
            table[wanted] += column
        name = trace.own.get(ACTIVITY.encode(), b"")
        table[CASE] += [name or None] * trace.events
        for key, value in trace.own.items():
            self._person(self.texts[key], value, trace.events)
        self.case.name = name.decode()
        self.cases.finish(self.case)
        self.case = self._new_case()
        return True

    def _person(self, key: str, value: bytes, number: int) -> None:
        """Keep the value of an attribute of a trace whose name says that it may identify a person."""
        if _may_name_persons(key):
            column = self._columns_read.setdefault(f"{TRACE_LEVEL}{key}", [])
            column += [None] * (len(self._columns_read[CASE]) - number - len(column)) + [value] * number


def _encoded(value: str | None) -> bytes | None:
    return None if value is None else value.encode()


@lru_cache(1000)
def _may_name_persons(key: str) -> bool:
    return plain(key) in UNIT_WORDS


def xes_table(paths: Sequence[Path]) -> tuple[pl.DataFrame, list[Observation], list[ReadingChoice]]:
    """Return the events of XES files, what there is to say about their traces, and what is left open.

    Args:
        paths: The files.

    Returns:
        The table with the column names of pm4py; missing values are null.
    """
    columns: dict[str, list[bytes | None]] = {name: [] for name in (CASE, *_KEYS)}
    names: Counter[str] = Counter()
    for path in paths:
        document = XesEvents(str(path), columns, names)
        for chunk in chunks(path, lambda _: None, CHUNK):
            document.feed(chunk)
        document.close()
    height = len(columns[CASE])
    filled = {name: values + [None] * (height - len(values)) for name, values in columns.items()}
    table = pl.DataFrame(filled, schema=dict.fromkeys(filled, pl.Binary)).cast(pl.String)
    findings, choices = _trace_findings(names)
    if table[LIFECYCLE].null_count() == height:
        table = table.drop(LIFECYCLE)
    return table, findings, choices


def _trace_findings(names: Counter[str]) -> tuple[list[Observation], list[ReadingChoice]]:
    findings, choices = [Observation("size", f"{sum(names.values()):,} traces")], []
    if unnamed := names.pop("", 0):
        text = f"{unnamed:,} traces have no name; set duplicate_cases to 'separate' if every trace is a case"
        findings.append(Observation("case", text, "problem", "duplicate_cases"))
    if repeated := sum(number > 1 for number in names.values()):
        options = (("merge", "traces with the same name are one case"), ("separate", "every trace is a case"))
        choices.append(ReadingChoice("duplicate_cases", options))
        findings.append(
            Observation("case", f"{repeated:,} names are those of several traces: with merge they are one case each, with "
                    "separate every trace is a case", "choice")
        )  # fmt: skip
    return findings, choices
