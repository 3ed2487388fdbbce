"""The exact verifier for a person with several counts: δ of a table when several counts change by one each.

It shares no code with the builder of such tables and assumes nothing about their shape. All arithmetic is on integers, and
every rounding makes δ larger. Lemmas: docs/mechanisms/persons.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Inexact, InvalidOperation, Overflow, Rounded
from fractions import Fraction

from .numbers import BITS, ONE

_SCALE = 192  # bits after the point of ratios
_UNIT = 1 << _SCALE
_SLOT = 78  # decimal digits of a coefficient of a product of two distributions: at most 2^256
_TRIMMED = 1 << 14  # at most δ / 2^14 may be lost by cutting the ends of a convolution
_CELLS, _MOST_CELLS = 20_000, 80_000  # of a convolution; beyond, neighbouring noise shares a cell
_COARSE = 64  # sharing cells costs up to one part in twice as many of ε, more only to stay below _MOST_CELLS

_EXACT = Context(
    prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, Rounded, Overflow, InvalidOperation]
)  # its multiplication is fast (a number-theoretic transform) and here raises rather than rounds


@dataclass(frozen=True)
class _Sums:
    """Lower bounds of P[sum = lowest + i]·2^128, i = 0, 1, …"""

    lowest: int
    masses: list[int]

    def trimmed(self, spare: int) -> _Sums:
        """Without the ends, each of at most this mass."""
        start, stop = 0, len(self.masses)
        lost = 0
        while start < stop and (lost := lost + self.masses[start]) <= spare:
            start += 1
        lost = 0
        while stop > start and (lost := lost + self.masses[stop - 1]) <= spare:
            stop -= 1
        return _Sums(self.lowest + start, self.masses[start:stop])

    def plus(self, other: _Sums) -> _Sums:
        """The sum of two independent ones: one product of long decimal numbers (Kronecker), rounded down."""
        if not self.masses or not other.masses:
            return _Sums(0, [])
        masses = [coefficient >> BITS for coefficient in exact_product(self.masses, other.masses)]
        return _Sums(self.lowest + other.lowest, masses)


def exact_product(first: list[int], second: list[int]) -> list[int]:
    """The convolution of two lists of masses below 2^128 with sums of at most about 2^128: exact, in units of 2^-256."""
    slots = len(first) + len(second) - 1
    product = _EXACT.multiply(*(_EXACT.create_decimal(_packed(masses)) for masses in (first, second)))
    digits = str(product).zfill(slots * _SLOT)
    return [int(digits[start : start + _SLOT]) for start in range(0, slots * _SLOT, _SLOT)]


def _packed(masses: list[int]) -> str:
    return "".join(f"{mass:0{_SLOT}d}" for mass in masses)


def composed_delta(weights: Sequence[int], epsilon_growth: int, delta: Fraction, counts: int) -> Fraction:
    """An upper bound of δ at ε if `counts` counts, each with its own noise N, change by one each, or fewer.

    Args:
        weights: P[N = j]·2^128, j = 1, 2, …; not negative, with the sum 2^128.
        epsilon_growth: At most e^ε·2^192.
        delta: The δ hoped for: how finely to compute.
        counts: How many counts change at most.

    Returns:
        The larger bound of both directions: one person more, one person less (Lemmas 1 to 4).
    """
    spare = delta.numerator * ONE // (delta.denominator * _TRIMMED * counts)
    upwards, downwards = list(weights), list(reversed(weights))
    bound = _direction(upwards, epsilon_growth, counts, spare)
    return bound if upwards == downwards else max(bound, _direction(downwards, epsilon_growth, counts, spare))


def _direction(weights: list[int], growth: int, counts: int, spare: int) -> Fraction:
    """1 − Σ P·min(1, e^ε·Q/P): P the probability of a tuple of noise, Q the one with every noise shifted by one.

    Tuples with an N at which Q/P is zero are left out of the sum, as is what rounding and trimming lose: they count as
    if they revealed everything. For the others Q/P ≥ 1/(A^counts·g^sum), by cells (Lemma 3).
    """
    centre = len(weights) // 2
    fall = _fall(weights, centre)
    width = _width(len(weights), fall, growth, counts)
    decay = max(fall**width >> _SCALE * (width - 1), 1)  # g·2^192
    cells = [(index - centre) // width for index in range(len(weights))]
    finite = [index for index in range(1, len(weights)) if weights[index - 1]]
    masses = [0] * (cells[-1] - cells[0] + 1)
    for index in finite:
        masses[cells[index] - cells[0]] += weights[index]
    ratio = _largest_ratio(weights, cells, finite, decay)
    sums = _power(_Sums(cells[0], masses), counts, spare)
    value = (growth << _SCALE * counts) // ratio**counts  # at most e^ε/A^counts, and below: over g^sum
    for _ in range(-sums.lowest):
        value = value * decay >> _SCALE
    for _ in range(sums.lowest):
        value = (value << _SCALE) // decay
    safe = 0
    for mass in sums.masses:
        safe += mass * min(value, _UNIT)
        value = (value << _SCALE) // decay
    return 1 - Fraction(safe, ONE << _SCALE)


def _fall(weights: list[int], centre: int) -> int:
    """By how much the ratio of neighbours falls from j to j + 1, times 2^192, at most 1: any number is right, this one fits."""
    before, middle, after = (weights[j] if 0 <= j < len(weights) else 0 for j in range(centre - 1, centre + 2))
    return before * after * _UNIT // (middle * middle) if 0 < before * after <= middle * middle else _UNIT


def _width(length: int, fall: int, growth: int, counts: int) -> int:
    """How many neighbouring N share a cell: one, unless the table is long. Any number is right."""
    cells = 3 * length * math.isqrt(counts) // 2
    epsilon = math.log(growth / _UNIT)
    free = epsilon / (_COARSE * counts * max(1 - fall / _UNIT, 1e-18))
    return 1 + max(min(cells // _CELLS, math.floor(free)), cells // _MOST_CELLS)


def _largest_ratio(weights: list[int], cells: list[int], finite: list[int], decay: int) -> int:
    """A·2^192, rounded up: the least A with w(j) ≤ A·g^cell·w(j − 1) wherever w(j − 1) is not zero."""
    powers = {0: _UNIT}  # at least g^−cell
    for cell in range(1, cells[-1] + 1):
        powers[cell] = -(-(powers[cell - 1] << _SCALE) // decay)
    for cell in range(-1, cells[0] - 1, -1):
        powers[cell] = -(-powers[cell + 1] * decay >> _SCALE)
    ratios = (-(-weights[index] * powers[cells[index]] // weights[index - 1]) for index in finite)
    return max(max(ratios, default=0), 1)


def _power(once: _Sums, counts: int, spare: int) -> _Sums:
    """Return the distribution of the sum of independent copies."""
    total = once = once.trimmed(spare)
    for bit in f"{counts:b}"[1:]:
        total = total.plus(total).trimmed(spare)
        if bit == "1":
            total = total.plus(once).trimmed(spare)
    return total
