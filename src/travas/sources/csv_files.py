"""CSV files: encoding, delimiter and quote are set or detected from the header, then checked strictly.

A quote opens a cell right after a delimiter or a line break, and closes it right before one; inside, a quote is doubled
(RFC 4180). Any other quote is a fault, and so are a NUL byte and, outside quotes, a carriage return without a line feed.
A file without a fault is a header followed by records, and no record depends on another. A lenient parser is different:
a stray quote in one record and another one in a later record turn everything between them into one cell.

Number the quotes from 0. Even ones open and odd ones close; a doubled quote is an odd one followed by an even one. So
it suffices to look at one neighbour of every quote: the byte before an even one and the byte after an odd one. In
UTF-8, the bytes of a delimiter, a quote or a line break are never part of another character.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import mmap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import polars.selectors as cs

from ..errors import CONFIDENTIAL, LogError, ParameterError
from ..log.log import Log
from ..mechanisms.mechanism import Progress
from ..releases.release import TIMES_MARK
from .columns import Columns
from .events import table_variants, unescaped
from .files import chunks, content, packing_of
from .reading import CASE, TIMESTAMP, Reading

_DELIMITERS = ",;\t|"
_LEAST_ROW = 32  # bytes; an estimate of the number of rows from the file size
_BLOCK_BYTES = 1 << 18  # fits into the processor cache
_UTF_8 = "utf-8-sig"  # with or without a byte order mark
BOMS = ((codecs.BOM_UTF8, _UTF_8), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x9c", b"\x78\xda")
"""gzip, Zstandard and zlib, which Polars would decompress, so that the scan would see other bytes than the parser."""

FaultKind = Literal["stray quote", "open quote", "carriage return", "nul"]
_LINE_FEED, _CARRIAGE_RETURN = ord("\n"), ord("\r")

_FAULTS: dict[FaultKind, str] = {
    "stray quote": "the quote {quote!r} neither opens nor closes a cell and is not doubled",
    "open quote": "the quote {quote!r} is never closed",
    "carriage return": "a carriage return outside quotes is not followed by a line feed",
    "nul": "a NUL byte, which is not text",
}


@dataclass(frozen=True)
class _Dialect:
    encoding: str
    delimiter: str
    quote: str | None


def read_csv(paths: Sequence[Path], reading: Reading, where: str, progress: Progress) -> Log:
    """Read the variants of `.csv` or `.csv.gz` files, each with a header. All cells are text: `NA` is a name.

    The quoting of every file is checked before the first one is parsed. Files that are compressed
    or not in UTF-8 are held in memory completely.
    """
    files = [_File.open(path, reading, progress) for path in paths]
    for file in files:
        file.check()
    size = sum(len(file.source) if isinstance(file.source, bytes) else file.path.stat().st_size for file in files)
    with _parsing(files, where):
        tables = [_with_original_names(file.table()) for file in files]
        present = tables[0].collect_schema().names()
        if len(files) > 1:
            tables = [_needed(table, reading, file.path) for table, file in zip(tables, files, strict=True)]
        rows, height = pl.concat(tables), size // _LEAST_ROW
        return table_variants(rows, reading, where, height=height, whole_rows=True, present=present)


def table_of(path: Path, reading: Reading) -> pl.DataFrame:
    """Return the cells of a CSV file as text; LogError with the line if it is not strict CSV."""
    file = _File.open(path, reading)
    file.check()
    with _parsing([file], str(path)):
        return file.table().collect()


@contextmanager
def _parsing(files: Sequence[_File], where: str) -> Iterator[None]:
    """Say which row cannot be parsed, without the cells that a message of Polars may contain."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        unknown = LogError(f"{where}: cannot be parsed ({type(error).__name__}) {CONFIDENTIAL}")
        raise next(filter(None, (file.first_bad_row() for file in files)), unknown) from None


def _with_original_names(table: pl.LazyFrame) -> pl.LazyFrame:
    """Reverse the escaping of activities in a release of travas, which is recognised by its header (docs/outputs.md)."""
    names = table.collect_schema().names()
    if CASE not in names or TIMES_MARK not in names:
        return table
    end = names.index(TIMESTAMP if TIMESTAMP in names else TIMES_MARK)
    activities = [name for name in names[:end] if name != CASE]
    return table.with_columns(pl.col(activities).map_batches(unescaped, return_dtype=pl.String, is_elementwise=True))


def _needed(table: pl.LazyFrame, reading: Reading, path: Path) -> pl.LazyFrame:
    """Select the columns that are read; position and other columns may differ between files."""
    columns = Columns.of(reading, table.collect_schema().names(), str(path))
    return table.select(cs.by_name(name) for name in columns.names)


@dataclass(frozen=True)
class _File:
    path: Path
    source: Path | bytes
    dialect: _Dialect

    @classmethod
    def open(cls, path: Path, reading: Reading, progress: Progress = lambda _: None) -> _File:
        with closing(chunks(path, progress)) as pieces:
            head = next(pieces, b"")
        if head.startswith(_COMPRESSED):
            raise LogError(f"{path}: contains compressed data, which is not supported; decompress it first")
        dialect = dialect_of(head, reading)
        if dialect.encoding == _UTF_8 and packing_of(path) is None:
            return cls(path, path, dialect)
        held = content(path, progress)
        try:
            return cls(path, held if dialect.encoding == _UTF_8 else held.decode(dialect.encoding).encode(), dialect)
        except UnicodeError:
            raise LogError(f"{path}: not encoded as {dialect.encoding}; set another one", field="encoding") from None

    def check(self) -> None:
        """Raise LogError, with the line, if the file is not strict CSV."""
        data: Any = self.source
        if isinstance(self.source, Path):
            with self.source.open("rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        start = len(codecs.BOM_UTF8) if data[: len(codecs.BOM_UTF8)] == codecs.BOM_UTF8 else 0
        header = data[start : data.find(b"\n") + 1 or len(data)]
        if not header.strip(b"\r\n"):
            raise LogError(f"{self.path}, line 1: is empty but must be the header; remove empty lines before it")
        try:
            header.decode()
        except UnicodeDecodeError:  # Polars would replace the characters
            raise self._not_utf_8("on line 1") from None
        blocks = (data[place : place + _BLOCK_BYTES] for place in range(start, len(data), _BLOCK_BYTES))
        fault = first_fault(blocks, self.dialect.delimiter, self.dialect.quote)
        if fault is None:
            is_cut = data[-1:] == self.dialect.delimiter.encode()
            if is_cut and (error := self.first_bad_row()):  # Polars would accept an extra cell
                raise error
            return
        line = data[: start + fault.offset].count(b"\n") + 1
        what = _FAULTS[fault.kind].format(quote=self.dialect.quote)
        earlier = line if fault.quote_before is None else data[: start + fault.quote_before].count(b"\n") + 1
        if earlier < line:
            what = f"{what} (the quote before it is on line {earlier:,})"
        raise self._malformed(f"{self.path}, line {line:,}: {what}")

    def _not_utf_8(self, place: str) -> LogError:
        words = f"{self.path}: not encoded as utf-8 {place}; set encoding, such as cp1252 {CONFIDENTIAL}"
        return LogError(words, field="encoding")

    def _malformed(self, what: str) -> LogError:
        dialect = f"read with delimiter {self.dialect.delimiter!r} and quote {self.dialect.quote or 'none'!r}"
        return LogError(
            f"{what}; {dialect}; fix the file, or set delimiter, quote ('none' if nothing is quoted) or encoding "
            f"{CONFIDENTIAL}",
            field="delimiter",
            other_fields=("quote", "encoding"),
        )

    def table(self) -> pl.LazyFrame:
        """The cells as text, without empty lines, which are no events."""
        quote = self.dialect.quote
        rows = pl.scan_csv(
            self.source,
            separator=self.dialect.delimiter,
            quote_char=quote,
            infer_schema=False,
            glob=False,
            # Polars leaves quotes in the header doubled
            with_column_names=lambda names: [name.replace(quote * 2, quote) for name in names] if quote else names,
        )
        return rows.filter(~pl.all_horizontal(pl.all().is_null()))

    def first_bad_row(self) -> LogError | None:
        """Return why a table with valid quoting cannot be parsed, by Python's `csv` module, which is slow."""
        csv.field_size_limit(2**31 - 1)  # the default is 128 kB
        width, row = None, 0
        stream = io.BytesIO(self.source) if isinstance(self.source, bytes) else self.source.open("rb")
        try:
            with io.TextIOWrapper(stream, _UTF_8, newline="") as text:
                rows = csv.reader(
                    text,
                    delimiter=self.dialect.delimiter,
                    quotechar=self.dialect.quote or '"',
                    quoting=csv.QUOTE_MINIMAL if self.dialect.quote else csv.QUOTE_NONE,
                    strict=True,
                )
                for row, cells in enumerate(rows):
                    width = len(cells) if width is None else width
                    if len(cells) > width:
                        what = f"row {row:,} (not counting the header) has {len(cells)} cells, the header {width}"
                        return self._malformed(f"{self.path}: {what}")
        except UnicodeError:
            return self._not_utf_8(f"near row {row + 1:,}")
        return None


def dialect_of(head: bytes, reading: Reading) -> _Dialect:
    """Detect the encoding from the byte order mark, and delimiter and quote from the header line, unless they are set.

    The rows are not used, because one case would decide how all others are read.
    """
    encoding = reading.encoding or next((name for bom, name in BOMS if head.startswith(bom)), "utf-8")
    if codecs.lookup(encoding).name == "utf-8":
        encoding = _UTF_8
    text = head.decode(encoding, errors="replace").lstrip("\ufeff")
    line = text.partition("\n")[0]
    quote = reading.quote
    if quote is None:
        quote = "'" if line.startswith("'") and '"' not in line else '"'
    outside = "".join(line.split(quote)[::2])
    delimiter = reading.delimiter or max(_DELIMITERS, key=outside.count)
    if delimiter == quote:
        raise ParameterError(f"delimiter and quote are both {quote!r}; use two different characters", field="delimiter")
    return _Dialect(encoding, delimiter, None if quote == "none" else quote)


@dataclass(frozen=True)
class Fault:
    """A violation of strict CSV: its byte offset, and that of the last quote before it, if any."""

    kind: FaultKind
    offset: int
    quote_before: int | None = None


def first_fault(blocks: Iterable[bytes], delimiter: str, quote: str | None) -> Fault | None:
    """Return the first violation of strict CSV in a file: UTF-8 without a byte order mark, in blocks of any size."""
    mark, sign = ord(delimiter), -1 if quote is None else ord(quote)
    tail, start, number, last = b"\n", 0, 0, -1  # the file begins like a line; the bytes and quotes seen so far
    for block in itertools.chain(blocks, [delimiter.encode()]):  # and its end ends a cell
        data = tail + block
        array = np.frombuffer(data, np.uint8)
        before, here, after = array[:-2], array[1:-1], array[2:]
        quotes = np.flatnonzero(here == sign)
        opening, closing = quotes[number % 2 :: 2], quotes[1 - number % 2 :: 2]
        opens = np.isin(before[opening], (mark, _LINE_FEED, sign))
        closes = np.isin(after[closing], (mark, _LINE_FEED, _CARRIAGE_RETURN, sign))
        bare = np.flatnonzero((here == _CARRIAGE_RETURN) & (after != _LINE_FEED)) if b"\r" in data else opening[:0]
        bare = bare[(np.searchsorted(quotes, bare) + number) % 2 == 0]
        nul = data.find(0, 1, len(data) - 1)
        found: dict[int, FaultKind] = {nul - 1: "nul"} if nul > 0 else {}
        found |= {int(position): "stray quote" for position in (*opening[~opens][:1], *closing[~closes][:1])}
        found |= {int(position): "carriage return" for position in bare[:1]}
        if found:
            position = min(found)
            earlier = int(np.searchsorted(quotes, position)) - 1
            quote_before = start + int(quotes[earlier]) if earlier >= 0 else last
            is_quote = found[position] == "stray quote" and quote_before >= 0
            return Fault(found[position], start + position, quote_before if is_quote else None)
        last = start + int(quotes[-1]) if len(quotes) else last
        tail, start, number = data[-2:], start + len(here), number + len(quotes)
    return Fault("open quote", last) if number % 2 else None
