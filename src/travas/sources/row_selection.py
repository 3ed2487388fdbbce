"""Which events of a log are read: by their lifecycle and by values of columns. Every row is decided independently.

lifecycle   `complete` or `start` selects the events of that transition; an event without one counts as complete
where       pairs of column and value: for every column, the text of the value must be one of those that are set
duplicates  of the events of a case with the same activity and time, the first one is read
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..errors import ParameterError, check_encodable, shown

Lifecycle = Literal["all", "complete", "start"]
DuplicateEvents = Literal["keep", "drop"]

LIFECYCLE = "lifecycle:transition"
TRACE_LEVEL = "case:"
"""Prefix of trace attributes of XES in `where`, as in pm4py's data frames."""


def spellings(lifecycle: Lifecycle) -> tuple[str, ...]:
    """Return the values of a transition: lower case, capitalised and upper case.

    >>> spellings("complete")
    ('complete', 'Complete', 'COMPLETE')
    """
    return (lifecycle, lifecycle.capitalize(), lifecycle.upper())


def by_column(where: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the values that are selected, by column.

    >>> by_column([("ward", "A"), ("ward", "B"), ("kind", "urgent")])
    {'ward': ('A', 'B'), 'kind': ('urgent',)}
    """
    values: dict[str, tuple[str, ...]] = {}
    for column, value in where:
        values[column] = (*values.get(column, ()), value)
    return values


def by_level(where: Iterable[tuple[str, str]]) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return the values that are selected, by attribute of the trace and by attribute of the event.

    >>> by_level([("case:ward", "A"), ("kind", "urgent")])
    ({'ward': ('A',)}, {'kind': ('urgent',)})
    """
    of_trace: dict[str, tuple[str, ...]] = {}
    of_event: dict[str, tuple[str, ...]] = {}
    for column, values in by_column(where).items():
        if column.startswith(TRACE_LEVEL):
            of_trace[column.removeprefix(TRACE_LEVEL)] = values
        else:
            of_event[column] = values
    return of_trace, of_event


def check_where(where: object) -> None:
    """Raise ParameterError unless this is a tuple of pairs of text, neither of which is empty."""
    if not isinstance(where, tuple):
        raise ParameterError(f"where is {shown(where)}; use pairs such as (('ward', 'A'),)", field="where")
    for pair in where:
        is_pair = isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) and part for part in pair)
        if not is_pair:
            raise ParameterError(
                "where must consist of pairs of a column and a value, both text and not empty, such as ('ward', 'A')",
                field="where",
            )
        check_encodable("where", *pair)


def parse_where(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Parse `COLUMN=VALUE`, as on the command line; the first equals sign separates them."""
    pairs = []
    for text in texts:
        column, sign, value = text.partition("=")
        if not (column and sign and value):
            raise ParameterError(f"where is {shown(text)}; use COLUMN=VALUE", field="where")
        pairs.append((column, value))
    return tuple(pairs)
