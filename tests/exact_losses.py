"""Privacy losses of noise tables output by output, in exact integers, by code that shares nothing with the library."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np
from scipy.stats import binom, norm

from travas.trusted.numbers import ONE
from travas.trusted.tables import Noise, NoiseTable

Chances = dict[int | None, int]
"""What may come out of a count, times 2^128; None is "absent"."""
FALSE_ALARM = 1e-9


def growth_below(epsilon: Fraction) -> Fraction:
    """A fraction below e^ε."""
    with localcontext() as context:
        context.prec = 90
        return Fraction((Decimal(epsilon.numerator) / epsilon.denominator).exp() * (1 - Decimal("1e-85")))


def table_of(boundaries: Sequence[int]) -> NoiseTable:
    high, low = [b >> 64 for b in boundaries], [b & (2**64 - 1) for b in boundaries]
    return NoiseTable(np.array(high, dtype=np.uint64), np.array(low, dtype=np.uint64))


def unverified(table: NoiseTable) -> Noise:
    noise = object.__new__(Noise)
    object.__setattr__(noise, "table", table)
    return noise


def weights_of(table: NoiseTable) -> list[int]:
    return [above - below for below, above in pairwise([0, *table.boundaries()])]


def outputs(weights: Sequence[int], cases: int, least: int = 1) -> Chances:
    """Of a number of cases, with noise of these weights from `least` on."""
    chances: Chances = {}
    for drawn, weight in enumerate(weights, start=least):
        output = cases - drawn if cases >= drawn else None
        chances[output] = chances.get(output, 0) + weight
    return chances


def excess(with_unit: list[Chances], without: list[Chances], growth: Fraction) -> Fraction:
    """The larger hockey-stick distance between two products of independent outputs: the least δ at this e^ε."""
    scale, worst = ONE ** len(without), Fraction(0)
    for one, other in ((with_unit, without), (without, with_unit)):
        total = 0
        for output in product(*one):
            p = prod(chances[o] for chances, o in zip(one, output, strict=True))
            q = prod(chances.get(o, 0) for chances, o in zip(other, output, strict=True))
            total += max(0, growth.denominator * p - growth.numerator * q)
        worst = max(worst, Fraction(total, growth.denominator * scale))
    return worst


def are_as_likely(observed: Any, probabilities: Any) -> bool:
    """Whether every bin is hit as often as it should be: exact binomial tests, Bonferroni over the bins."""
    alpha, draws = FALSE_ALARM / (2 * len(probabilities)), int(np.sum(observed))
    below, above = binom.cdf(observed, draws, probabilities), binom.sf(observed - 1, draws, probabilities)
    return bool(min(below.min(), above.min()) >= alpha)


def is_standard_normal(drawn: Any) -> bool:
    """Whether mean and variance of these draws are those of the standard normal distribution."""
    bound = norm.isf(FALSE_ALARM / 4)
    return bool(
        abs(drawn.mean()) * len(drawn) ** 0.5 < bound and abs(drawn.var() - 1) * (len(drawn) / 2) ** 0.5 < bound
    )
