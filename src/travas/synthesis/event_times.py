"""Times for generated cases: post-processing, from measurements and a seed alone.

For the steps of every case some vectors of durations are drawn, each step on its own. One of them is chosen so that the
throughput of all cases agrees with the measured one. Long steps are then drawn again within their bucket, so that events
happen at the hours at which events happen. Times never decrease.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..log.calendar import BLOCKS, SECOND, WEEK_DAYS, WEEKS_PER_BLOCK, zone_offsets
from ..log.options import Resolution
from ..log.questions import DURATION_BUCKETS, DURATION_EDGES
from ..log.traces import Trace
from .durations import DurationShares, log_bounds
from .measurements import (
    EVENT_HOURS,
    EVENT_WEEKDAYS,
    HOURS,
    START_BLOCKS,
    START_HOURS,
    START_WEEKDAYS,
    START_WEEKS,
    Measurements,
    TimeMeasurements,
)
from .randomness import Random, generator
from .shrinkage import Floats, normalised, shrunk, uniform


@dataclass(frozen=True, eq=False)
class Zone:
    """When the difference between a zone's wall clock and UTC changes.

    Attributes:
        changes: The times of the changes, in seconds from 1970 in UTC, sorted.
        offsets: The differences in seconds: before the first change, and after each.
    """

    changes: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def to_local(self, moments: Floats) -> Floats:
        """Wall-clock times, in seconds from 1970, of times in UTC."""
        one_offset = not len(self.changes)
        index = 0 if one_offset else np.searchsorted(self.changes, moments, side="right")
        local: Floats = moments + self.offsets[index]
        return local

    def to_utc(self, local: Floats) -> Floats:
        """Times in UTC of wall-clock times. An hour that a change skips is moved, one that it repeats is the earlier one."""
        guess = local - (self.to_local(local) - local)
        return local - (self.to_local(guess) - guess)


@lru_cache(maxsize=8)
def zone_of(name: str) -> Zone:
    """The zone of this name in the IANA database."""
    offsets = zone_offsets(name)
    return Zone(
        np.array([moment // SECOND for moment, _ in offsets[1:]], dtype=np.int64),
        np.array([offset // SECOND for _, offset in offsets], dtype=np.int64),
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


CANDIDATES = 20  # vectors of durations for every case
ROUNDS = 40  # of the agreement with the measured throughput
SAMPLE = 20_000  # cases by which that agreement is found
REDRAWN = 12  # candidates for a long step
LATEST = 1 << 33  # in the year 2242: later times are moved to it
_BLOCK = 100_000  # steps at a time: bounds the memory
_LOOSENESS = 0.3
_SMOOTHING = 1e-3
_STREAM = 1

Indexes = NDArray[np.int64]


def event_times(
    measurements: Measurements, traces: Sequence[Trace], counts: Sequence[int], seed: int
) -> NDArray[np.int64]:
    """Times of all events of a synthetic log, in seconds from 1970 in UTC."""
    if measurements.times is None:
        raise ValueError("times were not measured")
    settings = measurements.times.settings
    random = generator(seed, _STREAM)
    durations = DurationShares.of(measurements, measurements.times)
    calendar = CalendarShares.of(measurements, measurements.times)
    log = _Log.of(measurements, durations, traces)
    variant = np.repeat(np.arange(len(traces)), counts)
    factors = _throughput_factors(durations, log, variant, random)
    clock = _Clock(calendar, zone_of(settings.zone), settings.resolution)
    starts = calendar.starts(len(variant), random)
    made = [np.empty(0, dtype=np.int64)]
    for first, last in _blocks(log, variant):
        steps = log.steps(variant[first:last])
        seconds, buckets = _drawn_steps(durations, steps, factors, random)
        made.append(clock.walk(starts[first:last], steps, seconds, buckets, random))
    return np.concatenate(made)


@dataclass(frozen=True, eq=False)
class _Steps:
    """The steps from event to event of some cases: the row of each, and where the steps of every case begin and end."""

    rows: Indexes
    begin: Indexes
    end: Indexes


@dataclass(frozen=True, eq=False)
class _Log:
    """The rows of the steps of all traces, one after another, and their numbers."""

    rows: Indexes
    begin: Indexes
    steps_of: Indexes

    @classmethod
    def of(cls, measurements: Measurements, durations: DurationShares, traces: Sequence[Trace]) -> _Log:
        other = len(measurements.activities)
        code_of = {activity: code for code, activity in enumerate(measurements.activities)}
        codes = np.array([code_of.get(activity, other) for trace in traces for activity in trace], dtype=np.int64)
        lengths = np.array([len(trace) for trace in traces], dtype=np.int64)
        is_last = np.zeros(len(codes), dtype=bool)
        is_last[np.cumsum(lengths) - 1] = True
        steps = np.flatnonzero(~is_last)
        numbers = lengths - 1
        return cls(durations.row_of[codes[steps], codes[steps + 1]], np.cumsum(numbers) - numbers, numbers)

    def steps(self, variant: Indexes) -> _Steps:
        """The steps of cases of these traces."""
        numbers = self.steps_of[variant]
        end = np.cumsum(numbers)
        begin = end - numbers
        index = np.arange(int(numbers.sum())) + np.repeat(self.begin[variant] - begin, numbers)
        return _Steps(self.rows[index], begin, end)


def _blocks(log: _Log, variant: Indexes) -> Iterator[tuple[int, int]]:
    """Ranges of cases with a bounded number of steps."""
    total = np.cumsum(log.steps_of[variant] + 1)
    first = 0
    while first < len(variant):
        reached = total[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(total, reached + _BLOCK, side="right")))
        yield first, last
        first = last


# --------------------------------------------------------------------------------------------------------- durations


def _candidates(durations: DurationShares, steps: _Steps, random: Random) -> tuple[Floats, Indexes, Indexes]:
    """Seconds and buckets by candidate and step, and the bucket of the sum by candidate and case."""
    total = np.cumsum(durations.rows, axis=1)
    total /= total[:, -1:]
    flat = (total + np.arange(len(total))[:, None]).ravel()
    drawn = random.random((CANDIDATES, len(steps.rows)))
    index = np.searchsorted(flat, steps.rows + drawn, side="right")
    index = np.minimum(index, (steps.rows + 1) * DURATION_BUCKETS - 1)
    bucket = index - steps.rows * DURATION_BUCKETS
    low, high = log_bounds()
    within = random.random(drawn.shape)
    seconds = np.where(bucket > 0, np.exp(low[bucket] + within * (high - low)[bucket]), 0.0)
    running = np.concatenate([np.zeros((CANDIDATES, 1)), np.cumsum(seconds, axis=1)], axis=1)
    return seconds, bucket, bucket_of_duration(running[:, steps.end] - running[:, steps.begin])


def bucket_of_duration(seconds: Floats) -> Indexes:
    """The bucket of durations in seconds."""
    return np.searchsorted(np.array(DURATION_EDGES) / SECOND, seconds, side="right")


def _throughput_factors(durations: DurationShares, log: _Log, variant: Indexes, random: Random) -> Floats:
    """A factor for every bucket of the throughput by which candidates are chosen: found on a sample of the cases."""
    if len(variant) > SAMPLE:
        variant = np.sort(random.choice(variant, SAMPLE, replace=False))
    buckets = [np.empty((CANDIDATES, 0), dtype=np.int64)]
    for first, last in _blocks(log, variant):
        buckets.append(_candidates(durations, log.steps(variant[first:last]), random)[2])
    bucket = np.concatenate(buckets, axis=1)
    factors = np.ones(DURATION_BUCKETS)
    if not bucket.size:
        return factors
    used = np.arange(DURATION_BUCKETS) < durations.buckets
    simulated = np.bincount(bucket.ravel(), minlength=DURATION_BUCKETS) / bucket.size
    target = shrunk(durations.throughput, durations.deviation, simulated * used, _LOOSENESS) * used
    target = normalised(target, simulated)
    for _ in range(ROUNDS):
        weights = factors[bucket]
        weights /= weights.sum(axis=0)
        current = np.bincount(bucket.ravel(), weights.ravel(), DURATION_BUCKETS) / bucket.shape[1]
        factors = np.clip(factors * ((target + _SMOOTHING) / (current + _SMOOTHING)) ** 0.5, 1e-3, 1e3)
    return factors


def _drawn_steps(durations: DurationShares, steps: _Steps, factors: Floats, random: Random) -> tuple[Floats, Indexes]:
    """Seconds and bucket of every step: of one candidate for each case."""
    seconds, bucket, throughput = _candidates(durations, steps, random)
    total = np.cumsum(factors[throughput], axis=0)
    candidate = (random.random(total.shape[1]) * total[-1] >= total).sum(axis=0)
    candidate = np.repeat(np.minimum(candidate, CANDIDATES - 1), steps.end - steps.begin)
    index = np.arange(len(steps.rows))
    return seconds[candidate, index], bucket[candidate, index]


# ------------------------------------------------------------------------------------------------------------- clocks


@dataclass(frozen=True, eq=False)
class _Clock:
    """Walks cases from event to event."""

    calendar: CalendarShares
    zone: Zone
    resolution: Resolution

    def walk(
        self, starts: Floats, steps: _Steps, seconds: Floats, bucket: Indexes, random: Random
    ) -> NDArray[np.int64]:
        """Times of all events of some cases, which start at these wall-clock times."""
        numbers = steps.end - steps.begin
        order = np.argsort(-numbers, kind="stable")  # cases that still go on come first
        position = (steps.begin + np.arange(len(numbers)))[order]  # of the first event of every case
        begin, moment = steps.begin[order], self.zone.to_utc(starts[order])
        going = np.searchsorted(-numbers[order], -np.arange(int(numbers.max(initial=0))), side="left")
        times = np.empty(len(seconds) + len(numbers), dtype=np.int64)
        shown = self._rounded(moment)
        times[position] = shown
        for index, cases in enumerate(going.tolist()):
            step = begin[:cases] + index
            moment = np.minimum(
                moment[:cases] + self._redrawn(moment[:cases], seconds[step], bucket[step], random), LATEST
            )
            shown = np.maximum(shown[:cases], self._rounded(moment))
            times[position[:cases] + index + 1] = shown
        return times

    def _redrawn(self, moment: Floats, seconds: Floats, bucket: Indexes, random: Random) -> Floats:
        """Durations; those of an hour or more are drawn again within their bucket, by the hour at which they end."""
        low, high = log_bounds()
        long = np.flatnonzero(low[bucket] >= np.log(HOUR))
        if not len(long):
            return seconds
        within = random.random((len(long), REDRAWN))
        drawn = np.exp(low[bucket[long]][:, None] + within * (high - low)[bucket[long]][:, None])
        drawn[:, 0] = seconds[long]
        hours = hour_of_week(self.zone.to_local(moment[long][:, None] + drawn))
        total = np.cumsum(self.calendar.event_hours[hours] + 1e-6, axis=1)
        candidate = (random.random(len(long))[:, None] * total[:, -1:] >= total).sum(axis=1)
        result = seconds.copy()
        result[long] = drawn[np.arange(len(long)), np.minimum(candidate, REDRAWN - 1)]
        return result

    def _rounded(self, moment: Floats) -> NDArray[np.int64]:
        if self.resolution == "day":
            local = self.zone.to_local(moment)
            return self.zone.to_utc(local - local % DAY).astype(np.int64)
        unit = 60 if self.resolution == "minute" else 1
        return (moment // unit).astype(np.int64) * unit
