"""Distributions of durations: of every directly-follows pair, with backoff, and of whole cases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..log.calendar import SECOND
from ..log.questions import DURATION_BUCKETS, DURATION_EDGES, THROUGHPUT_EDGES
from ..trusted.samplers import Booleans, Floats, Integers
from .arrivals import Arrivals
from .chain import Chain
from .measurements import DURATIONS, THROUGHPUT, Measurements, TimeMeasurements
from .shrinkage import deviating, normalised, smoothed, uniform

STANDS_OUT = 2.0  # a pair has its own durations if their sum exceeds this many standard deviations
OVERALL = 2.0  # buckets of all pairs together are taken as empty below this many standard deviations

BEYOND = 1.25  # a case lasts at most this many times as long as the recorded period, …
WEEKS_BEYOND = 4  # … and so many weeks: some cases of a period began before it
LEAST_TAIL = 2.0  # cases: nothing lasts longer than what as many do

DAY, WEEK = 86_400, 604_800


@dataclass(frozen=True, eq=False)
class DurationShares:
    """The shares of duration buckets of every directly-follows pair, and the throughput of cases.

    Attributes:
        rows: The shares by row: of the measured pairs, then of each following activity, and of all pairs together.
        row_of: The row of every pair of activities, by the indices of both; the last index is any other activity.
        own: Of every measured pair, whether its own numbers stand out from the noise; otherwise its row is a backoff.
        throughput: The shares of the buckets of `THROUGHPUT_EDGES` among cases.
        longest: The ceiling of durations, in seconds.
    """

    rows: Floats
    row_of: Integers
    own: Booleans
    throughput: Floats
    longest: float

    @classmethod
    def of(cls, measurements: Measurements, times: TimeMeasurements, arrivals: Arrivals) -> DurationShares:
        """The durations that follow from the measurements."""
        low, high = (np.exp(bound) for bound in log_bounds(THROUGHPUT_EDGES))
        stated = times.settings.longest_case
        longest = stated * DAY if stated else (BEYOND * len(arrivals.shares) + WEEKS_BEYOND) * WEEK
        noisy, deviation = measurements.noisy(THROUGHPUT, times.throughput)
        smooth = smoothed(noisy[low < longest], deviation)
        tail = np.cumsum(smooth[::-1])[::-1]
        cells = max(int((tail >= LEAST_TAIL).sum()), 1)
        throughput = np.zeros(len(low))
        throughput[:cells] = normalised(smooth[:cells], uniform(cells))
        longest = min(longest, float(high[cells - 1]))
        used = np.exp(log_bounds()[0]) < longest
        noisy, deviation = measurements.noisy(DURATIONS, times.durations)
        activities = len(measurements.activities)
        rows, own = backed_off(noisy * used, deviation, times.pairs[:, 1], activities, used)
        following = len(times.pairs) + np.arange(activities + 1)  # the last row is that of all pairs
        row_of = np.tile(following, (activities + 1, 1))
        row_of[times.pairs[:, 0], times.pairs[:, 1]] = np.arange(len(times.pairs))
        return cls(rows, row_of, own, throughput, longest)


@lru_cache(maxsize=2)
def log_bounds(edges: tuple[int, ...] = DURATION_EDGES) -> tuple[Floats, Floats]:
    """Logarithms of the least and the largest duration in seconds of every bucket; the first bucket is 0 seconds."""
    bounds = np.log(np.array([SECOND, *edges, 4 * edges[-1]]) / SECOND)
    return bounds[:-1], bounds[1:]


def seconds_at(bucket: Integers, within: Floats, edges: tuple[int, ...] = DURATION_EDGES) -> Floats:
    """Durations in seconds, by bucket and how far they are in it on a logarithmic scale."""
    low, high = log_bounds(edges)
    return np.where(bucket > 0, np.exp(low[bucket] + within * (high - low)[bucket]), 0.0)


def quantiles(weights: Floats, shares: Floats, edges: tuple[int, ...] = DURATION_EDGES) -> Floats:
    """Quantiles of durations, in seconds, from the weights of the first buckets."""
    total = np.concatenate([[0.0], np.cumsum(weights)])
    rank = shares * total[-1]
    bucket = np.clip(np.searchsorted(total, rank, side="right") - 1, 0, len(weights) - 1)
    within = (rank - total[bucket]) / np.maximum(weights[bucket], 1e-12)
    return seconds_at(bucket, within, edges)


def backed_off(
    noisy: Floats, deviation: float, after: Integers, activities: int, used: Booleans
) -> tuple[Floats, Booleans]:
    """Shares by row, and which pairs differ from the backoff: pair to following activity to all pairs."""
    overall = noisy.sum(axis=0)
    kept = np.where(overall > OVERALL * deviation * np.sqrt(max(len(noisy), 1)), overall, 0.0)
    everything = normalised(kept, used / used.sum())
    by_activity = np.zeros((activities, DURATION_BUCKETS))
    np.add.at(by_activity, after, noisy)
    pairs = np.bincount(after, minlength=activities)
    following, _ = deviating(by_activity, deviation * np.sqrt(pairs), np.tile(everything, (activities, 1)))
    following[pairs == 0] = everything
    rows, own = deviating(noisy, deviation, following[after])
    own |= noisy.sum(axis=1) > STANDS_OUT * deviation * np.sqrt(used.sum())
    return np.vstack([rows, following, everything[None]]), own


def choose_timed_pairs(measurements: Measurements) -> Integers:
    """Decide, from V, T1 and T2 alone, of which directly-follows pairs durations are measured."""
    size = len(measurements.activities)
    wanted = np.zeros((size, size), dtype=bool)
    before, symbol = np.nonzero(Chain.of(measurements).targets[1:, :-1])
    wanted[before // 2, symbol // 2] = True
    for codes in measurements.codes_of(trace for trace, _ in measurements.variants):
        kept = codes[codes < size]
        wanted[kept[:-1], kept[1:]] = True
    return np.argwhere(wanted).astype(np.int64)
