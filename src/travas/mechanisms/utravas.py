"""uTraVaS: merges several TraVaS runs on shares of the budget (supplement of the paper). Proof: docs/mechanisms/utravas.md."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from ..errors import ParameterError
from ..log.log import Log
from ..releases.estimate import Estimate, KeepCurve, estimate_of, keep_curve_of, measured
from ..releases.release import VariantRelease
from ..trusted.guarantee import Guarantee, Standing
from ..trusted.losses import Losses, Step
from ..trusted.numbers import whole_number
from ..trusted.samplers import Integers, RandomBytes
from .mechanism import Mechanism, parameters_of
from .selection import Travas

MOST_SPLITS = 10
"""The maximum number of splits."""

_SIZES = 1000  # case counts that the rule for the number of splits considers


def _splits(value: int) -> int:
    return whole_number(value, "splits", 1, 100)


@attrs.frozen(slots=False)
class UTravas(Mechanism):
    """Run TraVaS `splits` times at (ε/splits, δ/splits); release the union of what was kept, with mean frequencies.

    Input      a log's variants and their true counts
    Output     some of these variants and no others; a run that dropped a variant contributes the paper's estimate
    Neighbours adding or removing one case changes one count by one, in every run; one unit at most `max_cases` counts
    Guarantee  (ε, δ) by composition of verified runs: the number of splits is set, or follows from (ε, δ) alone
    """

    _name = "utravas"
    _counted = "units"

    splits: int = attrs.field(converter=_splits)

    @splits.default
    def _best_splits(self) -> int:
        return best_splits(self._step.epsilon, self._step.delta)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        _ = self.run  # raises if it cannot be built

    @cached_property
    def run(self) -> Travas:
        """One of the equal runs."""
        return Travas(self._step.epsilon / self.splits, self._step.delta / self.splits)

    def losses(self) -> Losses:
        """All runs of all counts."""
        return (Step(self.epsilon, self.delta, self.run.noise, counts=self.unit.max_cases * self.splits),)

    def _promise(self) -> Guarantee:
        return self._guarantee(self.splits * self.run.noise.delta_spent * self._step.factor, Standing.PROVEN)

    def _release(self, variants: Log) -> VariantRelease:
        kept, mean = merged_runs(self.run, self.splits, variants.counts, self._random_bytes)
        traces = variants.traces(kept.tolist())
        return VariantRelease.of(self, traces, mean.tolist(), variants.columns, (variants.abstraction,))


@keep_curve_of.register
def _keep_curve(mechanism: UTravas) -> KeepCurve:
    curve = mechanism.run.curve
    return replace(curve, build=lambda: curve.table, runs=mechanism.splits)


@parameters_of.register
def _parameters(mechanism: UTravas) -> dict[str, Any]:
    run = mechanism.run
    of_a_run = {f"run_{name}": value for name, value in parameters_of(run).items() if name != "minimum_cases"}
    return {"splits": mechanism.splits, **of_a_run, "dropped_counts_as": round(float(dropped_estimate(run)), 6)}


@estimate_of.register
def _estimate(
    mechanism: UTravas, noisy: tuple[int, ...], rungs: tuple[int, ...] = (), cases: int | None = None
) -> Estimate:
    """Return the means as estimates. A kept count is at most k away; a variant of over 2k cases is kept in every run.

    So a true count n lies, for certain, between mean − k (if the mean exceeds what a dropped run counts as, else 1)
    and the larger of mean + k and 2k; one more on either side for the rounding.
    """
    threshold, dropped = mechanism.run.threshold, dropped_estimate(mechanism.run)
    intervals = (
        (max(1, count - threshold - 1 if count > dropped + 1 else 1), max(2 * threshold, count + threshold + 1))
        for count in noisy
    )
    return measured(noisy, tuple(intervals))


def merged_runs(run: Travas, splits: int, counts: Integers, random_bytes: RandomBytes) -> tuple[Integers, Integers]:
    """Return the indexes of the variants that some run kept, and their mean frequencies as whole numbers ≥ 1."""
    total = np.zeros(len(counts))
    times = np.zeros(len(counts), dtype=np.int64)
    for _ in range(splits):
        drawn = run.noise.draw(len(counts), random_bytes)
        kept = counts >= drawn
        times += kept
        total += np.where(kept, counts - drawn + run.centre, dropped_estimate(run))
    indexes = np.flatnonzero(times)
    return indexes, np.maximum(np.rint(total[indexes] / splits), 1).astype(np.int64)


def dropped_estimate(run: Travas) -> float:
    """Return the estimate for a run that dropped a variant: Σ j·P[X ≤ k−j] / Σ P[X ≤ k−j], j = 1..2k (the paper's E).

    P[X ≤ k−j] = P[N ≥ j + 1] is the probability that a variant of j cases is dropped; at k = 0 nothing is dropped twice.
    """
    table = run.noise.table
    dropped = 1 - (table.high + table.low / 2.0**64) / 2.0**64  # of 1, 2, …, length − 1 = 2k cases
    return float((dropped * np.arange(1, len(dropped) + 1)).sum() / dropped.sum()) if len(dropped) else 0.0


def best_splits(epsilon: Fraction, delta: Fraction) -> int:
    """Return the number of splits that keeps most variants of a log that follows Zipf's law, n^−2 variants of n cases.

    It depends only on ε and δ. Splitting helps because ⌈ ⌉ in the threshold of TraVaS wastes part of every δ.
    """
    cases = np.arange(1, _SIZES + 1)

    def kept(splits: int) -> float:
        try:
            once = Travas(epsilon / splits, delta / splits).curve.kept(cases)
        except ParameterError:
            return 0.0  # of one split: refused with its own message elsewhere
        return float(((1 - (1 - once) ** splits) / cases**2).sum())

    return max(range(1, MOST_SPLITS + 1), key=kept)
