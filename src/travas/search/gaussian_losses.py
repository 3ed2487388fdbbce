"""The privacy losses of Gaussian measurements, for exact composition with other releases.

A sequence of measurements is dominated, in both directions and at every ε, by the product of N(μ, 1) against N(0, 1) and
of a pair that reveals everything with probability δ_T: docs/mechanisms/synthesis.md, section "In the ledger".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ..trusted.numbers import ONE
from .calibration import normal_tail_bounds

_BITS = 160
_POINT_BITS = 96  # cuts are rounded down to multiples of 2^-96
_ROUNDED = 1 << (_BITS - _POINT_BITS)  # at least what that changes of a tail, whose slope is below 1/2
_SHIFT = _BITS - (ONE.bit_length() - 1)
_BEYOND = Fraction(1, 1 << 20)  # of δ: what may be counted as revealed because its loss is too large for the grid


@dataclass(frozen=True)
class GaussianLoss:
    """What a sequence of Gaussian measurements costs.

    Attributes:
        mu: μ, rounded up.
        revealed: δ_T: the probability that a key is published which only one person has.
        delta: δ of the release: determines the range of losses that are distinguished.
    """

    mu: Fraction
    revealed: Fraction
    delta: Fraction

    def pairs(self, interval: Fraction) -> list[tuple[int, int]]:
        """Probabilities of all outcomes with and without one unit, times 2^128; the same list serves for the reverse.

        Args:
            interval: The distance of two losses on the grid. Outcomes are grouped by the cells of this grid: only
                then splitting a group into the two ends of its cell never understates the loss.

        Returns:
            Pairs (p, q): p is rounded up, q down.
        """
        return list(_pairs(self, interval))


@lru_cache(maxsize=16)
def _pairs(loss: GaussianLoss, interval: Fraction) -> tuple[tuple[int, int], ...]:
    reach = _reach(loss, interval)
    tails = {index: _tail(loss.mu, interval, index) for index in range(-reach, reach + 1)}

    def up(high: int, low: int) -> int:
        return max(0, -(-(high - low) >> _SHIFT))

    def down(low: int, high: int) -> int:
        return max(0, (low - high) >> _SHIFT)

    # Q(x_k − μ) = 1 − Q(x_−k), so one list of tails serves for both distributions
    one = 1 << _BITS
    pairs = [(up(tails[reach][1], 0), down(one, tails[-reach][1]))]
    for index in range(-reach, reach):
        p = up(tails[-index - 1][1], tails[-index][0])
        pairs.append((p, down(tails[index][0], tails[index + 1][1])))
    pairs.append((up(one, tails[-reach][0]), 0))
    lost = math.ceil(loss.revealed * ONE) + 1
    rest = ONE - lost
    return (*((-(-p * rest // ONE), q * rest // ONE) for p, q in pairs), (lost, 0), (0, lost))


def _reach(loss: GaussianLoss, interval: Fraction) -> int:
    """The number of cells on each side of 0 after which so little is left that it may count as revealed."""
    reach = 1
    while _tail(loss.mu, interval, -reach)[0] < (1 << _BITS) - math.floor(loss.delta * _BEYOND * (1 << _BITS)):
        reach *= 2
    low = reach // 2
    while reach - low > 1:
        middle = (low + reach) // 2
        beyond = (1 << _BITS) - _tail(loss.mu, interval, -middle)[0]
        low, reach = (low, middle) if beyond <= loss.delta * _BEYOND * (1 << _BITS) else (middle, reach)
    return reach


def _tail(mu: Fraction, interval: Fraction, index: int) -> tuple[int, int]:
    """Bounds of Q(x_k)·2^160 for the cut x_k = (k·h + μ²/2)/μ between losses below and above k·h."""
    point = math.floor((index * interval + mu * mu / 2) / mu * (1 << _POINT_BITS))
    low, high = normal_tail_bounds(Fraction(point, 1 << _POINT_BITS), _BITS)
    return max(0, low - _ROUNDED), high
