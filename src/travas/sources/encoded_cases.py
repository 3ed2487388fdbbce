"""The counted cases of a file or frame as a few numbers per event, and the sums of what they add to cells.

An event takes 4 bytes for its activity, and 9 for its time and whether it has a zone; a case takes 8 bytes
for its length, 4 for each attribute and 8 for each numeric attribute. All sums are of 64-bit integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ..log import questions as q
from ..log.abstraction import FULL, Abstraction, FlatLog
from ..log.calendar import BLOCKS, DAY, DAYS_FROM_MONDAY, HOUR, SECOND, WEEK_DAYS, WEEKS, WEEKS_PER_BLOCK, zone_offsets
from ..log.log import Log
from ..log.questions import DetailColumn, Details, Totals
from ..log.traces import Activity, Codes, keys_of
from ..trusted.contributions import CodedTraces, activity_sums, add_counts, case_blocks, one_cell_sums
from ..trusted.samplers import Booleans, Floats, Integers
from ..trusted.stages import Selection, Stage

BLOCK = 1 << 16
"""About how many events are processed at a time: bounds the memory, and changes no sum."""

NOTHING: Integers = np.empty(0, dtype=np.int64)

OTHER_SEGMENT = "other"
"""The segment of every value that is none of the others, and of cases without a value."""


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """Values of an attribute by case: indexes into `values`, −1 if missing."""

    codes: NDArray[np.int32]
    values: Sequence[str]

    def __getitem__(self, kept: Booleans) -> Coded:
        return Coded(self.codes[kept], self.values)


@dataclass(frozen=True, eq=False, repr=False)
class EncodedCases:
    """Cases, one after another: confidential.

    Attributes:
        alphabet: The activities.
        codes: The activity of every event, as an index into `alphabet`.
        lengths: The number of events of every case.
        times: Microseconds since 1970 of every event, between the years 1 and 9999; None if times are not read.
        aware: Whether the timestamp of every event has a zone.
        values: The values of attributes, by case or by event; of numbers NaN is missing.
    """

    alphabet: Sequence[Activity]
    codes: NDArray[np.uint32]
    lengths: Integers
    times: Integers | None
    aware: Booleans
    values: Mapping[DetailColumn, Coded | Floats] = field(default_factory=dict)

    def names(self, attribute: str, of: Literal["case", "event"] = "case") -> Coded:
        """Return the values of an attribute that are names."""
        return cast(Coded, self.values[DetailColumn(attribute, "name", of)])

    def where(self, kept: Booleans) -> EncodedCases:
        """Return some of the cases."""
        events = np.repeat(kept, self.lengths)
        return EncodedCases(
            self.alphabet,
            self.codes[events],
            self.lengths[kept],
            None if self.times is None else self.times[events],
            self.aware[events],
            {column: values[kept if column.of == "case" else events] for column, values in self.values.items()},
        )


def joined(logs: Sequence[EncodedCases]) -> EncodedCases:
    """Return the cases of several logs that were read with the same details, at least one."""
    codes, first = Codes(), logs[0]
    moved = [np.array([codes[each] for each in log.alphabet], dtype=np.uint32)[log.codes] for log in logs]
    times = None if first.times is None else np.concatenate([cast(Any, log.times) for log in logs])
    lengths, aware = (np.concatenate(parts) for parts in zip(*((log.lengths, log.aware) for log in logs), strict=True))
    values = {column: _joined([log.values[column] for log in logs]) for column in first.values}
    return EncodedCases([*codes], np.concatenate(moved), lengths, times, aware, values)


def _joined(parts: Sequence[Any]) -> Coded | Floats:
    """Join the values of an attribute; of names, the last index of every table stands for -1, missing."""
    if not isinstance(parts[0], Coded):
        return np.concatenate(parts)
    places: dict[str, int] = {}
    tables = [[*(places.setdefault(value, len(places)) for value in part.values), -1] for part in parts]
    moved = [np.array(table, dtype=np.int32)[part.codes] for part, table in zip(parts, tables, strict=True)]
    return Coded(np.concatenate(moved), [*places])


@dataclass(frozen=True, eq=False, repr=False)
class EncodedTotals:
    """Answers questions about encoded cases. Confidential."""

    cases: EncodedCases
    details: Details
    abstraction: Abstraction = FULL

    def under(self, abstraction: Abstraction) -> Totals:
        """Return the answers for traces that are generalised further."""
        return replace(self, abstraction=self.abstraction | abstraction)

    def sums(self, question: q.CellQuestion) -> Integers:
        """Return what all cases add to the cells of a question."""
        if isinstance(question, q.AttributeCells):
            sums = _histogram(self._cells(question)[self._traces.counted], question)
        else:
            sums = self._projected_sums(cast(q.ProjectedQuestion, question))
        return sums.reshape(question.shape)

    def value_sums(self, question: q.AttributeValues | q.EventValues) -> dict[str | None, int]:
        """Return what all cases add to the values of an attribute."""
        if isinstance(question, q.EventValues):
            return self._event_values(question)
        coded = self.cases.names(question.attribute)
        numbers = np.bincount(coded.codes[self._traces.counted] + 1, minlength=len(coded.values) + 1).tolist()
        names = [None, *coded.values]
        return {name: n * question.contribution for name, n in zip(names, numbers, strict=True) if n}

    def _event_values(self, question: q.EventValues) -> dict[str | None, int]:
        values = self.cases.names(question.attribute, "event")
        traces = replace(self._traces, cells=self._of_events(values.codes))
        known = traces.cells >= 0
        lengths = np.bincount(traces.owner[known], minlength=len(traces.lengths)).astype(np.int64)
        coded = CodedTraces(traces.cells[known], lengths, np.ones_like(lengths), len(values.values))
        stage = Stage("", question.contribution, Selection(1, question.most))
        sums = activity_sums(coded, np.empty(0, dtype=np.int64), stage).tolist()
        return {name: added for name, added in zip(values.values, sums, strict=True) if added}

    def segments(self, log: Log, attribute: str, values: Sequence[str]) -> tuple[Log, ...]:
        """Return the cases of a log with each of these values; `other` is every other value, and none.

        The segment of a case depends on this case alone, and no case is in two.
        """
        coded = self.cases.names(attribute)
        number_of = {value: number for number, value in enumerate(values)}
        rest = number_of.get(OTHER_SEGMENT, -1)
        numbers = np.array([*(number_of.get(value, rest) for value in coded.values), rest])  # the last one is for -1
        of_case = numbers[coded.codes]
        parts = (self.cases.where(of_case == number) for number in range(len(values)))
        return tuple(replace(self, cases=part)._as_log(log) for part in parts)

    def _as_log(self, whole: Log) -> Log:
        """Return the variants of these cases, which are a part of a log."""
        traces = self._traces
        flat = FlatLog(traces.alphabet, traces.codes.astype(np.int64), traces.lengths).compact()
        counts = Counter(keys_of(flat.codes, flat.lengths))
        del counts[b""]  # cases without events
        numbers = np.fromiter(counts.values(), np.int64, len(counts))
        log = Log(flat.alphabet, list(counts), numbers, whole.columns, whole.notes, whole.abstraction)
        return replace(log, unit=whole.unit, counted=whole.counted, roles=whole.roles, totals=self)

    def _projected_sums(self, question: q.ProjectedQuestion) -> Integers:
        cells = NOTHING
        add: Callable[[_Traces, Integers], None]
        match question:
            case q.AttributeByLast():
                events = self._traces.projected(question)
                last = events.codes[events.ends - 1]
                return _histogram(self._cells(question)[events.counted] * question.nodes + last, question)
            case q.EventValuesByActivity():
                add, cells = partial(_add_cells, question), self._cells(question)
            case q.Durations():
                add = partial(_add_durations, question, _rows_of_pairs(question))
                cells = self._service() if question.are_waiting else NOTHING
            case q.Throughput():
                add = partial(_add_throughput, question)
            case q.EventWeekdays() | q.EventHours():
                add = partial(_add_all_events, question)
            case q.CalendarQuestion():
                add = partial(_add_first_events, question)
        sums = np.zeros(int(np.prod(question.shape)), dtype=np.int64)
        for events in replace(self._traces, cells=self._of_events(cells)).blocks(question):
            add(events, sums)
        return sums

    @cached_property
    def _traces(self) -> _Traces:
        """The events under the abstraction."""
        cases = self.cases
        if not self.abstraction.steps:
            times = NOTHING if cases.times is None else cases.times
            return _Traces(cases.alphabet, cases.codes, cases.lengths, times, cases.aware)
        flat = FlatLog(cases.alphabet, cases.codes.astype(np.int64), cases.lengths, np.arange(len(cases.codes)))
        flat = self.abstraction.applied(flat)
        origin = NOTHING if flat.origin is None else flat.origin
        times = NOTHING if cases.times is None else cases.times[origin]
        codes = flat.codes.astype(np.uint32)
        return _Traces(flat.alphabet, codes, flat.lengths, times, cases.aware[origin], origin=origin)

    def _of_events(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of all events, as those of the events under the abstraction."""
        return values if self._traces.origin is None or not len(values) else values[self._traces.origin]

    def _cells(self, question: q.ValueQuestion) -> Integers:
        """The cell of the value of every case, or of every event."""
        values = self.cases.values[question.column]
        if isinstance(values, Coded):
            cell_of = {value: cell for cell, value in enumerate(question.values)}
            other = len(question.values)
            cells = [*(cell_of.get(value, other) for value in values.values), other + 1]  # the last one is for −1
            return np.array(cells, dtype=np.int64)[values.codes]
        bins = np.searchsorted(np.array(question.edges, dtype=np.float64), values, side="right")
        return np.where(np.isnan(values), question.size - 1, bins)

    def _service(self) -> Integers:
        """The service time of every event in microseconds; 0 if it has none."""
        seconds = cast(Floats, self.cases.values[q.SERVICE_COLUMN])
        return np.rint(np.nan_to_num(seconds) * SECOND).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class _Traces:
    """Events of all cases, after an abstraction or a projection; cases can be without events."""

    alphabet: Sequence[Activity]
    codes: NDArray[Any]
    lengths: Integers
    times: Integers
    aware: Booleans
    cells: Integers = field(default_factory=lambda: NOTHING)  # of each event, where a question needs them
    origin: Integers | None = None  # the index of each event before the abstraction, if there is one

    @cached_property
    def counted(self) -> Booleans:
        """Which cases have events."""
        return self.lengths > 0

    @cached_property
    def ends(self) -> Integers:
        """The index after the last event of every case with events."""
        ends: Integers = np.cumsum(self.lengths)[self.counted]
        return ends

    @cached_property
    def starts(self) -> Integers:
        """The index of the first event of every case with events."""
        return self.ends - self.lengths[self.counted]

    @cached_property
    def owner(self) -> Integers:
        """The index of the case of every event."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def projected(self, question: q.ProjectedQuestion) -> _Traces:
        """Return the events as nodes of a question."""
        return self._recoded(_nodes_of(self.alphabet, question))

    def blocks(self, question: q.ProjectedQuestion) -> Iterator[_Traces]:
        """Yield the cases some at a time, their events as nodes of a question."""
        nodes = _nodes_of(self.alphabet, question)
        for cases, events in case_blocks(self.lengths, BLOCK):
            times, aware, cells = self.times[events], self.aware[events], self.cells[events]
            block = _Traces(self.alphabet, self.codes[events], self.lengths[cases], times, aware, cells)
            yield block._recoded(nodes)

    def _recoded(self, nodes: Integers) -> _Traces:
        """Return the events with the node of each activity for its code; those with a negative one are left out."""
        codes = nodes[self.codes] if len(nodes) else np.empty(0, dtype=np.int64)
        if (nodes >= 0).all():
            return replace(self, codes=codes)
        kept = codes >= 0
        lengths = np.bincount(self.owner[kept], minlength=len(self.lengths))
        times, cells = (each[kept] if len(each) else each for each in (self.times, self.cells))
        return replace(self, codes=codes[kept], lengths=lengths, times=times, aware=self.aware[kept], cells=cells)

    def first_events(self) -> _Traces:
        """Return the cases that have events, reduced to the first of each."""
        at = self.starts
        return _Traces(self.alphabet, self.codes[at], np.ones_like(at), self.times[at], self.aware[at])

    def wall_clock(self, zone: str) -> Integers:
        """Return microseconds since 1970 by the wall clock of a zone."""
        changes, offsets = np.array(zone_offsets(zone), dtype=np.int64).T
        ahead = offsets[0] if len(offsets) == 1 else offsets[_last_change(changes, self.times)]
        return self.times + np.where(self.aware, ahead, 0)


def _last_change(changes: Integers, times: Integers) -> Integers:
    """Return the index of the offset that holds at each time."""
    if not len(times):
        return np.empty(0, dtype=np.int64)
    first, last = np.searchsorted(changes[1:], [times.min(), times.max()], side="right")
    index: Integers = first + np.searchsorted(changes[1 + first : 1 + last], times, side="right")
    return index


def _nodes_of(alphabet: Sequence[Activity], question: q.ProjectedQuestion) -> Integers:
    """The node of every activity; −1 if its events are dropped."""
    index_of = {activity: index for index, activity in enumerate(question.activities)}
    other = len(index_of) if question.others == "node" else -1
    return np.array([index_of.get(activity, other) for activity in alphabet], dtype=np.int64)


def _rows_of_pairs(question: q.Durations) -> Integers:
    """The row of every pair of nodes, by the first and then the second; −1 if it has none."""
    rows = np.full(question.nodes**2, -1, dtype=np.int64)
    for index, (one, other) in enumerate(question.pairs):
        rows[one * question.nodes + other] = index
    return rows


def _add_durations(question: q.Durations, rows: Integers, events: _Traces, sums: Integers) -> None:
    """Counts ÷ norm of the steps of the pairs, by duration."""
    pairs = rows[events.codes[:-1] * question.nodes + events.codes[1:]]
    inner = np.ones(len(pairs), dtype=bool)
    inner[events.ends[:-1] - 1] = False  # from one case to the next
    steps = np.flatnonzero(inner & (pairs >= 0))
    ends = events.times - events.cells if question.are_waiting else events.times
    buckets = _bucket(ends[steps + 1] - events.times[steps], q.DURATION_EDGES)
    add_counts(events.owner[steps], pairs[steps] * q.DURATION_BUCKETS + buckets, question.contribution, sums)


def _add_cells(question: q.ProjectedQuestion, events: _Traces, sums: Integers) -> None:
    """Counts ÷ norm of the nodes and cells of all events."""
    add_counts(events.owner, events.codes * question.shape[1] + events.cells, question.contribution, sums)


def _add_throughput(question: q.Throughput, events: _Traces, sums: Integers) -> None:
    sums += _histogram(_bucket(events.times[events.ends - 1] - events.times[events.starts], question.edges), question)


def _add_all_events(question: q.CalendarQuestion, events: _Traces, sums: Integers) -> None:
    add_counts(events.owner, _calendar_cells(events.wall_clock(question.zone), question), question.contribution, sums)


def _add_first_events(question: q.CalendarQuestion, events: _Traces, sums: Integers) -> None:
    sums += _histogram(_calendar_cells(events.first_events().wall_clock(question.zone), question), question)


def _bucket(durations: Integers, edges: tuple[int, ...]) -> Integers:
    """Return the bucket of each duration; negative ones are in the first, like 0."""
    buckets = np.zeros(len(durations), dtype=np.int8)
    for edge in edges:
        buckets += durations >= edge
    return buckets.astype(np.int64)


def _calendar_cells(wall: Integers, question: q.CalendarQuestion) -> Integers:
    """Return the cell of each moment, or −1 if it is in none."""
    days = wall // DAY
    match question:
        case q.StartBlocks():
            return _weeks(days) // WEEKS_PER_BLOCK
        case q.StartWeeks():
            weeks = _weeks(days)
            rows = np.full(BLOCKS, -1, dtype=np.int64)
            rows[list(question.blocks)] = np.arange(len(question.blocks))
            row = rows[weeks // WEEKS_PER_BLOCK]
            return np.where(row < 0, -1, (row * WEEKS_PER_BLOCK + weeks % WEEKS_PER_BLOCK) // question.width)
        case q.HoursQuestion():
            weekend = np.isin(np.arange(WEEK_DAYS), question.weekend).astype(np.int64)
            return weekend[_weekdays(days)] * 24 + (wall - days * DAY) // HOUR
    return _weekdays(days)


def _weeks(days: Integers) -> Integers:
    return np.clip((days + DAYS_FROM_MONDAY) // WEEK_DAYS, 0, WEEKS - 1)


def _weekdays(days: Integers) -> Integers:
    return (days + DAYS_FROM_MONDAY) % WEEK_DAYS


def _histogram(cells: Integers, question: q.CellQuestion) -> Integers:
    return one_cell_sums(cells, question.contribution, int(np.prod(question.shape)))
