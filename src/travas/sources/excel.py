"""Excel workbooks: one sheet with a header. Every cell is converted to text by its own type alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import LogError, MissingExtraError
from ..log.log import Log
from .events import table_variants
from .messages import available_names
from .reading import Reading

_EMPTY_NAME = "__UNNAMED__"


def read_excel(path: Path, reading: Reading, where: str) -> Log:
    """Read the variants of a sheet of a workbook."""
    return table_variants(sheet_table(path, reading.sheet, where).lazy(), reading, where)


def sheet_table(path: Path, sheet: str | None, where: str) -> pl.DataFrame:
    """Return the cells of a sheet as text, with the first row as names of columns; empty cells are null."""
    with _excel_faults(where) as excel:
        workbook = excel.read_excel(path)
        name = _sheet(workbook.sheet_names, sheet, where)
        table: Any = workbook.load_sheet(name, dtypes="string").to_polars()
    return pl.DataFrame(table.select(name for name in table.columns if not name.startswith(_EMPTY_NAME)))


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook."""
    with _excel_faults(str(path)) as excel:
        return list(excel.read_excel(path).sheet_names)


@contextmanager
def _excel_faults(where: str) -> Iterator[Any]:
    """Yield the library, whose messages may quote a cell, and replace its errors; a damaged file can make it panic."""
    try:
        import fastexcel
    except ImportError:
        raise MissingExtraError("reading an Excel workbook", "excel") from None
    try:
        yield fastexcel
    except LogError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        raise LogError(
            f"{where}: not an Excel workbook, or it is encrypted or damaged ({type(error).__name__}); save it again as .xlsx"
        ) from None


def _sheet(names: list[str], sheet: str | None, where: str) -> str:
    if sheet is None and len(names) == 1:
        return names[0]
    if sheet is None:
        raise LogError(f"{where}: has {len(names)} sheets; set sheet; {available_names(names, 10)}", field="sheet")
    if sheet not in names:
        raise LogError(f"{where}: has no sheet {sheet!r}; {available_names(names, 10, sheet)}", field="sheet")
    return sheet
