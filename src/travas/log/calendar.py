"""The public calendar: weeks, weekdays and hours of instants, in whole microseconds, by the wall clock of a public zone.

Engines know neither zones nor calendars: they compare instants with the changes of the zone's offset, which are computed
here once, and divide integers. So all of them agree, whatever time zone data they were built with.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from ..errors import ParameterError, shown

SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
WEEK_DAYS = 7
WEEK = WEEK_DAYS * DAY

BLOCKS = 128
WEEKS_PER_BLOCK = 64
WEEKS = BLOCKS * WEEKS_PER_BLOCK
"""Weeks from Monday 1969-12-29 to the end of 2126; earlier dates are in the first, later ones in the last."""

FIRST_MONDAY = date(1969, 12, 29)

DAYS_FROM_MONDAY = 3
"""The calendar starts three days before 1970-01-01, which was a Thursday, on a Monday."""

FIRST_INSTANT = -62_135_596_800 * SECOND
LAST_INSTANT = 253_402_300_800 * SECOND - 1
"""The years 1 to 9999: other instants count as the nearest of these."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE_DAY = timedelta(days=1)
_UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1), "s": timedelta(seconds=1)}
_LONGEST = timedelta(days=3660)


@lru_cache
def zone_offsets(zone: str) -> tuple[tuple[int, int], ...]:
    """Return the offsets of a time zone within the calendar."""
    known = check_zone(zone)
    day = _EPOCH - timedelta(days=DAYS_FROM_MONDAY + 1)
    end = _EPOCH + timedelta(days=WEEKS * WEEK_DAYS)
    offsets = [(microseconds(day), _offset(day, known))]
    while day < end:
        following = day + _ONE_DAY
        if (offset := _offset(following, known)) != offsets[-1][1]:
            offsets.append((_change(day, known), offset))
        day = following
    return tuple(offsets)


def check_zone(zone: str) -> ZoneInfo:
    """Return a time zone by its name, or raise ParameterError.

    Files of Python's database that Polars does not know as zones, such as `localtime`, are none: tables could not be
    written with them.
    """
    try:
        known = ZoneInfo(zone)
        if zone != "UTC":
            import polars as pl

            pl.Series([_EPOCH]).dt.convert_time_zone(zone)
        return known
    except Exception:  # both raise many kinds
        raise ParameterError(
            f"zone is {shown(zone)}, which is not a time zone; use a name such as 'Europe/Berlin' or 'UTC'",
            field="zone",
        ) from None


def duration(field: str, text: str) -> timedelta:
    """Return a length of time: a whole number and d, h, m or s.

    >>> duration("gap", "36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    match = re.fullmatch(r"([0-9]{1,9})([dhms])", text, re.ASCII) if isinstance(text, str) else None
    if match is None or (length := int(match[1]) * _UNITS[match[2]]) > _LONGEST:
        raise ParameterError(
            f"{field} is {shown(text)}; use a whole number of days, hours, minutes or seconds up to ten years, such as "
            "30d, 12h, 90m or 45s",
            field=field,
        )
    return length


def _change(day: datetime, zone: ZoneInfo) -> int:
    """Return the second of the first change of the offset within a day."""
    before = _offset(day, zone)
    first = bisect_left(
        range(24 * 3600), True, lo=1, key=lambda second: _offset(day + timedelta(seconds=second), zone) != before
    )
    return microseconds(day) + first * SECOND


def _offset(moment: datetime, zone: ZoneInfo) -> int:
    return (moment.astimezone(zone).utcoffset() or timedelta()) // timedelta(microseconds=1)


def microseconds(instant: datetime) -> int:
    """Return an instant as microseconds since 1970."""
    return (instant - _EPOCH) // timedelta(microseconds=1)
