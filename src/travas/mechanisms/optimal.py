"""The default: exactly optimal selection, counts included. Proof: docs/mechanisms/optimal.md."""

from __future__ import annotations

import attrs

from ..search.table_builders import optimal_table
from ..trusted.tables import NoiseTable
from .selection import PartitionSelection


@attrs.frozen(slots=False)
class Optimal(PartitionSelection):
    """Keeps a variant of n cases with π(n), the largest probability that any (ε, δ)-DP rule allows.

    >>> float(Optimal(epsilon=2, delta="1/2").keep_probability(1))
    0.5
    """

    name = "optimal"
    summary = (
        "every variant is kept with the largest probability that any (ε, δ) rule allows; its count gets the same noise"
    )
    proof = "docs/mechanisms/optimal.md"

    def _build(self) -> NoiseTable:
        return optimal_table(self.step.epsilon, self.step.delta)
