"""Partition selection: noise on the count of every variant that occurs, and a threshold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..model.estimate import Estimate, estimate
from ..model.mechanism import Mechanism
from ..model.release import Release
from ..model.variants import Variants
from ..privacy.guarantee import Guarantee, Standing
from ..privacy.noise import Noise, RandomBytes
from ..privacy.tables import Table, check_buildable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_MINIMUM_CASES = 10**9


@dataclass(frozen=True)
class PartitionSelection(Mechanism):
    """Draw an independent N for every variant; keep a variant of n cases iff n ≥ N; its count is n − N + c.

    Input      a log's variants and their true counts
    Output     some of these variants, never another, with noisy counts ≥ c ≥ `minimum_cases`
    Neighbours one case more or less changes one count by one; one unit at most `max_cases` counts, each by one
    Guarantee  (ε, δ), verified in exact integers on the table of N; key, count and absence are functions of n − N
    `minimum_cases` T shifts N and c by T − 1: the same noise, so the same (ε, δ), and never a variant of fewer cases.
    """

    options = ("minimum_cases",)
    counted = "units"

    minimum_cases: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        least = self.minimum_cases
        if isinstance(least, bool) or not isinstance(least, int) or not 1 <= least <= MAX_MINIMUM_CASES:
            raise ParameterError(
                f"minimum_cases is {least!r}: it must be a whole number from 1 (no pre-threshold) to {MAX_MINIMUM_CASES:,}"
            )
        check_buildable(self.step.epsilon, self.step.delta)

    @abstractmethod
    def _build(self) -> Table:
        """The table of N, not yet verified."""

    @cached_property
    def noise(self) -> Noise:
        """The verified table."""
        return Noise(self._build(), self.step.epsilon, self.step.delta)

    @cached_property
    def centre(self) -> int:
        """c: the least noisy count."""
        return self.noise.table.centre() + self.minimum_cases - 1

    def keep_probability(self, cases: int) -> Fraction:
        """The chance that a variant of so many cases is released."""
        return self.noise.table.keep_probability(cases - self.minimum_cases + 1)

    def surely_kept(self) -> int:
        return self.minimum_cases - 1 + self.noise.table.length

    def guarantee(self) -> Guarantee:
        return self._guarantee(self.noise.delta_spent, Standing.VERIFIED)

    def tables(self) -> tuple[Noise, ...]:
        return (self.noise,)

    def parameters(self) -> dict[str, Any]:
        return {
            "minimum_cases": self.minimum_cases,
            "table_length": self.noise.table.length,
            "table_bits": 128,
            "centre": self.centre,
        }

    def estimate(self, noisy: tuple[int, ...]) -> Estimate:
        return estimate(self, noisy)

    def select(
        self, counts: NDArray[np.int64], random_bytes: RandomBytes
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the counts that are kept, and their noisy counts. A count of zero never is."""
        import numpy as np

        drawn = self.noise.draw(len(counts), random_bytes) + (self.minimum_cases - 1)
        kept = np.flatnonzero(counts >= drawn)
        return kept, counts[kept] - drawn[kept] + self.centre

    def _release(self, variants: Variants) -> Release:
        kept, noisy = self.select(variants.counts, self.random_bytes)
        traces = tuple(variants.traces(kept.tolist()))
        return Release(self, traces, tuple(noisy.tolist()), variants.columns, abstractions=(variants.abstraction,))
