"""The slow plain twin of every engine's totals: dicts, `datetime` and `math.isqrt`, one case after another."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import compress, pairwise
from math import isqrt
from typing import Any
from zoneinfo import ZoneInfo

from travas.log import questions as q
from travas.log.questions import SERVICE
from travas.log.traces import Activity

Cell = tuple[int, ...]
FIRST_MONDAY = date(1969, 12, 29)


@dataclass(frozen=True)
class PlainCase:
    """Events in order, each with its time (naive ones by the wall clock of any zone), and attributes; None is missing."""

    activities: tuple[Activity, ...]
    times: tuple[datetime, ...]
    values: dict[str, Any] = field(default_factory=dict)
    of_events: dict[str, tuple[Any, ...]] = field(default_factory=dict)


def plain_sums(question: q.CellQuestion, cases: Iterable[PlainCase]) -> Counter[Cell]:
    """What all cases add to cells other than 0."""
    sums: Counter[Cell] = Counter()
    for case in cases:
        sums.update(plain_vector(question, case))
    return sums


def plain_values(question: q.AttributeValues, cases: Iterable[PlainCase]) -> dict[Any, int]:
    counts = Counter(case.values[question.attribute] for case in cases if case.activities)
    return {value: count * question.contribution for value, count in counts.items()}


def plain_vector(question: q.CellQuestion, case: PlainCase) -> Counter[Cell]:
    """What one case adds."""
    delta = question.contribution
    if isinstance(question, q.AttributeCells):
        value = case.values[question.attribute]
        return Counter({(_value(question, value),): delta} if case.activities else {})
    assert isinstance(question, q.ProjectedQuestion)
    events = [
        (question.activities.index(a) if a in question.activities else len(question.activities), time)
        for a, time in zip(case.activities, case.times or [datetime.max] * len(case.activities), strict=True)
        if a in question.activities or question.others == "node"
    ]
    if not events:
        return Counter()
    if isinstance(question, q.Durations):
        known = [a in question.activities or question.others == "node" for a in case.activities]
        service = case.of_events[SERVICE] if question.are_waiting else [None] * len(known)
        begins = [time - timedelta(seconds=own or 0) for time, own in zip(case.times, service, strict=True)]
        cells = [
            (question.pairs.index((a, b)), _bucket(start, end))
            for ((a, start), (b, _)), end in zip(pairwise(events), [*compress(begins, known)][1:], strict=True)
            if (a, b) in question.pairs
        ]
        return _divided(Counter(cells), delta)
    if isinstance(question, q.EventValuesByActivity):
        own = [
            (name, value)
            for name, value in zip(case.activities, case.of_events[question.attribute], strict=True)
            if name in question.activities or question.others == "node"
        ]
        return _divided(
            Counter((node, _value(question, value)) for (node, _), (_, value) in zip(events, own, strict=True)), delta
        )
    if isinstance(question, q.Throughput):
        lasts = (_instant(events[-1][1]) - _instant(events[0][1])) // timedelta(microseconds=1)
        return Counter({(sum(lasts >= edge for edge in question.edges),): delta})
    if isinstance(question, q.AttributeByLast):
        return Counter({(_value(question, case.values[question.attribute]), events[-1][0]): delta})
    assert isinstance(question, q.CalendarQuestion)
    if isinstance(question, q.EventWeekdays | q.EventHours):
        return _divided(Counter(_cell(question, time) for _, time in events), delta)
    cell = _cell(question, events[0][1])
    return Counter({} if cell is None else {cell: delta})


def _divided(counts: Counter[Any], delta: int) -> Counter[Cell]:
    norm = sum(count**2 for count in counts.values())
    return Counter({cell: count * isqrt(delta**2 // norm) for cell, count in counts.items()})


def _value(question: q.ValueQuestion, value: Any) -> int:
    if not question.edges:
        return question.values.index(value) if value in question.values else len(question.values) + (value is None)
    return len(question.edges) + 1 if value is None else sum(value >= edge for edge in question.edges)


def plain_event_values(question: q.EventValues, cases: Iterable[PlainCase]) -> dict[Any, int]:
    sums: Counter[Any] = Counter()
    for case in cases:
        present = [value for value in case.of_events[question.attribute] if value is not None]
        values = list(dict.fromkeys(present))
        for value in values[: question.most]:
            sums[value] += isqrt(question.contribution**2 // min(len(values), question.most))
    return {value: added for value, added in sums.items() if added}


def _instant(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _bucket(start: datetime, end: datetime) -> int:
    seconds = (_instant(end) - _instant(start)) / timedelta(seconds=1)
    return sum(seconds >= 4**power for power in range(15))


def _cell(question: q.CalendarQuestion, time: datetime) -> Any:
    wall = _wall(time, question.zone)
    week = min(max((wall.date() - FIRST_MONDAY).days // 7, 0), 128 * 64 - 1)
    if isinstance(question, q.StartBlocks):
        return (week // 64,)
    if isinstance(question, q.StartWeeks):
        block, row = divmod(week, 64)
        return (question.blocks.index(block), row // question.width) if block in question.blocks else None
    if isinstance(question, q.StartWeekdays | q.EventWeekdays):
        return (wall.weekday(),)
    assert isinstance(question, q.StartHours | q.EventHours)
    return (int(wall.weekday() in question.weekend), wall.hour)


def _wall(time: datetime, zone: str) -> datetime:
    """The wall clock. Outside of the calendar the offset is that of its nearest end."""
    if time.tzinfo is None:
        return time
    place = ZoneInfo(zone)
    nearest = min(max(time, datetime(1969, 12, 28, tzinfo=UTC)), datetime(2127, 1, 1, tzinfo=UTC))
    offset = nearest.astimezone(place).utcoffset()
    assert offset is not None
    return time.astimezone(UTC).replace(tzinfo=None) + offset
