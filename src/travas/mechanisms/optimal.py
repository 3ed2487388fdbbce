"""The default: exactly optimal selection, counts included. Proof: docs/mechanisms/optimal.md."""

from __future__ import annotations

from dataclasses import dataclass

from ..privacy.tables import Table, optimal_table
from .selection import PartitionSelection


@dataclass(frozen=True)
class Optimal(PartitionSelection):
    """Keeps a variant of n cases with π(n), the largest probability any (ε, δ)-DP rule can give it.

    >>> from fractions import Fraction
    >>> float(Optimal(Fraction(2), Fraction(1, 2)).keep_probability(1))
    0.5
    """

    name = "optimal"

    def _build(self) -> Table:
        return optimal_table(self.step.epsilon, self.step.delta)
