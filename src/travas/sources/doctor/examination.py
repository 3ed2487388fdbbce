"""The doctor: one pass over a log that finds everything at once and proposes how to read it. It writes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import attrs
import polars as pl
import polars.selectors as cs

from ...errors import LogError, ParameterError, plain_words
from ...log.questions import LIFECYCLE
from ..columns import candidates, person_columns
from ..csv_files import BOMS, dialect_of, table_of
from ..files import (
    SUFFIXES,
    Format,
    check_file,
    chunks,
    content,
    file_format,
    is_database,
    listing,
    suffix_of,
    url_scheme,
)
from ..frames import INCOMPLETE, column_of_pandas, scan_arrow, sheet_names, sheet_table
from ..reading import ACTIVITY, CASE, DEFAULT_READING, TIMESTAMP, Reading
from ..xes import events_of
from .diagnosis import Findings, LogDiagnosis
from .roles import TableExamination

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
        All findings, and the reading and the settings that read this log.

    Raises:
        LogError: The log cannot be opened at all.
    """
    return examined(source, reading)[0]


def examined(source: Any, reading: Reading) -> tuple[LogDiagnosis, pl.DataFrame | None]:
    """Return what the doctor found, and the table of events, if it can be read."""
    examination = Examination(reading)
    table: pl.DataFrame | None
    if not isinstance(source, str | Path):
        table = examination.of_frame(source)
    elif is_database(source):
        table = examination.of_database(source)
    elif str(source) == "-" or url_scheme(str(source)) == "spark":
        what = "the doctor reads files and databases, not Spark or standard input; set the columns: travas docs engines"
        raise ParameterError(what, field="source")
    else:
        table = examination.of_files(Path(source))
    if table is not None:
        examination.examine(table)
    found = examination.found
    return LogDiagnosis(tuple(found.observations), found.reading, found.choices, tuple(found.people)), table


class Examination:
    """Opens a log and examines its table."""

    def __init__(self, reading: Reading) -> None:
        self.found = Findings(reading)
        self._is_xes = self._is_database = False
        self._types: dict[str, str] = {}  # what is wrong with the types of columns

    def of_files(self, path: Path) -> pl.DataFrame | None:
        """Return the table of events of files; None if they cannot be read as they are."""
        files, notes = listing(path)
        for note in notes:
            self.found.note("files", note)
        first = files[0]
        check_file(first)
        try:
            form = self._format(first)
            if form == "xes":
                return self._xes(files)
            if form == "csv":
                return self._csv(files)
            if form == "xlsx":
                return self._excel(first)
            with plain_words(f"{first}: cannot be read as {form.capitalize()}", INCOMPLETE):
                return scan_arrow(files, form).collect()
        except LogError as error:
            self.found.note("file", str(error), "problem")
            return None

    def _format(self, path: Path) -> Format:
        """Return the format, by the extension or the first bytes; LogError for files that are no logs."""
        if self.found.reading.format is not None:
            return self.found.reading.format
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
        with suppress(LogError):
            head = next(chunks(path), b"")[:_HEAD]
        for sign, what, remedy in _NO_LOGS:
            if re.match(sign, head):
                raise LogError(f"{path}: is {what}, by its first bytes; {remedy}", field="format")
        if suffix_of(path, SUFFIXES):
            form = file_format(path, None)
            self.found.note("format", f"{form}, by the file extension")
            return form
        text: Format = "xes" if b"<log" in head or head.lstrip().startswith(b"<?xml") else "csv"
        form = next((each for magic, each in _FORMATS.items() if head.startswith(magic)), text)
        self.found.propose(format=form)
        self.found.note("format", f"{form}; the extension {path.suffix!r} does not say so", "choice")
        return form

    def _xes(self, paths: Sequence[Path]) -> pl.DataFrame:
        self._is_xes = True
        events = events_of(paths, (ACTIVITY, TIMESTAMP, LIFECYCLE))
        names = Counter(trace.get(CASE, "") for trace in events.traces)
        self.found.note("size", f"{sum(names.values()):,} traces")
        if unnamed := names.pop("", 0):
            text = f"{unnamed:,} traces have no name; set duplicate_cases to 'separate' if every trace is a case"
            self.found.note("case", text, "problem")
        if repeated := sum(number > 1 for number in names.values()):
            text = f"{repeated:,} names are those of several traces: with merge they are one case each, with separate every "
            self.found.note("case", f"{text}trace is a case", "choice")
            meanings = {"merge": "traces with the same name are one case", "separate": "every trace is a case"}
            self.found.choices["duplicate_cases"] = meanings
            self.found.propose(duplicate_cases="merge")
        return events.frame(lambda key: bool(person_columns([key])))

    def _excel(self, path: Path) -> pl.DataFrame:
        """Read the sheet that is set, or the one that looks most like events."""
        names = sheet_names(path)
        if self.found.reading.sheet is not None or len(names) == 1:
            return sheet_table(path, self.found.reading.sheet, str(path))
        tables = {name: sheet_table(path, name, str(path)) for name in names}
        sizes = {name: (table.columns, table.height * table.width) for name, table in tables.items()}
        return tables[self._best("sheet", sizes)]

    def of_database(self, source: str | Path) -> pl.DataFrame:
        """Return all columns of a query, or of the table that is set or looks most like events. Its rows have no order."""
        from ..databases import database_table, tables_of

        self._is_database = True
        if self.found.reading.table is None and self.found.reading.query is None:
            tables = tables_of(source)
            if len(tables) > 1:
                self._best("table", {name: (columns, len(columns)) for name, columns in tables.items()})
        table, where, _ = database_table(source, self.found.reading, "all")
        self.found.note("format", where)
        return table

    def _best(self, what: Literal["sheet", "table"], sizes: Mapping[str, tuple[Sequence[str], int]]) -> str:
        """Propose the table that looks most like events, by the names of its columns, then by its size."""
        roles = ("case", "activity", "timestamp")
        best = max(
            sizes, key=lambda name: (sum(bool(candidates(role, sizes[name][0])) for role in roles), sizes[name][1])
        )
        others = ", ".join(repr(name) for name in [*sizes][:10] if name != best)
        self.found.note(what, f"{best!r} looks most like events; the others are {others}", "choice")
        self.found.propose(**{what: best})
        return best

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

    def examine(self, table: pl.DataFrame) -> None:
        """Examine columns and rows."""
        found, reading, choices = self.found, self.found.reading, dict(self.found.choices)
        if nested := table.select(cs.nested()).columns:
            found.note("columns", f"not read, because of their types: {', '.join(nested)}")
        if self._is_xes:
            found.propose(case=None)
        table = table.drop(nested).with_columns(cs.binary().cast(pl.String, strict=False))
        search = TableExamination(found, table)
        search.columns()
        if self._is_xes:  # its attributes have standard names, and its times one format
            found.reading = attrs.evolve(reading, lifecycle=found.reading.lifecycle, where=found.reading.where)
            found.choices = choices
        for name in (search.case, search.activity, search.timestamp, *found.people):
            if name in self._types:
                found.note("types", self._types[name], "problem")
        search.rows("unknown" if self._is_database else "recorded")

    # ------------------------------------------------------------ how text tables are written: encoding, delimiter and quote

    def _csv(self, paths: Sequence[Path]) -> pl.DataFrame | None:
        """Find the settings with which text tables are read, and return their rows; None if they cannot be read."""
        found = self.found
        if found.reading.encoding is None:
            encoding, text = _encoding(paths)
            found.note("encoding", text, "choice" if encoding else "fact")
            found.propose(encoding=encoding)
        if found.reading.delimiter is None:
            delimiter = dialect_of(next(chunks(paths[0]), b""), found.reading).delimiter
            found.note("delimiter", f"{_NAMES.get(delimiter, repr(delimiter))}, from the header")
        fault = ""
        stated = found.reading.quote
        for quote in (None, "none", "'", '"') if stated is None else (stated,):
            try:
                rows = [table_of(path, attrs.evolve(found.reading, quote=quote)) for path in paths]
                table = pl.concat(rows, how="diagonal")
            except LogError as error:
                fault = fault or str(error)
                continue
            if quote != stated:
                what = "nothing is quoted" if quote == "none" else f"the quote is {quote}"
                found.note("quotes", f"{what}: {fault}", "choice")
                found.propose(quote=quote)
            return table
        found.note("quotes", fault, "problem")
        return None


_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_WESTERN = "cp1252"


def _encoding(paths: Iterable[Path]) -> tuple[str | None, str]:
    """Return the encoding to set, or None if the reader finds it; and what to say about it."""
    for path in paths:
        data = content(path)
        if data.startswith(tuple(mark for mark, _ in BOMS)):
            continue
        if b"\0" in (start := data[:4096]):
            name = "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
            return name, f"no byte order mark, but every other byte is zero: {name}"
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            read = data[max(error.start - 20, 0) : error.start + 20].decode(_WESTERN, errors="replace")
            return _WESTERN, f"not UTF-8 (line {line:,}); as {_WESTERN} it reads {read!r}; check that this is right"
    return None, "UTF-8, or as the byte order mark says"
