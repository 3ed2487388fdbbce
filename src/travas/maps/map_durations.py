"""Durations of a process map: quartiles of the time between two nodes, and of whole cases, from noisy counts of buckets.

Post-processing: docs/mechanisms/map.md, section "Post-processing".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.calendar import SECOND
from ..model.questions import DURATION_BUCKETS, DURATION_EDGES
from ..synthesis.shrinkage import deviating, normalised, used_buckets
from .map_measurements import DURATIONS, THROUGHPUT, FloatArray, MapMeasurements

OVERALL = 2.0  # buckets of all pairs together are taken as empty below this many standard deviations
_EDGES = [edge / SECOND for edge in DURATION_EDGES]
_LAST = _EDGES[-1] * 4  # the last bucket is open; for quantiles it ends here


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
    """

    of_pair: Mapping[tuple[int, int], Quartiles]
    throughput: Quartiles | None

    @classmethod
    def of(cls, measurements: MapMeasurements) -> MapDurations:
        """Quartiles from measurements.

        Args:
            measurements: The noisy measurements of a map.

        Returns:
            The quartiles.
        """
        buckets, throughput = DURATION_BUCKETS, None
        if measurements.throughput is not None:
            noisy = measurements.throughput / measurements.contributions[THROUGHPUT]
            deviation = measurements.deviation(THROUGHPUT)
            buckets = used_buckets(noisy, deviation)
            kept = np.where((np.arange(DURATION_BUCKETS) < buckets) & (noisy > deviation), noisy, 0.0)
            throughput = _quartiles(kept) if kept.sum() > 0 else None
        if measurements.durations is None or measurements.duration_pairs is None or not len(measurements.durations):
            return cls({}, throughput)
        noisy = measurements.durations / measurements.contributions[DURATIONS]
        deviation = measurements.deviation(DURATIONS)
        if measurements.throughput is None:
            buckets = used_buckets(noisy.sum(axis=0), deviation * math.sqrt(len(noisy)))
        shares = _shares(noisy, deviation, measurements.duration_pairs[:, 1], buckets)
        pairs = map(tuple, measurements.duration_pairs.tolist())
        return cls({(pair[0], pair[1]): _quartiles(row) for pair, row in zip(pairs, shares, strict=True)}, throughput)


def _shares(noisy: FloatArray, deviation: float, after: NDArray[np.int64], buckets: int) -> FloatArray:
    """The shares of the buckets of every pair: backed off to all steps into the same node, and those to all steps."""
    used = np.arange(noisy.shape[1]) < buckets
    noisy = noisy * used
    overall = noisy.sum(axis=0)
    overall = np.where(overall > OVERALL * deviation * math.sqrt(len(noisy)), overall, 0.0)
    everything = normalised(overall, used / used.sum())
    nodes, into = np.unique(after, return_inverse=True)
    by_node = np.zeros((len(nodes), noisy.shape[1]))
    np.add.at(by_node, into, noisy)
    pairs = np.bincount(into)
    backoff, _ = deviating(by_node, deviation * np.sqrt(pairs), np.tile(everything, (len(nodes), 1)))
    return deviating(noisy, deviation, backoff[into])[0]


def _quartiles(weights: FloatArray) -> Quartiles:
    low, middle, high = (_quantile(weights, share) for share in (0.25, 0.5, 0.75))
    return Quartiles(low, middle, high)


def _quantile(weights: FloatArray, share: float) -> float:
    """A quantile in seconds, interpolated within its bucket on a logarithmic scale; the first bucket is 0 seconds."""
    below = np.cumsum(weights) / weights.sum()
    bucket = min(int(np.searchsorted(below, share, side="right")), len(weights) - 1)
    if bucket == 0:
        return 0.0
    before = float(below[bucket - 1])
    within = min(max((share - before) / max(float(below[bucket]) - before, 1e-12), 0.0), 1.0)
    low, high = math.log(_EDGES[bucket - 1]), math.log(_EDGES[bucket] if bucket < len(_EDGES) else _LAST)
    return math.exp(low + within * (high - low))
