"""The noisy measurements of a process map, and what follows from them: counts, intervals, durations.

The measurements are public, and all that the map ever depends on. Post-processing: docs/mechanisms/map.md, sections
"Post-processing" and "Consistency".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from math import isqrt
from statistics import NormalDist

import numpy as np

from ..errors import LogError
from ..log.plain import ActivitySums, as_shape
from ..log.questions import DURATION_BUCKETS
from ..log.traces import Activity
from ..synthesis.durations import backed_off, quantiles
from ..synthesis.measurements import MeasuredNumber, NoisySums
from ..synthesis.shrinkage import used_buckets
from ..trusted.contributions import SIZE_CELLS, nodes_of
from ..trusted.samplers import Booleans, Floats, Integers
from ..trusted.stages import STANDARD_DEVIATION

ACTIVITIES, SIZES, PAIRS, REWORK = "activities", "sizes", "pairs", "rework"
DURATIONS, THROUGHPUT, SERVICE = "durations", "throughput", "service"
"""The names of the stages A, M, F, D, R, P and T."""


def pair_cells(activities: int) -> Booleans:
    """Which pairs are cells, by node before and after. The last row is START, the last column END.

    Every trace has an event, so no case goes from START to END.
    """
    size = nodes_of(activities)
    cells = np.ones((size, size), dtype=bool)
    cells[-1, -1] = False
    return cells


@dataclass(frozen=True, eq=False)
class MapMeasurements(NoisySums):
    """The measurements of a process map.

    Attributes:
        activities: The activities that have their own node, sorted; all others are the node `other`.
        activity_sums: A: the noisy sums of the activities; empty if they are public.
        sizes: M: noisy sums by number of distinct pairs, in the cells `SIZE_CELLS`.
        cap: c: cases with more distinct pairs count less; chosen by a rule on `sizes`.
        pairs: F: noisy sums by node before and after: activities, `other`, START or END.
        rework: R: noisy sums of cases with an activity, and of cases that repeat it; None if not measured.
        duration_pairs: The pairs whose durations were measured, as nodes; None if durations were not measured.
        durations: D: noisy sums by pair and duration bucket; None if not measured.
        throughput: P: noisy sums by duration bucket; None if not measured.
        service: T: noisy sums by node and duration bucket, events without a service time last; None if not measured.
    """

    activities: tuple[Activity, ...]
    activity_sums: ActivitySums
    sizes: Integers
    cap: int
    pairs: Integers
    rework: Integers | None = None
    duration_pairs: Integers | None = None
    durations: Integers | None = None
    throughput: Integers | None = None
    service: Integers | None = None

    def __post_init__(self) -> None:
        size, activities = nodes_of(len(self.activities)), len(self.activities)
        timed = 0 if self.duration_pairs is None else len(self.duration_pairs)
        shapes: dict[str, tuple[int, ...]] = {
            "sizes": (len(SIZE_CELLS),),
            "pairs": (size, size),
            "rework": (2, activities),
            "duration_pairs": (timed, 2),
            "durations": (timed, DURATION_BUCKETS),
            "throughput": (DURATION_BUCKETS,),
            "service": (activities + 1, DURATION_BUCKETS + 1),
        }
        as_shape(self, {name: shape for name, shape in shapes.items() if getattr(self, name) is not None})
        measured = {name for name in (DURATIONS, REWORK, THROUGHPUT, SERVICE) if getattr(self, name) is not None}
        if self.cap not in SIZE_CELLS or self.contributions.keys() - {ACTIVITIES} != {SIZES, PAIRS} | measured:
            raise LogError("the measurements are inconsistent: the cap is unknown, or a stage is missing or unknown")

    def weight(self, stage: str) -> int:
        """What a case below the cap adds to every cell of F or R: a noisy sum divided by it is in cases."""
        cap = self.cap if stage == PAIRS else rework_cap(self.cap, len(self.activities))
        return isqrt(self.contributions[stage] ** 2 // cap)


def rework_cap(cap: int, activities: int) -> int:
    """c_w = min(2·c, 2·|𝒜|), at least 1: a case with m distinct pairs has fewer than 2·m cells of R."""
    return max(1, min(2 * cap, 2 * activities))


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
    """c: the cap on the number of distinct pairs, a rule on M alone. Sums are exactly rounded: the same on all machines."""
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
    present = [index for index, tail in enumerate(tails) if tail > TAIL * deviation * math.sqrt(len(sizes) - index)]
    last = present[-1] if present else max(range(len(sizes)), key=sizes.__getitem__)
    return [max(value, 0.0) if index <= last else 0.0 for index, value in enumerate(sizes)]


def _lost(cap: int, size: int) -> float:
    """1 − √(c/m): the part of a case with m distinct pairs that the cap takes away."""
    return max(0.0, 1 - math.sqrt(cap / size))


def cut(cells: int) -> float:
    """How many standard deviations a cell must exceed: about one of all is kept by noise alone."""
    return max(LEAST_CUT, _NORMAL.inv_cdf(1 - min(0.4, FALSE_PAIRS / cells)))


def kept_pairs(noisy: Integers) -> Booleans:
    """Which pairs stand out from the noise, by node before and after: a rule on F alone."""
    cells = pair_cells(len(noisy) - 2)
    return cells & (noisy > cut(int(cells.sum())) * STANDARD_DEVIATION)


def timed_pairs(noisy: Integers) -> Integers:
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
        expected_false: How many of the kept pairs are expected to be there by noise alone.
        present: For every activity, the number of cases that have it; None if not measured.
        repeated: For every activity, the number of cases that repeat it; None if not measured.
    """

    total: MeasuredNumber
    kept: Booleans
    estimate: Floats
    low: Floats
    high: Floats
    expected_false: float
    present: tuple[MeasuredNumber, ...] | None
    repeated: tuple[MeasuredNumber, ...] | None

    @classmethod
    def of(cls, measurements: MapMeasurements) -> MapCounts:
        """Counts, intervals and consistent estimates from measurements."""
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
        number = int(cells.sum())
        false_pairs = number * (1 - _NORMAL.cdf(cut(number)))
        return cls(total, kept, estimate, low, high, false_pairs, present, repeated)


def clipping_bias(measurements: MapMeasurements) -> float:
    """b: at most about how many cases the cap takes away from a pair: from those cells of M that stand out."""
    sizes, deviation = measurements.noisy(SIZES, measurements.sizes)
    return math.fsum(
        value * _lost(measurements.cap, size)
        for value, size in zip(sizes.tolist(), SIZE_CELLS, strict=True)
        if value > TAIL * deviation
    )


def _number_of_cases(measurements: MapMeasurements, values: Floats, deviation: float, bias: float) -> MeasuredNumber:
    """The number of cases: from M, from START and from END, weighted by precision. Every case has one start and one end."""
    sizes, size_deviation = measurements.noisy(SIZES, measurements.sizes)
    once = [float(sizes.sum()), float(values[-1, :-1].sum()) + bias, float(values[:-1, -1].sum()) + bias]
    variances = np.array([len(SIZE_CELLS) * size_deviation**2, *[(len(values) - 1) * deviation**2] * 2])
    value = float(np.average(once, weights=1 / variances))
    radius = TOTAL / math.sqrt((1 / variances).sum())
    return MeasuredNumber(max(0.0, value), max(0.0, value - radius - bias), max(0.0, value + radius + bias))


def _consistent(values: Floats, cells: Booleans, total: float) -> Floats:
    """Least squares: START's pairs and END's pairs each add up to the number of cases, less what the cap took away.

    All noise has one variance, so the difference is divided equally over the cells of the sum.
    """
    consistent = values.copy()
    ends = len(values) - 1
    consistent[-1, :-1] += (total - values[-1, :-1].sum()) / ends
    consistent[:-1, -1] += (total - values[:-1, -1].sum()) / ends
    return np.where(cells, consistent, 0.0)


def _limits(activities: int, total: MeasuredNumber, present: tuple[MeasuredNumber, ...] | None) -> Floats:
    """What a pair cannot exceed: the number of cases, and of those that have its activities."""
    of_node = np.full(nodes_of(activities), total.value)
    if present is not None:
        of_node[:activities] = np.minimum(of_node[:activities], [number.high for number in present])
    return np.asarray(np.minimum(of_node[:, None], of_node[None, :]))


def _rework(
    measurements: MapMeasurements, bias: float, total: MeasuredNumber
) -> tuple[tuple[MeasuredNumber, ...] | None, tuple[MeasuredNumber, ...] | None]:
    """Cases that have an activity and that repeat it; a number of repeats that noise explains is 0."""
    if measurements.rework is None:
        return None, None
    weight = measurements.weight(REWORK)
    deviation = STANDARD_DEVIATION / weight
    threshold = cut(max(measurements.rework.size, 1)) * deviation
    present, repeated = (
        [_interval(float(value), deviation, bias, total) for value in row] for row in measurements.rework / weight
    )
    shown = tuple(number if number.value > threshold else MeasuredNumber(0.0, 0.0, number.high) for number in repeated)
    return tuple(present), shown


def _interval(value: float, deviation: float, bias: float, total: MeasuredNumber) -> MeasuredNumber:
    low = max(0.0, value - BELOW * deviation)
    high = max(low, min(value + ABOVE * deviation + bias, total.high))
    return MeasuredNumber(min(max(value, low), high), low, high)


@dataclass(frozen=True)
class Quartiles:
    """Quartiles of a duration, in seconds.

    Attributes:
        lower_quartile: A quarter of the durations is shorter.
        median: Half of them are shorter.
        upper_quartile: Three quarters are shorter.
    """

    lower_quartile: float
    median: float
    upper_quartile: float


@dataclass(frozen=True, eq=False)
class MapDurations:
    """What the measurements say about durations.

    Attributes:
        of_pair: Quartiles by nodes before and after; empty if durations were not measured.
        throughput: Quartiles of the time from the first to the last event of a case; None if not measured.
        throughput_shares: The shares of the duration buckets of that time; empty if not measured.
        of_node: Quartiles of service times by node, where they stand out from the noise; empty if not measured.
    """

    of_pair: Mapping[tuple[int, int], Quartiles]
    throughput: Quartiles | None
    throughput_shares: tuple[float, ...] = ()
    of_node: Mapping[int, Quartiles] = field(default_factory=dict)

    @classmethod
    def of(cls, measurements: MapMeasurements) -> MapDurations:
        """Quartiles from measurements."""
        buckets, throughput, through, of_pair = DURATION_BUCKETS, None, (), {}
        if measurements.throughput is not None:
            noisy, deviation = measurements.noisy(THROUGHPUT, measurements.throughput)
            buckets = used_buckets(noisy, deviation)
            kept = np.where((np.arange(DURATION_BUCKETS) < buckets) & (noisy > deviation), noisy, 0.0)
            if kept.sum() > 0:
                throughput, through = _quartiles(kept), tuple((kept / kept.sum()).tolist())
        pairs = measurements.duration_pairs
        if measurements.durations is not None and pairs is not None and len(pairs):
            noisy, deviation = measurements.noisy(DURATIONS, measurements.durations)
            if measurements.throughput is None:
                buckets = used_buckets(noisy.sum(axis=0), deviation * math.sqrt(len(noisy)))
            shares = _shares(noisy, deviation, pairs[:, 1], buckets)
            of_pair = {
                (before, after): _quartiles(row) for (before, after), row in zip(pairs.tolist(), shares, strict=True)
            }
        return cls(of_pair, throughput, through, _service(measurements))


def _service(measurements: MapMeasurements) -> dict[int, Quartiles]:
    """Quartiles of the service times of the nodes that have any, beyond noise."""
    if measurements.service is None:
        return {}
    noisy, deviation = measurements.noisy(SERVICE, measurements.service[:, :-1])
    buckets = used_buckets(noisy.sum(axis=0), deviation * math.sqrt(len(noisy)))
    shares = _shares(noisy, deviation, np.arange(len(noisy)), buckets)
    present = noisy[:, :buckets].sum(axis=1) > CERTAIN * deviation * math.sqrt(buckets)
    return {node: _quartiles(shares[node]) for node in np.flatnonzero(present).tolist()}


def _shares(noisy: Floats, deviation: float, after: Integers, buckets: int) -> Floats:
    """The shares of the buckets of every pair: backed off to all steps into the same node, and those to all steps."""
    used = np.arange(DURATION_BUCKETS) < buckets
    rows, _ = backed_off(noisy * used, deviation, after, int(after.max()) + 1, used)
    return rows[: len(noisy)]


def _quartiles(weights: Floats) -> Quartiles:
    return Quartiles(*quantiles(weights, np.array([0.25, 0.5, 0.75])).tolist())
