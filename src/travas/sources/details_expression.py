"""The complete events of a table with their details, and the cases that are counted, as Ibis expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..model.calendar import DAY, FIRST_INSTANT, LAST_INSTANT, SECOND
from .reading import ATTRIBUTE_NUMBER
from .variants_expression import CASE, DIGEST, UNIT, Query, present

if TYPE_CHECKING:
    import ibis.expr.types as ir

MICROSECONDS = "microseconds"
_RANK = "rank"

Clock = Callable[[Any], Any]
"""Returns microseconds since 1970 of a column of timestamps or dates."""


def attribute_column(query: Query, name: str) -> str:
    """Return the column of an attribute in the table of details."""
    return f"attribute_{query.columns.attributes.index(name)}"


def has_zone(column: Any) -> bool:
    """Return whether timestamps have a zone, by the type of their column."""
    return getattr(column.type(), "timezone", None) is not None


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


def details_of(query: Query, clock: Clock) -> ir.Table:
    """Return one row per event that counts: case, sort keys, microseconds, attributes, and what selects cases of a unit.

    An event counts if it is complete and, with a period, in the trace of a case that is closed in it.
    """
    check_detail_types(query)
    details, events = query.columns.details, query.events
    more = {}
    if details.times == "read":
        more[MICROSECONDS] = clock(events[query.columns.timestamp]).clip(lower=FIRST_INSTANT, upper=LAST_INSTANT)
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
    is_number = column.re_search(ATTRIBUTE_NUMBER) & ~column.contains(
        "\n"
    )  # for some databases, $ matches before a line break
    return ibis.ifelse(is_number, column, None).cast("float64")


def plain_clock(column: Any) -> Any:
    """Return microseconds by seconds and their fraction, which most databases support."""
    moment = _in_the_calendar(column)
    return moment.truncate("s").epoch_seconds().cast("int64") * SECOND + moment.microsecond()


def duckdb_clock(column: Any) -> Any:
    """Return microseconds as DuckDB stores them."""
    import ibis

    moment = _in_the_calendar(column)

    @ibis.udf.scalar.builtin(signature=((moment.type(),), "int64"))
    def epoch_us(moment):  # type: ignore[no-untyped-def]
        """Return microseconds since 1970."""

    return epoch_us(moment)


def _in_the_calendar(column: Any) -> Any:
    """Return instants of the years 1 to 9999. Others, infinity among them, become the first or the last: none may fail."""
    import ibis

    if column.type().is_date():
        return _between(column, *(ibis.literal(day).cast("date") for day in ("0001-01-01", "9999-12-31"))).cast(
            "timestamp"
        )
    zone = "+00" if has_zone(column) else ""
    kind = "timestamp('UTC')" if zone else "timestamp(6)"
    ends = (ibis.literal(f"{day}{zone}").cast(kind) for day in ("0001-01-01 00:00:00", "9999-12-31 23:59:59"))
    return _between(column if zone else column.cast(kind), *ends)


def _between(moment: Any, least: Any, most: Any) -> Any:
    import ibis

    return ibis.ifelse(moment < least, least, ibis.ifelse(moment > most, most, moment))


def spark_zoned_clock(column: Any) -> Any:
    """Return microseconds of instants (TIMESTAMP)."""
    import ibis

    @ibis.udf.scalar.builtin(signature=((column.type(),), "int64"))
    def unix_micros(moment):  # type: ignore[no-untyped-def]
        """Return microseconds since 1970."""

    return unix_micros(column)


def spark_clock(column: Any) -> Any:
    """Return microseconds of wall clocks (TIMESTAMP_NTZ) and dates, which do not depend on the zone of the session."""
    import ibis

    kind = column.type()

    @ibis.udf.scalar.builtin(signature=(("date",), "int32"))
    def unix_date(day):  # type: ignore[no-untyped-def]
        """Return days since 1970."""

    @ibis.udf.scalar.builtin(signature=(("string", kind), "decimal(8, 6)"))
    def date_part(field, moment):  # type: ignore[no-untyped-def]
        """Return a part of a moment, seconds with their fraction."""

    if kind.is_date():
        return unix_date(column).cast("int64") * DAY
    minutes = column.hour().cast("int64") * 60 + column.minute()
    since_midnight = minutes * (60 * SECOND) + (date_part("SECOND", column) * SECOND).cast("int64")
    return unix_date(column.cast("date")).cast("int64") * DAY + since_midnight
