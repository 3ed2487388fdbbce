"""In which weeks cases start: a smooth curve with two ends, from noisy sums of blocks, spans and weeks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.calendar import WEEKS_PER_BLOCK
from ..log.options import weeks_of
from ..trusted.samplers import Floats, Integers
from .measurements import SPAN, START_BLOCKS, START_SPANS, START_WEEKS, Measurements, TimeMeasurements
from .shrinkage import normalised, random_walk, uniform

MOST_POINTS = 512  # of the curve: in a longer period a point is 2, 4, 8, … weeks
VARIANCES = (1e-6, 1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0)  # of the curve's steps, in squares of the mean rate
CERTAIN = 2.0  # the squared deviation above which a span speaks for cases, in the first guess of the ends
STRIDES = (4, 4, 1)  # between the ends that are tried, in points
REACH = 16  # how far they are from the last ones, in points


@dataclass(frozen=True, eq=False)
class Arrivals:
    """The weeks in which cases start.

    Attributes:
        first: The first week, counted from Monday, 29 December 1969.
        shares: The shares of the cases, by week from the first one on.
    """

    first: int
    shares: Floats

    @classmethod
    def of(cls, measurements: Measurements, times: TimeMeasurements) -> Arrivals:
        """The weeks that follow from the measurements."""
        width = 1
        while len(times.blocks) * WEEKS_PER_BLOCK > width * MOST_POINTS:
            width *= 2
        block = int(times.blocks[0]) * WEEKS_PER_BLOCK
        spans, deviation = measurements.noisy(START_SPANS, times.start_spans.ravel())
        size = spans / deviation
        total = np.concatenate([[0.0], np.cumsum(np.sign(size) * size**2 - CERTAIN)])
        later = np.triu(np.ones((len(total), len(total)), dtype=bool), 1)
        start, stop = np.unravel_index(np.argmax(np.where(later, total - total[:, None], -np.inf)), later.shape)
        first, last = int(start) * SPAN // width, max(int(stop) * SPAN // width, int(start) * SPAN // width + 1)
        rate = max(float(spans[start:stop].sum()), 1.0) / (last - first)
        curve = _Curve(*_likelihood(measurements, times, width), rate)
        for stride in STRIDES:
            first, last = curve.moved_ends(first, last, stride)
        if times.settings.recorded is not None:
            begin, end = weeks_of(times.settings.recorded)
            stated = (begin - block) // width, -((block - end) // width)
            inside = max(first, stated[0]), min(last, stated[1])
            first, last = stated if inside[0] >= inside[1] else max(stated, inside, key=curve.likelihood)
        values = np.maximum(curve.fitted(first, last, curve.variance(first, last))[1], 0.0)
        shares = np.repeat(normalised(values, uniform(len(values))) / width, width)
        return cls(block + first * width, shares)


def _likelihood(measurements: Measurements, times: TimeMeasurements, width: int) -> tuple[Floats, Floats]:
    """The likelihood of the numbers of cases at all points: its matrix of precision, and that times the best numbers."""
    size = len(times.blocks) * WEEKS_PER_BLOCK // width
    precision, weighted = np.zeros((size, size)), np.zeros(size)
    for stage, sums, weeks in (
        (START_BLOCKS, times.start_blocks[times.blocks], WEEKS_PER_BLOCK),
        (START_SPANS, times.start_spans, SPAN),
        (START_WEEKS, times.start_weeks, 1),
    ):
        cells = max(width // weeks, 1)  # that make a point together; or a cell has several points
        in_cases, deviation = measurements.noisy(stage, sums)
        noisy, variance = in_cases.reshape(-1, cells).sum(axis=1), deviation**2 * cells
        points = size // len(noisy)
        precision += np.kron(np.eye(len(noisy)), np.ones((points, points))) / variance
        weighted += np.repeat(noisy, points) / variance
    return precision, weighted


@dataclass(frozen=True, eq=False)
class _Curve:
    """The number of cases at every point: a random walk between two ends, and 0 beyond them."""

    precision: Floats
    weighted: Floats
    rate: float

    def fitted(self, first: int, last: int, variance: float) -> tuple[float, Floats]:
        """The logarithm of the likelihood of these ends, and the curve between them."""
        inside = slice(first, last)
        return random_walk(self.precision[inside, inside], self.weighted[inside], self.rate, variance)

    def likelihood(self, ends: tuple[int, int]) -> float:
        """The logarithm of the likelihood of these ends."""
        return self.fitted(*ends, self.variance(*ends))[0]

    def variance(self, first: int, last: int) -> float:
        """The most likely variance of the steps between these ends."""
        return max(VARIANCES, key=lambda variance: self.fitted(first, last, variance)[0])

    def moved_ends(self, first: int, last: int, stride: int) -> tuple[int, int]:
        """The mean of ends nearby, weighted by their likelihood: of the first end, then of the last."""
        variance = self.variance(first, last)
        near = np.arange(-REACH, REACH + 1, stride)
        firsts = np.unique(np.clip(first + near, 0, last - 1))
        first = _mean(firsts, [self.fitted(end, last, variance)[0] for end in firsts.tolist()])
        lasts = np.unique(np.clip(last + near, first + 1, len(self.weighted)))
        return first, _mean(lasts, [self.fitted(first, end, variance)[0] for end in lasts.tolist()])


def _mean(values: Integers, likelihoods: list[float]) -> int:
    weights = np.exp(np.array(likelihoods) - max(likelihoods))
    return round(float(weights @ values / weights.sum()))
