"""Data frames: Polars and Arrow directly, pandas column by column without type inference (docs/reading.md, lemma 8)."""

from __future__ import annotations

from typing import Any, Literal

import attrs
import polars as pl

from ..errors import CONFIDENTIAL, LogError, MissingExtraError
from ..log.log import Log
from .columns import Columns
from .events import table_variants
from .reading import Reading

_WHERE = "data frame"
_PM4PY_KEYS = {
    "case": "pm4py:param:case_id_key",
    "activity": "pm4py:param:activity_key",
    "timestamp": "pm4py:param:timestamp_key",
}

Use = Literal["name", "time", "number"]


def read_frame(frame: Any, reading: Reading) -> Log:
    """Read the variants of a frame of Polars or pandas, or a table, record batch or reader of Arrow.

    Columns that pm4py noted in the attributes of a pandas `DataFrame` are used where none is set.
    """
    lazy = frame.lazy() if isinstance(frame, pl.DataFrame) else frame
    present = (
        [] if isinstance(lazy, pl.LazyFrame) or _is_arrow(frame) else list(map(str, getattr(frame, "columns", ())))
    )
    if not isinstance(lazy, pl.LazyFrame):
        reading = _noted_by_pm4py(frame, reading)
        lazy = (_from_arrow(frame) if _is_arrow(frame) else _from_pandas(frame, reading)).lazy()
    try:
        return table_variants(lazy, reading, _WHERE, present=present)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:  # their messages may quote a cell
        raise LogError(f"{_WHERE}: cannot be read ({type(error).__name__}); collect or convert it first") from None


def _noted_by_pm4py(frame: Any, reading: Reading) -> Reading:
    """Return the reading with the columns of `pm4py.format_dataframe`, where none is set."""
    attributes = getattr(frame, "attrs", None)
    if not isinstance(attributes, dict):
        return reading
    stated = {role: attributes.get(key) for role, key in _PM4PY_KEYS.items()}
    noted = {role: name for role, name in stated.items() if isinstance(name, str) and name in frame.columns}
    activity = (noted["activity"],) if "activity" in noted else ()
    return attrs.evolve(
        reading,
        case=reading.case or noted.get("case"),
        activity=reading.activity or activity,
        timestamp=reading.timestamp or (None if reading.order == "file" else noted.get("timestamp")),
    )


def _is_arrow(frame: Any) -> bool:
    return type(frame).__module__.partition(".")[0] == "pyarrow" and hasattr(frame, "schema")


def _from_arrow(frame: Any) -> pl.DataFrame:
    table = frame.read_all() if hasattr(frame, "read_all") else frame
    try:
        return pl.DataFrame(pl.from_arrow(table))
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise LogError(
            f"an Arrow table cannot be read ({type(error).__name__}); select the columns of the log"
        ) from None


def _from_pandas(frame: Any, reading: Reading) -> pl.DataFrame:
    if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
        raise LogError(
            f"a {type(frame).__name__} is not an event log; use a path, a DataFrame, or a mapping of tuples to counts"
        )
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise LogError(f"{_WHERE}: two columns have the same name; rename one")
    columns = Columns.of(reading, names, _WHERE)
    series = [
        column_of_pandas(frame.iloc[:, index].rename(name), _use(name, columns))
        for index, name in enumerate(names)
        if name in columns.names
    ]
    return pl.DataFrame(series)


def _use(name: str, columns: Columns) -> Use:
    """Return what a column is read as; a column with several roles is read as names, the strictest."""
    names = (columns.case, *columns.activities, columns.unit, columns.lifecycle, *columns.where)
    if name in (*names, *columns.details.attributes):
        return "name"
    if name == columns.timestamp:
        return "time"
    return "number" if name in columns.details.numbers and name != columns.ties else "name"


def column_of_pandas(values: Any, use: Use) -> pl.Series:
    """Convert one column by its type alone; an object column must hold text, value by value."""
    import pandas as pd

    name, kind = str(values.name), values.dtype
    if isinstance(kind, pd.CategoricalDtype):
        categories = column_of_pandas(pd.Series(kind.categories, name=name), use)
        return categories.gather(pl.Series(values.cat.codes.to_numpy()).replace(-1, None))
    if kind.kind == "O" and not isinstance(kind, pd.api.extensions.ExtensionDtype):
        return _texts(values, name, use)
    if not _is_plain(kind) and not (use == "number" and kind.kind == "f"):
        raise _refused(name, f"is of type {kind}", _conversion(name, kind.kind == "f", use))
    try:
        converted: pl.Series = pl.from_pandas(values)
    except ImportError:
        raise MissingExtraError("reading a pandas DataFrame", "pandas") from None
    except Exception as error:  # pyarrow raises many kinds, some quoting a cell
        conversion = _conversion(name, False, use)
        raise _refused(name, f"cannot be converted ({type(error).__name__})", conversion) from None
    return converted


def _is_plain(kind: Any) -> bool:
    """Return whether a pandas type represents its values exactly. Floats do not: integers become floats if one is missing."""
    import pandas as pd

    if isinstance(kind, pd.ArrowDtype):
        from pyarrow import types

        names = ("string", "large_string", "integer", "boolean", "timestamp", "date")
        return any(getattr(types, f"is_{name}")(kind.pyarrow_dtype) for name in names)
    return isinstance(kind, pd.StringDtype | pd.DatetimeTZDtype) or kind.kind in "biuM"


def _texts(values: Any, name: str, use: Use) -> pl.Series:
    """Convert an object column of text. Other values are refused before any type inference."""
    texts = [None if _is_missing(value) else value for value in values]
    for row, value in enumerate(texts, start=1):
        if value is not None and not isinstance(value, str):
            what = f"holds a value of type {type(value).__name__} in row {row:,}; object columns must hold text only"
            raise _refused(name, what, _conversion(name, False, use))
    try:
        return pl.Series(name, [value and str.__str__(value) for value in texts], dtype=pl.String, strict=True)
    except UnicodeError:
        raise LogError(
            f"{_WHERE}: column {name!r} contains a lone surrogate, which is not text; fix it {CONFIDENTIAL}"
        ) from None


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def _conversion(name: str, is_float: bool, use: Use) -> str:
    column = f"df[{name!r}]"
    if use == "time":
        return f"{column} = pd.to_datetime({column}, {'unit=' + repr('s') if is_float else 'utc=True'})"
    return (
        f"{column} = {column}.astype('Int64'), exact up to 2**53"
        if is_float
        else f"{column} = {column}.astype('string')"
    )


def _refused(name: str, what: str, conversion: str) -> LogError:
    return LogError(f"{_WHERE}: column {name!r} {what}; convert it first: {conversion} {CONFIDENTIAL}")
