"""The doctor: one pass over a log that finds everything at once and proposes how to read it. It writes nothing."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import attrs
import polars as pl
import polars.selectors as cs

from ...errors import LogError, ParameterError, plain_words
from ...log.questions import LIFECYCLE
from ..columns import candidates, person_columns
from ..csv_files import dialect_of, table_of
from ..files import (
    SUFFIXES,
    Format,
    chunks,
    content,
    file_format,
    is_database,
    listing,
    packing_of,
    suffix_of,
    url_scheme,
    without_secrets,
)
from ..frames import INCOMPLETE, column_of_pandas, scan_arrow, sheet_names, sheet_table
from ..reading import ACTIVITY, CASE, DEFAULT_READING, TIMESTAMP, Reading
from ..xes import events_of
from .diagnosis import LogDiagnosis, Observation, ReadingChoice
from .roles import ColumnSearch, RowChecks

_FORMATS: dict[bytes, Format] = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "xlsx"}
_RENAME = "rename it so that its name ends in"
_NO_LOGS = (
    (rb"SQLite format 3\0", "a SQLite database", f"{_RENAME} .sqlite"),
    (rb"(?s:.{8})DUCK", "a DuckDB database", f"{_RENAME} .duckdb"),
    (rb"PGDMP", "a dump of PostgreSQL", "restore it with pg_restore, and use the URL of the database"),
    (rb"\xd0\xcf\x11\xe0", "an old or encrypted Office file", "save it as .xlsx, without a password"),
    (rb"7z\xbc\xaf|Rar!|BZh|\xfd7zXZ|(?s:.{257})ustar", "an archive", "unpack it, and use the file or the folder"),
    (rb"%PDF", "a PDF document", "export the log as CSV"),
    (
        rb"(?:.*\n){0,3}(?:--.*database dump|-- MySQL dump|PRAGMA |BEGIN TRANSACTION|CREATE TABLE |INSERT INTO )",
        "an SQL dump",
        "load it, such as with sqlite3 log.sqlite < dump.sql or psql, and use the database",
    ),
)
"""First bytes of what is no log, what it is, and what to do."""

_HEAD = 4096


def doctor(source: Any, reading: Reading = DEFAULT_READING) -> LogDiagnosis:
    """Examine a log: its form, columns, times, lifecycle, persons, missing values, numbers, duplicates, order and spellings.

    The result is confidential. It proposes how the log is read, and nothing that decides about privacy.

    Args:
        source: A path, a folder or glob of files, a database, or a pandas or Polars `DataFrame`.
        reading: What is already known; it is not changed.

    Returns:
        All findings, and the command line and `[reading]` table that read this log.

    Raises:
        LogError: The log cannot be opened at all.
    """
    return examined(source, reading)[0]


def examined(source: Any, reading: Reading) -> tuple[LogDiagnosis, pl.DataFrame | None]:
    """Return what the doctor found, and the table of events, if it can be read."""
    examination = Examination(reading)
    name = "LOG"
    if isinstance(source, str | Path):
        name = without_secrets(str(source))
        if name == "-" or url_scheme(name) == "spark":
            what = "the doctor reads files and databases, not Spark or standard input; set the columns: travas docs engines"
            raise ParameterError(what, field="source")
        table = examination.of_database(source) if is_database(source) else examination.of_files(Path(source))
    else:
        table = examination.of_frame(source)
    people = [] if table is None else examination.of_table(table)
    found, choices = tuple(examination.findings), tuple(examination.choices)
    return LogDiagnosis(name, found, examination.reading, choices, tuple(people)), table


class Examination:
    """What was found so far, and the reading that is proposed."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.findings: list[Observation] = []
        self.choices: list[ReadingChoice] = []
        self._is_xes = self._is_database = False
        self._types: dict[str, str] = {}  # what is wrong with the types of columns

    def of_files(self, path: Path) -> pl.DataFrame | None:
        """Return the table of events of files; None if they cannot be read as they are."""
        files, notes = listing(path)
        self.findings += [Observation("files", note) for note in notes]
        first = files[0]
        if not first.is_file() or not first.stat().st_size:
            raise LogError(f"{first}: no such file, or it is empty; check the path")
        try:
            form = self._format(first)
            if form == "xes":
                return self._xes(files)
            if form == "csv":
                self.reading, findings, table = text_table(files, self.reading)
                self.findings += findings
                return table
            if form == "xlsx":
                return self._excel(first)
            with plain_words(f"{first}: cannot be read as {form.capitalize()}", INCOMPLETE):
                return scan_arrow(files, form).collect()
        except LogError as error:
            self.findings.append(Observation("file", str(error), "problem", error.field))
            return None

    def _format(self, path: Path) -> Format:
        """Return the format, by the extension or the first bytes; LogError for files that are no logs."""
        if self.reading.format is not None:
            return self.reading.format
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
        packing = packing_of(path)
        if packing in ("gzip", "zstd"):
            with suppress(LogError):
                head = next(chunks(path, lambda _: None), b"")[:_HEAD]
        for sign, what, remedy in _NO_LOGS:
            if re.match(sign, head):
                raise LogError(f"{path}: is {what}, by its first bytes; {remedy}", field="format")
        if suffix_of(path, SUFFIXES):
            form = file_format(path, None)
            more = f", compressed with {packing}" if packing and form != "xlsx" else ""
            self.findings.append(Observation("format", f"{form}{more}, by the file extension"))
            return form
        text: Format = "xes" if b"<log" in head or head.lstrip().startswith(b"<?xml") else "csv"
        form = next((each for magic, each in _FORMATS.items() if head.startswith(magic)), text)
        self.reading = attrs.evolve(self.reading, format=form)
        self.findings.append(Observation("format", f"{form}; the extension {path.suffix!r} does not say so", "choice"))
        return form

    def _xes(self, paths: Sequence[Path]) -> pl.DataFrame:
        self._is_xes = True
        events = events_of(paths, (ACTIVITY, TIMESTAMP, LIFECYCLE))
        names = Counter(trace.get(CASE, "") for trace in events.traces)
        self.findings.append(Observation("size", f"{sum(names.values()):,} traces"))
        if unnamed := names.pop("", 0):
            text = f"{unnamed:,} traces have no name; set duplicate_cases to 'separate' if every trace is a case"
            self.findings.append(Observation("case", text, "problem", "duplicate_cases"))
        if repeated := sum(number > 1 for number in names.values()):
            text = f"{repeated:,} names are those of several traces: with merge they are one case each, with separate every "
            self.findings.append(Observation("case", f"{text}trace is a case", "choice", "duplicate_cases"))
            options = (("merge", "traces with the same name are one case"), ("separate", "every trace is a case"))
            self.choices.append(ReadingChoice("duplicate_cases", options))
            self.reading = attrs.evolve(self.reading, duplicate_cases="merge")
        return events.frame(lambda key: bool(person_columns([key])))

    def _excel(self, path: Path) -> pl.DataFrame:
        """Read the sheet that is set, or the one that looks most like events."""
        names = sheet_names(path)
        if self.reading.sheet is not None or len(names) == 1:
            return sheet_table(path, self.reading.sheet, str(path))
        tables = {name: sheet_table(path, name, str(path)) for name in names}
        best = max(names, key=lambda name: (_roles(tables[name].columns), tables[name].height * tables[name].width))
        self._choose("sheet", best, names)
        return tables[best]

    def _choose(self, what: Literal["sheet", "table"], best: str, names: Sequence[str]) -> None:
        others = ", ".join(repr(name) for name in names[:10] if name != best)
        text = f"{best!r} looks most like events; the others are {others}"
        self.findings.append(Observation(what, text, "choice", what))
        setting: dict[str, Any] = {what: best}
        self.reading = attrs.evolve(self.reading, **setting)

    def of_database(self, source: str | Path) -> pl.DataFrame:
        """Return all columns of a query, or of the table that is set or looks most like events. Its rows have no order."""
        from ..databases import database_table, tables_of

        self._is_database = True
        if self.reading.table is None and self.reading.query is None:
            tables = tables_of(source)
            if len(tables) > 1:
                best = max(tables, key=lambda name: (_roles(tables[name]), len(tables[name])))
                self._choose("table", best, [*tables])
        table, where, _ = database_table(source, self.reading, "all")
        self.findings.append(Observation("format", where))
        return table

    def of_frame(self, frame: Any) -> pl.DataFrame:
        """Return a data frame as a table; pandas columns that cannot be read as they are become text."""
        if isinstance(frame, pl.LazyFrame | pl.DataFrame):
            return frame.lazy().collect()
        if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
            raise LogError(f"a {type(frame).__name__} is not a table; use a path or a DataFrame")
        columns = []
        for index, name in enumerate(map(str, frame.columns)):
            values = frame.iloc[:, index].rename(name)
            try:
                columns.append(column_of_pandas(values, "numbers"))
            except LogError as error:
                self._types[name] = str(error)
                texts = [None if value is None or value != value else str(value) for value in values]
                columns.append(pl.Series(name, texts, dtype=pl.String))
        return pl.DataFrame(columns)

    def of_table(self, table: pl.DataFrame) -> list[str]:
        """Examine columns and rows; return the columns that may identify a person."""
        if nested := table.select(cs.nested()).columns:
            self.findings.append(Observation("columns", f"not read, because of their types: {', '.join(nested)}"))
        table = table.drop(nested).with_columns(cs.binary().cast(pl.String, strict=False))
        search = ColumnSearch(table, attrs.evolve(self.reading, case=None) if self._is_xes else self.reading)
        found = search.find()
        self.findings += search.findings
        if self._is_xes:  # its attributes have standard names, and its times one format
            found = attrs.evolve(self.reading, lifecycle=found.lifecycle, where=found.where)
        else:
            self.choices += search.choices
        for name in (search.case, search.activity, search.timestamp, *search.people):
            if name in self._types:
                self.findings.append(Observation("types", self._types[name], "problem"))
        checks = RowChecks(table, search, found)
        rows = list(checks.findings())
        self.reading = checks.reading
        if self._is_database:
            self.reading = attrs.evolve(self.reading, ties=found.ties)
            rows = [each for each in rows if each.topic not in ("order", "ties")]
        self.findings += rows
        return search.people


def _roles(columns: Sequence[str]) -> int:
    """Return how many of the columns of events a table has, by their names."""
    return sum(bool(candidates(role, columns)) for role in ("case", "activity", "timestamp"))


# ------------------------------------------------ how text tables are written: encoding, delimiter and quote

_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_WESTERN = "cp1252"
_BOMS = {codecs.BOM_UTF8: "UTF-8", codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


def text_table(paths: Sequence[Path], reading: Reading) -> tuple[Reading, list[Observation], pl.DataFrame | None]:
    """Return the settings with which text tables are read, what was found, and their rows; None if they cannot be read."""
    findings: list[Observation] = []
    if reading.encoding is None:
        encoding, text = _encoding(paths)
        findings.append(Observation("encoding", text, "choice" if encoding else "fact"))
        reading = attrs.evolve(reading, encoding=encoding)
    if reading.delimiter is None:
        delimiter = dialect_of(next(chunks(paths[0], lambda _: None), b""), reading).delimiter
        findings.append(Observation("delimiter", f"{_NAMES.get(delimiter, repr(delimiter))}, from the header"))
    table, fault = _read(paths, reading)
    for quote in () if table is not None or reading.quote is not None else ("none", "'", '"'):
        if (table := _read(paths, attrs.evolve(reading, quote=quote))[0]) is not None:
            what = "nothing is quoted" if quote == "none" else f"the quote is {quote}"
            findings.append(Observation("quotes", f"{what}: {fault}", "choice"))
            return attrs.evolve(reading, quote=quote), findings, table
    if table is None:
        findings.append(Observation("quotes", fault, "problem"))
    return reading, findings, table


def _encoding(paths: Sequence[Path]) -> tuple[str | None, str]:
    """Return the encoding to set, or None if the reader finds it; and what to say about it."""
    said = "ASCII"
    for path in paths:
        data = content(path, lambda _: None)
        if (mark := next((mark for mark in _BOMS if data.startswith(mark)), None)) is not None:
            said = f"{_BOMS[mark]} with a byte order mark"
            continue
        if b"\0" in (start := data[:4096]):
            name = "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
            return name, f"no byte order mark, but every other byte is zero: {name}"
        if data.isascii():
            continue
        try:
            data.decode()
            said = "UTF-8"
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            read = data[max(error.start - 20, 0) : error.start + 20].decode(_WESTERN, errors="replace")
            return _WESTERN, f"not UTF-8 (line {line:,}); as {_WESTERN} it reads {read!r}; check that this is right"
    return None, said


def _read(paths: Sequence[Path], reading: Reading) -> tuple[pl.DataFrame | None, str]:
    try:
        return pl.concat([table_of(path, reading, lambda _: None) for path in paths], how="diagonal"), ""
    except LogError as error:
        return None, str(error)
