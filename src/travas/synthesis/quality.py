"""How good a synthetic log can be, from its measurements alone: intervals, and which parts are mostly noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from ..log.calendar import FIRST_MONDAY, WEEKS_PER_BLOCK
from ..log.questions import DURATION_EDGES, THROUGHPUT_EDGES
from ..log.traces import Activity
from ..trusted.contributions import BUCKETS
from ..trusted.samplers import Booleans, Floats
from .arrivals import Arrivals
from .attributes import combined_numbers, event_shares, number_of_cases
from .chain import Chain, order_one
from .durations import DurationShares, log_bounds, quantiles, seconds_at
from .generation import Lengths
from .measurements import (
    DURATIONS,
    LENGTHS,
    RADIUS,
    SPAN,
    START_SPANS,
    THROUGHPUT,
    VARIANTS,
    MeasuredNumber,
    Measurements,
    TimeMeasurements,
    event_stage,
    measured,
)

TAILS = 50.0  # standard deviations of a bucket of the throughput: with fewer cases its tail is mostly noise


@dataclass(frozen=True)
class DurationQuality:
    """The median duration of a directly-follows pair, in seconds. The interval accounts for the noise alone.

    Attributes:
        before: The first activity.
        after: The second activity.
        median: The median that is generated, with its 95 % interval. A case with many steps counts less for each.
        backoff: Whether nothing of the pair stands out from the noise: durations are those of all steps to the second
            activity.
    """

    before: Activity
    after: Activity
    median: MeasuredNumber
    backoff: bool


@dataclass(frozen=True)
class ArrivalQuality:
    """The number of cases that start within eight weeks.

    Attributes:
        first: Their first Monday.
        cases: The number of cases.
    """

    first: date
    cases: MeasuredNumber


@dataclass(frozen=True)
class AttributeQuality:
    """The number of cases with a value of an attribute.

    Attributes:
        attribute: The attribute.
        value: The value, or the bin of a number as text; None if it is missing.
        cases: The number of cases.
    """

    attribute: str
    value: str | None
    cases: MeasuredNumber


@dataclass(frozen=True)
class EventAttributeQuality:
    """A value of an attribute of events that occurs with an activity.

    Attributes:
        attribute: The attribute.
        activity: The activity.
        value: The value, or the bin of a number as text; None if it is missing.
        weight: How much of the cases it makes up. A case has a total of one in Euclidean norm over activities and values.
    """

    attribute: str
    activity: Activity
    value: str | None
    weight: MeasuredNumber


def arrival_quality(
    measurements: Measurements, times: TimeMeasurements, arrivals: Arrivals
) -> tuple[ArrivalQuality, ...]:
    """Cases that start in every span of the period in which generated cases start."""
    weeks = (times.blocks[:, None] * WEEKS_PER_BLOCK + np.arange(0, WEEKS_PER_BLOCK, SPAN)).ravel()
    cases, deviation = measurements.noisy(START_SPANS, times.start_spans.ravel())
    last = arrivals.first + len(arrivals.shares)
    return tuple(
        ArrivalQuality(FIRST_MONDAY + timedelta(weeks=week), measured(number, deviation))
        for week, number in zip(weeks.tolist(), cases.tolist(), strict=True)
        if arrivals.first - SPAN < week < last
    )


def time_quality(
    measurements: Measurements, times: TimeMeasurements, arrivals: Arrivals
) -> tuple[tuple[DurationQuality, ...], MeasuredNumber]:
    """Medians of all measured pairs, and that of the throughput."""
    durations = DurationShares.of(measurements, times, arrivals)
    names, longest = measurements.activities, durations.longest
    noisy, deviation = measurements.noisy(DURATIONS, times.durations)
    medians = (
        _median(row, of_pair, deviation, longest, DURATION_EDGES)
        for row, of_pair in zip(durations.rows, noisy, strict=False)
    )
    of_pairs = tuple(
        DurationQuality(names[before], names[after], median, not own)
        for (before, after), median, own in zip(times.pairs.tolist(), medians, durations.own.tolist(), strict=True)
    )
    throughput, spread = measurements.noisy(THROUGHPUT, times.throughput)
    return of_pairs, _median(durations.throughput, throughput, spread, longest, THROUGHPUT_EDGES)


def attribute_quality(measurements: Measurements) -> tuple[AttributeQuality, ...]:
    """Numbers of cases of all values of all attributes."""
    rows = []
    for made in measurements.attributes:
        numbers, deviations = combined_numbers(measurements, made)
        for value, number, deviation in zip(made.labels, numbers.tolist(), deviations.tolist(), strict=True):
            rows.append(AttributeQuality(made.attribute.name, value, measured(number, deviation)))
    return tuple(rows)


def event_attribute_quality(measurements: Measurements) -> tuple[EventAttributeQuality, ...]:
    """Weights of all values of all attributes of events that are generated, by activity."""
    rows = []
    for made in measurements.event_attributes:
        noisy, deviation = measurements.noisy(event_stage(made.attribute.name), made.by_activity)
        shares = event_shares(measurements, made)[:-1]
        for row, cell in np.argwhere(shares > 0).tolist():
            weight = measured(float(noisy[row, cell]), deviation)
            activity = measurements.activities[row]
            rows.append(EventAttributeQuality(made.attribute.name, activity, made.labels[cell], weight))
    return tuple(rows)


def _median(weights: Floats, noisy: Floats, deviation: float, longest: float, edges: tuple[int, ...]) -> MeasuredNumber:
    """A median of durations, in seconds: of `weights`, and where it can lie by the noisy numbers of all buckets.

    The number of cases up to a bucket, less half of all cases, has normal noise of a known deviation.
    """
    buckets = int((log_bounds(edges)[0] < np.log(longest)).sum())  # nothing lasts longer
    noisy = noisy[:buckets]
    surplus = np.cumsum(noisy) - noisy.sum() / 2
    radius = RADIUS * deviation * buckets**0.5 / 2
    ends = np.array([_first(surplus + radius >= 0), _first(surplus - radius >= 0)])
    low, high = seconds_at(ends, np.array([0.0, 1.0]), edges).tolist()
    return MeasuredNumber(float(quantiles(weights[:buckets], np.array([0.5]), edges)[0]), low, high)


def _first(holds: Booleans) -> int:
    return int(np.argmax(holds)) if holds.any() else len(holds) - 1


@dataclass(frozen=True)
class PairQuality:
    """A directly-follows pair among the cases whose variant was not released.

    Attributes:
        before: The first activity; None for the start of a case.
        after: The second activity; None for the end of a case.
        weight: How much of the cases it makes up. A case has a total of one in Euclidean norm over its transitions.
        used: Whether the pair was kept for generation.
    """

    before: Activity | None
    after: Activity | None
    weight: MeasuredNumber
    used: bool


@dataclass(frozen=True)
class Quality:
    """What the measurements of a synthetic log show, and how far noise may have changed it.

    Attributes:
        cases: The number of cases of the original log.
        pairs: Directly-follows pairs of the other cases that are used or can be distinguished from 0, largest weight first.
        noise_share: The share of the weight used for generation that noise alone would be expected to contribute.
        durations: Median durations of the measured pairs, all cases included; empty without times.
        throughput: The median time from the first to the last event, in seconds; None without times.
        noisy_tail: Whether there are so few cases that the longest times of cases are mostly noise.
        arrivals: Numbers of cases that start, by eight weeks; empty without times.
        attributes: Numbers of cases of all values of all attributes.
        event_attributes: Weights of the values of attributes of events, by activity.
    """

    cases: MeasuredNumber
    pairs: tuple[PairQuality, ...]
    noise_share: float
    durations: tuple[DurationQuality, ...] = ()
    throughput: MeasuredNumber | None = None
    noisy_tail: bool = False
    arrivals: tuple[ArrivalQuality, ...] = ()
    attributes: tuple[AttributeQuality, ...] = ()
    event_attributes: tuple[EventAttributeQuality, ...] = ()

    @property
    def mostly_noise(self) -> tuple[PairQuality, ...]:
        """The pairs that were used for generation although they cannot be distinguished from noise."""
        return tuple(pair for pair in self.pairs if pair.used and pair.weight.mostly_noise)

    def in_words(self) -> str:
        """One sentence about how much of the generated traces rests on noise."""
        used = sum(pair.used for pair in self.pairs)
        if not used:
            return "no directly-follows pair was used: apart from released variants, nothing stands out from the noise"
        pairs = f"the {used:,} directly-follows pairs" if used > 1 else "the one directly-follows pair"
        return (
            f"about {self.noise_share:.0%} of the weight of {pairs} used is noise; "
            f"{len(self.mostly_noise):,} of them cannot be distinguished from noise"
        )


def quality(measurements: Measurements) -> Quality:
    """Intervals and warnings from the measurements alone."""
    released_spread = measurements.deviation(VARIANTS) * len(measurements.variants) ** 0.5
    all_cases = number_of_cases(measurements)
    spread = float(np.hypot(released_spread, measurements.deviation(LENGTHS) * BUCKETS**0.5))
    pairs, noise_share = _pairs(measurements)
    made = Quality(
        cases=measured(all_cases, spread),
        pairs=pairs,
        noise_share=noise_share,
        attributes=attribute_quality(measurements),
        event_attributes=event_attribute_quality(measurements),
    )
    if measurements.times is None:
        return made
    arrivals = Arrivals.of(measurements, measurements.times)
    durations, throughput = time_quality(measurements, measurements.times, arrivals)
    return replace(
        made,
        durations=durations,
        throughput=throughput,
        noisy_tail=all_cases < TAILS * measurements.deviation(THROUGHPUT),
        arrivals=arrival_quality(measurements, measurements.times, arrivals),
    )


def _pairs(measurements: Measurements) -> tuple[tuple[PairQuality, ...], float]:
    """Pairs of activities, with the labels of their events taken together; and the share of noise."""
    names: tuple[Activity | None, ...] = (*measurements.activities, None)
    transitions, deviation = order_one(measurements)
    chain = Chain.of(measurements)
    kept = chain.targets if Lengths.of(measurements).cases > 0 else np.zeros_like(chain.targets)
    size = len(names)
    row = np.r_[size - 1, np.repeat(np.arange(size - 1), 2)]  # of a state, START last
    column = np.r_[np.repeat(np.arange(size - 1), 2), size - 1]  # of a symbol, END last
    allowed = measurements.cells
    totals = [np.zeros((size, size)) for _ in range(3)]
    for total, table in zip(totals, (transitions, allowed, kept > 0), strict=True):
        np.add.at(total, (row[:, None], column[None, :]), table)
    value, number, used = totals
    pairs = [
        PairQuality(
            names[before],
            names[after],
            measured(float(value[before, after]), deviation * float(number[before, after]) ** 0.5),
            bool(used[before, after]),
        )
        for before, after in zip(*np.nonzero((used > 0) | (value > RADIUS * deviation * np.sqrt(number))), strict=True)
    ]
    return tuple(sorted(pairs, key=lambda pair: -pair.weight.value)), _noise_share(chain, float(kept.sum()), allowed)


def _noise_share(chain: Chain, kept: float, allowed: Booleans) -> float:
    """What cells without any case would contribute beyond the bar, relative to everything that is used."""
    expected = chain.deviation * float(np.exp(-(chain.bar[allowed] ** 2) / 2).sum()) / np.sqrt(2 * np.pi)
    return min(1.0, expected / kept) if kept > 0 else 1.0
