"""The complete events of a table with their details, and the cases that are counted, as Ibis expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..reading import ATTRIBUTE_NUMBER
from .variants_expression import CASE, DIGEST, UNIT, Query, present

if TYPE_CHECKING:
    import ibis.expr.types as ir

MICROSECONDS = "microseconds"
_RANK = "rank"


def attribute_column(query: Query, name: str) -> str:
    """Return the column of an attribute in the table of details."""
    return f"attribute_{query.columns.attributes.index(name)}"


def check_detail_types(query: Query) -> None:
    """Raise LogError if the type of a column does not allow it to be measured as a time, a name or a number."""
    details, events = query.columns.details, query.events
    time = events[query.columns.timestamp]
    if details.times == "read" and not (time.type().is_timestamp() or time.type().is_date()):
        raise query.unfit(time, "by which durations cannot be measured", "a timestamp")
    for name in details.attributes:
        query.name(events[name])
    for name in details.numbers:
        kind = events[name].type()
        if not kind.is_string() and (not kind.is_numeric() or kind.is_boolean()):
            raise query.unfit(events[name], "which is not a number", "a number")


def details_of(query: Query) -> ir.Table:
    """Return one row per event that counts: case, sort keys, microseconds, attributes, and what selects cases of a unit.

    An event counts if it is complete and, with a period, in the trace of a case that is closed in it.
    """
    check_detail_types(query)
    details, events = query.columns.details, query.events
    more = {}
    if details.times == "read":
        more[MICROSECONDS] = query.instants(events[query.columns.timestamp])
    for name in details.attributes:
        more[attribute_column(query, name)] = query.as_bytes(query.name(events[name]))
    for name in details.numbers:
        more[attribute_column(query, name)] = _number(events[name])
    rows, _, read = query.marked(query.rows(more), list(more))
    return rows.filter(read)


def counted_cases(query: Query, table: ir.Table) -> ir.Table:
    """Return the cases of a unit that are counted: the rule of `sources.contribution_bounding`."""
    import ibis

    def rank(group: list[Any]) -> Any:
        return ibis.row_number().over(ibis.window(group_by=group, order_by=[cases[DIGEST], cases[CASE]]))

    cases = query.cases(table)
    cases = cases.filter(cases[UNIT].notnull())
    if query.reading.counts_of == "units":
        cases = cases.mutate(**{_RANK: rank([cases[UNIT], *(cases[part] for part in query.parts)])})
        cases = cases.filter(cases[_RANK] == 0)
    cases = cases.mutate(**{_RANK: rank([cases[UNIT]])})
    return cases.filter(cases[_RANK] < query.reading.privacy_unit.max_cases).select(CASE)


def _number(column: Any) -> Any:
    """Return a float, or null for NaN and for text that is not a plain decimal number."""
    import ibis

    if not column.type().is_string():
        return present(column.cast("float64"))
    # for some databases, $ matches before a line break
    is_number = column.re_search(ATTRIBUTE_NUMBER) & ~column.contains("\n")
    return ibis.ifelse(is_number, column, None).cast("float64")
