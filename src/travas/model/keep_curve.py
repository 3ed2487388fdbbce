"""The probability that a variant is released, by its number of cases: public, from the parameters of a mechanism alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..trusted.tables import NoiseTable

_POINTS, _ROWS = 160, 15


@dataclass(frozen=True)
class KeepCurve:
    """The probability that a variant of n cases is released: n − `minimum_cases` + 1 ≥ N in one of `runs` draws of N.

    Attributes:
        build: Builds the table of N; called once, when needed.
        longest: An upper bound of the length of the table, known before it is built.
        rungs: On a ladder, the names of the rungs that the curve is about; empty elsewhere.
    """

    build: Callable[[], NoiseTable]
    longest: int
    minimum_cases: int = 1
    runs: int = 1
    rungs: tuple[str, ...] = ()

    @cached_property
    def table(self) -> NoiseTable:
        """The table of N, not verified, which suffices for figures. Sampled tables are verified by `Noise`."""
        return self.build()

    def probability(self, cases: int) -> Fraction:
        """Return the probability that a variant of this many cases is released.

        Args:
            cases: The number of cases of the variant.

        Returns:
            The probability, exactly.
        """
        once = self.table.keep_probability(cases - self.minimum_cases + 1)
        return once if self.runs == 1 else 1 - (1 - once) ** self.runs

    @cached_property
    def centre(self) -> int:
        """c: the constant that is added to n − N, which is also the smallest noisy count of one run."""
        return self.table.centre() + self.minimum_cases - 1

    @property
    def always_kept(self) -> int:
        """The smallest number of cases with which a variant is always released."""
        return self.minimum_cases - 1 + self.table.length

    @property
    def rung(self) -> str:
        """The rung of the curve; empty without a ladder."""
        return self.rungs[0] if len(self.rungs) == 1 else "the selected rung" if self.rungs else ""

    def first_above(self, share: Fraction) -> int:
        """Return the smallest number of cases with which a variant is released with a probability above this one.

        Args:
            share: The probability, below 1.

        Returns:
            The number of cases.
        """
        numbers = range(1, self.always_kept + 1)
        return 1 + bisect_left(numbers, True, key=lambda cases: self.probability(cases) > share)

    def points(self) -> list[tuple[int, float]]:
        """Return the curve as points (cases, probability), up to the first number of cases that is always kept.

        Returns:
            The points, in increasing order of cases.
        """
        first, last = self.first_above(Fraction(1, 1000)), self.always_kept
        start = max(1, min(first - max((last - first) // 8, 2), last))
        cases = {start + (last - start) * step // _POINTS for step in range(_POINTS + 1)}
        return [(number, float(self.probability(number))) for number in sorted({1, last} | cases)]

    def numbers_of_cases(self) -> list[int]:
        """Return up to 15 case counts for a table, from the first that can be kept to the first that always is.

        Returns:
            The case counts, in increasing order.
        """
        first, last = self.first_above(Fraction(0)), self.always_kept
        return sorted({first + round((last - first) * step / (_ROWS - 1)) for step in range(_ROWS)})
