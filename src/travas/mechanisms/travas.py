"""TraVaS as the paper has it (Rafiei, Wangelik, van der Aalst, Algorithm 1). Proof: docs/mechanisms/travas.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..privacy.tables import Table, travas_table
from .selection import PartitionSelection


@dataclass(frozen=True)
class Travas(PartitionSelection):
    """k-TSGD noise X on every count: keep iff n + X > k, release n + X. With N = k + 1 − X that is n ≥ N, n − N + k + 1.

    >>> from fractions import Fraction
    >>> round(float(Travas(Fraction(2), Fraction(1, 2)).keep_probability(1)), 5)
    0.10651
    """

    name = "travas"

    def _build(self) -> Table:
        return travas_table(self.step.epsilon, self.step.delta)

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"threshold": self.threshold}

    @property
    def threshold(self) -> int:
        """k: a noisy count must exceed it."""
        return self.noise.table.length // 2
