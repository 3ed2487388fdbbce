"""Counts of a process map from its measurements: the cap, which pairs are kept, intervals and consistency.

Post-processing: docs/mechanisms/map.md, sections "Post-processing" and "Consistency".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..synthesis.measured_numbers import MeasuredNumber
from ..trusted.contributions import SIZE_CELLS, nodes_of
from ..trusted.stages import STANDARD_DEVIATION
from .map_measurements import PAIRS, REWORK, SIZES, FloatArray, MapMeasurements, pair_cells

TAIL = 1.5  # cells of M are taken as empty where the sum of all from there on is below this many standard deviations
CERTAIN = 3.5  # cells of M above this many standard deviations decide about the cap
UNCLIPPED = 0.9  # at least this share of the cases is below the cap
BIAS = 0.25  # of the noise on about three pairs for each node: what the cap may take away
PAIRS_OF_A_NODE = 3
DEFAULT_CAP = 10  # where no case stands out from the noise
LEAST_CUT, FALSE_PAIRS = 1.5, 1.0  # the smallest threshold, in standard deviations; the expected number of false pairs
BELOW, ABOVE = 2.6, 1.96  # the interval in standard deviations: kept pairs are biased upwards
TOTAL = 2.2  # the same for the number of cases, on both sides
_NORMAL = NormalDist()


def choose_cap(sizes: list[float], deviation: float, pair_deviation: float, activities: int) -> int:
    """c: the cap on the number of distinct pairs, a rule on M alone. Sums are exactly rounded: the same on all machines.

    Args:
        sizes: M, in cases.
        deviation: The standard deviation of its noise.
        pair_deviation: The standard deviation of F's noise where a case adds Δ.
        activities: The number of activities that have their own node.

    Returns:
        The smallest cell at or above the 0.9 quantile whose clipping bias is small against the noise.
    """
    kept = _without_tail(sizes, deviation)
    total = math.fsum(kept)
    if total <= 0:
        return DEFAULT_CAP
    below = accumulate(kept)
    quantile = next((cell for cell, share in zip(SIZE_CELLS, below, strict=True) if share >= UNCLIPPED * total), 0)
    certain = [value if value > CERTAIN * deviation else 0.0 for value in kept]
    for cap in SIZE_CELLS:
        bias = math.fsum(value * m * _lost(cap, m) for value, m in zip(certain, SIZE_CELLS, strict=True))
        allowed = BIAS * math.sqrt(cap) * pair_deviation * PAIRS_OF_A_NODE * nodes_of(activities)
        if cap >= quantile and bias <= allowed:
            return cap
    return SIZE_CELLS[-1]


def _without_tail(sizes: list[float], deviation: float) -> list[float]:
    """M without negative values, and without the tail that does not stand out from the noise."""
    tails = list(accumulate(reversed(sizes)))[::-1]
    present = [
        index
        for index, tail in enumerate(tails)
        if tail > TAIL * deviation * math.sqrt(len(sizes) - index)
    ]  # fmt: skip
    last = present[-1] if present else max(range(len(sizes)), key=sizes.__getitem__)
    return [max(value, 0.0) if index <= last else 0.0 for index, value in enumerate(sizes)]


def _lost(cap: int, size: int) -> float:
    """1 − √(c/m): the part of a case with m distinct pairs that the cap takes away."""
    return max(0.0, 1 - math.sqrt(cap / size))


def cut(activities: int) -> float:
    """How many standard deviations a pair must exceed: about one pair of all is kept by noise alone."""
    cells = int(pair_cells(activities).sum())
    return max(LEAST_CUT, _NORMAL.inv_cdf(1 - min(0.4, FALSE_PAIRS / cells)))


def kept_pairs(noisy: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pairs stand out from the noise, by node before and after: a rule on F alone."""
    return pair_cells(len(noisy) - 2) & (noisy > cut(len(noisy) - 2) * STANDARD_DEVIATION)


def timed_pairs(noisy: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs whose durations are measured, as nodes: those that stand out, without START and END."""
    return np.argwhere(kept_pairs(noisy)[:-1, :-1])


@dataclass(frozen=True, eq=False)
class MapCounts:
    """What the measurements say about numbers of cases.

    Attributes:
        total: The number of cases.
        kept: Which pairs are part of the map, by node before and after.
        estimate: The number of cases of every pair, consistent with each other; 0 where a pair is not kept.
        low: The lower ends of the intervals.
        high: The upper ends of the intervals.
        deviation: The standard deviation of the noise of a pair, in cases.
        expected_false: How many of the kept pairs are expected to be there by noise alone.
        present: For every activity, the number of cases that have it; None if not measured.
        repeated: For every activity, the number of cases that repeat it; None if not measured.
    """

    total: MeasuredNumber
    kept: NDArray[np.bool_]
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    deviation: float
    expected_false: float
    present: tuple[MeasuredNumber, ...] | None
    repeated: tuple[MeasuredNumber, ...] | None

    @classmethod
    def of(cls, measurements: MapMeasurements) -> MapCounts:
        """Counts, intervals and consistent estimates from measurements.

        Args:
            measurements: The noisy measurements of a map.

        Returns:
            The counts.
        """
        activities = len(measurements.activities)
        cells = pair_cells(activities)
        deviation = STANDARD_DEVIATION / measurements.weight(PAIRS)
        values = measurements.pairs / measurements.weight(PAIRS)
        bias = clipping_bias(measurements)
        total = _number_of_cases(measurements, values, deviation, bias)
        kept = kept_pairs(measurements.pairs)
        low = np.maximum(values - BELOW * deviation, 0.0) * kept
        high = np.maximum(np.minimum(values + ABOVE * deviation + bias, total.high), low) * kept
        present, repeated = _rework(measurements, bias, total)
        consistent = _consistent(values, cells, total.value - bias)
        limit = _limits(activities, total, present)
        estimate = np.clip(np.minimum(consistent, limit), low, high) * kept
        false_pairs = int(cells.sum()) * (1 - _NORMAL.cdf(cut(activities)))
        return cls(total, kept, estimate, low, high, deviation, false_pairs, present, repeated)


def clipping_bias(measurements: MapMeasurements) -> float:
    """b: at most about how many cases the cap takes away from a pair: from those cells of M that stand out."""
    deviation = measurements.deviation(SIZES)
    sizes = (measurements.sizes / measurements.contributions[SIZES]).tolist()
    return math.fsum(
        value * _lost(measurements.cap, size)
        for value, size in zip(sizes, SIZE_CELLS, strict=True)
        if value > TAIL * deviation
    )


def _number_of_cases(
    measurements: MapMeasurements, values: FloatArray, deviation: float, bias: float
) -> MeasuredNumber:
    """The number of cases: from M, from START and from END, weighted by precision. Every case has one start and one end."""
    once = [float((measurements.sizes / measurements.contributions[SIZES]).sum())]
    variances = [len(SIZE_CELLS) * measurements.deviation(SIZES) ** 2]
    ends = len(values) - 1
    once += [float(values[-1, :-1].sum()) + bias, float(values[:-1, -1].sum()) + bias]
    variances += [ends * deviation**2] * 2
    precisions = [1 / variance for variance in variances]
    value = math.fsum(number * weight for number, weight in zip(once, precisions, strict=True)) / math.fsum(precisions)
    radius = TOTAL / math.sqrt(math.fsum(precisions))
    return MeasuredNumber(max(0.0, value), max(0.0, value - radius - bias), max(0.0, value + radius + bias))


def _consistent(values: FloatArray, cells: NDArray[np.bool_], total: float) -> FloatArray:
    """Least squares: START's pairs and END's pairs each add up to the number of cases, less what the cap took away.

    All noise has one variance, so the difference is divided equally over the cells of the sum.
    """
    consistent = values.copy()
    ends = len(values) - 1
    consistent[-1, :-1] += (total - values[-1, :-1].sum()) / ends
    consistent[:-1, -1] += (total - values[:-1, -1].sum()) / ends
    return np.where(cells, consistent, 0.0)


def _limits(activities: int, total: MeasuredNumber, present: tuple[MeasuredNumber, ...] | None) -> FloatArray:
    """What a pair cannot exceed: the number of cases, and of those that have its activities."""
    of_node = np.full(nodes_of(activities), total.value)
    if present is not None:
        of_node[:activities] = np.minimum(of_node[:activities], [number.high for number in present])
    limits: FloatArray = np.minimum(of_node[:, None], of_node[None, :])
    return limits


def _rework(
    measurements: MapMeasurements, bias: float, total: MeasuredNumber
) -> tuple[tuple[MeasuredNumber, ...] | None, tuple[MeasuredNumber, ...] | None]:
    """Cases that have an activity and that repeat it; a number of repeats that noise explains is 0."""
    if measurements.rework is None:
        return None, None
    weight = measurements.weight(REWORK)
    deviation = STANDARD_DEVIATION / weight
    cells = max(measurements.rework.size, 1)
    threshold = max(LEAST_CUT, _NORMAL.inv_cdf(1 - min(0.4, FALSE_PAIRS / cells))) * deviation
    present, repeated = (
        [_interval(float(value), deviation, bias, total) for value in row] for row in measurements.rework / weight
    )
    shown = tuple(number if number.value > threshold else MeasuredNumber(0.0, 0.0, number.high) for number in repeated)
    return tuple(present), shown


def _interval(value: float, deviation: float, bias: float, total: MeasuredNumber) -> MeasuredNumber:
    low = max(0.0, value - BELOW * deviation)
    high = max(low, min(value + ABOVE * deviation + bias, total.high))
    return MeasuredNumber(min(max(value, low), high), low, high)
