"""From (ε, δ) to the integers of a sequence of Gaussian measurements: contributions and thresholds.

Everything is decided in integers. The result is not trusted: `trusted.stage_check` checks it with
separate code before noise can be drawn. Derivation: docs/mechanisms/synthesis.md, section "Calibration".
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt

from ..errors import ParameterError
from ..trusted.numbers import as_text
from ..trusted.stages import SMOOTHING_VARIANCE, STANDARD_DEVIATION, Calibration, Group, Selection, Stage
from .table_builders import check_delta, exponential_bounds

BITS = 320
FAR = 14
"""Beyond this many standard deviations the tail is bounded by 0 below and by its value here above."""

_GUARD = 192
_MU_BITS = 40
_PI = Fraction(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651"
)
_ROOT = isqrt(math.floor(2 * _PI * (1 << 2 * BITS)))  # √(2π)·2^320, rounded down
_VARIANCE = STANDARD_DEVIATION**2 - SMOOTHING_VARIANCE


@dataclass(frozen=True)
class StagePlan:
    """A stage before calibration.

    Attributes:
        name: A unique name.
        share: Its part of μ².
        selection: How many keys a case has, where keys are selected; None where all cells are public.
        delta_weight: A selection's part of the δ of all selections, relative to the others.
        group: Which cases contribute.
        cells: Where all cells are public, among how many of equal weight what a case adds is divided at most.
    """

    name: str
    share: Fraction
    selection: Selection | None = None
    delta_weight: Fraction = Fraction(1)
    group: Group = "every case"
    cells: int = 1


def split_delta(delta: Fraction) -> tuple[Fraction, Fraction]:
    """δ_G and the δ of all selections together: nine tenths for the noise, the rest for what is selected."""
    spare = delta / (1 << 39)
    return delta * Fraction(9, 10) - spare, delta / 10


def calibrate(epsilon: Fraction, delta: Fraction, plans: tuple[StagePlan, ...], max_cases: int = 1) -> Calibration:
    """Contributions and thresholds for stages that together are (ε, δ)-DP."""
    return Calibration(epsilon, delta, split_delta(delta)[0], stages_of(epsilon, delta, plans, max_cases), max_cases)


def stages_of(
    epsilon: Fraction, delta: Fraction, plans: tuple[StagePlan, ...], max_cases: int = 1
) -> tuple[Stage, ...]:
    """The stages with their contributions and thresholds."""
    check_delta(delta)
    gaussian_delta, selections_delta = split_delta(delta)
    weights = sum(plan.delta_weight for plan in plans if plan.selection is not None)
    mu = largest_mu(epsilon, gaussian_delta)
    stages = []
    for plan in plans:
        contribution = isqrt(math.floor(mu * mu * _VARIANCE * plan.share)) // max_cases
        if contribution**2 < (plan.selection.most if plan.selection else plan.cells):
            raise ParameterError(
                f"epsilon {as_text(epsilon)} and delta {as_text(delta)} with max_cases {max_cases} leave nothing for the "
                f"measurement {plan.name!r}: use a larger epsilon or a smaller max_cases",
                field="epsilon",
            )
        if plan.selection is None:
            stages.append(Stage(plan.name, contribution, group=plan.group))
        else:
            selection_delta = selections_delta * plan.delta_weight / weights
            threshold = least_threshold(contribution, plan.selection, selection_delta, max_cases)
            stages.append(Stage(plan.name, contribution, plan.selection, threshold, selection_delta, plan.group))
    return tuple(stages)


@lru_cache(maxsize=64)
def largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """μ̄: the largest multiple of 2^-40 for which δ_μ(ε) is shown to be at most `delta`."""

    def holds(multiple: int) -> bool:
        return gaussian_delta_above(Fraction(multiple, 1 << _MU_BITS), epsilon) <= delta

    above = 1
    while holds(above):
        above *= 2
    first = bisect_left(range(above), True, lo=above // 2 + 1, key=lambda multiple: not holds(multiple))
    return Fraction(first - 1, 1 << _MU_BITS)


@lru_cache(maxsize=256)
def least_threshold(contribution: int, selection: Selection, delta: Fraction, max_cases: int) -> int:
    """τ: the least integer for which Lemma 4 and Corollary 2 are shown to hold for every number of keys."""

    def holds(threshold: int, keys: int) -> bool:
        weight = max_cases * isqrt(contribution**2 // keys)
        own = keys * _passes(threshold - weight)
        others = (max_cases - 1) * selection.most * _passes(threshold) if max_cases > 1 else Fraction(0)
        return own + others <= delta

    threshold = 0
    for keys in (selection.most, *range(selection.fewest, selection.most)):
        if threshold and holds(threshold, keys):
            continue
        weight = max_cases * isqrt(contribution**2 // keys)
        low, high = max(threshold, weight), weight + FAR * STANDARD_DEVIATION
        threshold = bisect_left(range(high), True, lo=low + 1, key=partial(holds, keys=keys))
    return threshold


def _passes(distance: int) -> Fraction:
    """At least Q(distance/S), the probability that noise lifts a key over a threshold that is this far above it."""
    return Fraction(normal_tail_bounds(Fraction(distance, STANDARD_DEVIATION))[1], 1 << BITS)


def gaussian_delta_above(mu: Fraction, epsilon: Fraction) -> Fraction:
    """At least δ_μ(ε) = Q(ε/μ − μ/2) − e^ε·Q(ε/μ + μ/2)."""
    _, near = normal_tail_bounds(epsilon / mu - mu / 2)
    far, _ = normal_tail_bounds(epsilon / mu + mu / 2)
    growth, _ = exponential_bounds(epsilon, BITS)
    return Fraction(near - (growth * far >> BITS), 1 << BITS)


def normal_tail_bounds(x: Fraction) -> tuple[int, int]:
    """Integers a ≤ b with a/2^320 ≤ Q(x) ≤ b/2^320, where Q is the upper tail of the standard normal distribution.

    Q(x) = 1/2 − φ(x)·Σ_k x^(2k+1)/(1·3·…·(2k+1)) for x ≥ 0; all terms are positive.
    """
    if x < 0:
        low, high = normal_tail_bounds(-x)
        return (1 << BITS) - high, (1 << BITS) - low
    if x > FAR:
        return 0, normal_tail_bounds(Fraction(FAR))[1]
    series = _odd_series_below(x)
    growth_low, growth_high = exponential_bounds(x * x / 2, BITS)
    centre_low = (series << 2 * BITS) // (growth_high * (_ROOT + 1))
    centre_high = -(-((series + 2) << 2 * BITS) // (growth_low * _ROOT))
    half = 1 << (BITS - 1)
    return max(0, half - centre_high), half - centre_low


def _odd_series_below(x: Fraction) -> int:
    """An integer a with a ≤ 2^320·Σ_k x^(2k+1)/(1·3·…·(2k+1)) < a + 2, for 0 ≤ x ≤ 14.

    Every floor loses less than one unit; on its way a loss grows by at most Π x²/(2i + 1) ≤ e^(x²/2) < 2^142. There are
    fewer than 2^12 terms, and each loss is counted in fewer than 2^12 of them: less than 2^166 units are lost. After
    the loop the terms at least halve, so they add less than that again. 192 guard bits make this less than one unit.
    """
    above, below = x.numerator**2, x.denominator**2
    term = (x.numerator << (BITS + _GUARD)) // x.denominator
    total, odd = term, 1
    while term or odd * below < 2 * above:
        odd += 2
        term = term * above // (below * odd)
        total += term
    return total >> _GUARD
