"""All columns of a log as text, for the audit of a release. Confidential where the log is the original."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
from lxml import etree

from ..errors import LogError
from ..log.traces import Trace
from ..sources.column_names import recognised
from ..sources.columns import Columns
from ..sources.csv_files import table_of
from ..sources.formats import CSV_SUFFIXES, PARQUET_SUFFIXES, XES_SUFFIXES, suffix_of
from ..sources.reading import CASE, Reading

Timeline = tuple[datetime, ...]


@dataclass(frozen=True, eq=False)
class EventTable:
    """The events of a log: every column as text, and the columns by role."""

    frame: pl.DataFrame
    columns: Columns

    @property
    def others(self) -> dict[str, str]:
        """The columns of text by what they are called in both logs: roles by role, all others by name."""
        roles = {"the case": self.columns.case}
        if len(self.columns.activities) == 1:
            roles["the activity"] = self.columns.activities[0]
        used = {*roles.values(), *self.columns.activities, self.columns.timestamp}
        return roles | {name: name for name in self.frame.columns if name not in used}

    def owners(self, column: str) -> dict[str, bool]:
        """The values of a column, and whether exactly one case has them."""
        pairs = self.frame.select(pl.col(column).alias("value"), pl.col(self.columns.case).alias("case")).drop_nulls()
        counted = pairs.unique().group_by("value").len()
        return dict(zip(counted["value"], counted["len"] == 1, strict=True))

    def timelines(self) -> list[Timeline]:
        """The times of every case with two or more different ones; empty if they cannot be parsed."""
        if self.columns.timestamp is None:
            return []
        grouped = self.frame.group_by(self.columns.case, maintain_order=True).agg(self.columns.timestamp)
        lines = []
        for texts in grouped[self.columns.timestamp]:
            times = [instant(text) for text in texts]
            known = tuple(sorted(time for time in times if time is not None))
            if len(known) == len(times) and len(set(known)) > 1:
                lines.append(known)
        return lines

    def first_occurrences(self) -> list[Trace]:
        """The variants in the order in which their first case occurs; for one activity column."""
        if len(self.columns.activities) != 1:
            return []
        activity, time = self.columns.activities[0], self.columns.timestamp
        events = self.frame.drop_nulls([self.columns.case, activity])
        if time is not None:
            order = events.select(pl.col(self.columns.case), pl.int_range(pl.len()).alias("row"))
            first = order.group_by(self.columns.case).agg(pl.col("row").min())
            events = events.join(first, on=self.columns.case).sort(["row", time], maintain_order=True)
        traces = events.group_by(self.columns.case, maintain_order=True).agg(activity)[activity]
        return list(dict.fromkeys(tuple(trace) for trace in traces))


def event_table(source: Any, reading: Reading) -> EventTable | None:
    """Return the events of a log with all columns."""
    frame = _frame(source, reading)
    if frame is None:
        return None
    frame = frame.select(pl.all().cast(pl.String, strict=False))
    names = frame.columns
    roles = Reading(case=reading.case if reading.case in names else None, activities=reading.activities, order="file")
    columns = Columns.of(roles, names, str(source) if _is_path(source) else "data frame")
    time = reading.timestamp if reading.timestamp in names else recognised("timestamp", names)
    return EventTable(frame, replace(columns, timestamp=time))


def _is_path(source: Any) -> bool:
    return isinstance(source, str | Path)


def _frame(source: Any, reading: Reading) -> pl.DataFrame | None:
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        return source.lazy().collect()
    if type(source).__module__.partition(".")[0] == "pandas":
        texts = {str(name): [None if value != value else str(value) for value in source[name]] for name in source}
        return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))
    if not _is_path(source) or not Path(source).is_file():
        return None
    path = Path(source)
    try:
        if suffix_of(path, CSV_SUFFIXES):
            return table_of(path, reading, lambda _: None)
        if suffix_of(path, PARQUET_SUFFIXES):
            return pl.read_parquet(path, glob=False)
        return _of_xes(path) if suffix_of(path, XES_SUFFIXES) else None
    except (pl.exceptions.PolarsError, etree.XMLSyntaxError, OSError) as error:
        raise LogError(f"{path}: cannot be read for the audit ({type(error).__name__}); check the file") from None


def _of_xes(path: Path) -> pl.DataFrame:
    """One row for each event: its attributes, and those of its trace as `case:…`."""
    columns: dict[str, list[str | None]] = {}
    rows = 0
    with path.open("rb") as file:
        stream = gzip.GzipFile(fileobj=file) if path.name.lower().endswith(".gz") else file
        for _, trace in etree.iterparse(stream, tag="{*}trace", resolve_entities=False, no_network=True):
            rows += 1
            own = dict(_attributes(trace))
            about = {f"case:{key}": value for key, value in own.items()}
            about[CASE] = own.get("concept:name", f"trace {rows}")
            for event in trace.iterfind("{*}event"):
                number = len(columns.setdefault(CASE, []))
                for key, value in (about | dict(_attributes(event))).items():
                    values = columns.setdefault(key, [])
                    values.extend([None] * (number - len(values)))
                    values.append(value)
            trace.clear()
    longest = max(map(len, columns.values()), default=0)
    filled = {key: [*values, *[None] * (longest - len(values))] for key, values in columns.items()}
    return pl.DataFrame(filled, schema=dict.fromkeys(filled, pl.String))


def _attributes(element: Any) -> list[tuple[str, str]]:
    return [(child.get("key"), child.get("value")) for child in element if child.get("key") and child.get("value")]


def instant(text: str | None) -> datetime | None:
    """The moment that a text states, in UTC; None if it states none."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time.replace(tzinfo=None) - (time.utcoffset() or (time - time))
