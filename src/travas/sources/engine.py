"""Reading any source: selects the engine that turns it into variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from ..errors import LogError
from ..log.log import Log
from ..log.questions import check_details
from ..mechanisms.mechanism import Progress
from ..releases.release import Release, ReleasedLog
from .example_log import ExampleLog, hospital_log
from .files import MAP_IS_NO_LOG, check_counts, merged, read_files
from .log_location import is_database, url_scheme
from .reading import BY_QUERY, DEFAULT_READING, Reading


def _silent(_: float) -> None:
    """Ignore the progress."""


def read(source: Any, reading: Reading = DEFAULT_READING, progress: Progress = _silent) -> Log:
    """Read the variants of a log. They are confidential."""
    variants = _read(source, reading, progress)
    check_details(variants.totals, reading.details)
    return reading.abstraction.of(variants)


def _read(source: Any, reading: Reading, progress: Progress) -> Log:
    if isinstance(source, Log):
        same = (source.unit, source.counted) == (reading.privacy_unit, reading.counts_of)
        check_counts(attrs.evolve(reading, unit=None, max_cases=None, counted=None) if same else reading, "variants")
        return source
    if isinstance(source, Release):
        if not isinstance(source, ReleasedLog):
            raise LogError(MAP_IS_NO_LOG)
        check_counts(reading, "a release")
        return Log.from_mapping(merged(source.variants, source.counts), source.columns)
    if type(source) is ExampleLog:
        import polars as pl

        source = pl.read_csv(hospital_log().encode(), infer_schema=False)
    if isinstance(source, Mapping):
        check_counts(reading, "a mapping")
        return Log.from_mapping(source, reading.activity)
    if isinstance(source, list):
        check_counts(reading, "a list of traces")
        return Log.from_mapping(_counted(source), reading.activity)
    library = _library(source)
    if is_database(source):
        from .engines.databases import read_database

        return read_database(source, reading)
    if library == "pyspark" or (isinstance(source, str) and url_scheme(source) == "spark"):
        from .engines.spark import Spark

        return Spark().variants(source, reading)
    if isinstance(source, str | Path):
        return read_files(source, reading, progress)
    if library == "pm4py":
        from .pm4py_logs import read_pm4py_log

        return read_pm4py_log(source, reading)
    from .frames import read_frame

    return read_frame(source, reading)


def assumptions_of(source: Any, reading: Reading) -> tuple[str, ...]:
    """Return the assumptions of the guarantee that reading cannot check: docs/reading.md, lemmas 9 and 10."""
    by_query = (BY_QUERY,) if reading.query is None and _library(source) == "pyspark" else ()
    return (*by_query, *reading.assumptions)


def _library(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def _counted(traces: list[Any]) -> Mapping[Any, int]:
    """Count a list of traces, each of which is a tuple or a list of activities."""
    for number, trace in enumerate(traces, start=1):
        if not isinstance(trace, tuple | list):
            raise LogError(
                f"trace {number:,} of the list has the type {type(trace).__name__}; use tuples or lists of activities"
            )
    return Counter(tuple(tuple(part) if isinstance(part, list) else part for part in trace) for trace in traces)
