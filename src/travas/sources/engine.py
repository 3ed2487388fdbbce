"""Reading any source: selects the reader that turns it into variants. Files of a folder or glob are one log."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import attrs

from ..errors import LogError, MissingExtraError, ParameterError
from ..log.log import Log
from ..log.questions import check_details
from ..mechanisms.mechanism import Progress
from ..releases.release import Release, ReleasedLog
from .example_log import ExampleLog, hospital_log
from .files import RELEASE_SUFFIXES, Format, check_file, file_format, is_database, listing, suffix_of, url_scheme
from .reading import BY_QUERY, DEFAULT_READING, Reading
from .release_json import MAP_IS_NO_LOG, merged, read_release

STANDARD_INPUT = "-"


def read(source: Any, reading: Reading = DEFAULT_READING, progress: Progress = lambda _: None) -> Log:
    """Read the variants of a log. They are confidential."""
    variants = _read(source, reading, progress)
    check_details(variants.totals, reading.details)
    return reading.abstraction.of(variants)


def segments(variants: Log, reading: Reading) -> tuple[Log, ...]:
    """Return the log of every segment; without segments the log itself. No case is in two."""
    if reading.by is None:
        return (variants,)
    totals: Any = variants.totals
    parts: tuple[Log, ...] = totals.fetched().segments(variants, reading.by, reading.segments)
    return parts


def _read(source: Any, reading: Reading, progress: Progress) -> Log:
    if isinstance(source, Log):
        same = (source.unit, source.counted) == (reading.privacy_unit, reading.counts_of)
        _check_counts(attrs.evolve(reading, unit=None, max_cases=None, counted=None) if same else reading, "variants")
        return source
    if isinstance(source, Release):
        if not isinstance(source, ReleasedLog):
            raise LogError(MAP_IS_NO_LOG)
        _check_counts(reading, "a release")
        return Log.from_mapping(merged(source.variants, source.counts), source.columns)
    if isinstance(source, Mapping | list):
        _check_counts(reading, "a list of traces" if isinstance(source, list) else "a mapping")
        return Log.from_mapping(_counted(source) if isinstance(source, list) else source, reading.activity)
    library = _library(source)
    if is_database(source):
        from .databases import read_database

        return read_database(source, reading)
    if library == "pyspark" or (isinstance(source, str) and url_scheme(source) == "spark"):
        try:
            from .spark import read_spark
        except ImportError:
            raise MissingExtraError("reading with Spark", "spark") from None
        return read_spark(source, reading)
    if isinstance(source, str | Path):
        return _read_files(source, reading, progress)
    if library == "pm4py":
        from .traces import read_pm4py_log

        return read_pm4py_log(source, reading)
    from .frames import frame_of_csv, read_frame

    return read_frame(frame_of_csv(hospital_log()) if type(source) is ExampleLog else source, reading)


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
            raise LogError(f"trace {number:,} of the list has the type {type(trace).__name__}; use tuples of names")
    return Counter(tuple(tuple(part) if isinstance(part, list) else part for part in trace) for trace in traces)


def _check_counts(reading: Reading, what: str) -> None:
    """Raise an error if counts would have to be counted again: by unit, by period, or of some events only."""
    if reading.period is not None:
        raise ParameterError(f"period is set but {what} has counts, which have no times; use events", field="period")
    for name in ("unit", "by", "lifecycle", "where", "duplicate_events"):
        if (value := getattr(reading, name)) != getattr(DEFAULT_READING, name):
            raise LogError(f"{name} is {value!r} but {what} contains counts, not events; pass a log", field=name)


def _read_files(source: str | Path, reading: Reading, progress: Progress) -> Log:
    """Return the variants of a file, or of the files of a folder or glob as one log, ordered by file name."""
    for name in ("table", "query"):
        if getattr(reading, name) is not None:
            raise ParameterError(f"{name} is set but {source} is not a database; see: travas docs engines", field=name)
    if str(source) == STANDARD_INPUT:
        with _spooled(reading.format) as path:
            return _of_files([path], reading, "standard input", progress)
    path = Path(source)
    if (path / "_delta_log").is_dir() or any((path / "metadata").glob("*.metadata.json")):
        raise LogError(f"{path}: a Delta or Iceberg table, whose files must not be read directly; read it with Spark")
    files, notes = listing(path)
    for file in files:
        check_file(file)
    variants = _of_files(files, reading, str(source), progress)
    return replace(variants, notes=(*notes, *variants.notes)) if notes else variants


def _of_files(paths: Sequence[Path], reading: Reading, where: str, progress: Progress) -> Log:
    if len(paths) == 1 and reading.format is None and suffix_of(paths[0], RELEASE_SUFFIXES):
        _check_counts(reading, f"the release {where}")
        return read_release(paths[0])
    form, *others = {file_format(path, reading.format) for path in paths}
    if others or (len(paths) > 1 and form == "xlsx"):
        raise LogError(f"{where}: several files are one log only if all are XES, all CSV, all Parquet or all Arrow")
    if form == "xlsx":
        from .frames import read_excel

        return read_excel(paths[0], reading, where)
    if reading.sheet is not None:
        raise ParameterError(f"sheet is {reading.sheet!r} but {where} is not an Excel workbook", field="sheet")
    if form == "xes":
        from .xes import read_xes

        return read_xes(paths, reading, progress, where)
    if form == "csv":
        from .csv_files import read_csv

        return read_csv(paths, reading, where, progress)
    from .frames import read_arrow

    return read_arrow(paths, reading, where, form)


@contextmanager
def _spooled(form: Format | None) -> Iterator[Path]:
    """Copy standard input, whose format must be set, to a file that only this user can read and that is removed."""
    if form is None:
        raise ParameterError("the log is standard input but format is not set; set it, such as 'csv'", field="format")
    if sys.stdin is None or sys.stdin.isatty():
        raise LogError("standard input: no data; pipe a log into it, or use a file")
    with tempfile.TemporaryDirectory(prefix="travas-") as folder:
        path = Path(folder) / f"standard-input.{form}"
        try:
            with path.open("xb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
        except OSError as error:
            raise LogError(f"standard input: cannot be copied to {folder} ({error.strerror}); free space") from None
        if not path.stat().st_size:
            raise LogError("standard input: is empty; check the command that writes it")
        yield path
