"""The accepted column types of tables and data frames, decided by the schema alone: docs/reading.md, lemma 6.

In a type whose values are converted together, such as integers that become floats because one is missing, or decimals
with the scale of the longest, one case can change another. Such columns are refused, and the message names a conversion.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ...errors import CONFIDENTIAL, LogError
from .table_columns import Columns

_NAMES = "text, whole numbers, true or false, categories, dates and timestamps"


def check_types(columns: Columns, schema: Mapping[str, pl.DataType], where: str) -> None:
    """Raise LogError if the type of a column is not accepted for its role.

    Args:
        columns: The columns that are read.
        schema: The type of every column.
        where: The name of the table in messages.
    """
    for name in (columns.case, columns.unit, *columns.activities, columns.lifecycle, *columns.where):
        if name is not None and not is_name_type(schema[name]):
            raise LogError(
                f"{where}: column {name!r} has type {schema[name]}, whose values are not exact identifiers; accepted types are "
                f"{_NAMES}; convert it, for example with {_as_text(name, schema[name])} {CONFIDENTIAL}"
            )
    for name in (columns.timestamp, columns.ties):
        if name is not None and not is_ordered(schema[name]):
            raise LogError(
                f"{where}: column {name!r} has type {schema[name]}, which cannot order events; accepted types are text, "
                f"numbers, dates and timestamps; convert it, for example with {_as_text(name, schema[name])} {CONFIDENTIAL}"
            )
    check_detail_types(columns, schema, where)


def check_detail_types(columns: Columns, schema: Mapping[str, pl.DataType], where: str) -> None:
    """Raise LogError if the type of a column does not allow it to be measured as a time, a name or a number."""
    unfit = [(name, "not exact names") for name in columns.details.attributes if not is_name_type(schema[name])]
    unfit += [(name, "not numbers") for name in columns.details.numbers if not _is_number(schema[name])]
    if columns.details.times == "read" and not is_time(schema[str(columns.timestamp)]):
        unfit.append((str(columns.timestamp), "not dates or timestamps, so that durations cannot be measured"))
    for name, what in unfit:
        raise LogError(
            f"{where}: column {name!r} has type {schema[name]}, whose values are {what}; convert it, "
            f"for example with {_as_text(name, schema[name])} {CONFIDENTIAL}"
        )


def _is_number(kind: pl.DataType) -> bool:
    return _is_text(kind) or kind.is_numeric() or isinstance(kind, pl.Null)


def is_time(kind: pl.DataType) -> bool:
    """Return whether values of a type are instants, or texts that can be."""
    return _is_text(kind) or isinstance(kind, pl.Datetime | pl.Date | pl.Null)


def is_name_type(kind: pl.DataType) -> bool:
    """Return whether the text of a value depends on that value and the type alone."""
    if isinstance(kind, pl.Decimal):
        return kind.scale == 0
    other = pl.Boolean | pl.Binary | pl.Date | pl.Datetime | pl.Null
    return _is_text(kind) or kind.is_integer() or isinstance(kind, other)


def is_ordered(kind: pl.DataType) -> bool:
    """Return whether values of a type have an order."""
    return _is_text(kind) or kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Null)


def _is_text(kind: pl.DataType) -> bool:
    return isinstance(kind, pl.String | pl.Categorical | pl.Enum)


def _as_text(name: str, kind: pl.DataType) -> str:
    """Return a Polars expression that converts the column: floats to whole numbers, others to text."""
    return f"pl.col({name!r}).cast({'pl.Int64' if kind.is_float() else 'pl.String'})"
