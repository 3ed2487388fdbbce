"""Files: XES with a streaming parser, tables with Polars; a folder or glob of files of one format is one log."""

from __future__ import annotations

import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..errors import LogError, ParameterError
from ..log.log import Log
from ..log.traces import Trace
from ..mechanisms.mechanism import Progress
from .folders import listing, unopened
from .formats import ARCHIVE_SUFFIXES, FOLDER_SUFFIXES, RELEASE_SUFFIXES, SUFFIXES, Format, format_of, suffix_of
from .reading import Reading
from .release_json import (
    is_process_map,
    load_release_json,
    refusing_malformed,
    stated_columns,
    traces_of,
    whole_numbers,
)
from .unpacking import member_of

STANDARD_INPUT = "-"

MAP_IS_NO_LOG = "a process map has no traces; use its pairs, or compare it with: travas compare LOG map.json"


def read_files(source: str | Path, reading: Reading, progress: Progress) -> Log:
    """Return the variants of a file, or of the files of a folder or glob as one log, ordered by file name."""
    for name in ("table", "query"):
        if getattr(reading, name) is not None:
            raise ParameterError(
                f"{name} is set but {source} is not a database; for database URLs see: travas docs engines", field=name
            )
    if str(source) == STANDARD_INPUT:
        with _spooled(reading.format) as path:
            return _variants([path], reading, "standard input", progress)
    path = Path(source)
    if (path / "_delta_log").is_dir() or any((path / "metadata").glob("*.metadata.json")):
        raise LogError(f"{path}: a Delta or Iceberg table, whose files must not be read directly; read it with Spark")
    listed = listing(path, FOLDER_SUFFIXES)
    for file in listed.files:
        _check(file, reading.format)
    variants = _variants(listed.files, reading, str(source), progress)
    return replace(variants, notes=(*listed.notes, *variants.notes)) if listed.notes else variants


def _variants(paths: Sequence[Path], reading: Reading, where: str, progress: Progress) -> Log:
    if len(paths) == 1 and reading.format is None and suffix_of(paths[0], RELEASE_SUFFIXES):
        check_counts(reading, f"the release {where}")
        return _read_release(paths[0])
    formats = {file_format(path, reading.format) for path in paths}
    form = formats.pop()
    if formats or (len(paths) > 1 and form == "xlsx"):
        raise LogError(f"{where}: several files are one log only if all are XES, all CSV, all Parquet or all Arrow")
    if form == "xlsx":
        from .excel import read_excel

        return read_excel(paths[0], reading, where)
    if reading.sheet is not None:
        raise ParameterError(f"sheet is {reading.sheet!r} but {where} is not an Excel workbook", field="sheet")
    if form == "xes":
        from .xes import read_xes

        return read_xes(paths, reading, progress, where)
    if form == "csv" or form == "tsv":
        from .csv_files import read_csv

        return read_csv(paths, reading, where, progress, "\t" if form == "tsv" else None)
    from .parquet import read_arrow

    return read_arrow(paths, reading, where, form)


def file_format(path: Path, form: Format | None) -> Format:
    """Return the format of a file: as set, else by its extension, or by that of the log in a zip archive."""
    if form is not None:
        return form
    known = format_of(member_of(path) if suffix_of(path, ARCHIVE_SUFFIXES) else path.name)
    if known is None:
        raise LogError(
            f"{path}: unsupported file extension; supported: {', '.join(SUFFIXES)}; or set format", field="format"
        )
    return known


def _check(path: Path, form: Format | None) -> None:
    if form is None and suffix_of(path, SUFFIXES) is None:
        file_format(path, form)  # raises
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its writer
            raise LogError(f"{path}: not a regular file; save the log to a file first, or use - for standard input")
        path.open("rb").close()
    except FileNotFoundError:
        raise LogError(f"{path}: no such file; check the path") from None
    except LogError:
        raise
    except (OSError, ValueError) as error:
        raise unopened(path, error) from None
    if not status.st_size:
        raise LogError(f"{path}: the file is empty; check that it is the right file")


def check_counts(reading: Reading, what: str) -> None:
    """Raise an error if counts would have to be counted again: by unit, by period, or of some events only."""
    if reading.period is not None:
        raise ParameterError(
            f"period is set but {what} contains counts, which have no times; use events", field="period"
        )
    defaults = {"unit": None, "lifecycle": "all", "where": (), "duplicate_events": "keep"}
    for name, default in defaults.items():
        if (value := getattr(reading, name)) != default:
            raise LogError(f"{name} is {value!r} but {what} contains counts, not events; pass a log", field=name)


def merged(traces: Sequence[Trace], counts: Sequence[int]) -> dict[Trace, int]:
    """Sum counts by trace; in a ladder release, a trace can be on several rungs."""
    counts_by_trace: dict[Trace, int] = {}
    for trace, count in zip(traces, counts, strict=True):
        counts_by_trace[trace] = counts_by_trace.get(trace, 0) + count
    return counts_by_trace


def _read_release(path: Path) -> Log:
    """Read the variants and counts of a `.json` release."""
    reason = "not a release of travas; use a .json release, or a log"
    content = load_release_json(path, reason)
    with refusing_malformed(path, reason):
        is_map = is_process_map(content)
        counts = {} if is_map else merged(traces_of(content), whole_numbers(content["counts"]))
        columns = stated_columns(content)
    if is_map:
        raise LogError(f"{path}: {MAP_IS_NO_LOG}")
    try:
        return Log.from_mapping(counts, columns)
    except LogError as error:
        raise LogError(f"{path}: {error}") from None


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
            raise LogError(
                f"standard input: cannot be copied to {folder} ({error.strerror}); free some space"
            ) from None
        if not path.stat().st_size:
            raise LogError("standard input: is empty; check the command that writes it")
        yield path
