"""Logs that come trace by trace, from XES or as objects of pm4py: turned into columns and counted some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from ..errors import CONFIDENTIAL, LogError
from ..log.log import Log, Roles
from ..log.questions import LIFECYCLE
from .columns import Columns, cautions
from .events import Counting, Table, conditions, text_of, unescaped
from .messages import available_names, left_out_note
from .reading import ACTIVITY, TIMESTAMP, TRACE_LEVEL, Reading, by_column

EVENTS_PER_FRAME = 250_000
_PM4PY = "pm4py event log"
_NAMELESS = "traces without a name, which may be part of one case"
_TRACE, _EVENT, _EITHER = "trace", "event", "case"
"""The number of a trace; `trace KEY` is an attribute of traces, `event KEY` one of events, `case KEY` one of either."""


def _of_trace(name: str) -> str:
    return f"{_TRACE} {name.removeprefix(TRACE_LEVEL)}"


def _of_event(name: str) -> str:
    return f"{_EVENT} {name}"


class TraceLog:
    """Collects traces as columns, and counts their cases: `text` is the type of values."""

    def __init__(self, where: str, reading: Reading, text: type[pl.Binary | pl.String] = pl.Binary) -> None:
        self.where, self.reading, self._text = where, reading, text
        details = reading.details.settled("recorded")  # the standard has a time for every event
        reads_times = reading.by_time() or details.times == "read"
        roles = Roles(
            reading.case or ACTIVITY,
            reading.activity or (ACTIVITY,),
            (reading.timestamp or TIMESTAMP) if reads_times else None,
            None if reading.lifecycle == "all" else LIFECYCLE,
            is_every_trace=reading.duplicate_cases == "separate",
        )
        tie, where_of = reading.tie_column(), by_column(reading.where)
        self._columns = Columns(
            _TRACE if roles.is_every_trace else _of_trace(roles.case),
            tuple(map(_of_event, roles.activities)),
            roles.timestamp and _of_event(roles.timestamp),
            tie and _of_event(tie),
            reading.unit and _of_trace(reading.unit),
            reading.by_time(),
            details,
            roles.lifecycle and _of_event(roles.lifecycle),
            {(_of_trace if name.startswith(TRACE_LEVEL) else _of_event)(name): where_of[name] for name in where_of},
            roles,
            tuple(f"{_EITHER} {each.name}" if each.of == "case" else _of_event(each.name) for each in details.columns),
        )
        of_cases = [each.name for each in details.columns if each.of == "case"]
        read = dict.fromkeys((*self._columns.names, *map(_of_trace, of_cases), *map(_of_event, of_cases)))
        self.trace_keys, self.event_keys = (
            [name.removeprefix(f"{kind} ") for name in read if name.startswith(f"{kind} ")] for kind in (_TRACE, _EVENT)
        )
        self.is_escaped, self.stray = False, 0
        self.of_trace: set[str] = set()  # the keys of attributes of the first traces, and of their events
        self.of_event: set[str] = set()
        self._counting = Counting(reading)
        self._seen: set[str] = set()
        self._frames: list[pl.DataFrame] = []  # of cases that may have further traces
        self._names: list[pl.Series] = []
        self._traces = self._empty = 0
        self._forget()

    @property
    def identifiers(self) -> list[str]:
        """The keys of what is read as a name or a time."""
        return [name.partition(" ")[2] for name in self._columns.identifiers]

    def _forget(self) -> None:
        self._events: list[list[Any]] = [[] for _ in self.event_keys]
        self._own: list[list[Any]] = [[] for _ in self.trace_keys]
        self._lengths: list[int] = []
        self._height = 0

    def add(self, own: Mapping[str, Any], columns: Sequence[Sequence[Any]], events: int) -> None:
        """Add a trace: its own attributes, and the values of each key in its events; None where an event has none."""
        for collected, values in zip(self._events, columns, strict=True):
            collected.extend(values)
        for key, own_values in zip(self.trace_keys, self._own, strict=True):
            own_values.append(own.get(key))
        self._lengths.append(events)
        self._height += events
        if self._height >= EVENTS_PER_FRAME:
            self.flush()

    def flush(self) -> None:
        """Count the cases that were added."""
        columns, lengths = self._columns, np.array(self._lengths, dtype=np.int64)
        owner = np.repeat(np.arange(len(lengths)), lengths)
        found = {_of_event(key): self._series(cells) for key, cells in zip(self.event_keys, self._events, strict=True)}
        own = {_of_trace(key): self._series(values) for key, values in zip(self.trace_keys, self._own, strict=True)}
        found |= {name: values.gather(owner) for name, values in own.items()}
        found[_TRACE] = pl.Series(owner + self._traces + 1)
        self._traces += len(lengths)
        self._empty += int((lengths == 0).sum())
        self._forget()
        if self.is_escaped:
            found |= {name: unescaped(found[name]) for name in columns.activities}
        rows = pl.DataFrame(found).with_columns(  # of a case the value of its trace, or else that of its events
            pl.coalesce(text_of(_of_trace(attribute.name)), text_of(_of_event(attribute.name))).alias(name)
            for attribute, _, name in columns.attributes
            if attribute.of == "case"
        )
        self._seen |= {name for name in rows.columns if rows[name].null_count() < len(rows)}
        if self.reading.duplicate_cases != "separate":
            rows = self._named(rows)
        if self.reading.duplicate_cases == "merge":
            self._frames.append(rows)
        else:
            self._count(rows)

    def _series(self, values: list[Any]) -> pl.Series:
        try:
            return pl.Series(values, dtype=self._text).cast(pl.String)
        except UnicodeError:
            raise LogError(f"{self.where}: a name contains a lone surrogate; fix it {CONFIDENTIAL}") from None

    def _named(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the events of traces with a name; note those without among the traces that are read."""
        name = self._columns.case
        traces = rows.filter(*conditions(self._columns, self.reading)).select(_TRACE, name).unique()
        named = traces[name].replace("", None).drop_nulls()
        if nameless := len(traces) - len(named):
            self._counting.missing[_NAMELESS, ""] += nameless
        self._names.append(named)
        return rows.filter(pl.col(name) != "")

    def _count(self, rows: pl.DataFrame) -> None:
        self._counting.add(Table(rows.lazy(), self._columns, self.where))

    def variants(self) -> Log:
        """Return the variants of everything that was added."""
        if self._lengths or not self._traces:
            self.flush()
        if self._frames:
            self._count(pl.concat(self._frames))
        if self.stray:
            self._counting.missing["events outside any trace, so without a case", ""] += self.stray
        if self.reading.duplicate_cases == "fail" and pl.concat(self._names).is_duplicated().any():
            raise LogError(
                f"{self.where}: several traces have the same name; set duplicate_cases to 'merge' if they are one case, or to "
                f"'separate' if they are different cases {CONFIDENTIAL}",
                field="duplicate_cases",
            )
        if self._counting.missing[_NAMELESS, ""]:
            self._counting.remedy += ", or set duplicate_cases to 'separate' if every trace is a case"
        notes = self._unseen()
        self._counting.remedy += f"; {notes[0]}" if notes else ""
        if self._empty:
            notes.append(left_out_note(self._empty, "traces without events"))
        names = sorted({LIFECYCLE} & self.of_event) + sorted(self.of_trace)
        return self._counting.variants(notes, cautions(self.reading, names))

    def _unseen(self) -> list[str]:
        """Return notes about attributes that nothing has."""
        columns, notes = self._columns, []
        wanted = [*((name, "activity") for name in columns.activities), (columns.timestamp, "timestamp")]
        wanted += [(columns.case, "case")] if self.reading.case else []
        wanted += [(columns.unit, "unit"), *((name, "where") for name in columns.where), (columns.ties, "ties")]
        wanted += [(name, "attributes") for name in columns.attribute_columns]
        present = {_TRACE: self.of_trace, _EVENT: self.of_event, _EITHER: self.of_trace | self.of_event}
        for name, role in wanted:
            kind, _, key = (name or _TRACE).partition(" ")
            if key and name not in self._seen and (found := present[kind]):
                names = sorted(found, key=lambda each: (":" not in each, each))
                notes.append(f"no {kind} has the attribute {key!r} for the {role}; {available_names(names, 10, key)}")
        return notes


def read_pm4py_log(source: Any, reading: Reading) -> Log:
    """Return the variants of an `EventLog` of pm4py; the rule is that of XES files."""
    if not isinstance(source, Iterable) or not all(hasattr(trace, "attributes") for trace in source):
        raise LogError(f"a {type(source).__name__} of pm4py is not a log; use an EventLog or a DataFrame")
    traces = TraceLog(_PM4PY, reading, pl.String)
    # unlike names, released attributes may be decimals
    released = {column.name.removeprefix(TRACE_LEVEL) for column in reading.details.columns}
    decimals = released - {*traces.identifiers}
    for number, trace in enumerate(source, start=1):
        own = {key: _text(trace.attributes, key, number, decimals) for key in traces.trace_keys}
        columns = [[_text(event, key, number, decimals) for event in trace] for key in traces.event_keys]
        traces.add(own, columns, len(trace))
    first = [*islice(source, 100)]
    traces.of_trace.update(str(key) for trace in first for key in trace.attributes)
    traces.of_event.update(str(key) for trace in first for event in trace for key in event)
    return traces.variants()


def _text(attributes: Mapping[str, Any], key: str, number: int, decimals: set[str]) -> str | None:
    """Return a value as text, by its own type alone; a missing value is None."""
    value = attributes.get(key)
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and key in decimals:
        return f"{value:.15g}"
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise LogError(
        f"{_PM4PY}: attribute {key!r} in trace {number:,} is a {type(value).__name__}; convert it to text {CONFIDENTIAL}"
    )
