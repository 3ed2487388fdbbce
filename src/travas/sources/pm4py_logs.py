"""Event logs of pm4py in memory: read trace by trace, as from XES. pm4py itself is not imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from itertools import islice
from typing import Any

import polars as pl

from ..errors import CONFIDENTIAL, LogError
from ..log.log import Log
from .reading import TRACE_LEVEL, Reading
from .trace_tables import TraceLog

_WHERE = "pm4py event log"


def read_pm4py_log(source: Any, reading: Reading) -> Log:
    """Return the variants of an `EventLog` of pm4py; the rule is that of XES files."""
    if not isinstance(source, Iterable) or not all(hasattr(trace, "attributes") for trace in source):
        raise LogError(f"a {type(source).__name__} of pm4py is not a log; use an EventLog or a DataFrame")
    traces = TraceLog(_WHERE, reading, pl.String)
    # unlike names, released attributes may be decimals
    attributes = {name.removeprefix(TRACE_LEVEL) for name in (*reading.details.attributes, *reading.details.numbers)}
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
        f"{_WHERE}: attribute {key!r} in trace {number:,} is a {type(value).__name__}; convert it to text {CONFIDENTIAL}"
    )
