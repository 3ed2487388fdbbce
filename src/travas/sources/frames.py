"""Columns with types: Parquet and Arrow files, Excel, and data frames of Polars, Arrow and pandas.

Types come from the schema (docs/reading.md, lemmas 6 and 8); pandas objects are read without type inference, and every
cell of a workbook is converted to text by its own type alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import polars as pl
import polars.selectors as cs

from ..errors import CONFIDENTIAL, LogError, MissingExtraError, plain_words
from ..log.log import Log
from .columns import Columns
from .events import table_variants
from .messages import available_names
from .reading import Reading

_WHERE = "data frame"
INCOMPLETE = "check that every file is complete, and has the same columns and types"
_EMPTY_NAME = "__UNNAMED__"
ArrowFormat = Literal["parquet", "arrow"]


def read_arrow(paths: Sequence[Path], reading: Reading, where: str, form: ArrowFormat) -> Log:
    """Read the variants of Parquet files, or of Arrow IPC files (Feather); their order is that of the rows."""
    rows = scan_arrow(paths, form)
    with plain_words(f"{where}: cannot be read as {form.capitalize()}", INCOMPLETE):
        return table_variants(rows, reading, where, height=rows.select(pl.len()).collect().item())


def scan_arrow(paths: Sequence[Path], form: ArrowFormat) -> pl.LazyFrame:
    """Return the rows of the files."""
    scan = pl.scan_parquet if form == "parquet" else pl.scan_ipc
    return scan(list(paths), glob=False, hive_partitioning=False)


def read_excel(path: Path, reading: Reading, where: str) -> Log:
    """Read the variants of a sheet of a workbook."""
    return table_variants(sheet_table(path, reading.sheet, where).lazy(), reading, where)


def sheet_table(path: Path, sheet: str | None, where: str) -> pl.DataFrame:
    """Return the cells of a sheet as text, with the first row as names of columns; empty cells are null."""
    with _workbook(path, where) as workbook:
        names = list(workbook.sheet_names)
        wanted = names[0] if sheet is None and len(names) == 1 else sheet
        if wanted not in names:
            problem = "has several sheets; set sheet" if sheet is None else f"has no sheet {sheet!r}"
            raise LogError(f"{where}: {problem}; {available_names(names, 10, sheet or '')}", field="sheet")
        table: Any = workbook.load_sheet(wanted, dtypes="string").to_polars()
    return pl.DataFrame(table.select(~cs.starts_with(_EMPTY_NAME)))


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook."""
    with _workbook(path, str(path)) as workbook:
        return list(workbook.sheet_names)


@contextmanager
def _workbook(path: Path, where: str) -> Iterator[Any]:
    import fastexcel

    with plain_words(f"{where}: cannot be read as an Excel workbook", "if encrypted or damaged, save it as .xlsx"):
        yield fastexcel.read_excel(path)


def frame_of_csv(text: str) -> pl.DataFrame:
    """Return a CSV table, all cells as text."""
    return pl.read_csv(text.encode(), infer_schema=False)


def read_frame(frame: Any, reading: Reading) -> Log:
    """Read the variants of a frame of Polars or pandas, or a table, record batch or reader of Arrow."""
    with plain_words(f"{_WHERE}: cannot be read", "select the columns of the log, collect or convert it first"):
        table, present, height = frame, [], 0
        if type(frame).__module__.partition(".")[0] == "pyarrow" and hasattr(frame, "schema"):
            table = pl.DataFrame(pl.from_arrow(frame.read_all() if hasattr(frame, "read_all") else frame))
        elif not isinstance(frame, pl.DataFrame | pl.LazyFrame):
            table, present = _from_pandas(frame, reading), list(map(str, frame.columns))
        if isinstance(table, pl.DataFrame):
            height, table = table.height, table.lazy()
        return table_variants(table, reading, _WHERE, height=height, present=present)


def _from_pandas(frame: Any, reading: Reading) -> pl.DataFrame:
    if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
        raise LogError(f"a {type(frame).__name__} is not an event log; use a path, a DataFrame, or a mapping to counts")
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise LogError(f"{_WHERE}: two columns have the same name; rename one")
    columns = Columns.of(reading, names, _WHERE)
    numbers = {attribute.name for attribute in columns.details.columns if attribute.values == "number"}
    exact = {attribute.name for attribute in columns.details.columns} - numbers
    exact |= {*columns.identifiers}
    series = [
        column_of_pandas(frame.iloc[:, index].rename(name), "numbers" if name in numbers - exact else "exact")
        for index, name in enumerate(names)
        if name in columns.names
    ]
    return pl.DataFrame(series)


def column_of_pandas(values: Any, use: Literal["exact", "numbers"]) -> pl.Series:
    """Convert one column by its type alone; an object column must hold text, value by value. Only numbers may be floats."""
    import pandas as pd

    name, kind = str(values.name), values.dtype
    if isinstance(kind, pd.CategoricalDtype):
        categories = column_of_pandas(pd.Series(kind.categories, name=name), use)
        return categories.gather(pl.Series(values.cat.codes.to_numpy()).replace(-1, None))
    if kind.kind == "O" and not isinstance(kind, pd.api.extensions.ExtensionDtype):
        return _texts(values, name)
    if not _is_plain(kind) and not (use == "numbers" and kind.kind == "f"):
        raise _refused(name, f"is of type {kind}")
    try:
        converted: pl.Series = pl.from_pandas(values)
    except ImportError:
        raise MissingExtraError("reading a pandas DataFrame", "pandas") from None
    except Exception as error:  # pyarrow raises many kinds, some quoting a cell
        raise _refused(name, f"cannot be converted ({type(error).__name__})") from None
    return converted


def _is_plain(kind: Any) -> bool:
    """Return whether a pandas type represents its values exactly. Floats do not: integers become floats if one is missing."""
    import pandas as pd

    if isinstance(kind, pd.ArrowDtype):
        from pyarrow import types

        names = ("string", "large_string", "integer", "boolean", "timestamp", "date")
        return any(getattr(types, f"is_{name}")(kind.pyarrow_dtype) for name in names)
    return isinstance(kind, pd.StringDtype | pd.DatetimeTZDtype) or kind.kind in "biuM"


def _texts(values: Any, name: str) -> pl.Series:
    """Convert an object column of text. Other values are refused before any type inference."""
    texts = [None if is_missing else value for value, is_missing in zip(values, values.isna(), strict=True)]
    for row, value in enumerate(texts, start=1):
        if value is not None and not isinstance(value, str):
            what = f"holds a value of type {type(value).__name__} in row {row:,}; object columns must hold text only"
            raise _refused(name, what)
    try:
        return pl.Series(name, texts, dtype=pl.String, strict=True)
    except UnicodeError:
        raise LogError(f"{_WHERE}: column {name!r} contains a lone surrogate; fix it {CONFIDENTIAL}") from None


def _refused(name: str, what: str) -> LogError:
    conversion = f"df[{name!r}] = df[{name!r}].astype('string'), 'Int64' for whole numbers; times with pd.to_datetime"
    return LogError(f"{_WHERE}: column {name!r} {what}; convert it first: {conversion} {CONFIDENTIAL}")
