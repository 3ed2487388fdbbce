"""How likely a variant is released, by its number of cases: public, from the parameters of a mechanism alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..privacy.tables import Table


@dataclass(frozen=True)
class KeepCurve:
    """The chance that a variant of n cases is released: n − `minimum_cases` + 1 ≥ N in one of `runs` independent draws.

    Attributes:
        build: Builds the table of N; called once, when it is needed.
        longest: An upper bound of the table's length, known before it is built.
        rungs: On a ladder, the names of the rungs that the curve is about; empty elsewhere.
    """

    build: Callable[[], Table]
    longest: int
    minimum_cases: int = 1
    runs: int = 1
    rungs: tuple[str, ...] = ()

    @cached_property
    def table(self) -> Table:
        """The table of N, not verified: a picture needs no more. What is sampled is verified by `Noise`."""
        return self.build()

    def probability(self, cases: int) -> Fraction:
        """The chance that a variant of this many cases is released."""
        once = self.table.keep_probability(cases - self.minimum_cases + 1)
        return once if self.runs == 1 else 1 - (1 - once) ** self.runs

    @cached_property
    def centre(self) -> int:
        """c: what is added back to n − N, and so the least noisy count of one run."""
        return self.table.centre() + self.minimum_cases - 1

    @property
    def always_kept(self) -> int:
        """The smallest number of cases with which a variant is always released."""
        return self.minimum_cases - 1 + self.table.length

    @property
    def rung(self) -> str:
        """The rung that the curve is about, in words; empty where there is no ladder."""
        return self.rungs[0] if len(self.rungs) == 1 else "the rung that was chosen" if self.rungs else ""
