"""CSV in: encoding, delimiter and quoting found or given, then a table like any other."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import polars.selectors as cs

from ..errors import CONFIDENTIAL, EmptyLogError, LogError
from ..model.mechanism import Progress
from ..model.variants import Variants
from .chunks import chunks
from .columns import Columns, Reading
from .events import Events
from .tables import variants_of

_DELIMITERS = ",;\t|"
_LEAST_ROW = 32  # bytes, to guess from the size how many events there are
_STRAY = (
    "a cell holds a quote that neither opens nor closes it; mend it, or give --delimiter or --quote "
    "('none' where nothing is quoted)"
)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class _Dialect:
    encoding: str
    delimiter: str
    quote: str | None


def read_csv(paths: Sequence[Path], reading: Reading, where: str, progress: Progress) -> Variants:
    """The variants of a log in `.csv` or `.csv.gz` files, each with a header. All cells are text: `NA` is a name.

    What is compressed, or not in UTF-8, is held in memory as a whole.
    """
    files = [_File.open(path, reading, progress) for path in paths]
    size = sum(len(file.source) if isinstance(file.source, bytes) else file.path.stat().st_size for file in files)
    try:
        tables = [file.table() for file in files]
        if len(files) > 1:
            tables = [_needed(table, reading, file.path) for table, file in zip(tables, files, strict=True)]
        events = Events(pl.concat(tables), reading, where, lambda: _blank_lines(files), whole_rows=True)
        return variants_of(events, size // _LEAST_ROW)
    except pl.exceptions.NoDataError:
        raise EmptyLogError(
            f"{where}: the log is empty, it has no header and no events; is it the right file?"
        ) from None
    except (pl.exceptions.PolarsError, csv.Error):
        at_fault, fault = next(((file.path, found) for file in files if (found := file.first_fault())), (where, _STRAY))
        raise LogError(f"{at_fault}: {fault} {CONFIDENTIAL}") from None


def _needed(table: pl.LazyFrame, reading: Reading, path: Path) -> pl.LazyFrame:
    """Of one file among several, the columns that matter: their places and the others may differ."""
    columns = Columns.of(reading, table.collect_schema().names(), str(path))
    names = (columns.case, *columns.activities, columns.timestamp, columns.ties, columns.unit)
    return table.select(cs.by_name(name) for name in dict.fromkeys(names) if name is not None)


def _blank_lines(files: Sequence[_File]) -> list[int]:
    """Places of the rows that are empty lines: no events, whatever is needed of an event."""
    places, rows = [], 0
    for file in files:
        with file.rows() as lines:
            next(lines, None)
            for cells in lines:
                if not cells:
                    places.append(rows)
                rows += 1
    return places


@dataclass(frozen=True)
class _File:
    path: Path
    source: Path | bytes
    dialect: _Dialect

    @classmethod
    def open(cls, path: Path, reading: Reading, progress: Progress) -> _File:
        with closing(chunks(path, progress)) as pieces:
            dialect = dialect_of(next(pieces, b""), reading)
        plain = dialect.encoding in ("utf-8", "utf-8-sig")
        if path.suffix.lower() != ".gz" and plain:
            return cls(path, path, dialect)
        content = b"".join(chunks(path, progress))
        if plain:
            return cls(path, content, dialect)
        try:
            return cls(path, content.decode(dialect.encoding).encode(), replace(dialect, encoding="utf-8-sig"))
        except UnicodeError:
            raise LogError(f"{path}: not encoded as {dialect.encoding}; give another --encoding") from None

    def table(self) -> pl.LazyFrame:
        return pl.scan_csv(
            self.source,
            separator=self.dialect.delimiter,
            quote_char=self.dialect.quote,
            infer_schema=False,
            glob=False,
        )

    @contextmanager
    def rows(self) -> Iterator[Iterator[list[str]]]:
        """The rows as Python's own reader sees them: slow, for finding faults."""
        csv.field_size_limit(2**31 - 1)  # the default is 128 kB
        stream = io.BytesIO(self.source) if isinstance(self.source, bytes) else self.source.open("rb")
        with io.TextIOWrapper(stream, self.dialect.encoding, newline="") as text:
            yield csv.reader(
                text,
                delimiter=self.dialect.delimiter,
                quotechar=self.dialect.quote or '"',
                quoting=csv.QUOTE_MINIMAL if self.dialect.quote else csv.QUOTE_NONE,
                strict=True,
            )

    def first_fault(self) -> str | None:
        """Why the table cannot be read, without quoting it (Polars' own words would)."""
        found = f"read with delimiter {self.dialect.delimiter!r}, quote {self.dialect.quote!r}"
        remedy = f"{found}; mend it, or give --delimiter or --quote"
        width, row = None, 0
        try:
            with self.rows() as rows:
                for row, cells in enumerate(rows):
                    width = len(cells) if width is None else width
                    if len(cells) > width:
                        return (
                            f"row {row:,} (the header not counted) has {len(cells)} cells, the header {width}; {remedy}"
                        )
        except csv.Error:
            return f"row {row + 1:,} (the header not counted) is not well quoted, or the file ends in it; {remedy}"
        except UnicodeError:
            encoding = self.dialect.encoding.removesuffix("-sig")
            return f"not encoded as {encoding} near row {row + 1:,}; give --encoding, such as cp1252"
        return None


def dialect_of(head: bytes, reading: Reading) -> _Dialect:
    """Encoding from the byte order mark, delimiter and quote from the header line, unless given."""
    encoding = reading.encoding or next((name for bom, name in _BOMS if head.startswith(bom)), "utf-8")
    text = head.decode(encoding, errors="replace").lstrip("\ufeff")
    line = text.splitlines()[0] if text else ""
    quote = reading.quote
    if quote is None:
        quote = "'" if line.startswith("'") and '"' not in line else '"'
    outside = "".join(line.split(quote)[::2])
    delimiter = reading.delimiter or max(_DELIMITERS, key=outside.count)
    return _Dialect(encoding, delimiter, None if quote == "none" else quote)
