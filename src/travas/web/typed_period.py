"""A period as typed on the page: which cases a release counts, and what closes a case."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ParameterError
from ..sources.period import Period


@dataclass(frozen=True)
class TypedPeriod:
    """The fields of a period, as text. A period without a first day is none.

    Attributes:
        first: The first day, such as `2026-02-01`.
        last: The first day after the period.
        end_activity: The activities that close a case, one per line.
        gap_days: Instead: the number of days without an event that close a case.
        grace_days: The number of days after which every event of the period is present.
    """

    first: str = ""
    last: str = ""
    end_activity: str = ""
    gap_days: str = ""
    grace_days: str = ""

    def period(self) -> Period | None:
        """Return the period that was typed; None if there is none."""
        if not self.first and not self.last:
            if self.end_activity or self.gap_days or self.grace_days:
                raise ParameterError("period has no days; set its first and its last day", field="period")
            return None
        if not self.first or not self.last:
            raise ParameterError(
                "period has only one day; set its first day and the day after its last", field="period"
            )
        names = tuple(line.strip() for line in self.end_activity.splitlines() if line.strip())
        gap = f"{self.gap_days}d" if self.gap_days else None
        return Period(f"{self.first}/{self.last}", names, gap, f"{self.grace_days or 0}d")


NO_PERIOD = TypedPeriod()
"""All cases are counted."""
