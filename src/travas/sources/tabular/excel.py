"""Excel workbooks: one sheet with a header. Every cell is converted to text by its own type alone.

A workbook is a zip archive of XML, and its reader makes a full grid of a sheet. So the unpacked size is measured and the
grid is bounded before the reader sees the file.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import polars as pl

from ...errors import CONFIDENTIAL, LogError, MissingExtraError
from ...model.mechanism import Progress
from ...model.variants import Variants
from ..compression import ZIP_FAULTS, allowed, memory_limit, too_large
from ..reading import Reading
from ..wording import available_names
from .events import Events
from .tables import variants_of

MAX_CELLS = 50_000_000
"""The largest grid: rows times columns. A full sheet of 1,048,576 rows may have 47 columns."""

_CELL = re.compile(rb"""\sr\s*=\s*["']([A-Za-z]{1,3})[0-9]""")
_ROW = re.compile(rb"""<(?:\w+:)?row[^>]*?\sr\s*=\s*["']([0-9]{1,9})""")
_BLOCK, _OVERLAP = 1 << 20, 1 << 10
_EMPTY_NAME = "__UNNAMED__"


def read_excel(path: Path, reading: Reading, where: str, progress: Progress) -> Variants:
    """Read the variants of a sheet of a workbook.

    Args:
        path: The workbook.
        reading: The rule from events to variants; `sheet` is needed if there are several sheets.
        where: The name of the log in messages.
        progress: Called with the share of the work that is done.

    Returns:
        The variants and their counts. Confidential.

    Raises:
        LogError: The workbook cannot be read, or has no such sheet.
    """
    return variants_of(Events(sheet_table(path, reading.sheet, where, progress).lazy(), reading, where))


def sheet_table(path: Path, sheet: str | None, where: str, progress: Progress) -> pl.DataFrame:
    """Return the cells of a sheet as text, with the first row as names of columns.

    Args:
        path: The workbook.
        sheet: The name of the sheet; None is the only one.
        where: The name of the log in messages.
        progress: Called with the share of the work that is done.

    Returns:
        The table; empty cells are null.

    Raises:
        LogError: The workbook cannot be read, or has no such sheet.
    """
    try:
        import fastexcel
    except ImportError:
        raise MissingExtraError("reading an Excel workbook", "excel") from None
    _check_size(path, progress)
    try:
        workbook = fastexcel.read_excel(path)
        name = _sheet(workbook.sheet_names, sheet, where)
        table: Any = workbook.load_sheet(name, dtypes="string").to_polars()
    except LogError:
        raise
    except BaseException as error:  # a damaged file can make the reader panic; its messages may quote a cell
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        raise LogError(
            f"{where}: cannot be read as an Excel workbook ({type(error).__name__}); save it again as .xlsx"
        ) from None
    return pl.DataFrame(table.select(name for name in table.columns if not name.startswith(_EMPTY_NAME)))


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook.

    Args:
        path: The workbook.

    Returns:
        The names.

    Raises:
        LogError: The workbook cannot be read.
    """
    try:
        import fastexcel
    except ImportError:
        raise MissingExtraError("reading an Excel workbook", "excel") from None
    _check_size(path, lambda _: None)
    try:
        return list(fastexcel.read_excel(path).sheet_names)
    except fastexcel.FastExcelError as error:
        raise LogError(f"{path}: cannot be read as an Excel workbook ({type(error).__name__})") from None


def _sheet(names: list[str], sheet: str | None, where: str) -> str:
    if sheet is None and len(names) == 1:
        return names[0]
    if sheet is None:
        raise LogError(f"{where}: has {len(names)} sheets; set sheet; {available_names(names, 10)}", field="sheet")
    if sheet not in names:
        raise LogError(f"{where}: has no sheet {sheet!r}; {available_names(names, 10, sheet)}", field="sheet")
    return sheet


def _check_size(path: Path, progress: Progress) -> None:
    """Refuse a workbook that unpacks to too much, or has a cell so far out that the grid would be too large."""
    limit = allowed(max(path.stat().st_size, 1), memory_limit())
    size = 0
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            for number, entry in enumerate(entries):
                grid = _SheetSize() if "worksheets/" in entry.filename else None
                with archive.open(entry) as stream:
                    while block := stream.read(_BLOCK):
                        size += len(block)
                        if size > limit:
                            raise too_large(path, limit)
                        if grid is not None:
                            grid.feed(block)
                if grid is not None and grid.cells > MAX_CELLS:
                    raise LogError(
                        f"{path}: a sheet has {grid.rows:,} rows and {grid.columns:,} columns, more than {MAX_CELLS:,} "
                        f"cells; delete columns that are not needed, or save it as CSV {CONFIDENTIAL}"
                    )
                progress(0.5 * (number + 1) / len(entries))
    except LogError:
        raise
    except (*ZIP_FAULTS, RuntimeError):
        raise LogError(
            f"{path}: not an Excel workbook, or it is encrypted or damaged; save it again as .xlsx"
        ) from None


class _SheetSize:
    """The size of the grid of a sheet, from the positions of its rows and cells."""

    def __init__(self) -> None:
        self.rows, self.columns, self._tail = 0, 0, b""
        self._letters: set[bytes] = set()

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    def feed(self, block: bytes) -> None:
        data = self._tail + block
        self.rows = max(self.rows, max(map(int, _ROW.findall(data)), default=0))
        new = set(_CELL.findall(data)) - self._letters
        self._letters |= new
        self.columns = max(self.columns, max(map(_column_number, new), default=0))
        self._tail = data[-_OVERLAP:]


def _column_number(letters: bytes) -> int:
    """Return the number of a column, from 1: A, B, …, Z, AA, …"""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number
