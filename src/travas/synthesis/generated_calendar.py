"""When cases start and events happen: weeks, and hours of the week, in the wall-clock time of a public zone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.calendar import BLOCKS, WEEK_DAYS, WEEKS_PER_BLOCK
from .measurements import Measurements
from .randomness import Random
from .shrinkage import Floats, normalised, shrunk, uniform
from .time_measurements import (
    EVENT_HOURS,
    EVENT_WEEKDAYS,
    HOURS,
    START_BLOCKS,
    START_HOURS,
    START_WEEKDAYS,
    START_WEEKS,
    TimeMeasurements,
)

HOUR = 3_600
DAY = 86_400
WEEK = 604_800
FIRST_MONDAY = -3 * DAY
"""Monday, 29 December 1969, in seconds from 1970."""

_WEEKS = 0.5
_PARTLY_USED = 0.8  # how certain it is that a block at the end of the recorded period is used in part
_WEEKDAYS = 1.0
_HOURS = 0.5
_HOURS_BY_DAY = 0.3  # how far shares may differ from what is expected: see `shrunk`


def hour_of_week(local: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.int64]:
    """The hour of the week of wall-clock times in seconds from 1970: 0 is the first hour of Monday."""
    return ((local - FIRST_MONDAY) % WEEK // HOUR).astype(np.int64)


def week_of(local: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the week of wall-clock times: 0 begins on Monday, 29 December 1969."""
    return ((local - FIRST_MONDAY) // WEEK).astype(np.int64)


@dataclass(frozen=True, eq=False)
class CalendarShares:
    """Shares of the weeks in which cases start, and of the hours of the week.

    Attributes:
        weeks: Of the first event, by week from Monday, 29 December 1969.
        start_hours: Of the first event, by hour of the week.
        event_hours: Of all events, by hour of the week.
    """

    weeks: Floats
    start_hours: Floats
    event_hours: Floats

    @classmethod
    def of(cls, measurements: Measurements, times: TimeMeasurements) -> CalendarShares:
        """The calendar that follows from the measurements."""
        weekend = times.settings.weekend
        start_day, start_hour = (
            _in_cases(measurements, START_WEEKDAYS, times.start_weekdays),
            _in_cases(measurements, START_HOURS, times.start_hours),
        )
        event_day, event_hour = (
            _in_cases(measurements, EVENT_WEEKDAYS, times.event_weekdays),
            _in_cases(measurements, EVENT_HOURS, times.event_hours),
        )
        weeks = _weeks(measurements, times)
        return cls(weeks, _hours(start_day, start_hour, weekend), _hours(event_day, event_hour, weekend))

    def starts(self, number: int, random: Random) -> Floats:
        """Wall-clock times of the first events of this many cases, in seconds from 1970."""
        week = _drawn(self.weeks, number, random)
        hour = _drawn(self.start_hours, number, random)
        return week * float(WEEK) + FIRST_MONDAY + hour * HOUR + random.random(number) * HOUR


def _drawn(shares: Floats, number: int, random: Random) -> NDArray[np.int64]:
    """Cells by their shares, one from each of equal parts of the distribution, in random order."""
    even = (random.permutation(number) + random.random(number)) / max(number, 1)
    total = np.cumsum(shares)
    cells: NDArray[np.int64] = np.minimum(np.searchsorted(total, even * total[-1], side="right"), len(shares) - 1)
    return cells


def _weeks(measurements: Measurements, times: TimeMeasurements) -> Floats:
    """Shares of weeks: those of blocks whose weeks were measured."""
    noisy = measurements.in_cases(START_WEEKS, times.start_weeks)
    deviation = measurements.deviation(START_WEEKS)
    totals = np.maximum(measurements.in_cases(START_BLOCKS, times.start_blocks)[times.blocks], 1.0)
    own = (deviation**2 * WEEKS_PER_BLOCK, measurements.deviation(START_BLOCKS) ** 2)  # variances of both sums
    cases = (noisy.sum(axis=1) / own[0] + totals / own[1]) / (1 / own[0] + 1 / own[1])
    by_block = np.zeros(BLOCKS)
    by_block[times.blocks] = np.maximum(cases, 1e-3)
    shares = np.zeros((BLOCKS, WEEKS_PER_BLOCK))
    for block, row, total in zip(times.blocks.tolist(), noisy, totals.tolist(), strict=True):
        shares[block] = by_block[block] * shrunk(row, deviation, _expected_weeks(by_block, block), _WEEKS, total)
    return normalised(shares.ravel(), uniform(shares.size))


def _expected_weeks(by_block: Floats, block: int) -> Floats:
    """Shares of the weeks of a block before they are looked at.

    A block at the end of the recorded period is used in part: the weeks next to its neighbour that hold its cases
    at the pace of that block.
    """
    before, after = (float(by_block[other]) if 0 <= other < BLOCKS else 0.0 for other in (block - 1, block + 1))
    pace = max(before, after) / WEEKS_PER_BLOCK
    if (before > 0) == (after > 0) or by_block[block] >= pace * WEEKS_PER_BLOCK:
        return uniform(WEEKS_PER_BLOCK)
    used = max(1, round(by_block[block] / pace))
    week = np.arange(WEEKS_PER_BLOCK)
    beside = week < used if before > 0 else week >= WEEKS_PER_BLOCK - used
    expected: Floats = _PARTLY_USED * beside / used + (1 - _PARTLY_USED) * uniform(WEEKS_PER_BLOCK)
    return expected


def _in_cases(measurements: Measurements, stage: str, sums: NDArray[np.int64]) -> tuple[Floats, float]:
    return measurements.in_cases(stage, sums), measurements.deviation(stage)


def _hours(by_weekday: tuple[Floats, float], by_hour: tuple[Floats, float], weekend: tuple[int, ...]) -> Floats:
    """Shares of the hours of the week: of the weekday, times those of the hour on working days or weekends."""
    noisy, deviation = by_hour
    day = shrunk(*by_weekday, uniform(WEEK_DAYS), _WEEKDAYS)
    any_day = shrunk(noisy.sum(axis=0), deviation * 2**0.5, uniform(HOURS), _HOURS)
    working, weekends = (shrunk(row, deviation, any_day, _HOURS_BY_DAY) for row in noisy)
    return np.concatenate([share * (weekends if index in weekend else working) for index, share in enumerate(day)])
