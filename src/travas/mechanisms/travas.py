"""TraVaS as in the paper (Rafiei, Wangelik, van der Aalst, Algorithm 1). Proof: docs/mechanisms/travas.md."""

from __future__ import annotations

from typing import Any

import attrs

from ..search.table_builders import travas_table
from ..trusted.tables import NoiseTable
from .selection import PartitionSelection


@attrs.frozen(slots=False)
class Travas(PartitionSelection):
    """Adds k-TSGD noise X to every count: keep iff n + X > k, release n + X. With N = k + 1 − X: n ≥ N, n − N + k + 1.

    For units of four or more counts X is a truncated discrete Gaussian where that keeps more (`joint`).

    >>> round(float(Travas(epsilon=2, delta="1/2").keep_probability(1)), 5)
    0.10651
    """

    name = "travas"
    summary = (
        "k-TSGD noise on the count of every variant and a threshold (Rafiei, Wangelik, van der Aalst, Algorithm 1)"
    )
    proof = "docs/mechanisms/travas.md"

    def _build(self) -> NoiseTable:
        return travas_table(self.step.epsilon, self.step.delta)

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"threshold": self.threshold}

    @property
    def threshold(self) -> int:
        """k: the threshold that a noisy count must exceed."""
        return self.noise.table.length // 2
