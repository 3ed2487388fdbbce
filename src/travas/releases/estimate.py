"""Estimates from noisy counts, by post-processing only. Derivation, bias and variance: docs/mechanisms/frequencies.md.

The only inputs are the released noisy counts and public constants of the mechanism, so nothing here costs privacy and
floats may be used.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from ..trusted.samplers import Floats, Integers
from ..trusted.tables import NoiseTable

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism


@dataclass(frozen=True)
class KeepCurve:
    """The probability that a variant of n cases is released: n − `minimum_cases` + 1 ≥ N in one of `runs` draws of N.

    Attributes:
        build: Builds the table of N; called once, when needed.
        rungs: On a ladder, the names of the rungs that the curve is about; empty elsewhere.
    """

    build: Callable[[], NoiseTable]
    minimum_cases: int = 1
    runs: int = 1
    rungs: tuple[str, ...] = ()

    @cached_property
    def table(self) -> NoiseTable:
        """The table of N, not verified, which suffices for figures. Sampled tables are verified by `Noise`."""
        return self.build()

    def probability(self, cases: int) -> Fraction:
        """Return the probability that a variant of this many cases is released."""
        once = self.table.keep_probability(cases - self.minimum_cases + 1)
        return once if self.runs == 1 else 1 - (1 - once) ** self.runs

    @cached_property
    def centre(self) -> int:
        """c: the constant that is added to n − N, which is also the smallest noisy count of one run."""
        return self.table.centre() + self.minimum_cases - 1

    @cached_property
    def _chances(self) -> Floats:
        """The table in floats, from no case on."""
        return np.concatenate(([0.0], (self.table.high + self.table.low / 2.0**64) / 2.0**64, [1.0]))

    def _index(self, cases: Integers) -> Integers:
        return np.clip(cases - self.minimum_cases + 1, 0, self.table.length)

    def kept(self, cases: Integers) -> Floats:
        """Return π in one run, in floats: the probability that a variant of `cases` cases is released."""
        return self._chances[self._index(cases)]

    def kept_up_to(self, cases: Integers) -> Floats:
        """Return Σ π(n) over n ≤ cases."""
        return np.cumsum(self._chances)[self._index(cases)] + np.maximum(cases - self.always_kept, 0)

    @property
    def always_kept(self) -> int:
        """The smallest number of cases with which a variant is always released."""
        return self.minimum_cases - 1 + self.table.length

    @property
    def rung(self) -> str:
        """The rung of the curve; empty without a ladder."""
        return self.rungs[0] if len(self.rungs) == 1 else "the selected rung" if self.rungs else ""

    def first_above(self, share: Fraction) -> int:
        """Return the smallest number of cases with which a variant is released with a probability above this one."""
        numbers = range(1, self.always_kept + 1)
        return 1 + bisect_left(numbers, True, key=lambda cases: self.probability(cases) > share)

    def points(self) -> list[tuple[int, float]]:
        """Return up to 15 points (cases, probability), from the first that can be kept to the first that always is."""
        first, last = self.first_above(Fraction(0)), self.always_kept
        cases = sorted({first + round((last - first) * step / 14) for step in range(15)})
        return [(each, float(self.probability(each))) for each in cases]


Interval = tuple[float, float]

CONFIDENCE = 0.95
ZIPF = (2.0, 0.5)  # prior of the exponent of the number of variants with n cases: Zipf's law, and how far from it
EXPONENTS = [1.05 + 0.05 * step for step in range(60)]
EXTRA_SINGLES = (0.0, 1.0, 3.0, 9.0)  # κ: single cases beyond the power law, as multiples of it; prior ∝ 1/(1 + κ)
MANY_SINGLES = 27.0  # a κ that only intervals account for
SHARED_BELOW = 10.0  # if about this many rare variants are kept, half of the missing mass is shared by all kept ones
MOST_THRESHOLDS = 10  # a kept variant represents missing cases of at most this many thresholds
FREQUENT = 2000  # counts that are larger than the smallest one by more than this are not changed by the prior
_FINE, _COARSE = 300, 600  # cells of the number of cases: single numbers, then steps of equal ratio


@dataclass(frozen=True)
class Estimate:
    """What can be estimated about the log from noisy counts. All intervals are 95 % intervals.

    `counts`: the expected true count of each variant. `intervals`: intervals of the true counts; None if unknown.
    `spread`: whole numbers ≥ 1 that add up to the estimated size of the log: each has a share of the missing cases.
    `missing_cases`: cases of the log, of variants with at least `minimum_cases`, that are not released; None if nothing was
    released, or they cannot be estimated. `is_measured`: whether they follow from a noisy number of all cases.
    """

    counts: tuple[float, ...]
    intervals: tuple[tuple[int, int], ...] | None
    spread: tuple[int, ...]
    missing_cases: float | None = None
    missing_cases_interval: Interval | None = None
    is_measured: bool = False

    @cached_property
    def own(self) -> tuple[int, ...]:
        """The expected true count of each variant, as a whole number ≥ 1."""
        return tuple(max(1, round(count)) for count in self.counts)


def estimate(curve: KeepCurve, noisy: tuple[int, ...], missing: float | None = None) -> Estimate:
    """Estimate counts and missing cases from the noisy counts of a release.

    If the number of `missing` cases is known from a noisy total, it is only distributed.
    """
    if not noisy:
        return Estimate((), (), ())
    released = np.array(noisy, dtype=np.int64)
    values, index, times = np.unique(released, return_inverse=True, return_counts=True)
    posterior, weights, cases = _posterior(curve, values, times)
    counts = np.where(released > curve.centre + FREQUENT, released, posterior[index])
    weights = weights[index]
    witnesses = weights.sum() ** 2 / (weights**2).sum() if weights.any() else 0.0
    if missing is None:
        missing = float(min(cases[1], MOST_THRESHOLDS * len(noisy) * curve.centre) * witnesses / (witnesses + 1))
    trust = witnesses / (witnesses + SHARED_BELOW)
    spread = min(1.0, 2 * missing / (missing + float(counts.sum())))
    shares = (1 - trust) * (spread / len(noisy) + (1 - spread) * counts / counts.sum())
    if weights.any():
        shares += trust * weights / weights.sum()
    return Estimate(
        counts=tuple(counts.tolist()),
        intervals=intervals(curve, noisy),
        spread=_whole(counts + missing * shares),
        missing_cases=missing,
        missing_cases_interval=_interval(cases, missing, len(noisy)),
    )


def measured(noisy: tuple[int, ...], intervals: tuple[tuple[int, int], ...] | None) -> Estimate:
    """Return the noisy counts unchanged, for mechanisms whose noise does not depend on how rare a variant is."""
    return Estimate(tuple(map(float, noisy)), intervals, noisy)


@singledispatch
def keep_curve_of(mechanism: Mechanism) -> KeepCurve | None:
    """The probability of release by case count; None if it depends on more than the case count."""
    return None


@singledispatch
def estimate_of(
    mechanism: Mechanism, noisy: tuple[int, ...], rungs: tuple[int, ...] = (), cases: int | None = None
) -> Estimate:
    """True counts, estimated from noisy ones, the index of the rung of each, and the noisy number of cases, if known."""
    return measured(noisy, None)


Quantiles = tuple[float, float, float]
"""The lower end of the 95 % interval of a posterior, its median, and the upper end."""


def _posterior(curve: KeepCurve, values: Integers, times: Integers) -> tuple[Floats, Floats, Quantiles]:
    """The posterior under the prior G(n) ∝ n^−s with excess single cases; s and the excess are integrated on a grid.

    Of every value the mean true count and the mean number of missing cases for which it stands; of the log the missing cases.
    """
    below = values - curve.centre  # n − N, which is what a noisy count reveals
    edges = _cells(curve.minimum_cases, int(below.max()) + curve.always_kept)
    low, high = edges[:-1] + 1, edges[1:]
    width, cases = high - low + 1, (low + high) / 2
    kept = (curve.kept_up_to(high) - curve.kept_up_to(low - 1)) / width
    seen = (curve.kept(high - below[:, None]) - curve.kept(low - 1 - below[:, None])) / width  # P[value | n]
    exponents = np.array(EXPONENTS)[:, None]
    prior = cases**-exponents * width  # variants with n cases: one row per exponent
    tail = (high[-1] + 0.5) ** (1 - exponents) / (exponents - 1)
    single, extra = prior[:, :1], np.array((*EXTRA_SINGLES, MANY_SINGLES))
    likely = (prior @ seen.T)[:, None, :] + (single * extra)[:, :, None] * seen[:, 0]
    released = prior @ kept[:, None] + tail + single * extra * kept[0]  # expected variants released, per unit of G
    fit = (np.log(np.maximum(likely, 1e-300)) * times).sum(axis=-1) - times.sum() * np.log(released)
    fit -= (exponents - ZIPF[0]) ** 2 / (2 * ZIPF[1] ** 2) + np.log1p(extra)
    cautious = np.exp(fit - fit.max())
    chance = np.where(extra == MANY_SINGLES, 0, cautious)
    chance /= chance.sum()
    scale = times.sum() / released  # the multiple of G that explains the number of released variants
    missing = (prior @ ((1 - kept) * cases)[:, None] + single * extra * (1 - kept[0]) * cases[0]) * scale
    mixed = (chance / released).sum(axis=1) @ prior
    mixed[0] += ((chance / released) @ extra) @ single[:, 0]
    joint = seen * mixed
    joint /= joint.sum(axis=1, keepdims=True)
    unseen = cases * (1 - kept) / np.maximum(kept, 1e-300)  # cases missing for each one that is kept
    return joint @ cases, joint @ unseen, _quantiles(chance, cautious, missing)


def _quantiles(chance: Floats, cautious: Floats, values: Floats) -> Quantiles:
    """Return the median of one posterior with the interval of the more conservative one."""
    order = np.argsort(values, axis=None)

    def quantile(weights: Floats, level: float) -> float:
        sums = np.cumsum(weights.ravel()[order])
        return float(values.ravel()[order[min(int(np.searchsorted(sums, level * sums[-1])), values.size - 1)]])

    tail = (1 - CONFIDENCE) / 2
    return quantile(cautious, tail), quantile(chance, 0.5), quantile(cautious, 1 - tail)


def _interval(quantiles: Quantiles, estimate: float, released: int) -> Interval:
    """The interval, given the number of released variants; extended to contain the estimate."""
    spread = math.exp(1.96 * math.sqrt(math.log1p(1 / released)))
    return min(quantiles[0] / spread, estimate), max(quantiles[2] * spread, estimate)


def _cells(least: int, most: int) -> Integers:
    """Return the edges of the cells of the number of cases: single numbers first, then steps of equal ratio."""
    fine = min(least + _FINE, most)
    coarse = np.round(np.geomspace(fine, most, _COARSE)).astype(np.int64)
    return np.unique(np.concatenate((np.arange(least - 1, fine + 1), coarse)))


def intervals(curve: KeepCurve, noisy: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The 95 % interval of every noisy count: the true counts n under which it is not among the 2.5 % extreme on either side.

    Given that it is kept, N ≤ n has the distribution π(j)/π(n). As π is log-concave, both tails are monotone in n, so
    the counts that are not rejected are an interval, computed by bisection; its coverage is at least 95 %.
    """
    level = (1 - CONFIDENCE) / 2
    values, index = np.unique(np.array(noisy, dtype=np.int64), return_inverse=True)
    below = values - curve.centre
    first = below + curve.minimum_cases
    last = below + curve.always_kept + 1

    def least_with(holds: Any) -> Integers:
        low, high = first.copy(), last.copy()
        while (open_ := low < high).any():
            middle = (low + high) // 2
            accepted = holds(middle)
            high = np.where(open_ & accepted, middle, high)
            low = np.where(open_ & ~accepted, middle + 1, low)
        return low

    lower = least_with(lambda n: curve.kept(n - below) > level * curve.kept(n))
    beyond = least_with(lambda n: curve.kept(n - below - 1) >= (1 - level) * curve.kept(n))
    upper = np.maximum(beyond - 1, lower)
    return tuple(zip(lower[index].tolist(), upper[index].tolist(), strict=True))


def _whole(values: Floats) -> tuple[int, ...]:
    """Round values of 1 or more to whole numbers with the same rounded total, by largest remainders."""
    whole = np.maximum(np.floor(values), 1).astype(np.int64)
    short = round(float(values.sum())) - int(whole.sum())
    whole[np.argsort(whole - values, kind="stable")[: max(short, 0)]] += 1
    return tuple(whole.tolist())
