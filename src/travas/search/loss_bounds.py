"""Bounds of the privacy loss of several independent steps, from above and from below, in exact integers.

The loss of an outcome is ln(p/q): p and q are its probabilities with and without one unit. A bound places every outcome
on a grid of losses, split so that it reveals more (`above`), or at the next smaller loss (`below`), and rounds its
probability the same way. δ at any ε' then is an upper or a lower bound of the exact one.
Lemmas: docs/audit.md, section "Exact curves".
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from ..trusted.composition import exact_product
from ..trusted.numbers import BITS, ONE
from .table_builders import exponential_bounds

Side = Literal["above", "below"]
"""On which side of the exact curve a bound is."""

GROWTH_BITS = 192
"""Bits after the point of a bound of e^ε."""

_SCALE = GROWTH_BITS
_NEAR = Fraction(
    1, 1 << 80
)  # from below, losses this close to a point of the grid count as on it; `delta` accounts for it
_FEWEST_CELLS, _MOST_CELLS = 1 << 10, 1 << 14  # of the sum of all ε
_SPARE = ONE >> 100  # what may be cut from the ends of a convolution


@dataclass(frozen=True)
class LossBound:
    """A bound of the distribution of losses, under the log with the unit.

    Attributes:
        side: Whether δ is bounded from above or from below.
        interval: The distance of two losses on the grid.
        lowest: The index of the first mass: it has the loss lowest·interval.
        masses: Probabilities times 2^128.
        infinite: The probability of an outcome that is impossible without the unit, times 2^128.
        factors: The number of steps.
    """

    side: Side
    interval: Fraction
    lowest: int
    masses: tuple[int, ...]
    infinite: int
    factors: int = 1

    def and_then(self, other: LossBound) -> LossBound:
        """The bound of both steps, with independent noise (Lemma 2)."""
        coefficients = exact_product(list(self.masses), list(other.masses))
        masses = [_shifted(value, BITS, self.side) for value in coefficients]
        finite = (ONE - self.infinite) * (ONE - other.infinite)
        infinite = ONE - _shifted(finite, BITS, "below" if self.side == "above" else "above")
        return LossBound(
            self.side, self.interval, self.lowest + other.lowest, tuple(masses), infinite, self.factors + other.factors
        )._trimmed()

    def repeated(self, times: int) -> LossBound:
        """The bound of this step `times` times, with independent noise."""
        total = self
        for bit in f"{times:b}"[1:]:
            total = total.and_then(total)
            if bit == "1":
                total = total.and_then(self)
        return total

    def delta(self, epsilon: Fraction) -> Fraction:
        """The bound of δ at this ε' ≥ 0."""
        at = epsilon if self.side == "above" else epsilon + self.factors * _NEAR
        safe = 0
        for index, mass in enumerate(self.masses, start=self.lowest):
            distance = index * self.interval - at
            if mass and distance > 0:
                low, high = _falling(distance)
                share = (1 << _SCALE) - (low if self.side == "above" else high)
                safe += mass * share
        return Fraction(self.infinite, ONE) + Fraction(safe, ONE << _SCALE)

    def _trimmed(self) -> LossBound:
        """Without ends of almost no mass: from above they reveal everything or count as the next loss, else nothing."""
        start, stop, low, high = 0, len(self.masses), 0, 0
        while start < stop - 1 and low + self.masses[start] <= _SPARE:
            low += self.masses[start]
            start += 1
        while stop > start + 1 and high + self.masses[stop - 1] <= _SPARE:
            stop -= 1
            high += self.masses[stop]
        masses = list(self.masses[start:stop])
        infinite = self.infinite
        if self.side == "above":
            masses[0] += low
            infinite = min(ONE, infinite + high)
        return LossBound(self.side, self.interval, self.lowest + start, tuple(masses), infinite, self.factors)


def of_pairs(pairs: Iterable[tuple[int, int]], interval: Fraction, side: Side) -> LossBound:
    """The bound of one step with these outcomes.

    Args:
        pairs: The probabilities of every outcome with and without the unit, times 2^128.
        interval: The distance of two losses on the grid.
        side: On which side of the exact curve the bound is.

    Returns:
        The bound (Lemma 1).
    """
    mass_at: defaultdict[int, int] = defaultdict(int)
    infinite = 0
    for p, q in pairs:
        if not q:
            infinite += p
        elif p and side == "below":
            mass_at[_below(p, q, interval)] += p
        elif p:
            index = _above(p, q, interval)
            upper = _upper_part(p, q, index, interval)
            mass_at[index] += upper
            mass_at[index - 1] += p - upper
    lowest, highest = min(mass_at, default=0), max(mass_at, default=0)
    masses = tuple(mass_at.get(index, 0) for index in range(lowest, highest + 1))
    return LossBound(side, interval, lowest, masses, infinite)


def of_response(epsilon: Fraction, delta: Fraction, interval: Fraction, side: Side) -> LossBound:
    """Randomised response at ε that reveals everything with probability δ: no (ε, δ)-DP step has a larger curve.

    Discrete Laplace noise of scale 1/ε on a count that changes by one has exactly this curve, with δ = 0.
    """
    low, high = exponential_bounds(epsilon, _SCALE)
    infinite = _shifted(delta.numerator * ONE, 0, side, delta.denominator)
    rest = ONE - infinite
    growth = high if side == "above" else low
    more = _shifted(rest * growth, 0, side, growth + (1 << _SCALE))
    indexes = epsilon / interval
    up = math.ceil(indexes) if side == "above" else math.floor(indexes)
    down = -math.floor(indexes) if side == "above" else -math.ceil(indexes)
    masses = [0] * (up - down + 1)
    masses[0] += rest - more
    masses[-1] += more
    return LossBound(side, interval, down, tuple(masses), infinite)


def _above(p: int, q: int, interval: Fraction) -> int:
    """A point of the grid that is not below ln(p/q)."""
    index = math.floor((math.log(p) - math.log(q)) / float(interval))
    while not _at_most(p, q, index * interval):
        index += 1
    while _at_most(p, q, (index - 1) * interval):
        index -= 1
    return index


def _below(p: int, q: int, interval: Fraction) -> int:
    """A point of the grid that is not above ln(p/q), but for `_NEAR`."""
    index = math.floor((math.log(p) - math.log(q)) / float(interval))
    while _at_least(p, q, (index + 1) * interval - _NEAR):
        index += 1
    while not _at_least(p, q, index * interval - _NEAR):
        index -= 1
    return index


def _upper_part(p: int, q: int, index: int, interval: Fraction) -> int:
    """How much of p has to be at this point of the grid so that the rest may be at the one before (Lemma 1)."""
    excess = max(0, (p << _SCALE) - q * _growth((index - 1) * interval)[0])
    return min(p, -(-excess // ((1 << _SCALE) - _falling(interval)[1])))


def _at_most(p: int, q: int, loss: Fraction) -> bool:
    """Whether ln(p/q) ≤ loss is certain."""
    return p << _SCALE <= q * _growth(loss)[0]


def _at_least(p: int, q: int, loss: Fraction) -> bool:
    """Whether ln(p/q) ≥ loss is certain."""
    return p << _SCALE >= q * _growth(loss)[1]


def growth_bounds(epsilon: Fraction) -> tuple[int, int]:
    """Integers around e^ε·2^192, for 0 ≤ ε ≤ 100."""
    return exponential_bounds(epsilon, GROWTH_BITS)


@lru_cache(maxsize=1 << 16)
def _growth(loss: Fraction) -> tuple[int, int]:
    """Bounds of e^loss·2^192."""
    if loss < 0:
        return _falling(-loss)
    return (
        exponential_bounds(loss, _SCALE) if loss <= 100 else (exponential_bounds(Fraction(100), _SCALE)[0], 1 << 4096)
    )


@lru_cache(maxsize=1 << 16)
def _falling(distance: Fraction) -> tuple[int, int]:
    """Bounds of e^−distance·2^192, for a distance above 0."""
    if distance > 100:
        return 0, _falling(Fraction(100))[1]
    low, high = exponential_bounds(distance, _SCALE)
    return (1 << 2 * _SCALE) // high, -(-(1 << 2 * _SCALE) // low)


def _shifted(value: int, bits: int, side: Side, divisor: int = 1) -> int:
    """value/(divisor·2^bits), rounded towards the side."""
    whole = divisor << bits
    return -(-value // whole) if side == "above" else value // whole


def common_interval(epsilons: Iterable[Fraction]) -> Fraction:
    """A distance of losses that divides every ε, with at least 2^10 of them in their sum, unless that takes over 2^14."""
    all_ = list(epsilons)
    denominator = math.lcm(*(epsilon.denominator for epsilon in all_))
    common = Fraction(math.gcd(*(int(epsilon * denominator) for epsilon in all_)), denominator)
    total = sum(all_, Fraction(0))
    if total / common > _MOST_CELLS:
        return total / _MOST_CELLS
    return common / max(1, -(-_FEWEST_CELLS // math.ceil(total / common)))
