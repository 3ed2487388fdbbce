"""Releases as tables of events: data frames, CSV and Parquet.

An event log is generated from the release alone: new case identifiers in canonical order, and artificial timestamps
that are the same for every case, one second per step from 1970, unless the release has times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from ..errors import MissingExtraError
from ..log.escaped_names import escape_cell
from ..log.options import CaseColumn
from ..log.traces import Activity
from ..releases.release import STANDING, START_TIMESTAMP, TIMES_MARK, ReleasedLog, about_timestamps, timestamp_kind
from ..sources.reading import CASE, TIMESTAMP
from ..trusted.guarantee import Standing

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

TIME_FORMAT = "%Y-%m-%dT%H:%M:%S%:z"
"""How times are written in CSV."""


def events(release: ReleasedLog, written: Callable[[str], str] = str) -> pl.DataFrame:
    """The release as an event log: one row per event, pm4py's column names. Texts and their columns are as `written`.

    Without an established guarantee every row says so, because a table has no header to say it in.
    """
    import numpy as np
    import polars as pl

    codes: dict[Activity, int] = {}
    flat = np.array([codes.setdefault(a, len(codes)) for trace in release.variants for a in trace], dtype=np.uint32)
    counts = np.array(release.counts, dtype=np.int64)
    lengths = np.array([len(trace) for trace in release.variants], dtype=np.int64)
    per_case = np.repeat(lengths, counts)
    case = np.repeat(np.arange(len(per_case), dtype=np.uint32), per_case)
    variant = np.repeat(np.arange(len(counts), dtype=np.uint32), counts * lengths)
    step = np.arange(len(case)) - (np.cumsum(per_case) - per_case)[case]
    code = flat[(np.cumsum(lengths) - lengths)[variant] + step]
    once = np.zeros(len(case), dtype=np.uint32)
    rows = [(a,) if isinstance(a, str) else a for a in codes]
    columns: dict[str, Any] = {CASE: case + 1}
    for index, column in enumerate(release.columns):
        columns[written(column)] = _repeated([written(row[index]) for row in rows], code)
    columns[TIMESTAMP] = step if release.event_times is None else release.event_times
    if release.event_starts is not None:
        columns[START_TIMESTAMP] = _values_of(release.event_starts, written)
    columns[TIMES_MARK] = _repeated([timestamp_kind(release.mechanism)], once)
    for attribute in release.case_columns:
        columns[written(attribute.column)] = _values_of(attribute, written).gather(pl.Series(case))
    for attribute in release.event_columns:
        columns[written(attribute.attribute)] = _values_of(attribute, written)
    for column, values in release.case_labels.items():
        columns[column] = _repeated([written(value) for value in values], variant)
    if release.guarantee.standing is Standing.NOT_ESTABLISHED:
        columns[STANDING] = _repeated([str(Standing.NOT_ESTABLISHED)], once)
    moments = [
        pl.from_epoch(name).dt.replace_time_zone("UTC").dt.convert_time_zone(release.zone)
        for name in (TIMESTAMP, START_TIMESTAMP)
        if name in columns
    ]
    return pl.DataFrame(columns).with_columns(moments)


def _repeated(texts: Sequence[str], index: NDArray[Any]) -> pl.Series:
    """Texts by their index; a number for each, until they are written."""
    import polars as pl

    return pl.Series(texts, dtype=pl.Enum(list(dict.fromkeys(texts)))).gather(pl.Series(index))


def _values_of(attribute: CaseColumn, written: Callable[[str], str]) -> pl.Series:
    """The values of an attribute, one for each case or event, with the type that they have."""
    import polars as pl

    values = pl.Series(attribute.values, nan_to_null=False)
    if attribute.kind == "text":
        texts = [*map(written, attribute.texts), None]  # missing values have the index after the last text
        values = pl.Series(texts, dtype=pl.String).gather(values)
    return values.set(pl.Series(attribute.missing), None)


def _table(release: ReleasedLog, written: Callable[[str], str] = str) -> pl.LazyFrame:
    """The events with texts instead of their numbers."""
    import polars as pl
    import polars.selectors as cs

    return events(release, written).lazy().with_columns(pl.col(CASE).cast(pl.String), cs.enum().cast(pl.String))


def _notices(release: ReleasedLog) -> dict[str, str]:
    """What a table says about the log as a whole, where it has a place for it."""
    return {TIMES_MARK: about_timestamps(release.mechanism)} | release.notices


def polars_events(release: ReleasedLog) -> pl.DataFrame:
    """Return the events as a Polars data frame."""
    return _table(release).collect()


def pandas_events(release: ReleasedLog) -> pd.DataFrame:
    """Return the events as a pandas data frame."""
    try:
        frame = polars_events(release).to_pandas()
    except ImportError:
        raise MissingExtraError("a pandas DataFrame", "pandas") from None
    frame.attrs.update(_notices(release))
    return frame


def write_csv(release: ReleasedLog, out: BinaryIO) -> None:
    _table(release, escape_cell).sink_csv(out, datetime_format=TIME_FORMAT)


def write_parquet(release: ReleasedLog, out: BinaryIO) -> None:
    _table(release).sink_parquet(out, metadata=_notices(release))
