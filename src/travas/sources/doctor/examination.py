"""The doctor: one pass over a log that finds everything at once and proposes how to read it. It writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import polars as pl

from ...errors import LogError, ParameterError
from ..csv_files import table_of
from ..excel import sheet_names, sheet_table
from ..files import file_format
from ..folders import listing
from ..formats import FOLDER_SUFFIXES, SUFFIXES, Format, suffix_of
from ..frames import column_of_pandas
from ..log_location import is_database, url_scheme, without_secrets
from ..parquet import polars_faults, scan_arrow
from ..reading import DEFAULT_READING, Reading
from ..unpacking import packing_of
from .diagnosis import LogDiagnosis, Observation, ReadingChoice
from .dialects import dialect_findings
from .roles import ColumnSearch
from .row_checks import lifecycle_finding, row_findings
from .xes_events import xes_table

_MAGIC: dict[bytes, Format] = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "xlsx"}


class Examination:
    """What was found so far, and the reading that is proposed."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.findings: list[Observation] = []
        self.choices: list[ReadingChoice] = []
        self._is_xes = self._is_database = False

    def of_files(self, path: Path) -> pl.DataFrame | None:
        """Return the table of events of files; None if they cannot be read as they are."""
        listed = listing(path, FOLDER_SUFFIXES)
        self.findings += [Observation("files", note) for note in listed.notes]
        first = listed.files[0]
        if not first.is_file() or not first.stat().st_size:
            raise LogError(f"{first}: no such file, or it is empty; check the path")
        self._format(first)
        form = file_format(first, self.reading.format)
        try:
            if form == "xes":
                return self._xes(listed.files)
            if form == "csv" or form == "tsv":
                return self._text(listed.files, form)
            if form == "xlsx":
                return self._excel(first)
            with polars_faults(str(first), form.capitalize()):
                return scan_arrow(listed.files, form).collect()
        except LogError as error:
            self.findings.append(Observation("file", str(error), "problem", error.field))
            return None

    def _format(self, path: Path) -> None:
        if self.reading.format is not None:
            return
        if suffix_of(path, SUFFIXES):
            packing = packing_of(path)
            form = file_format(path, None)
            more = f", compressed with {packing}" if packing and form != "xlsx" else ""
            self.findings.append(Observation("format", f"{form}{more}, by the file extension"))
            return
        with path.open("rb") as stream:
            head = stream.read(512)
        text: Format = "xes" if b"<log" in head or head.lstrip().startswith(b"<?xml") else "csv"
        form = next((each for magic, each in _MAGIC.items() if head.startswith(magic)), text)
        self.reading = attrs.evolve(self.reading, format=form)
        self.findings.append(Observation("format", f"{form}; the extension {path.suffix!r} does not say so", "choice"))

    def _xes(self, paths: tuple[Path, ...]) -> pl.DataFrame:
        self._is_xes = True
        table, findings, choices = xes_table(paths)
        self.findings += findings
        self.choices += choices
        if choices:
            self.reading = attrs.evolve(self.reading, duplicate_cases="merge")
        return table

    def _text(self, paths: tuple[Path, ...], form: Format) -> pl.DataFrame | None:
        delimiter = "\t" if form == "tsv" and self.reading.delimiter is None else self.reading.delimiter
        dialect = dialect_findings(paths[0], attrs.evolve(self.reading, delimiter=delimiter))
        self.reading = attrs.evolve(dialect.reading, delimiter=None) if form == "tsv" else dialect.reading
        self.findings += dialect.findings
        if dialect.table is None:
            return None
        tables = [dialect.table, *(table_of(path, dialect.reading, lambda _: None) for path in paths[1:])]
        return pl.concat(tables, how="diagonal")

    def _excel(self, path: Path) -> pl.DataFrame:
        """Read the sheet that is set, or the largest one."""
        names = sheet_names(path)
        if self.reading.sheet is None and len(names) > 1:
            tables = {name: sheet_table(path, name, str(path)) for name in names}
            largest = max(tables, key=lambda name: tables[name].height * tables[name].width)
            others = ", ".join(repr(name) for name in names if name != largest)
            self.findings.append(
                Observation("sheet", f"{largest!r} has the most cells; the others are {others}", "choice")
            )
            self.reading = attrs.evolve(self.reading, sheet=largest)
            return tables[largest]
        return sheet_table(path, self.reading.sheet, str(path))

    def of_database(self, source: str | Path) -> pl.DataFrame:
        """Return all columns of a table or query. Its rows have no order."""
        from ..engines.databases import database_table

        self._is_database = True
        table, where = database_table(source, self.reading)
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
                columns.append(column_of_pandas(values, "name"))
            except LogError as error:
                self.findings.append(Observation("types", str(error), "choice"))
                texts = [None if value is None or value != value else str(value) for value in values]
                columns.append(pl.Series(name, texts, dtype=pl.String))
        return pl.DataFrame(columns)

    def of_table(self, table: pl.DataFrame) -> None:
        """Examine columns and rows."""
        if self._is_xes:
            named = attrs.evolve(self.reading, case=None)
            roles = ColumnSearch(table, named)
            roles.find()
        else:
            roles = ColumnSearch(table, self.reading)
            self.reading = roles.find()
        self.findings += roles.findings
        self.choices += roles.choices if not self._is_xes else []
        reading = attrs.evolve(self.reading, timestamp_format=roles.reading.timestamp_format)
        self.reading, findings = lifecycle_finding(table, self.reading)
        self.findings += findings
        found = row_findings(table, reading, roles.unit_columns(), roles.times)
        self.findings += [each for each in found if not self._is_database or each.topic not in ("order", "ties")]


def doctor(source: Any, reading: Reading = DEFAULT_READING) -> LogDiagnosis:
    """Examine a log: its form, columns, times, lifecycle, missing values, duplicates, order and spellings.

    The result is confidential. It proposes how the log is read, and nothing that decides about privacy.

    Args:
        source: A path, a folder or glob of files, a database, or a pandas or Polars `DataFrame`.
        reading: What is already known; it is not changed.

    Returns:
        All findings, and the command line and `[reading]` table that read this log.

    Raises:
        LogError: The log cannot be opened at all.
    """
    examination = Examination(reading)
    if isinstance(source, str | Path):
        if isinstance(source, str) and (source == "-" or url_scheme(source) == "spark"):
            raise ParameterError(
                "the doctor reads files, databases and data frames, not Spark or standard input; set the columns "
                "yourself: travas docs engines",
                field="source",
            )
        table = examination.of_database(source) if is_database(source) else examination.of_files(Path(source))
    else:
        table = examination.of_frame(source)
    if table is not None:
        examination.of_table(table)
    name = without_secrets(str(source)) if isinstance(source, str | Path) else "LOG"
    return LogDiagnosis(name, tuple(examination.findings), examination.reading, tuple(examination.choices))
