"""CSV in: encoding, delimiter and quoting found or given, then a table like any other."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

import polars as pl

from ..errors import EmptyLogError, LogError
from ..variants import Variants
from .columns import Reading
from .tables import variants_of

_DELIMITERS = ",;\t|"
_HEAD = 1 << 16
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_FALLBACK = "cp1252"


@dataclass(frozen=True)
class _Dialect:
    encoding: str
    delimiter: str
    quote: str | None


def read_csv(path: Path, reading: Reading) -> Variants:
    """The variants of a `.csv` or `.csv.gz` file. All cells are text: `NA` is a name like any other."""
    if path.suffix.lower() == ".gz":
        _check_gzip(path)
    with _opened(path) as stream:
        head = stream.read(_HEAD)
    dialect = _dialect(head, reading)
    try:
        return _read(path, dialect, reading)
    except UnicodeDecodeError:
        if reading.encoding is not None or dialect.encoding != "utf-8":
            raise LogError(f"{path}: not encoded as {dialect.encoding}; give --encoding") from None
    try:
        variants = _read(path, replace(dialect, encoding=_FALLBACK), reading)
    except UnicodeDecodeError:
        raise LogError(f"{path}: encoded neither as UTF-8 nor as Windows-1252; give --encoding") from None
    note = "the file is not UTF-8 and was read as Windows-1252; if that is wrong, give --encoding"
    return replace(variants, notes=(*variants.notes, note))


def _read(path: Path, dialect: _Dialect, reading: Reading) -> Variants:
    source: Path | io.BytesIO = path
    if dialect.encoding not in ("utf-8", "utf-8-sig"):
        with _opened(path) as stream:
            source = io.BytesIO(stream.read().decode(dialect.encoding).encode())
    try:
        table = pl.scan_csv(
            source, separator=dialect.delimiter, quote_char=dialect.quote, infer_schema=False, glob=False
        )  # fmt: skip
        return variants_of(table, reading, str(path))
    except pl.exceptions.NoDataError:
        raise EmptyLogError(
            f"{path}: the log is empty, it has no header and no events; is it the right file?"
        ) from None
    except pl.exceptions.PolarsError as error:
        if "utf-8" in str(error).lower():
            raise UnicodeDecodeError("utf-8", b"", 0, 1, "invalid") from None
        raise LogError(f"{path}: {_first_fault(path, dialect)}") from None


def _first_fault(path: Path, dialect: _Dialect) -> str:
    """Why the table cannot be read, without quoting it (Polars' own words would)."""
    shown = f"delimiter {dialect.delimiter!r}, quote {dialect.quote!r}"
    remedy = f"read with {shown}; mend it, or give --delimiter or --quote"
    with _opened(path) as stream:
        text = io.TextIOWrapper(stream, dialect.encoding, errors="replace", newline="")
        rows = csv.reader(
            text,
            delimiter=dialect.delimiter,
            quotechar=dialect.quote or '"',
            quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
            strict=True,
        )
        width, row = None, 0
        try:
            for row, cells in enumerate(rows):
                width = len(cells) if width is None else width
                if len(cells) > width:
                    return f"row {row:,} (the header not counted) has {len(cells)} cells, the header {width}; {remedy}"
        except csv.Error:
            return f"row {row + 1:,} (the header not counted) is not well quoted, or the file ends in it; {remedy}"
    return f"a cell holds a quote that neither opens nor closes it; {remedy} ('none' where nothing is quoted)"


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb"))


def _check_gzip(path: Path) -> None:
    """Polars does not look at the checksum of a gzip file: do it first, in constant memory."""
    with path.open("rb") as raw:
        if raw.read(2) != b"\x1f\x8b":
            raise LogError(f"{path}: named .gz, but not compressed with gzip; rename it or compress it")
    try:
        with gzip.open(path) as stream:
            while stream.read(1 << 20):
                pass
    except EOFError:
        raise LogError(f"{path}: the gzip file ends too early, it was cut off; copy it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise LogError(f"{path}: the gzip file is damaged ({error}); copy it again") from None


def _dialect(head: bytes, reading: Reading) -> _Dialect:
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
