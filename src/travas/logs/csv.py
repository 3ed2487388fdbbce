"""CSV in: encoding, delimiter and quoting found or given, then a table like any other."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from ..errors import PRIVATE, EmptyLogError, LogError
from ..release import Progress
from ..variants import Variants
from .columns import Reading
from .files import chunks
from .tables import variants_of

_DELIMITERS = ",;\t|"
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class _Dialect:
    encoding: str
    delimiter: str
    quote: str | None


def read_csv(path: Path, reading: Reading, progress: Progress) -> Variants:
    """The variants of a `.csv` or `.csv.gz` file. All cells are text: `NA` is a name like any other.

    What is compressed, or not in UTF-8, is held in memory as a whole.
    """
    with closing(chunks(path, progress)) as pieces:
        dialect = dialect_of(next(pieces, b""), reading)
    plain = dialect.encoding in ("utf-8", "utf-8-sig")
    source: Path | bytes = path
    if path.suffix.lower() == ".gz" or not plain:
        source = b"".join(chunks(path, progress))
    if isinstance(source, bytes) and not plain:
        try:
            source = source.decode(dialect.encoding).encode()
        except UnicodeError:
            raise LogError(f"{path}: not encoded as {dialect.encoding}; give another --encoding") from None
        dialect = replace(dialect, encoding="utf-8-sig")
    try:
        table = pl.scan_csv(
            source, separator=dialect.delimiter, quote_char=dialect.quote, infer_schema=False, glob=False
        )  # fmt: skip
        return variants_of(table, reading, str(path), lambda: _blank_lines(source, dialect))
    except pl.exceptions.NoDataError:
        raise EmptyLogError(
            f"{path}: the log is empty, it has no header and no events; is it the right file?"
        ) from None
    except pl.exceptions.PolarsError:
        raise LogError(f"{path}: {_first_fault(source, dialect)} {PRIVATE}") from None


@contextmanager
def _rows(source: Path | bytes, dialect: _Dialect) -> Iterator[Iterator[list[str]]]:
    """The rows as Python's own reader sees them: slow, for finding faults."""
    stream = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    with io.TextIOWrapper(stream, dialect.encoding, newline="") as text:
        yield csv.reader(
            text,
            delimiter=dialect.delimiter,
            quotechar=dialect.quote or '"',
            quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
            strict=True,
        )


def _blank_lines(source: Path | bytes, dialect: _Dialect) -> list[int]:
    """Places of the rows that are empty lines: no events, whatever is needed of an event."""
    with _rows(source, dialect) as rows:
        return [place for place, cells in enumerate(rows, start=-1) if not cells]


def _first_fault(source: Path | bytes, dialect: _Dialect) -> str:
    """Why the table cannot be read, without quoting it (Polars' own words would)."""
    remedy = (
        f"read with delimiter {dialect.delimiter!r}, quote {dialect.quote!r}; mend it, or give --delimiter or --quote"
    )
    width, row = None, 0
    try:
        with _rows(source, dialect) as rows:
            for row, cells in enumerate(rows):
                width = len(cells) if width is None else width
                if len(cells) > width:
                    return f"row {row:,} (the header not counted) has {len(cells)} cells, the header {width}; {remedy}"
    except csv.Error:
        return f"row {row + 1:,} (the header not counted) is not well quoted, or the file ends in it; {remedy}"
    except UnicodeError:
        return f"not encoded as {dialect.encoding.removesuffix('-sig')} near row {row + 1:,}; give --encoding, such as cp1252"
    return f"a cell holds a quote that neither opens nor closes it; {remedy} ('none' where nothing is quoted)"


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
