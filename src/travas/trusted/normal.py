"""Bounds of the normal distribution: its tails, and δ_μ. docs/mechanisms/synthesis.md.

Tails come from the alternating series of the error function in integers of 512 bits.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from .numbers import GROWTH_BITS, growth_bounds
from .stages import SMOOTHING_VARIANCE, STANDARD_DEVIATION

MARGIN = Fraction(1, 10**90)
_FAR = 14

_PI = Decimal("3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679")
_UNITS = 512
_ROOT = math.isqrt(math.floor(2 * Fraction(_PI) * (1 << 2 * _UNITS)))  # √(2π) in units of 2^−512


def mu_above(squares: int) -> Fraction:
    """At least μ for μ² = squares/(S² − r²), the sum of the squares of contributions."""
    variance = STANDARD_DEVIATION**2 - SMOOTHING_VARIANCE
    return Fraction(math.isqrt((squares << 200) // variance) + 1, 1 << 100)


def gaussian_delta(mu: Fraction, epsilon: Fraction) -> Fraction:
    """At least δ_μ(ε); it grows with μ, so μ may be rounded up."""
    near = tail_bounds(epsilon / mu - mu / 2)[1]
    far = tail_bounds(epsilon / mu + mu / 2)[0]
    growth = Fraction(growth_bounds(epsilon)[0], 1 << GROWTH_BITS)
    return max(Fraction(0), near - growth * far)


def tail_bounds(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of Q(x), the upper tail of the standard normal distribution.

    Q(x) = 1/2 − Σ_k (−1)^k·x^(2k+1)/(2^k·k!·(2k+1))/√(2π), in units of 2^−512. For x ≤ 14 the terms add up to less than
    e^98 < 2^142 in size. Every rounding loses at most two units, which grow by at most that factor on their way; there are
    fewer than 2^12 terms, so less than 2^168 units are lost. π is known to 10^−100: all errors together are below 10^−90.
    """
    if x < 0:
        low, high = tail_bounds(-x)
        return 1 - high, 1 - low
    if x > _FAR:
        return Fraction(0), tail_bounds(Fraction(_FAR))[1]
    point = (x.numerator << _UNITS) // x.denominator
    half_square = point * point >> _UNITS + 1
    power, total, index = point, point, 0
    while power:
        index += 1
        power = (power * half_square >> _UNITS) // index
        term = power // (2 * index + 1)
        total += term if index % 2 == 0 else -term
    value = Fraction(1, 2) - Fraction(total, _ROOT)
    return max(Fraction(0), value - MARGIN), value + MARGIN
