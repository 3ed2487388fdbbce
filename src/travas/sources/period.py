"""Periods: which cases a release of one month (or week, quarter, year) counts, and how much of each.

A case is closed by its first end activity, or by the first gap of a public length. It belongs to the period in which it
is closed, and to no other; its trace ends there. Whether a case is closed before an instant depends only on its own
events before that instant, so cases that are reopened later do not return: docs/mechanisms/periods.md.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import attrs

from ..errors import ParameterError, are_texts, check_choice, shown, text_tuple
from ..log.calendar import duration

Calendar = Literal["day", "week", "month", "quarter", "year"]
"""The length of the periods of a series."""

_NAME = re.compile(r"(\d{4})(?:-(?:Q([1-4])|W(0[1-9]|[1-5]\d)|(0[1-9]|1[0-2])(?:-(0[1-9]|[1-3]\d))?))?", re.ASCII)
_FORMS = "'2026-02' (a month), '2026', '2026-Q1', '2026-W07', '2026-02-14', '2026-02-01/2026-02-15' (without its end)"


@attrs.frozen
class Period:
    """The cases that a release counts: those closed in this period, each up to its closing. All values are public.

    Attributes:
        name: The period in UTC: `2026-02`, `2026`, `2026-Q1`, `2026-W07`, `2026-02-14`, or two of them, `A/B`: from the
            first day of A up to that of B, which is not part of it.
        end_activity: The first event with one of these activities closes a case and is the last of its trace. Of
            activities made of several columns, the first column counts.
        gap: Instead: a case is closed when nothing has happened in it for this long, such as `30d`, `12h` or `90m`.
        grace: How long after the end of the period every event of it is present, such as `7d`. No release is made
            before; the guarantee rests on it.

    >>> Period("2026-02", end_activity=("discharge",), grace="7d").earliest_release
    datetime.datetime(2026, 3, 8, 0, 0, tzinfo=datetime.timezone.utc)
    """

    name: str
    end_activity: tuple[str, ...] = attrs.field(default=(), converter=text_tuple, validator=are_texts)
    gap: str | None = None
    grace: str = "0d"

    def __attrs_post_init__(self) -> None:
        _ = self.start, self.end  # raises if the name is invalid
        if bool(self.end_activity) == (self.gap is not None):
            raise ParameterError(
                f"period is {shown(self.name)}: set either end_activity or gap, which close a case",
                field="end_activity",
            )
        if self.gap is not None and not duration("gap", self.gap):
            raise ParameterError(f"gap is {shown(self.gap)}: it must be longer than 0d, such as 30d", field="gap")
        duration("grace", self.grace)

    @property
    def start(self) -> datetime:
        """The first instant of the period."""
        return _range(self.name)[0]

    @property
    def end(self) -> datetime:
        """The first instant after the period."""
        return _range(self.name)[1]

    @property
    def gap_length(self) -> timedelta | None:
        """The gap as a length of time."""
        return None if self.gap is None else duration("gap", self.gap)

    @property
    def earliest_release(self) -> datetime:
        """The instant from which on the log is assumed to hold every event of the period."""
        return self.end + duration("grace", self.grace)

    @property
    def last_events(self) -> tuple[datetime, datetime]:
        """The range [from, to) in which the last event of a trace lies if its case is closed in this period."""
        gap = self.gap_length or timedelta(0)
        return self.start - gap, self.end - gap

    @property
    def folder(self) -> str:
        """The name as the name of a directory."""
        return self.name.replace("/", "--")

    @property
    def assumption(self) -> str:
        """What the guarantee rests on, for the guarantee file."""
        return (
            f"when the release was made, {self.grace} or more after the end of the period {self.name}, the log held every "
            f"event dated before {self.end:%Y-%m-%d} (UTC), and such events are neither added nor changed later"
        )

    def rule(self) -> dict[str, Any]:
        """Return the rule that closes cases, without the period: the same for all periods of a series.

        Returns:
            The values by name.
        """
        return {"end_activity": sorted(self.end_activity), "gap": self.gap, "grace": self.grace}


def latest_period(calendar: str, before: datetime) -> str:
    """Return the name of the last period of a calendar that ends at or before an instant."""
    check_choice(calendar, Calendar, "every")
    start, _ = _range(_name(calendar, before.astimezone(UTC).date()))
    return _name(calendar, (start - timedelta(days=1)).date())


def _name(calendar: str, day: date) -> str:
    year, week, _ = day.isocalendar()
    names = {
        "day": f"{day:%Y-%m-%d}",
        "week": f"{year}-W{week:02}",
        "month": f"{day:%Y-%m}",
        "quarter": f"{day.year}-Q{(day.month + 2) // 3}",
        "year": f"{day.year}",
    }
    return names[calendar]


def _range(name: str) -> tuple[datetime, datetime]:
    """Return the range [start, end) of a period in UTC."""
    try:
        first, *other = map(_days, name.split("/", 1))
        days = first[0], other[0][0] if other else first[1]
        start, end = (datetime(day.year, day.month, day.day, tzinfo=UTC) for day in days)
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise ParameterError(f"period is {shown(name)}; use {_FORMS}", field="period") from None
    if start >= end:
        raise ParameterError(f"period is {shown(name)}: it must start before it ends", field="period")
    return start, end


def _days(name: str) -> tuple[date, date]:
    """Return the first day of a period and the first day after it. Raises ValueError."""
    if (match := _NAME.fullmatch(name)) is None:
        raise ValueError("not a period")
    year, quarter, week, month, day = (int(part or 0) for part in match.groups())
    if week:
        monday = date.fromisocalendar(year, week, 1)
        return monday, monday + timedelta(days=7)
    if day:
        return date(year, month, day), date(year, month, day) + timedelta(days=1)
    first = 3 * quarter - 2 if quarter else month or 1
    after = first - 1 + (3 if quarter else 1 if month else 12)
    return date(year, first, 1), date(year + after // 12, after % 12 + 1, 1)
