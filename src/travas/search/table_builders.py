"""Builders of noise tables. Nothing here is trusted: `trusted.tables` verifies every table before it is sampled.

The mathematics: docs/mechanisms/optimal.md and docs/mechanisms/travas.md.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate

import numpy as np

from ..errors import ParameterError
from ..trusted.numbers import BITS, MIN_DELTA, ONE, as_text
from ..trusted.tables import NoiseTable

MAX_ENTRIES = 5_000_000


_SCALE = 192  # bits after the point of a rational near e^ε


_HALF = 64


_LOW_MASK = (1 << _HALF) - 1


def table_from(boundaries: Iterator[int]) -> NoiseTable:
    """The table with these P[N ≤ j]·2^128, j = 1, 2, …; it ends where they reach one."""
    high, low = array("Q"), array("Q")
    for boundary in boundaries:
        if boundary >= ONE:
            break
        high.append(boundary >> _HALF)
        low.append(boundary & _LOW_MASK)
    return NoiseTable(np.frombuffer(high, dtype=np.uint64).copy(), np.frombuffer(low, dtype=np.uint64).copy())


def exponential_bounds(power: Fraction, bits: int = _SCALE) -> tuple[int, int]:
    """Return integers a < b with a/2^bits ≤ e^power < b/2^bits, by partial sums rounded down; 0 ≤ power ≤ 100.

    Every floor loses less than one unit, and a loss grows by at most e^100 < 2^145 on its way; fewer than 2^12 terms.
    So 192 guard bits keep the sum within one unit of 2^-bits, and b = a + 2 is safe.
    """
    guard = 192
    unit = 1 << (bits + guard)
    total = term = unit
    index = 0
    while term:
        index += 1
        term = term * power.numerator // (power.denominator * index)
        total += term
    below = total >> guard
    return below, below + 2


def predicted_length(epsilon: Fraction, delta: Fraction) -> int:
    """Return an upper bound of the length of the optimal table, before it is built (docs/mechanisms/optimal.md)."""
    rate, share = max(float(epsilon), 1e-300), max(float(delta), 1e-300)
    growth = math.expm1(rate)
    # the logarithm is that of (e^ε+2δ−1)/(δ(e^ε+1)), without cancelling
    turn = 2 / rate * math.log1p(growth * (1 - share) / (share * (growth + 2)))
    return math.ceil(min(turn, 1e18)) + 6


def check_buildable(epsilon: Fraction, delta: Fraction) -> None:
    """Raise ParameterError for parameters that need too large a table, before it is built."""
    check_delta(delta)
    _check_entries(predicted_length(epsilon, delta), epsilon, delta)


def _check_entries(entries: int, epsilon: Fraction, delta: Fraction) -> None:
    if entries > MAX_ENTRIES:
        raise ParameterError(
            f"epsilon {as_text(epsilon)} with delta {as_text(delta)} needs a noise table of about {entries:,} entries, "
            f"over {MAX_ENTRIES:,}: use a larger epsilon",
            field="epsilon",
        )


def check_delta(delta: Fraction) -> None:
    """Raise ParameterError for a δ that a 128-bit table cannot represent."""
    if delta < MIN_DELTA:
        raise ParameterError(
            f"delta is {as_text(delta)}: it must be at least 1e-20, such as 1e-6 (prefix-tree also supports 0)",
            field="delta",
        )


def optimal_table(epsilon: Fraction, delta: Fraction) -> NoiseTable:
    """Build P[N ≤ n] = π(n), the largest keep probability of any (ε, δ)-DP rule (Desfontaines et al. 2022, Theorem 1).

        π(0) = 0,   π(n+1) = min( e^ε·π(n) + δ,   1 − e^−ε·(1 − π(n) − δ),   1 )

    in integers, rounded conservatively. δ is lowered by `slack` to cover the sum of the roundings.
    """
    check_buildable(epsilon, delta)
    growth, above = exponential_bounds(epsilon)
    slack = (predicted_length(epsilon, delta) + 2) * ((above >> _SCALE) + 3)
    step = delta.numerator * ONE // delta.denominator - slack

    def recursion() -> Iterator[int]:
        kept = 0
        while kept < ONE:
            rising = (growth * kept >> _SCALE) + step
            rest = max(ONE - kept - step, 0)
            falling = ONE - -(-(rest << _SCALE) // growth)
            kept = min(rising, falling, ONE)
            yield kept

    return table_from(recursion())


def travas_threshold(epsilon: Fraction, delta: Fraction) -> int:
    """Return k of k-TSGD: the smallest integer with δ·x^k·(x+1) ≥ x + 2δ − 1 at x = e^ε.

    Decided with rational bounds below and above e^ε, tightened until both agree, which happens because e^ε is
    transcendental and equality is impossible.
    """
    check_buildable(epsilon, delta)

    def reached(k: int) -> bool:
        bits = _SCALE
        while True:
            powers = zip(exponential_bounds(k * epsilon, bits), exponential_bounds(epsilon, bits), strict=True)
            (low_power, low), (high_power, high) = ((Fraction(p, 1 << bits), Fraction(x, 1 << bits)) for p, x in powers)
            if delta * low_power * (low + 1) >= high + 2 * delta - 1:
                return True
            if delta * high_power * (high + 1) < low + 2 * delta - 1:
                return False
            bits *= 2

    k = max(1, (predicted_length(epsilon, delta) - 6) // 2)  # the same bound, halved; exact to a few units
    while reached(k - 1):
        k -= 1
    while not reached(k):
        k += 1
    return k


def travas_table(epsilon: Fraction, delta: Fraction) -> NoiseTable:
    """Build N = k + 1 − X for k-TSGD noise X: P[X = x] ∝ e^(−ε|x|), |x| ≤ k (TraVaS, Definition 6 and Algorithm 1).

    Weights are rounded up from the centre outwards, so that no ratio of neighbours exceeds e^ε; the rest goes to the
    centre, which is possible because k-TSGD never spends all of δ.
    """
    growth, _ = exponential_bounds(epsilon)
    return _two_sided(travas_threshold(epsilon, delta), Fraction(1 << _SCALE, growth))


def laplace_table(epsilon: Fraction, delta: Fraction) -> NoiseTable:
    """Build N = k + 1 − X for X with P[X = x] ∝ ((1 − δ)e^−ε)^|x|: the (ε, δ)-Laplace mechanism on integers.

    One count more moves X by one, where a weight is too large for its neighbour by the share δ of it at most. k is so
    large that what lies beyond is below 2^−128. It spends between δ/2 and δ. For public candidates only: a count of
    zero may come out as positive.
    """
    check_delta(delta)
    rate = float(epsilon) - math.log1p(-float(delta))
    steps = math.ceil(min(BITS * math.log(2) / rate, 1e18)) + 1
    _check_entries(2 * steps + 1, epsilon, delta)
    growth, _ = exponential_bounds(epsilon)
    return _two_sided(steps, (1 - delta) * Fraction(1 << _SCALE, growth))


def _two_sided(steps: int, decay: Fraction) -> NoiseTable:
    """Return weights that decrease from the centre by a factor, rounded up; the rest of 2^128 goes to the centre."""
    above, below = decay.numerator, decay.denominator

    def side(centre: int) -> Iterator[int]:
        weight = centre
        for _ in range(steps):
            weight = -(-weight * above // below)
            yield weight

    centre = ONE * ONE // (ONE + 2 * sum(side(ONE)))
    while (over := centre + 2 * sum(side(centre)) - ONE) > 0:
        centre -= over * centre // ONE + 1
    weights = list(side(centre))
    centre = ONE - 2 * sum(weights)
    return table_from(accumulate([*reversed(weights), centre, *weights]))
