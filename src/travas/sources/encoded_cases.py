"""The counted cases of a file or frame as a few numbers per event, and the sums of what they add to cells.

An event takes 4 bytes for its activity, and 9 for its time and whether it has a zone; a case takes 8 bytes
for its length, 4 for each attribute and 8 for each numeric attribute. All sums are of 64-bit integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..log import questions as q
from ..log.abstraction import FULL, Abstraction, FlatLog
from ..log.calendar import BLOCKS, DAY, DAYS_FROM_MONDAY, HOUR, SECOND, WEEK_DAYS, WEEKS, WEEKS_PER_BLOCK, zone_offsets
from ..log.log import Log
from ..log.questions import DetailColumn, Details, Totals
from ..log.traces import Activity, Codes, keys_of
from ..trusted.contributions import CodedTraces, activity_sums, add_counts, case_blocks
from ..trusted.samplers import Booleans, Floats, Integers
from ..trusted.stages import Selection, Stage

BLOCK = 1 << 16
"""About how many events are processed at a time: bounds the memory, and changes no sum."""

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
    first = logs[0]
    alphabet, codes = _recoded([(log.alphabet, log.codes) for log in logs])
    times = None if first.times is None else np.concatenate([cast(Any, log.times) for log in logs])
    lengths, aware = (np.concatenate(parts) for parts in zip(*((log.lengths, log.aware) for log in logs), strict=True))
    values: dict[DetailColumn, Any] = {}
    for column, own in first.values.items():
        parts: list[Any] = [log.values[column] for log in logs]
        if isinstance(own, Coded):
            texts, indexes = _recoded([(part.values, part.codes) for part in parts])
            values[column] = Coded(indexes.astype(np.int32), texts)
        else:
            values[column] = np.concatenate(parts)
    return EncodedCases(alphabet, codes.astype(np.uint32), lengths, times, aware, values)


def _recoded(parts: Sequence[tuple[Sequence[Any], NDArray[Any]]]) -> tuple[list[Any], Integers]:
    """Join names and the indexes into them; the last index of every table stands for −1, missing."""
    places = Codes()
    tables = [np.array([*(places[name] for name in names), -1]) for names, _ in parts]
    return [*places], np.concatenate([table[codes] for table, (_, codes) in zip(tables, parts, strict=True)])


@dataclass(frozen=True, eq=False, repr=False)
class EncodedTotals:
    """Answers questions about encoded cases. Confidential."""

    cases: EncodedCases
    details: Details
    abstraction: Abstraction = FULL

    def under(self, abstraction: Abstraction) -> Totals:
        """Return the answers for traces that are generalised further."""
        return replace(self, abstraction=self.abstraction | abstraction)

    def fetched(self) -> EncodedTotals:
        """Return the answers from cases in this process."""
        return self

    def sums(self, question: q.CellQuestion) -> Integers:
        """Return what all cases add to the cells of a question."""
        flat, values = self._flat, self._values(question)
        nodes = _nodes_of(flat.alphabet, question)
        sums = np.zeros(int(np.prod(question.shape)), dtype=np.int64)
        for cases, events in case_blocks(flat.lengths, BLOCK):
            owner = np.repeat(np.arange(cases.start, cases.stop), flat.lengths[cases])
            every = _Events(owner, nodes[flat.codes[events]], self._index[events])
            owner, cells = _cells(question, _Events(*(each[every.nodes >= 0] for each in every)), self.cases, values)
            add_counts(owner[cells >= 0] - cases.start, cells[cells >= 0], question.contribution, sums)
        return sums.reshape(question.shape)

    def value_sums(self, question: q.AttributeValues | q.EventValues) -> dict[str | None, int]:
        """Return what all cases add to the values of an attribute."""
        flat = self._flat
        if isinstance(question, q.EventValues):
            of_event = self.cases.names(question.attribute, "event")
            codes = of_event.codes[self._index].astype(np.int64)
            known = replace(flat, codes=codes).where(codes >= 0)
            coded = CodedTraces(known.codes, known.lengths, np.ones_like(known.lengths), len(of_event.values))
            stage = Stage("", question.contribution, Selection(1, question.most))
            numbers = activity_sums(coded, np.empty(0, dtype=np.int64), stage)
            return {name: added for name, added in zip(of_event.values, numbers.tolist(), strict=True) if added}
        of_case = self.cases.names(question.attribute)
        numbers = np.bincount(of_case.codes[flat.lengths > 0] + 1, minlength=len(of_case.values) + 1)
        names = [None, *of_case.values]
        return {name: n * question.contribution for name, n in zip(names, numbers.tolist(), strict=True) if n}

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
        flat = self._flat.compact()
        counts = Counter(keys_of(flat.codes, flat.lengths))
        del counts[b""]  # cases without events
        numbers = np.fromiter(counts.values(), np.int64, len(counts))
        log = Log(flat.alphabet, list(counts), numbers, whole.columns, whole.notes, whole.abstraction)
        return replace(log, unit=whole.unit, counted=whole.counted, roles=whole.roles, totals=self)

    @cached_property
    def _flat(self) -> FlatLog:
        """The events under the abstraction."""
        cases = self.cases
        return self.abstraction.applied(
            FlatLog(cases.alphabet, cases.codes, cases.lengths, np.arange(len(cases.codes)))
        )

    @property
    def _index(self) -> Integers:
        """Where each of them is in the log."""
        return cast(Integers, self._flat.origin)

    def _values(self, question: q.CellQuestion) -> Integers:
        """The number that a question needs of every case, or of every event: the cell of its value, or its service time."""
        if isinstance(question, q.Durations) and question.are_waiting:
            seconds = cast(Floats, self.cases.values[q.SERVICE_COLUMN])
            return np.rint(np.nan_to_num(seconds) * SECOND).astype(np.int64)
        if not isinstance(question, q.ValueQuestion):
            return np.zeros(len(self.cases.codes), dtype=np.int64)
        values = self.cases.values[question.column]
        if isinstance(values, Coded):
            cell_of = {value: cell for cell, value in enumerate(question.values)}
            other = len(question.values)
            cells = [*(cell_of.get(value, other) for value in values.values), other + 1]  # the last one is for −1
            return np.array(cells, dtype=np.int64)[values.codes]
        bins = np.searchsorted(np.array(question.edges, dtype=np.float64), values, side="right")
        return np.where(np.isnan(values), question.size - 1, bins)


class _Events(NamedTuple):
    """Events in the order of their cases: the case of each, its activity as a node of a question, and where it is in the log."""

    owner: Integers
    nodes: Integers
    place: Integers


def _nodes_of(alphabet: Sequence[Activity], question: q.CellQuestion) -> Integers:
    """The node of every activity; −1 if its events are dropped."""
    if not isinstance(question, q.ProjectedQuestion):
        return np.zeros(len(alphabet), dtype=np.int64)
    index_of = {activity: index for index, activity in enumerate(question.activities)}
    other = len(index_of) if question.others == "node" else -1
    return np.array([index_of.get(activity, other) for activity in alphabet], dtype=np.int64)


def _cells(question: q.CellQuestion, events: _Events, log: EncodedCases, values: Integers) -> tuple[Integers, Integers]:
    """Return the cells of a question in which cases are, and the case of each; negative ones are none."""
    owner, nodes, place = events
    first, last = np.flatnonzero(np.diff(owner, prepend=-1)), np.flatnonzero(np.diff(owner, append=-1))
    match question:
        case q.AttributeCells():
            return owner[last], values[owner[last]]
        case q.AttributeByLast():
            return owner[last], values[owner[last]] * question.nodes + nodes[last]
        case q.EventValuesByActivity():
            return owner, nodes * question.size + values[place]
    times = cast(Integers, log.times)[place]
    match question:
        case q.Throughput():
            return owner[last], _bucket(times[last] - times[first], question.edges)
        case q.Durations():
            rows, pairs = np.full((question.nodes, question.nodes), -1), np.array(question.pairs, dtype=np.int64)
            rows[tuple(pairs.reshape(-1, 2).T)] = np.arange(len(pairs))
            step = np.flatnonzero(owner[1:] == owner[:-1])
            buckets = _bucket((times - values[place])[step + 1] - times[step], q.DURATION_EDGES)
            return owner[step], rows[nodes[step], nodes[step + 1]] * q.DURATION_BUCKETS + buckets
    counted = slice(None) if isinstance(question, q.EventWeekdays | q.EventHours) else first
    question = cast(q.CalendarQuestion, question)
    wall = _wall_clock(times[counted], log.aware[place[counted]], question.zone)
    return owner[counted], _calendar_cells(wall, question)


def _wall_clock(times: Integers, aware: Booleans, zone: str) -> Integers:
    """Return microseconds since 1970 by the wall clock of a zone."""
    changes, offsets = np.array(zone_offsets(zone), dtype=np.int64).T
    return times + np.where(aware, offsets[np.searchsorted(changes[1:], times, side="right")], 0)


def _bucket(durations: Integers, edges: tuple[int, ...]) -> Integers:
    """Return the bucket of each duration; negative ones are in the first, like 0."""
    return np.searchsorted(np.array(edges), durations, side="right")


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
