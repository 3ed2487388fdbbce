"""Points of a keep curve: how likely a variant is released at some numbers of cases, for pictures and tables."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction

from .mechanism import Mechanism

_POINTS, _ROWS = 160, 15


def keep_points(mechanism: Mechanism) -> list[tuple[int, float]]:
    """(cases, probability to be released), from 1 to the first that is surely kept; none where that says too little."""
    last = mechanism.surely_kept()
    return [] if last is None else sampled(lambda cases: mechanism.keep_probability(cases) or Fraction(0), last)


def sampled(probability: Callable[[int], Fraction], last: int) -> list[tuple[int, float]]:
    """A rising probability from 1 to `last` cases, at no more points than a picture can show."""
    first = 1 + bisect_left(range(1, last + 1), True, key=lambda cases: float(probability(cases)) > 1e-3)
    start = max(1, min(first - max((last - first) // 8, 2), last))
    cases = {start + (last - start) * step // _POINTS for step in range(_POINTS + 1)}
    return [(number, float(probability(number))) for number in sorted({1, last} | cases)]


def numbers_of_cases(mechanism: Mechanism) -> list[int]:
    """A dozen numbers of cases, from the first that can be kept to the first that always is; none where that is unknown."""
    last = mechanism.surely_kept()
    if last is None:
        return []
    first = 1 + bisect_left(range(1, last + 1), True, key=lambda cases: bool(mechanism.keep_probability(cases)))
    return sorted({first + round((last - first) * step / (_ROWS - 1)) for step in range(_ROWS)})
