"""Partition selection: noise on the count of every variant that occurs, and a threshold.

Proofs: docs/mechanisms/optimal.md (exactly optimal, the default) and docs/mechanisms/travas.md (TraVaS as in the paper of
Rafiei, Wangelik and van der Aalst, Algorithm 1).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import attrs
import numpy as np

from ..errors import ParameterError, shown
from ..log.log import Log
from ..log.plain import from_plain
from ..releases.estimate import Estimate, KeepCurve, estimate, estimate_of, keep_curve_of
from ..releases.release import VariantRelease
from ..search.person_tables import GaussianTable, joint_table, verified_noise
from ..search.table_builders import check_buildable, optimal_table, travas_table
from ..trusted.guarantee import Guarantee, Standing
from ..trusted.losses import Losses, Step
from ..trusted.numbers import whole_number
from ..trusted.samplers import Integers, RandomBytes
from ..trusted.tables import Noise, NoiseTable
from .mechanism import Mechanism, parameters_of

FEWEST_TOGETHER = 4
"""The number of counts per unit from which one table for all is considered; with fewer, it hardly keeps more."""

PersonTable = GaussianTable | Literal["composed"]
"""The noise of a unit with several counts: a table for all of them together, or one for each with its part of (ε, δ)."""

MAX_MINIMUM_CASES = 10**9


def minimum_number(value: int) -> int:
    """Return the option `minimum_cases`; raises ParameterError if it is not a whole number in its range."""
    return whole_number(value, "minimum_cases", 1, MAX_MINIMUM_CASES, "; 1 means no pre-threshold")


def _person_table(value: PersonTable | Mapping[str, Any] | None) -> PersonTable | None:
    if isinstance(value, Mapping):
        return from_plain(value, GaussianTable, "person_table")
    if value is None or value == "composed" or isinstance(value, GaussianTable):
        return value
    raise ParameterError(f"person_table is {shown(value)}: it must be 'composed' or a table", field="person_table")


@attrs.frozen(slots=False)
class PartitionSelection(Mechanism):
    """Draw an independent N for every variant; keep a variant of n cases iff n ≥ N; its count is n − N + c.

    Input      a log's variants and their true counts
    Output     some of these variants and no others, with noisy counts ≥ c ≥ `minimum_cases`
    Neighbours adding or removing one case changes one count by one; one unit at most `max_cases` counts, each by one
    Guarantee  (ε, δ), verified in exact integers on the table of N; key, count and absence are functions of n − N;
               for several counts of a unit by (ε, δ)/max_cases each, or by one table for all: `person_table`
    `minimum_cases` T shifts N and c by T − 1: the same noise, so the same (ε, δ), and never a variant with fewer cases.
    `person_table` is None for one count; for several, if not set, it is the table that keeps more, by ε, δ and
    `max_cases` alone. It is part of the description, so the rule may change without a description changing its meaning.
    """

    _counted = "units"
    minimum_cases: int = attrs.field(default=1, converter=minimum_number)
    person_table: PersonTable | None = attrs.field(default=None, converter=_person_table, kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        check_buildable(self._step.epsilon, self._step.delta)
        if self.unit.max_cases > 1 and self.person_table is None:
            object.__setattr__(self, "person_table", self._best_table())
        elif self.unit.max_cases == 1 and self.person_table is not None:
            raise ParameterError(
                "person_table is set, but the unit has one count; set a unit with several cases as well",
                field="person_table",
            )

    def _best_table(self) -> PersonTable:
        """The table that keeps more: by ε, δ and `max_cases` alone."""
        if self.unit.max_cases < FEWEST_TOGETHER:
            return "composed"
        return joint_table(self.epsilon, self.delta, self.unit.max_cases, self._build()) or "composed"

    @abstractmethod
    def _build(self) -> NoiseTable:
        """The table of N for one count that changes by one, not yet verified."""

    @cached_property
    def joint(self) -> Noise | None:
        """The noise of a table for all counts of a unit together, verified; None if each count has its part of (ε, δ)."""
        if not isinstance(self.person_table, GaussianTable):
            return None
        return verified_noise(self.person_table, self.epsilon, self.delta, self.unit.max_cases)

    def _table(self) -> NoiseTable:
        return self._build() if self.joint is None else self.joint.table

    @cached_property
    def curve(self) -> KeepCurve:
        return KeepCurve(self._table, self.minimum_cases)

    def keep_probability(self, cases: int) -> Fraction:
        return self.curve.probability(cases)

    @cached_property
    def noise(self) -> Noise:
        """The verified table."""
        return self.joint or Noise(self.curve.table, self._step.epsilon, self._step.delta)

    @property
    def centre(self) -> int:
        """c: the smallest noisy count."""
        return self.curve.centre

    def losses(self) -> Losses:
        """Every count of a unit changes by one."""
        return (Step(self.epsilon, self.delta, self.noise, counts=self.unit.max_cases),)

    def _promise(self) -> Guarantee:
        if self.unit.max_cases == 1 or self.joint is not None:
            return self._guarantee(self.noise.delta_spent, Standing.VERIFIED)
        return self._guarantee(self.noise.delta_spent * self._step.factor, Standing.PROVEN)

    def select(self, counts: Integers, random_bytes: RandomBytes) -> tuple[Integers, Integers]:
        """Return the indexes of the counts that are kept, and their noisy counts. A count of zero is never kept.

        Args:
            counts: The true counts.
            random_bytes: The source of randomness.

        Returns:
            The indexes and the noisy counts.
        """
        drawn = self.noise.draw(len(counts), random_bytes) + (self.minimum_cases - 1)
        kept = np.flatnonzero(counts >= drawn)
        return kept, counts[kept] - drawn[kept] + self.centre

    def _release(self, variants: Log) -> VariantRelease:
        kept, noisy = self.select(variants.counts, self._random_bytes)
        traces = variants.traces(kept.tolist())
        return VariantRelease.of(self, traces, noisy.tolist(), variants.columns, (variants.abstraction,))


@keep_curve_of.register
def _keep_curve(mechanism: PartitionSelection) -> KeepCurve:
    return mechanism.curve


@estimate_of.register
def _estimate(
    mechanism: PartitionSelection, noisy: tuple[int, ...], rungs: tuple[int, ...] = (), cases: int | None = None
) -> Estimate:
    return estimate(mechanism.curve, noisy)


@parameters_of.register
def _parameters(mechanism: PartitionSelection) -> dict[str, Any]:
    return {
        "minimum_cases": mechanism.minimum_cases,
        "table_length": mechanism.noise.table.length,
        "table_bits": 128,
        "centre": mechanism.centre,
    }


@attrs.frozen(slots=False)
class Optimal(PartitionSelection):
    """Keeps a variant of n cases with π(n), the largest probability that any (ε, δ)-DP rule allows.

    >>> float(Optimal(epsilon=2, delta="1/2").keep_probability(1))
    0.5
    """

    _name = "optimal"

    def _build(self) -> NoiseTable:
        return optimal_table(self._step.epsilon, self._step.delta)


@attrs.frozen(slots=False)
class Travas(PartitionSelection):
    """Adds k-TSGD noise X to every count: keep iff n + X > k, release n + X. With N = k + 1 − X: n ≥ N, n − N + k + 1.

    For units of four or more counts X is a truncated discrete Gaussian where that keeps more (`joint`).

    >>> round(float(Travas(epsilon=2, delta="1/2").keep_probability(1)), 5)
    0.10651
    """

    _name = "travas"

    def _build(self) -> NoiseTable:
        return travas_table(self._step.epsilon, self._step.delta)

    @property
    def threshold(self) -> int:
        """k: the threshold that a noisy count must exceed."""
        return self.noise.table.length // 2
