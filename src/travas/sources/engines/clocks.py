"""The clocks of databases and Spark: timestamps and dates as microseconds since 1970, as Ibis expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...log.calendar import DAY, SECOND

Clock = Callable[[Any], Any]
"""Returns microseconds since 1970 of a column of timestamps or dates."""


def has_zone(column: Any) -> bool:
    """Return whether timestamps have a zone, by the type of their column."""
    return getattr(column.type(), "timezone", None) is not None


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
