"""How good times and attributes of a synthetic log can be, from its measurements alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .case_attributes import combined_numbers
from .durations import DurationShares, log_bounds
from .measured_numbers import RADIUS, MeasuredNumber, measured
from .shrinkage import Floats
from .time_measurements import DURATIONS, THROUGHPUT

if TYPE_CHECKING:
    from ..model.traces import Activity
    from .measurements import Measurements

QUANTILES = (0.25, 0.5, 0.75, 0.9)


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
class ThroughputQuality:
    """A quantile of the time from the first to the last event of a case, in seconds.

    Attributes:
        quantile: Which one: 0.5 is the median.
        seconds: The time, with its 95 % interval.
    """

    quantile: float
    seconds: MeasuredNumber


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


def duration_quality(measurements: Measurements) -> tuple[DurationQuality, ...]:
    """Medians of all measured pairs; empty if times were not measured."""
    times = measurements.times
    if times is None:
        return ()
    durations = DurationShares.of(measurements, times)
    noisy = measurements.in_cases(DURATIONS, times.durations)[:, : durations.buckets]
    deviation = measurements.deviation(DURATIONS)
    names = measurements.activities
    return tuple(
        DurationQuality(
            names[before], names[after], _quantile(durations.rows[index], noisy[index], deviation, 0.5), not own
        )
        for index, ((before, after), own) in enumerate(zip(times.pairs.tolist(), durations.own.tolist(), strict=True))
    )


def throughput_quality(measurements: Measurements) -> tuple[ThroughputQuality, ...]:
    """Quantiles of the throughput; empty if times were not measured."""
    times = measurements.times
    if times is None:
        return ()
    durations = DurationShares.of(measurements, times)
    noisy = durations.throughput[: durations.buckets]
    deviation = measurements.deviation(THROUGHPUT)
    return tuple(ThroughputQuality(share, _quantile(noisy, noisy, deviation, share)) for share in QUANTILES)


def attribute_quality(measurements: Measurements) -> tuple[AttributeQuality, ...]:
    """Numbers of cases of all values of all attributes."""
    rows = []
    for made in measurements.attributes:
        combined = combined_numbers(measurements, made)
        for value, number, deviation in zip(made.labels, combined.numbers, combined.deviations, strict=True):
            rows.append(AttributeQuality(made.attribute.name, value, measured(float(number), float(deviation))))
    return tuple(rows)


def _quantile(weights: Floats, noisy: Floats, deviation: float, share: float) -> MeasuredNumber:
    """A quantile of durations, in seconds: of `weights`, and where it can lie by the noisy numbers of all buckets.

    The number of cases up to a bucket, less the share of all cases, has normal noise of a known deviation.
    """
    buckets = len(noisy)
    below = np.arange(1, buckets + 1)
    surplus = np.cumsum(noisy) - share * noisy.sum()
    radius = RADIUS * deviation * np.sqrt((1 - share) ** 2 * below + share**2 * (buckets - below))
    low, high = log_bounds()
    first = _first(surplus + radius >= 0)
    last = _first(surplus - radius >= 0)
    return MeasuredNumber(_point(np.maximum(weights, 0.0), share), _seconds(low, first), _seconds(high, last))


def _first(holds: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    return int(np.argmax(holds)) if holds.any() else len(holds) - 1


def _seconds(bounds: Floats, bucket: int) -> float:
    return float(np.exp(bounds[bucket])) if bucket else 0.0


def _point(weights: Floats, share: float) -> float:
    """The quantile of a distribution over buckets, evenly spread over the logarithm within each."""
    total = np.cumsum(weights)
    if total[-1] <= 0:
        return 0.0
    bucket = _first(total >= share * total[-1])
    if bucket == 0:
        return 0.0
    low, high = log_bounds()
    within = 1 - (total[bucket] - share * total[-1]) / max(float(weights[bucket]), 1e-12)
    return float(np.exp(low[bucket] + within * (high - low)[bucket]))
