"""The first events of a log, for choosing its columns. Confidential: it shows cells of the original log."""

from __future__ import annotations

import csv
import io
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import LogError
from ..sources.columns import recognised
from ..sources.files import CSV_SUFFIXES, PARQUET_SUFFIXES, XES_SUFFIXES, suffix_of
from ..sources.reading import ACTIVITY, DEFAULT_READING, TIMESTAMP, Reading
from .failures import known_as
from .jobs import Job, JobWatch, Limits

SUFFIXES = XES_SUFFIXES + CSV_SUFFIXES + PARQUET_SUFFIXES
_ROWS = 6
_HEAD = 1 << 20
LIMITS = Limits(memory=384 << 20, seconds=30)


@dataclass(frozen=True)
class Preview:
    """The columns of cases and events, the first rows, and the recognised columns (None if not recognised)."""

    kind: str
    case_columns: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    case: str | None
    activity: str | None
    timestamp: str | None

    def reading(self) -> Reading:
        """The reading that was recognised."""
        timestamp = None if self.kind == "xes" else self.timestamp
        return Reading(case=self.case, activity=(self.activity,) if self.activity else (), timestamp=timestamp)


async def preview(path: Path, name: str, reading: Reading = DEFAULT_READING) -> Preview:
    """Preview the beginning of a file, in a separate process. Of the reading only delimiter, quote and encoding are used."""
    job = Job(look, path, name, reading, limits=LIMITS, name=name)
    job.start()
    result: Preview = await job.wait()
    return result


def look(path: Path, name: str, reading: Reading, watch: JobWatch) -> Preview:
    """Preview the beginning of a file, unpacking at most some megabytes. Raises LogError if it is not a log."""
    kind = suffix_of(path, SUFFIXES)
    if kind is None:
        raise LogError(f"{name}: unsupported file extension; supported: {', '.join(SUFFIXES)}")
    if not path.stat().st_size:
        raise LogError(f"{name}: the file is empty; check that it is the right file")
    with known_as({str(path): name}):
        if kind in XES_SUFFIXES:
            return _xes(path)
        if kind in CSV_SUFFIXES:
            return _csv(path, reading)
        return _parquet(path)


def _head(path: Path) -> bytes:
    from ..sources.files import chunks

    head = b""
    with closing(chunks(path, lambda _: None)) as pieces:
        for piece in pieces:
            head += piece
            if len(head) >= _HEAD:
                break
    return head


def _csv(path: Path, reading: Reading) -> Preview:
    from ..sources.csv_files import dialect_of

    head = _head(path)
    dialect = dialect_of(head, reading)
    text = head.decode(dialect.encoding, errors="replace").lstrip("\ufeff")
    csv.field_size_limit(2**31 - 1)  # the default is 128 kB
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter, quotechar=dialect.quote or '"')
    rows: list[tuple[str, ...]] = []
    for cells in reader:
        if cells:
            rows.append(tuple(cells))
        if len(rows) > _ROWS:
            break
    if not rows:
        raise LogError(f"{path}: the log is empty, it has no header; check that it is the right file")
    return _table(rows[0], rows[1:])


def _parquet(path: Path) -> Preview:
    import polars as pl

    try:
        scan = pl.scan_parquet(path, glob=False)
        names = scan.collect_schema().names()
        rows = scan.head(_ROWS).collect().rows()
    except BaseException as error:  # Polars' own words may quote the data; a damaged file can make it panic
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        raise LogError(
            f"{path}: cannot be read as Parquet ({type(error).__name__}); check that the file is complete"
        ) from None
    return _table(tuple(names), [tuple("" if cell is None else str(cell) for cell in row) for row in rows])


def _table(names: tuple[str, ...], rows: list[tuple[str, ...]]) -> Preview:
    roles = {role: recognised(role, names) for role in ("case", "activity", "timestamp")}
    cells = tuple((row + ("",) * len(names))[: len(names)] for row in rows)
    return Preview("table", names, names, cells, roles["case"], roles["activity"], roles["timestamp"])


def _xes(path: Path) -> Preview:
    """The attributes of the first traces and their events, and the names that the standard has for case and activity.

    Only the root element decides whether it is a log, because no case may. Only the beginning of a very long trace is read.
    """
    from lxml import etree

    from ..sources.files import chunks

    parser: Any = etree.XMLPullParser(
        events=("start", "end"), tag=("{*}log", "{*}trace"), resolve_entities=False, no_network=True, load_dtd=False,
        huge_tree=False,
    )  # fmt: skip
    started: list[Any] = []
    traces: list[tuple[dict[str, str], list[dict[str, str]]]] = []
    size = 0
    try:
        with closing(chunks(path, lambda _: None, 1 << 16)) as pieces:
            for piece in pieces:
                size += len(piece)
                parser.feed(piece)
                for event, element in parser.read_events():
                    if event == "start":
                        started.append(element)
                    elif etree.QName(element).localname == "trace":
                        traces.append(_trace(element))
                if len(traces) >= _ROWS or size >= 8 * _HEAD:
                    break
    except etree.XMLSyntaxError:
        if not traces:
            raise LogError(
                f"{path}: not an XES log, or damaged at its beginning; check that it is the right file"
            ) from None
    if not started or etree.QName(started[0]).localname != "log":
        raise LogError(f"{path}: not an XES log, the root element is not <log>; check that it is the right file")
    if not traces and len(started) > 1:
        traces = [_trace(started[1])]
    of_case = tuple(dict.fromkeys([*(key for attributes, _ in traces for key in attributes), ACTIVITY]))
    of_event = tuple(dict.fromkeys([*(key for _, events in traces for event in events for key in event), ACTIVITY]))
    rows = [tuple(event.get(key, "") for key in of_event) for _, events in traces for event in events][:_ROWS]
    return Preview(
        "xes",
        of_case,
        of_event,
        tuple(rows),
        ACTIVITY,
        ACTIVITY,  # whatever the first traces have: they must not decide how others are read
        TIMESTAMP if TIMESTAMP in of_event else recognised("timestamp", of_event),
    )


def _trace(element: Any) -> tuple[dict[str, str], list[dict[str, str]]]:
    def attributes(of: Any) -> dict[str, str]:
        return {
            child.get("key"): child.get("value") for child in of if child.get("key") and child.get("value") is not None
        }

    from lxml import etree

    events = [child for child in element if isinstance(child.tag, str) and etree.QName(child).localname == "event"]
    return attributes(element), [attributes(event) for event in events[:_ROWS]]
