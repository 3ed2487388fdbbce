"""Logs that come trace by trace, from XES or as objects of pm4py: turned into columns and counted some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from ..errors import CONFIDENTIAL, LogError
from ..log.log import Log, Roles
from .columns import Columns, cautions
from .events import Counting, Table, conditions, unescaped
from .messages import WITHOUT_TIMES, MissingValues, available_names, left_out_note
from .reading import ACTIVITY, LIFECYCLE, TIMESTAMP, TRACE_LEVEL, Reading, by_column, number_pattern

EVENTS_PER_FRAME = 250_000
_PM4PY = "pm4py event log"
_NAMELESS = "traces without a name, which may be part of one case"
_CASE, _NAME, _TRACE, _TIME, _TIE, _UNIT, _LIFECYCLE = "case", "name", "trace", "time", "tie", "unit", "lifecycle"

Present = tuple[set[str], set[str]]
"""The keys of attributes of traces, and of events."""


class TraceLog:
    """Collects traces as columns, and counts their cases: `text` is the type of values."""

    def __init__(self, where: str, reading: Reading, text: type[pl.Binary | pl.String] = pl.Binary) -> None:
        self.where, self.reading, self._text = where, reading, text
        details = reading.details.settled("recorded")  # the standard has a time for every event
        reads_times = reading.by_time() or details.times == "read"
        self._activities = reading.activity or (ACTIVITY,)
        self._time = (reading.timestamp or TIMESTAMP) if reads_times else None
        self._unit = None if reading.unit is None else reading.unit.removeprefix(TRACE_LEVEL)
        self._case = (reading.case or ACTIVITY).removeprefix(TRACE_LEVEL)
        attributes = [column.name for column in details.columns]
        of_trace = [name.removeprefix(TRACE_LEVEL) for name in by_column(reading.where) if name.startswith(TRACE_LEVEL)]
        of_event = [name for name in by_column(reading.where) if not name.startswith(TRACE_LEVEL)]
        lifecycle = () if reading.lifecycle == "all" else (LIFECYCLE,)
        tie = reading.tie_column()
        every = (*self._activities, self._time, tie, *attributes, *lifecycle, *of_event)
        self.event_keys = [key for key in dict.fromkeys(every) if key is not None]
        self.names = (*self._activities, self._case, self._unit, tie, self._time, *lifecycle, *of_event, *of_trace)
        of_cases = [column.name.removeprefix(TRACE_LEVEL) for column in details.columns if column.of == "case"]
        own = (self._case, self._unit, *of_cases, *of_trace)
        self.trace_keys = [key for key in dict.fromkeys(own) if key is not None]
        self._columns = Columns(
            _CASE,
            tuple(f"activity {index}" for index in range(len(self._activities))),
            None if self._time is None else _TIME,
            None if tie is None else _TIE,
            None if self._unit is None else _UNIT,
            reading.by_time(),
            details,
            _LIFECYCLE if lifecycle else None,
            {f"where {index}": values for index, values in enumerate(by_column(reading.where).values())},
            Roles(
                reading.case or ACTIVITY,
                self._activities,
                self._time,
                LIFECYCLE if lifecycle else None,
                is_every_trace=reading.duplicate_cases == "separate",
            ),
            tuple(f"attribute {index}" for index in range(len(attributes))),
        )
        self.is_escaped, self.stray = False, 0
        self._counting = Counting(reading)
        self._seen: set[tuple[str, str]] = set()
        self._frames: list[pl.DataFrame] = []  # of cases that may have further traces
        self._names: list[pl.DataFrame] = []
        self._traces = self._empty = 0
        self._forget()

    def _forget(self) -> None:
        self._events: list[list[Any]] = [[] for _ in self.event_keys]
        self._own: list[list[Any]] = [[] for _ in self.trace_keys]
        self._lengths: list[int] = []
        self._height = 0

    def add(self, own: Mapping[Any, Any], columns: Sequence[Sequence[Any]], events: int) -> None:
        """Add a trace: its own attributes, and the values of each key in its events; None where an event has none."""
        for collected, values in zip(self._events, columns, strict=True):
            collected.extend(values)
        for key, own_values in zip(self.trace_keys, self._own, strict=True):
            own_values.append(own.get(key.encode() if self._text is pl.Binary else key))
        self._lengths.append(events)
        self._height += events
        if self._height >= EVENTS_PER_FRAME:
            self.flush()

    def flush(self) -> None:
        """Count the cases that were added."""
        first = self._traces
        lengths = np.array(self._lengths, dtype=np.int64)
        self._traces += len(lengths)
        self._empty += int((lengths == 0).sum())
        owner = pl.Series(_TRACE, np.repeat(np.arange(first + 1, self._traces + 1), lengths))
        events = {key: self._series(values) for key, values in zip(self.event_keys, self._events, strict=True)}
        traces = {key: self._series(values) for key, values in zip(self.trace_keys, self._own, strict=True)}
        self._seen |= {("event", key) for key, values in events.items() if values.null_count() < len(values)}
        self._seen |= {("trace", key) for key, values in traces.items() if values.null_count() < len(values)}
        of_trace = {key: values.gather(owner - first - 1) for key, values in traces.items()}
        starts = np.cumsum(lengths) - lengths
        numbers = pl.Series("event", np.arange(len(owner)) - np.repeat(starts, lengths) + 1)
        self._forget()
        rows = pl.DataFrame(self._roles(events, of_trace) | {_TRACE: owner, "event": numbers})
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
            raise LogError(
                f"{self.where}: a name contains a lone surrogate, which is not text; fix it {CONFIDENTIAL}"
            ) from None

    def _roles(self, events: Mapping[str, pl.Series], traces: Mapping[str, pl.Series]) -> dict[str, Any]:
        """Return the columns by what they are read as."""
        columns, details, reading = self._columns, self._columns.details, self.reading
        roles: dict[str, Any] = {
            name: events[key] for name, key in zip(columns.activities, self._activities, strict=True)
        }
        if self.is_escaped:
            roles = {name: unescaped(values) for name, values in roles.items()}
        roles[_NAME] = traces[self._case]
        if self._time is not None:
            roles[_TIME] = events[self._time]
        if columns.ties is not None:
            roles[_TIE] = events[str(self.reading.tie_column())]
        if self._unit is not None:
            roles[_UNIT] = traces[self._unit]
        if columns.lifecycle is not None:
            roles[_LIFECYCLE] = events[LIFECYCLE]
        for column, name in zip(columns.where, by_column(self.reading.where), strict=True):
            key = name.removeprefix(TRACE_LEVEL)
            roles[column] = traces[key] if name.startswith(TRACE_LEVEL) else events[name]
        for column, attribute in zip(columns.attribute_columns, details.columns, strict=True):
            roles[column] = events[attribute.name]
            if attribute.of == "case":
                own = traces[
                    attribute.name.removeprefix(TRACE_LEVEL)
                ]  # the value of the trace, or else that of its event
                is_number = attribute.values == "number"
                is_own = own.str.contains(number_pattern(reading.decimal)) if is_number else own != ""
                roles[column] = own.zip_with(is_own.fill_null(False), events[attribute.name])
        return roles

    def _named(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the events of traces with a name; note those without among the traces that are read."""
        traces = rows.lazy().filter(*conditions(self._columns, self.reading)).select(_TRACE, _NAME)
        traces = traces.unique(maintain_order=True).with_columns(pl.col(_NAME).replace("", None))
        names = traces.collect()
        if nameless := names[_NAME].null_count():
            first = f"trace {int(names.filter(pl.col(_NAME).is_null())[_TRACE][0]):,}"
            self._counting.note_missing([MissingValues(_NAMELESS, nameless, first)])
            rows = rows.filter(pl.col(_NAME) != "")
        self._names.append(names.drop_nulls())
        return rows

    def _count(self, rows: pl.DataFrame) -> None:
        by_trace = self.reading.duplicate_cases == "separate"
        rows = rows.with_columns(pl.col(_TRACE if by_trace else _NAME).alias(_CASE))

        def place(row: int) -> str:
            return f"event {int(rows['event'][row]):,} of trace {int(rows[_TRACE][row]):,}"

        table = Table(rows.lazy(), self._columns, self.where, place=place, is_named=False)
        self._counting.add(table, table.rows)

    def variants(self, present: Callable[[], Present]) -> Log:
        """Return the variants of everything that was added; `present` names the attributes that there are."""
        if self._lengths or not self._traces:
            self.flush()
        if self._frames:
            self._count(pl.concat(self._frames))
        if self.stray:
            stray = MissingValues("events outside any trace, so without a case", self.stray, "log level")
            self._counting.note_missing([stray])
        if self.reading.duplicate_cases == "fail":
            self._check_names()
        if _NAMELESS in self._counting.missing:
            self._counting.remedy += ", or set duplicate_cases to 'separate' if every trace is a case"
        notes = self._unseen(present)
        if self._empty:
            notes.append(left_out_note(self._empty, "traces without events"))
        of_trace, of_event = present() if self._traces else (set(), set())
        names = sorted({LIFECYCLE} & of_event) + sorted(of_trace)
        return self._counting.variants(notes, cautions(self.reading, names))

    def _check_names(self) -> None:
        names = pl.concat(self._names)
        if names[_NAME].n_unique() == names.height:
            return
        second = names.filter(~pl.col(_NAME).is_first_distinct()).row(0, named=True)
        first = int(names.filter(pl.col(_NAME) == second[_NAME])[_TRACE][0])
        raise LogError(
            f"{self.where}: traces {first:,} and {second[_TRACE]:,} have the same name; set duplicate_cases to 'merge' if "
            f"they are one case, or to 'separate' if they are different cases {CONFIDENTIAL}",
            field="duplicate_cases",
        )

    def _unseen(self, present: Callable[[], Present]) -> list[str]:
        """Return notes about attributes that nothing has; LogError if this is why values are missing, which are refused."""
        reading, notes = self.reading, []
        wanted = [("event", key, "activity") for key in self._activities]
        wanted += [("event", self._time, "timestamp")] if self._time is not None else []
        wanted += [("trace", self._case, "case")] if reading.case and reading.duplicate_cases != "separate" else []
        wanted += [("trace", self._unit, "unit")] if self._unit is not None else []
        for name in by_column(reading.where):
            level = "trace" if name.startswith(TRACE_LEVEL) else "event"
            wanted.append((level, name.removeprefix(TRACE_LEVEL), "where"))
        unseen = [each for each in wanted if each[:2] not in self._seen]
        released = [
            (column.of, column.name)
            for column in self._columns.details.columns
            if not {(column.of.replace("case", "trace"), column.name.removeprefix(TRACE_LEVEL)), ("event", column.name)}
            & self._seen
        ]
        if not (unseen or released) or not self._traces:
            return self._tie_note()
        of_trace, of_event = present()
        for level, key, role in unseen:
            if not (found := of_trace if level == "trace" else of_event):
                continue
            what, hint = f"no {level} has the attribute {key!r} for the {role}", _available(found, 10, key)
            if reading.on_missing == "fail" and self._counting.missing:
                if role == "timestamp" and not reading.by_time():
                    remedy = f"set timestamp to the attribute that has the times{WITHOUT_TIMES}"
                    message = f"{self.where}: {what}; {remedy}; {hint}"
                    raise LogError(message, field="timestamp", other_fields=("times",))
                raise LogError(f"{self.where}: {what}; {hint}")
            notes.append(f"{what}; {hint}")
        for of, key in released:
            hint = _available(of_event if of == "event" else of_trace | of_event, 30, key)
            notes.append(f"no {of} has the attribute {key!r}: it is missing everywhere; {hint}")
        return notes + self._tie_note()

    def _tie_note(self) -> list[str]:
        tie = self.reading.tie_column()
        if tie is None or not self._traces or ("event", tie) in self._seen:
            return []
        return [f"no event has the attribute {tie!r} for the ties; check its name"]


def _available(names: set[str], most: int, missing: str) -> str:
    return available_names(sorted(names, key=lambda name: (":" not in name, name)), most, missing)


def read_pm4py_log(source: Any, reading: Reading) -> Log:
    """Return the variants of an `EventLog` of pm4py; the rule is that of XES files."""
    if not isinstance(source, Iterable) or not all(hasattr(trace, "attributes") for trace in source):
        raise LogError(f"a {type(source).__name__} of pm4py is not a log; use an EventLog or a DataFrame")
    traces = TraceLog(_PM4PY, reading, pl.String)
    # unlike names, released attributes may be decimals
    attributes = {column.name.removeprefix(TRACE_LEVEL) for column in reading.details.columns}
    decimals = attributes - {*traces.names}
    for number, trace in enumerate(source, start=1):
        own = {key: _text(trace.attributes, key, number, decimals) for key in traces.trace_keys}
        columns = [[_text(event, key, number, decimals) for event in trace] for key in traces.event_keys]
        traces.add(own, columns, len(trace))
    return traces.variants(lambda: ({*_keys(source, of_event=False)}, {*_keys(source, of_event=True)}))


def _keys(source: Any, *, of_event: bool) -> Iterator[str]:
    """Yield the keys of the attributes of the first traces, or of their events."""
    for trace in islice(source, 100):
        for each in trace if of_event else (trace.attributes,):
            yield from map(str, each)


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
