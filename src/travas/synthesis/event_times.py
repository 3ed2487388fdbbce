"""Times for generated cases: post-processing, from measurements and a seed alone.

For the steps of every case some vectors of durations are drawn, each step on its own. One of them is chosen so that the
throughput of all cases agrees with the measured one, and scaled so that it does so exactly. The ends of long steps are then
moved, so that events happen at the hours at which events happen. Times never decrease.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..log.calendar import SECOND, WEEK_DAYS, zone_offsets
from ..log.options import Resolution
from ..log.questions import DURATION_BUCKETS, KINDS_OF_DAY, THROUGHPUT_EDGES
from ..log.rules import NO_RULES, coded_pairs
from ..log.traces import Trace
from ..trusted.samplers import Booleans, Floats, Integers
from .arrivals import Arrivals
from .durations import DAY, WEEK, DurationShares, quantiles, seconds_at
from .measurements import EVENT_HOURS, HOURS, START_HOURS, Measurements, TimeMeasurements
from .randomness import Random, drawn_cells, generator
from .shrinkage import deviating, normalised, uniform, walked


@dataclass(frozen=True, eq=False)
class Zone:
    """When the difference between a zone's wall clock and UTC changes.

    Attributes:
        changes: The times of the changes, in seconds from 1970 in UTC, sorted.
        offsets: The differences in seconds: before the first change, and after each.
    """

    changes: Integers
    offsets: Integers

    def to_local(self, moments: Floats) -> Floats:
        """Wall-clock times, in seconds from 1970, of times in UTC."""
        return np.asarray(moments + self.offsets[np.searchsorted(self.changes, moments, side="right")])

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
FIRST_MONDAY = -3 * DAY
"""Monday, 29 December 1969, in seconds from 1970."""


def hour_of_week(local: Floats | Integers) -> Integers:
    """The hour of the week of wall-clock times in seconds from 1970: 0 is the first hour of Monday."""
    return ((local - FIRST_MONDAY) % WEEK // HOUR).astype(np.int64)


def week_of(local: Floats | Integers) -> Integers:
    """The number of the week of wall-clock times: 0 begins on Monday, 29 December 1969."""
    return ((local - FIRST_MONDAY) // WEEK).astype(np.int64)


@dataclass(frozen=True, eq=False)
class CalendarShares:
    """Shares of the weeks in which cases start, and of the hours of the week.

    Attributes:
        weeks: Of the first event, by week.
        start_hours: Of the first event, by hour of the week.
        event_hours: Of all events, by hour of the week.
        waits: The hours until events can happen, by hour of the week.
    """

    weeks: Arrivals
    start_hours: Floats
    event_hours: Floats
    waits: Integers

    @classmethod
    def of(cls, measurements: Measurements, times: TimeMeasurements) -> CalendarShares:
        """The calendar that follows from the measurements."""
        weekend = times.settings.weekend
        noisy = measurements.noisy
        of_starts = times.start_weekdays, *noisy(START_HOURS, times.start_hours)
        of_events = times.event_weekdays, *noisy(EVENT_HOURS, times.event_hours)
        is_open = (measurements.rules or NO_RULES).open_hours
        start_hours, event_hours = (
            normalised(_hours(*of_hours, weekend) * is_open, is_open / is_open.sum())
            for of_hours in (of_starts, of_events)
        )
        return cls(Arrivals.of(measurements, times), start_hours, event_hours, hours_closed(is_open))

    def starts(self, number: int, random: Random) -> Floats:
        """Wall-clock times of the first events of this many cases, in seconds from 1970."""
        every = np.zeros(number, dtype=np.int64)  # all cases have the same shares
        week = self.weeks.first + drawn_cells(self.weeks.shares[None], every, random)
        hour = drawn_cells(self.start_hours[None], every, random)
        return week * float(WEEK) + FIRST_MONDAY + hour * HOUR + random.random(number) * HOUR


def _hours(weekdays: Integers, noisy: Floats, deviation: float, weekend: tuple[int, ...]) -> Floats:
    """Shares of the hours of the week: of the weekday, times those of the hour on working days or weekends."""
    by_day = normalised(np.maximum(weekdays, 0.0), uniform(WEEK_DAYS))
    any_day = normalised(walked(noisy.sum(axis=0), deviation * 2**0.5), uniform(HOURS))
    (working, weekends), _ = deviating(noisy, deviation, np.tile(any_day, (KINDS_OF_DAY, 1)))
    return np.concatenate([share * (weekends if day in weekend else working) for day, share in enumerate(by_day)])


CANDIDATES = 20  # vectors of durations for every case
ROUNDS = 40  # of the agreement with the measured throughput
SAMPLE = 20_000  # cases by which that agreement is found
LONG_CASE, LONG_STEP = 6 * HOUR, 600  # seconds: shorter ones are not scaled
SCALES = (0.25, 4.0)
MOVES = 12  # of the end of a step of an hour or more
MOVED = 0.6  # of the duration of a step: how far its end is moved, …
FARTHEST = 3.5 * DAY  # … and at most so far
LATEST = 1 << 33  # in the year 2242: later times are moved to it
_BLOCK = 100_000  # steps at a time: bounds the memory
_SMOOTHING = 1e-3
_STREAM = 1


def event_times(
    measurements: Measurements, traces: Sequence[Trace], counts: Sequence[int], seed: int
) -> Integers | None:
    """Times of all events of a synthetic log, in seconds from 1970 in UTC; None if times were not measured."""
    if measurements.times is None:
        return None
    settings = measurements.times.settings
    random = generator(seed, _STREAM)
    calendar = CalendarShares.of(measurements, measurements.times)
    durations = DurationShares.of(measurements, measurements.times, calendar.weeks)
    of_traces = _Steps.of(measurements, durations, traces)
    variant = np.repeat(np.arange(len(traces)), counts)
    factors = _throughput_factors(durations, of_traces, variant, random)
    clock = _Clock(calendar, zone_of(settings.zone), settings.resolution)
    starts = calendar.starts(len(variant), random)
    drawn = (_drawn_steps(durations, steps, factors, random) for _, steps in _blocks(of_traces, variant))
    seconds = _fitted(np.concatenate([np.empty(0), *drawn]), of_traces.numbers[variant], durations.throughput, random)
    made, used = [np.empty(0, dtype=np.int64)], 0
    for cases, steps in _blocks(of_traces, variant):
        made.append(clock.walk(starts[cases], steps, seconds[used : used + len(steps.rows)], random))
        used += len(steps.rows)
    return np.concatenate(made)


@dataclass(frozen=True, eq=False)
class _Steps:
    """The steps from event to event of some traces: row and least seconds of each, and where those of a trace are."""

    rows: Integers
    least: Floats
    begin: Integers
    end: Integers

    @classmethod
    def of(cls, measurements: Measurements, durations: DurationShares, traces: Sequence[Trace]) -> _Steps:
        codes = np.concatenate([np.empty(0, dtype=np.int64), *measurements.codes_of(traces)])
        lengths = np.array([len(trace) for trace in traces], dtype=np.int64)
        is_last = np.zeros(len(codes), dtype=bool)
        is_last[np.cumsum(lengths) - 1] = True
        steps = np.flatnonzero(~is_last)
        end = np.cumsum(lengths - 1)
        pair = codes[steps], codes[steps + 1]
        least = np.zeros(durations.row_of.shape)
        for before, after, seconds in (measurements.rules or NO_RULES).waits:
            for coded in coded_pairs([(before, after)], measurements.activities):
                least[coded] = max(least[coded], seconds)
        return cls(durations.row_of[pair], least[pair], end - (lengths - 1), end)

    @property
    def numbers(self) -> Integers:
        """The number of steps of every trace."""
        return self.end - self.begin

    def of_cases(self, variant: Integers) -> _Steps:
        """The steps of cases of these traces."""
        numbers = self.numbers[variant]
        end = np.cumsum(numbers)
        begin = end - numbers
        index = np.arange(int(numbers.sum())) + np.repeat(self.begin[variant] - begin, numbers)
        return _Steps(self.rows[index], self.least[index], begin, end)


def _blocks(of_traces: _Steps, variant: Integers) -> Iterator[tuple[slice, _Steps]]:
    """Ranges of cases with their steps, of which there is a bounded number."""
    total = np.cumsum(of_traces.numbers[variant] + 1)
    first = 0
    while first < len(variant):
        reached = total[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(total, reached + _BLOCK, side="right")))
        yield slice(first, last), of_traces.of_cases(variant[first:last])
        first = last


# --------------------------------------------------------------------------------------------------------- durations


def _candidates(durations: DurationShares, steps: _Steps, random: Random) -> tuple[Floats, Integers]:
    """Seconds by candidate and step, and the bucket of their sum by candidate and case."""
    total = np.cumsum(durations.rows, axis=1)
    total /= total[:, -1:]
    flat = (total + np.arange(len(total))[:, None]).ravel()
    drawn = random.random((CANDIDATES, len(steps.rows)))
    index = np.searchsorted(flat, steps.rows + drawn, side="right")
    index = np.minimum(index, (steps.rows + 1) * DURATION_BUCKETS - 1)
    bucket = index - steps.rows * DURATION_BUCKETS
    seconds = np.minimum(seconds_at(bucket, random.random(drawn.shape)), durations.longest)
    running = np.concatenate([np.zeros((CANDIDATES, 1)), np.cumsum(seconds, axis=1)], axis=1)
    return seconds, bucket_of_throughput(running[:, steps.end] - running[:, steps.begin])


def bucket_of_throughput(seconds: Floats) -> Integers:
    """The bucket of times from the first to the last event, in seconds."""
    return np.searchsorted(np.array(THROUGHPUT_EDGES) / SECOND, seconds, side="right")


def _throughput_factors(durations: DurationShares, of_traces: _Steps, variant: Integers, random: Random) -> Floats:
    """A factor for every bucket of the throughput by which candidates are chosen: found on a sample of the cases."""
    if len(variant) > SAMPLE:
        variant = np.sort(random.choice(variant, SAMPLE, replace=False))
    buckets = (_candidates(durations, steps, random)[1] for _, steps in _blocks(of_traces, variant))
    bucket = np.concatenate([np.empty((CANDIDATES, 0), dtype=np.int64), *buckets], axis=1)
    target = durations.throughput
    factors = np.ones(len(target))
    for _ in range(ROUNDS if bucket.size else 0):
        weights = factors[bucket]
        weights /= weights.sum(axis=0)
        current = np.bincount(bucket.ravel(), weights.ravel(), len(target)) / bucket.shape[1]
        factors = np.clip(factors * ((target + _SMOOTHING) / (current + _SMOOTHING)) ** 0.5, 1e-3, 1e3)
    return factors


def _drawn_steps(durations: DurationShares, steps: _Steps, factors: Floats, random: Random) -> Floats:
    """Seconds of every step: of one candidate for each case."""
    seconds, throughput = _candidates(durations, steps, random)
    total = np.cumsum(factors[throughput], axis=0)
    candidate = (random.random(total.shape[1]) * total[-1] >= total).sum(axis=0)
    candidate = np.repeat(np.minimum(candidate, CANDIDATES - 1), steps.numbers)
    return np.asarray(seconds[candidate, np.arange(len(steps.rows))])


def _fitted(seconds: Floats, numbers: Integers, throughput: Floats, random: Random) -> Floats:
    """The steps of all cases, long ones scaled so that cases take as long as was measured: the ranks of cases stay."""
    running = np.concatenate([[0.0], np.cumsum(seconds)])
    end = np.cumsum(numbers)
    drawn = running[end] - running[end - numbers]
    shares = (np.arange(len(drawn)) + 0.5) / max(len(drawn), 1)
    wanted = np.empty(len(drawn))
    wanted[np.lexsort((random.random(len(drawn)), drawn))] = quantiles(throughput, shares, THROUGHPUT_EDGES)
    factor = np.where((drawn > LONG_CASE) & (wanted > 0), np.clip(wanted / np.maximum(drawn, 1), *SCALES), 1.0)
    return np.where(seconds >= LONG_STEP, seconds * np.repeat(factor, numbers), seconds)


# ------------------------------------------------------------------------------------------------------------- clocks


@dataclass(frozen=True, eq=False)
class _Clock:
    """Walks cases from event to event."""

    calendar: CalendarShares
    zone: Zone
    resolution: Resolution

    def walk(self, starts: Floats, steps: _Steps, seconds: Floats, random: Random) -> Integers:
        """Times of all events of some cases, which start at these wall-clock times."""
        numbers = steps.numbers
        order = np.argsort(-numbers, kind="stable")  # cases that still go on come first
        position = (steps.begin + np.arange(len(numbers)))[order]  # of the first event of every case
        begin, moment = steps.begin[order], opened(self.zone.to_utc(starts[order]), self.calendar.waits, self.zone)
        going = np.searchsorted(-numbers[order], -np.arange(int(numbers.max(initial=0))), side="left")
        times = np.empty(len(seconds) + len(numbers), dtype=np.int64)
        shown = rounded(moment, self.zone, self.resolution)
        times[position] = shown
        for index, cases in enumerate(going.tolist()):
            step = begin[:cases] + index
            moved = self._moved(moment[:cases], seconds[step], random)
            moment = np.minimum(moment[:cases] + np.maximum(moved, steps.least[step]), LATEST)
            moment = opened(moment, self.calendar.waits, self.zone)
            shown = np.maximum(shown[:cases], rounded(moment, self.zone, self.resolution))
            times[position[:cases] + index + 1] = shown
        return times

    def _moved(self, moment: Floats, seconds: Floats, random: Random) -> Floats:
        """Durations; the ends of those of an hour or more are moved, to hours at which events happen."""
        long = np.flatnonzero(seconds >= HOUR)
        reach = np.minimum(MOVED * seconds[long], FARTHEST)[:, None]
        ends = seconds[long][:, None] + reach * (2 * random.random((len(long), MOVES)) - 1)
        hours = hour_of_week(self.zone.to_local(moment[long][:, None] + ends))
        total = np.cumsum(self.calendar.event_hours[hours] + 1e-6, axis=1)
        chosen = (random.random(len(long))[:, None] * total[:, -1:] >= total).sum(axis=1)
        result = seconds.copy()
        result[long] = ends[np.arange(len(long)), np.minimum(chosen, MOVES - 1)]
        return result


def hours_closed(is_open: Booleans) -> Integers:
    """The hours until events can happen, by hour of the week."""
    return np.asarray(np.argmax([np.roll(is_open, -hour) for hour in range(len(is_open))], axis=1))


def opened(moments: Floats, waits: Integers, zone: Zone) -> Floats:
    """Times at which events can happen: others are moved to the next such hour."""
    while waits.any():
        wait = waits[hour_of_week(zone.to_local(moments))]
        if not wait.any():
            break
        moments = moments + wait * float(HOUR)
    return moments


def rounded(moments: Floats, zone: Zone, resolution: Resolution) -> Integers:
    """Times in UTC, rounded down."""
    if resolution == "day":
        local = zone.to_local(moments)
        return zone.to_utc(local - local % DAY).astype(np.int64)
    unit = 60 if resolution == "minute" else 1
    return (moments // unit).astype(np.int64) * unit
