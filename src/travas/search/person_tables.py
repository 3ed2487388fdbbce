"""Noise for a person with several counts: a truncated discrete Gaussian, made for all of them together.

The builder only proposes. Whether a table keeps (ε, δ) is decided by `Noise` in exact integers, with separate code.
The search looks at ε, δ and the number of counts: nothing else. Derivation: docs/mechanisms/persons.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from ..errors import ParameterError, VerificationError, shown
from ..trusted.numbers import ONE, as_text, whole_number
from ..trusted.tables import Noise, NoiseTable
from .table_builders import exponential_bounds, table_from

_GRID = 512  # σ is a multiple of 1/512 of a power of two
_MARGINS = (Fraction(1, 500), Fraction(1, 50), Fraction(1, 4))  # of δ, for what the estimates of the search neglect
_WIDE = 1250  # σ·√counts from which the verifier computes more coarsely, which costs up to _COARSE of ε
_COARSE = 1 / 100
_MOST_WORK = 100_000  # σ·√counts beyond which no table is considered
_SIGMAS = Fraction(1, 10), Fraction(100_000)
_MAX_THRESHOLD = 1_000_000
_BITS = 256  # after the point, of weights before they are rounded


@dataclass(frozen=True)
class GaussianTable:
    """P[N = j] ∝ exp(−(j − threshold)²/(2σ²)), j = 1..2·threshold − 1. A variant of `threshold` persons is kept with 1/2."""

    sigma: Fraction
    threshold: int

    def __post_init__(self) -> None:
        least, most = _SIGMAS
        if not least <= self.sigma <= most:
            raise ParameterError(
                f"sigma is {shown(as_text(self.sigma))}: it must be from {as_text(least)} to {as_text(most)}",
                field="sigma",
            )
        whole_number(self.threshold, "threshold", 1, _MAX_THRESHOLD)

    def table(self) -> NoiseTable:
        """Its table: weights rounded down, what is left of 2^128 in the centre."""
        growth, _ = exponential_bounds(1 / (2 * self.sigma**2), _BITS)
        ratio = (1 << 2 * _BITS) // growth  # of the weights 1 and 0 steps away; at every step it falls by its square
        square = ratio * ratio >> _BITS
        side = [1 << _BITS]
        for _ in range(self.threshold - 1):
            side.append(side[-1] * ratio >> _BITS)
            ratio = ratio * square >> _BITS
        whole = 2 * sum(side) - side[0]
        weights = [weight * ONE // whole for weight in reversed(side[1:])]
        return table_from(accumulate([*weights, ONE - 2 * sum(weights), *reversed(weights)]))


def threshold_of(table: NoiseTable) -> int:
    """The least number of cases, or persons, with which a variant is kept with probability 1/2 or more."""
    return bisect_left(range(table.length), True, lo=1, key=lambda cases: 2 * table.cumulative(cases) >= ONE)


def variance_of(table: NoiseTable) -> Fraction:
    """The variance of N, exactly: E[N] = Σ P[N > j] and E[N²] = Σ (2j + 1)·P[N > j], j = 0, 1, …"""
    mean = squares = ONE
    for cases, boundary in enumerate(table.boundaries(), start=1):
        mean += ONE - boundary
        squares += (2 * cases + 1) * (ONE - boundary)
    return Fraction(squares, ONE) - Fraction(mean, ONE) ** 2


def joint_table(epsilon: Fraction, delta: Fraction, counts: int, alone: NoiseTable) -> GaussianTable | None:
    """The verified table for this many counts together with the least threshold, if it keeps more than another table."""
    threshold = threshold_of(alone)
    best = _least(epsilon, delta, counts, threshold)
    if best is None or best.threshold < threshold:
        return best
    return best if variance_of(best.table()) < variance_of(alone) else None


@lru_cache(maxsize=64)
def verified_noise(shape: GaussianTable, epsilon: Fraction, delta: Fraction, counts: int) -> Noise:
    """The noise of a stated table, verified for this many counts together; VerificationError if it spends more than δ."""
    return Noise(shape.table(), epsilon, delta, counts)


@lru_cache(maxsize=64)
def _least(epsilon: Fraction, delta: Fraction, counts: int, limit: int) -> GaussianTable | None:
    """The verified table of the least threshold, if there is one within the limit."""
    for margin in _MARGINS:
        shape = _proposal(float(epsilon), float(delta * (1 - margin)), counts)
        if shape is None or shape.threshold > limit:
            return None
        try:
            verified_noise(shape, epsilon, delta, counts)
        except VerificationError:
            continue
        return shape
    return None


def _proposal(epsilon: float, delta: float, counts: int) -> GaussianTable | None:
    """The least threshold on the grid of σ, and for it the least σ: in floats, which decide nothing about privacy."""
    low, high = 0.1, _MOST_WORK / math.sqrt(counts)
    if _beyond(_WIDE / math.sqrt(counts), epsilon, counts) >= delta:
        epsilon *= 1 - _COARSE
    if _beyond(high, epsilon, counts) >= delta:
        return None
    while high > low * (1 + 1 / _GRID):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _beyond(middle, epsilon, counts) < delta else (middle, high)
    unit = Fraction(2) ** math.frexp(low)[1] / (2 * _GRID)
    first = math.floor(low / unit)
    shapes = [
        GaussianTable(index * unit, threshold)
        for index in range(first, first + first // 3)  # beyond, the threshold grows with σ
        if 0 < (threshold := _least_threshold(float(index * unit), epsilon, delta, counts)) <= _MAX_THRESHOLD
    ]
    return min(shapes, key=lambda shape: (shape.threshold, shape.sigma), default=None)


def _least_threshold(sigma: float, epsilon: float, delta: float, counts: int) -> int:
    """The least t with counts·P[N = 1] within what the Gaussian itself leaves of δ; 0 if it leaves nothing."""
    rest = delta - _beyond(sigma, epsilon, counts)
    if rest <= 0:
        return 0
    total = (
        sigma * math.sqrt(2 * math.pi) if sigma > 1 else sum(math.exp(-((j / sigma) ** 2) / 2) for j in range(-9, 10))
    )
    return 1 + max(1, math.ceil(sigma * math.sqrt(2 * max(0.0, math.log(counts / (total * rest))))))


def _beyond(sigma: float, epsilon: float, counts: int) -> float:
    """Return δ of the sum of `counts` discrete Gaussians without ends: Σ P[sum = s]·(1 − e^(ε − loss(s))).

    The loss at s is (counts/2 − s)/σ². Where the terms change slowly with s, the integral is as good.
    """
    spread = math.sqrt(counts) / sigma
    if counts > 10 * epsilon:
        inner, outer = (epsilon / spread - spread / 2) / math.sqrt(2), (epsilon / spread + spread / 2) / math.sqrt(2)
        return max(0.0, math.erfc(inner) - math.exp(epsilon) * math.erfc(outer)) / 2
    border = counts / 2 - epsilon * sigma**2
    scale, variance = sigma * math.sqrt(2 * math.pi * counts), counts * sigma**2
    total, index = 0.0, math.ceil(border) - 1
    while True:
        mass = math.exp(-(index**2) / (2 * variance)) / scale
        total += mass * -math.expm1((index - border) / sigma**2)
        if (index < 0 and mass * sigma**2 < total * 1e-6) or index < -40 * sigma * math.sqrt(counts):
            return total
        index -= 1
