"""Releases as XES, with the privacy extension in the header. Escaped names: docs/outputs.md."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from ..log.escaped_names import ESCAPED, escape_name
from ..log.options import CASE_PREFIX, CaseColumn
from ..log.questions import LIFECYCLE
from ..log.traces import Activity, Trace
from ..releases.release import TIMES_MARK, ReleasedLog, about_timestamps, frequencies_of
from ..sources.reading import TIMESTAMP
from ..trusted.numbers import as_text
from .event_tables import artificial_times, compressed


def _attribute(value: str) -> str:
    """Quote an XML attribute; white space is written as character references, because parsers normalise it."""
    return quoteattr(
        escape_name(value), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;", "\x85": "&#133;", "\u2028": "&#8232;"}
    )


def xes_string(key: str, value: str) -> str:
    """Return an attribute of XES that is text, with escaped names."""
    return f"<string key={_attribute(key)} value={_attribute(value)}/>"


_LOG = '<log xes.version="1849.2023" xes.features="nested-attributes" xmlns="http://www.xes-standard.org/">'
"""IEEE 1849-2023; the schema of XES requires a decimal number as version."""

_TAGS = {"text": "string", "whole number": "int", "number": "float"}

_EXTENSIONS = (("Concept", "concept"), ("Time", "time"), ("Lifecycle", "lifecycle"), ("Organizational", "org"))


def xes_header(release: ReleasedLog) -> str:
    """Return the header of the log: facts of the release, nothing from the header of the source."""
    guarantee = release.guarantee
    privacy = {
        "privacy:operation type": release.operation + (" and generalization" if release.is_abstracted else ""),
        "privacy:level": guarantee.unit.name,
        "privacy:target": "trace variant",
        "privacy:mechanism": guarantee.mechanism,
        "privacy:epsilon": as_text(guarantee.epsilon),
        "privacy:delta": as_text(guarantee.delta),
        "privacy:standing": str(guarantee.standing),
        "privacy:frequencies": frequencies_of(release),
    }
    if not guarantee.unit.is_case:
        privacy["privacy:max cases"] = str(guarantee.unit.max_cases)
    keys = [*release.columns, *(column.attribute for column in release.event_columns), "concept:", "time:"]
    keys += [] if release.event_starts is None else [LIFECYCLE]
    used = [(name, prefix) for name, prefix in _EXTENSIONS if any(key.startswith(prefix + ":") for key in keys)]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', _LOG]
    for name, prefix in [*used, ("Privacy", "privacy")]:
        lines.append(f'<extension name="{name}" prefix="{prefix}" uri="http://www.xes-standard.org/{prefix}.xesext"/>')
    lines += ['<global scope="trace">', xes_string("concept:name", ""), "</global>"]
    lines += ['<global scope="event">', *(xes_string(column, "") for column in release.columns)]
    lines += [_dates([0])[0] + "</global>"]
    names = " ".join(f"'{column}'" if " " in column else column for column in release.columns)
    lines.append(f'<classifier name="Activity" keys={_attribute(names)}/>')
    lines += [xes_string("concept:name", release.title), xes_string(TIMES_MARK, about_timestamps(release.mechanism))]
    lines += [xes_string(key, value) for key, value in release.notices.items()]
    if _has_escapes(release):
        lines.append(xes_string(ESCAPED, "escaped"))
    lines += ['<list key="privacy:anonymizations">', "<values>", '<list key="privacy:anonymizer1">', "<values>"]
    lines += [xes_string(key, value) for key, value in privacy.items()]
    lines += ["</values>", "</list>", "</values>", "</list>"]
    return "\n".join(lines) + "\n"


def _has_escapes(release: ReleasedLog) -> bool:
    """Return whether any text of the release is escaped."""
    activities = {activity for trace in release.variants for activity in trace} | {release.columns}
    names = {name for activity in activities for name in ((activity,) if isinstance(activity, str) else activity)}
    names |= {release.guarantee.unit.name, *map(str, release.abstractions)}
    for column in (*release.case_columns, *release.event_columns):
        occurring = set(column.values[~column.missing].tolist()) if column.texts else ()
        names |= {column.attribute, *(column.texts[index] for index in occurring)}
    return any(escape_name(name) != name for name in names)


def _xes(release: ReleasedLog) -> Iterator[bytes]:
    """Yield the document in pieces, one element per line."""
    yield xes_header(release).encode()
    yield from _traces(release)
    yield b"</log>\n"


def _traces(release: ReleasedLog) -> Iterator[bytes]:
    """The cases: the events of a variant are rendered once, unless every case has its own times or attributes of events."""
    columns, labels, attributes = release.columns, release.case_labels, _case_attributes(release)
    starts, times = _rendered_starts(release), release.event_times
    is_repeated = times is None and not release.event_columns  # then there are no starts either
    longest = max(map(len, release.variants), default=0)
    rows = _dates(np.arange(longest)) if is_repeated else _rendered_rows(release)

    @cache
    def named(activity: Activity) -> str:
        values: Any = (activity,) if len(columns) == 1 else activity
        return "\n".join(["<event>", *map(xes_string, columns, values), ""])

    def events(trace: Iterable[Activity], rows: Iterable[str]) -> str:
        return "".join(f"{named(activity)}{row}</event>\n" for activity, row in zip(trace, rows, strict=False))

    case = first = 0
    for index, (trace, count) in enumerate(zip(release.variants, release.counts, strict=True)):
        label = "".join(
            xes_string(key.removeprefix(CASE_PREFIX), values[index]) + "\n" for key, values in labels.items()
        )
        body = events(trace, rows) if is_repeated else ""
        for _ in range(count):
            own = "" if attributes is None else attributes[case]
            case, last = case + 1, first + len(trace)
            if starts is not None and times is not None:
                ends = zip(times[first:last].tolist(), rows[first:last], strict=True)
                body = events(*_in_time_order(trace, starts[first:last], ends))
            elif not is_repeated:
                body = events(trace, rows[first:last])
            yield f'<trace>\n<string key="concept:name" value="{case}"/>\n{own}{label}{body}</trace>\n'.encode()
            first = last


def _rendered_rows(release: ReleasedLog) -> list[str]:
    """The dates of all events of all cases, in UTC, each with the attributes of the event."""
    dates = _dates(artificial_times(release) if release.event_times is None else release.event_times)
    if release.event_starts is not None:
        dates = [date + _transition("complete") for date in dates]
    columns = [_rendered_values(column, column.attribute) for column in release.event_columns]
    return ["".join(parts) for parts in zip(dates, *columns, strict=True)] if columns else dates


def _dates(seconds: NDArray[Any] | Sequence[int]) -> list[str]:
    """Seconds from 1970 as dates in UTC, each a line."""
    import polars as pl

    moments = pl.from_epoch(pl.Series(seconds), "s").dt.replace_time_zone("UTC")
    texts = moments.dt.strftime("%Y-%m-%dT%H:%M:%S.000%:z").to_list()
    return [f'<date key="{TIMESTAMP}" value="{text}"/>\n' for text in texts]


def _transition(value: str) -> str:
    return xes_string(LIFECYCLE, value) + "\n"


def _rendered_starts(release: ReleasedLog) -> list[tuple[int, str] | None] | None:
    """The start of every event, as its time and what is written; None where it has none, or if there are none."""
    if (starts := release.event_starts) is None:
        return None
    rows = zip(starts.values.tolist(), _dates(starts.values), starts.missing.tolist(), strict=True)
    return [None if missing else (time, date + _transition("start")) for time, date, missing in rows]


def _in_time_order(
    trace: Trace, starts: Iterable[tuple[int, str] | None], ends: Iterable[tuple[int, str]]
) -> tuple[list[Activity], list[str]]:
    """The activities and rows of starts and ends by time; of simultaneous ones, an event ends before the next starts."""
    pairs = zip(trace, starts, ends, strict=True)
    both = [(*moment, activity) for activity, *pair in pairs for moment in pair if moment is not None]
    both.sort(key=itemgetter(0))
    return [activity for *_, activity in both], [row for _, row, _ in both]


def _case_attributes(release: ReleasedLog) -> list[str] | None:
    """The attributes of every case, rendered; None if there are none."""
    columns = [_rendered_values(column, column.attribute.removeprefix(CASE_PREFIX)) for column in release.case_columns]
    return ["".join(parts) for parts in zip(*columns, strict=True)] if columns else None


def _rendered_values(column: CaseColumn, name: str) -> list[str]:
    key, tag = _attribute(name), _TAGS[column.kind]
    texts = [f"<{tag} key={key} value={_attribute(text)}/>\n" for text in column.texts]
    rows = zip(column.values.tolist(), column.missing.tolist(), strict=True)
    if column.kind == "text":
        return ["" if missing else texts[value] for value, missing in rows]
    return ["" if missing else f'<{tag} key={key} value="{value}"/>\n' for value, missing in rows]


def write_xes(release: ReleasedLog, path: Path) -> None:
    with path.open("wb", buffering=1 << 20) as out:
        out.writelines(_xes(release))


def write_xes_gz(release: ReleasedLog, path: Path) -> None:
    with compressed(path) as packed, io.BufferedWriter(packed, 1 << 18) as out:  # small writes are slow
        out.writelines(_xes(release))
