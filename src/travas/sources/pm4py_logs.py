"""Event logs of pm4py in memory: read trace by trace, as from XES. pm4py itself is not imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import attrs

from ..errors import CONFIDENTIAL, LogError
from ..model.variants import Variants
from .case_stream import MAX_TRACE_EVENTS, CaseStream, StreamedCase, tie_key
from .reading import ACTIVITY, TIMESTAMP, Reading
from .row_selection import LIFECYCLE, TRACE_LEVEL, by_level, spellings
from .timestamps import parse_zoned

_WHERE = "pm4py event log"


@dataclass(frozen=True)
class Pm4pyLog:
    """An `EventLog` of pm4py."""

    def variants(self, source: Any, reading: Reading) -> Variants:
        """Return the variants of an event log; the rule is that of XES files."""
        if not isinstance(source, Iterable) or not all(hasattr(trace, "attributes") for trace in source):
            raise LogError(f"a {type(source).__name__} of pm4py is not a log; use an EventLog or a DataFrame")
        # as in XES, every event has a time
        reading = attrs.evolve(reading, details=reading.details.settled("recorded"))
        cases, traces = CaseStream(_WHERE, reading), _TraceReader(reading)
        for number, trace in enumerate(source, start=1):
            cases.finish(traces.case(trace, number, cases))
        return cases.variants()


class _TraceReader:
    """Turns traces into cases."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._activities = reading.activities or (ACTIVITY,)
        self._by_time, self._keeps_times = reading.by_time(), reading.details.times == "read"
        self._time = (reading.timestamp or TIMESTAMP) if self._by_time or self._keeps_times else None
        self._unit = None if reading.unit is None else reading.unit.removeprefix(TRACE_LEVEL)
        self._details = (*reading.details.attributes, *reading.details.numbers)
        self._of_trace, self._of_event = by_level(reading.where)

    def case(self, trace: Any, number: int, cases: CaseStream) -> StreamedCase:
        """Read one trace; missing values are recorded in `cases`."""
        reading, attributes = self._reading, trace.attributes
        case = StreamedCase(name=_text(attributes, reading.case or ACTIVITY, number))
        case.unit = "" if self._unit is None else _text(attributes, self._unit, number)
        case.is_selected = all(_text(attributes, key, number) in values for key, values in self._of_trace.items())
        if not case.is_selected:
            return case
        case.details.own = {key: _detail(attributes, key.removeprefix(TRACE_LEVEL), number) for key in self._details}
        for index, event in enumerate(self._selected(trace, number), start=1):
            cases.has_lifecycle = cases.has_lifecycle or LIFECYCLE in event
            names = tuple(_text(event, key, number) for key in self._activities)
            time = "" if self._time is None else _text(event, self._time, number)
            if not all(names) or (self._time is not None and not time):
                what = "a timestamp" if all(names) else "an activity"
                cases.lacking(f"events without {what}", f"event {index:,} of trace {number:,}")
                continue
            if len(case.codes) == MAX_TRACE_EVENTS:
                case.is_cut = True
                break
            case.codes.append(cases.codes[names[0] if len(names) == 1 else names])
            if reading.period is not None:
                case.ends.append(names[0] in reading.period.end_activities)
            if self._time is not None:
                nanoseconds, is_aware = self._instant(time, number)
                if self._by_time:
                    case.keys.append((nanoseconds, *self._tie(event, names, number)))
                if self._keeps_times:
                    case.details.add_time(nanoseconds, is_aware)
            for key in self._details:
                case.details.values.setdefault(key, []).append(_detail(event, key, number))
        return case

    def _selected(self, trace: Any, number: int) -> Iterator[Any]:
        """Yield the events that are read (`sources.row_selection`)."""
        lifecycle = self._reading.lifecycle
        for event in trace:
            transition = "" if lifecycle == "all" else _text(event, LIFECYCLE, number)
            is_of_lifecycle = (
                lifecycle == "all" or transition in spellings(lifecycle) or (lifecycle == "complete" and not transition)
            )
            if is_of_lifecycle and all(_text(event, key, number) in values for key, values in self._of_event.items()):
                yield event

    def _tie(self, event: Mapping[str, Any], names: tuple[str, ...], number: int) -> tuple[Any, ...]:
        if self._reading.ties == "activity":
            return names
        column = self._reading.tie_column()
        return () if column is None else tie_key(_text(event, column, number))

    def _instant(self, text: str, number: int) -> tuple[int, bool]:
        """Return nanoseconds since 1970, and whether the timestamp has a zone."""
        try:
            return parse_zoned(text, self._reading.timestamp_format)
        except ValueError:
            raise LogError(
                f"{_WHERE}: {text[:60]!r} in trace {number:,} is not a timestamp; set timestamp_format {CONFIDENTIAL}",
                field="timestamp_format",
            ) from None


def _text(attributes: Mapping[str, Any], key: str, number: int) -> str:
    """Return a value as text, by its own type alone; a missing value is the empty text."""
    value = attributes.get(key)
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise LogError(
        f"{_WHERE}: attribute {key!r} in trace {number:,} is a {type(value).__name__}; convert it to text {CONFIDENTIAL}"
    )


def _detail(attributes: Mapping[str, Any], key: str, number: int) -> str:
    """Return the value of a released attribute as text: unlike a name, it may be a decimal number."""
    value = attributes.get(key)
    return f"{value:.15g}" if isinstance(value, float) and value == value else _text(attributes, key, number)
