"""Releases as tables of events: data frames, CSV and Parquet.

An event log is generated from the release alone: new case identifiers in canonical order, and artificial timestamps
that are the same for every case, one second per step from 1970, unless the release has times.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError
from ..log.escaped_names import escape_cell
from ..log.options import CaseColumn
from ..log.traces import Activity
from ..releases.release import (
    STANDING,
    START_TIMESTAMP,
    TIMES_MARK,
    Profile,
    ReleasedLog,
    about_timestamps,
    timestamp_kind,
)
from ..sources.reading import CASE, TIMESTAMP
from ..trusted.guarantee import Standing

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

START = datetime(1970, 1, 1, tzinfo=UTC)
"""The artificial time of the first event of every case."""

TIME_FORMAT = "%Y-%m-%dT%H:%M:%S%:z"
"""How times are written in CSV."""

MISSING = "(missing)"
"""What a text that is missing is called for pm4py."""


def events(release: ReleasedLog, written: Callable[[str], str] = str) -> pl.LazyFrame:
    """The release as an event log: one row per event, pm4py's column names."""
    import numpy as np
    import polars as pl
    import polars.selectors as cs

    codes: dict[Activity, int] = {}
    flat = np.array([codes.setdefault(a, len(codes)) for trace in release.variants for a in trace], dtype=np.uint32)
    counts = np.array(release.counts, dtype=np.int64)
    lengths = np.array([len(trace) for trace in release.variants], dtype=np.int64)
    per_case = np.repeat(lengths, counts)
    starts = np.repeat(np.cumsum(lengths) - lengths, counts)
    step = artificial_times(release)
    code = flat[np.repeat(starts, per_case) + step]
    case = np.repeat(np.arange(1, len(per_case) + 1, dtype=np.uint32), per_case)
    times = step.astype(np.int32) if release.event_times is None else release.event_times
    rows = [(a,) if isinstance(a, str) else a for a in codes]
    columns: dict[str, Any] = {CASE: case}
    for index, column in enumerate(release.columns):
        columns[written(column)] = _repeated([written(row[index]) for row in rows], code)
    columns[TIMESTAMP] = times
    if release.event_starts is not None:
        columns[START_TIMESTAMP] = _values_of(release.event_starts, written)
    columns[TIMES_MARK] = _repeated([timestamp_kind(release.mechanism)], np.zeros(len(case), dtype=np.uint32))
    for attribute in release.case_columns:
        columns[written(attribute.column)] = _values_of(attribute, written).gather(pl.Series(case - 1))
    for attribute in release.event_columns:
        columns[written(attribute.attribute)] = _values_of(attribute, written)
    variant = np.repeat(np.arange(len(counts), dtype=np.uint32), counts * lengths)
    for column, values in release.case_labels.items():
        columns[column] = _repeated(values, variant)
    moments = [_instant(name, release.zone) for name in (TIMESTAMP, START_TIMESTAMP) if name in columns]
    return pl.LazyFrame(columns).with_columns(pl.col(CASE).cast(pl.String), cs.enum().cast(pl.String), *moments)


def artificial_times(release: ReleasedLog) -> NDArray[Any]:
    """The number of each event in its case, for all cases."""
    import numpy as np

    lengths = np.repeat(np.array(list(map(len, release.variants)), dtype=np.int64), release.counts)
    return np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _repeated(texts: Sequence[str], index: NDArray[Any]) -> pl.Series:
    """Texts by their index; a number for each, until they are written."""
    import polars as pl

    return pl.Series(texts, dtype=pl.Enum(list(dict.fromkeys(texts)))).gather(pl.Series(index))


def _instant(name: str, zone: str) -> pl.Expr:
    """A column of seconds from 1970 as times in a zone."""
    import polars as pl

    moment = (pl.lit(START) + pl.duration(seconds=pl.col(name))).cast(pl.Datetime("us", "UTC"))
    return moment.dt.convert_time_zone(zone).alias(name)


def notices(release: ReleasedLog) -> dict[str, str]:
    """What a table says about the log as a whole, where it has a place for it."""
    return {TIMES_MARK: about_timestamps(release.mechanism)} | release.notices


def _values_of(attribute: CaseColumn, written: Callable[[str], str]) -> pl.Series:
    """The values of an attribute, one for each case or event, with the type that they have."""
    import polars as pl

    values = pl.Series(attribute.values, nan_to_null=False)
    if attribute.kind == "text":
        texts = [*map(written, attribute.texts), None]  # missing values have the index after the last text
        values = pl.Series(texts, dtype=pl.String).gather(values)
    return values.set(pl.Series(attribute.missing), None)


def polars_events(release: ReleasedLog) -> pl.DataFrame:
    """Return the events as a Polars data frame, marked if no guarantee is established."""
    return marked_events(release).collect()


def pandas_events(release: ReleasedLog) -> pd.DataFrame:
    """Return the events as a pandas data frame, marked if no guarantee is established."""
    try:
        frame = polars_events(release).to_pandas()
    except ImportError:
        raise MissingExtraError("a pandas DataFrame", "pandas") from None
    frame.attrs.update(notices(release))
    return frame


def marked_events(
    release: ReleasedLog, profile: Profile = "travas", written: Callable[[str], str] = str
) -> pl.LazyFrame:
    """The events; without an established guarantee every row says so, because a table has no header to say it in.

    For pm4py, times are in UTC, which pandas reads as one type of column, and no text or start is missing.
    """
    import polars as pl
    import polars.selectors as cs

    standing = release.guarantee.standing
    mark = [pl.lit(str(standing)).alias(STANDING)] if standing is Standing.NOT_ESTABLISHED else []
    table = events(release, written).with_columns(mark)
    if profile == "travas":
        return table
    time, moments = pl.col(TIMESTAMP), cs.by_name(TIMESTAMP, START_TIMESTAMP, require_all=False)
    return table.with_columns(moments.fill_null(time).dt.convert_time_zone("UTC"), pl.col(pl.String).fill_null(MISSING))


def write_csv(release: ReleasedLog, path: Path, profile: Profile = "travas") -> None:
    marked_events(release, profile, escape_cell).sink_csv(path, datetime_format=TIME_FORMAT)


def write_csv_gz(release: ReleasedLog, path: Path, profile: Profile = "travas") -> None:
    with compressed(path) as out:
        marked_events(release, profile, escape_cell).collect().write_csv(out, datetime_format=TIME_FORMAT)


@contextmanager
def compressed(path: Path) -> Iterator[Any]:
    """Write a file compressed with gzip: the same bytes in every run.

    Level 3 is an eighth larger than level 6 and takes less than half the time.
    """
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 3, raw, mtime=0) as packed:
        yield packed


def write_parquet(release: ReleasedLog, path: Path, profile: Profile = "travas") -> None:
    marked_events(release, profile).sink_parquet(path, metadata=notices(release))
