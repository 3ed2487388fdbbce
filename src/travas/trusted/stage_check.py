"""The verifier of Gaussian measurements: recomputes every inequality of the theorem and refuses what does not hold.

It shares no code with the calibration. Theorem and lemmas: docs/mechanisms/synthesis.md; Theorem 2: `branch.py`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import get_args

import numpy as np

from ..errors import VerificationError
from .branch import branches
from .guarantee import MAX_CASES
from .normal import gaussian_delta, mu_above, tail_bounds
from .samplers import Booleans, Integers, RandomBytes, discrete_gaussian
from .stages import SMOOTHING_DELTA, STANDARD_DEVIATION, Calibration, Group, Selection, Stage, revealed

_MAX_STAGES = 1000
_MAX_CONTRIBUTION = 1 << 26  # sums over 10^11 cases fit into 64 bits


@dataclass(frozen=True)
class GaussianNoise:
    """Noise for a sequence of measurements that was verified to be (ε, δ)-DP when this object was made.

    Attributes:
        calibration: The constants of all stages.
        delta_spent: The δ that is used, never more than the calibration's.
    """

    calibration: Calibration
    delta_spent: Fraction = field(init=False)

    parts = 1  # in the ledger, all measurements are one step

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta_spent", verify_calibration(self.calibration))

    @property
    def epsilon(self) -> Fraction:
        """ε of all measurements."""
        return self.calibration.epsilon

    def stage(self, name: str) -> Stage:
        """The calibrated stage of this name."""
        for stage in self.calibration.stages:
            if stage.name == name:
                return stage
        raise VerificationError(f"there is no measurement {name!r} in what was verified: nothing can be drawn for it")

    def cases_released(self, name: str) -> float:
        """About how many cases, with no other key, a key of this selection needs to be released with a probability of 1/2."""
        stage = self.stage(name)
        return (
            stage.threshold / stage.contribution if stage.ramp is None else branches(self.calibration).first_released()
        )

    def draw(self, size: int, random_bytes: RandomBytes) -> Integers:
        """`size` independent values of N_Z(0, S²)."""
        return discrete_gaussian(size, random_bytes)


class Draws:
    """The noise of one release: every stage can be drawn once, for the theorem counts it once."""

    def __init__(self, noise: GaussianNoise, random_bytes: RandomBytes) -> None:
        self.stage = noise.stage
        self._noise, self._random_bytes = noise, random_bytes
        self._drawn: set[str] = set()

    def noisy(self, name: str, sums: Integers, where: Booleans | None = None) -> Integers:
        """The sums of a stage with noise; where there is no cell, 0."""
        self.stage(name)  # raises if it was not verified
        if name in self._drawn:
            raise VerificationError(f"the measurement {name!r} was drawn already: a stage is measured once")
        self._drawn.add(name)
        measured = np.ones(sums.shape, dtype=bool) if where is None else where
        noisy = np.zeros_like(sums)
        noisy[measured] = sums[measured] + self._noise.draw(int(measured.sum()), self._random_bytes)
        return noisy


def verify_calibration(calibration: Calibration) -> Fraction:
    """Return the δ that measurements with these constants spend: an upper bound of the theorem's δ at their ε.

    Raises VerificationError if an inequality of the theorem does not hold, so that they may not be (ε, δ)-DP.
    """
    _check_form(calibration)
    for stage in calibration.stages:
        if stage.selection is not None and stage.ramp is None:
            _check_threshold(stage, stage.selection, calibration.max_cases)
    if calibration.ramp is not None:
        return branches(calibration).check()
    if gaussian_delta(_mu(calibration), calibration.epsilon) > calibration.gaussian_delta:
        raise VerificationError(
            "the contributions are too large for the noise: the Gaussian part exceeds its share of delta; "
            "nothing can be drawn"
        )
    parts = calibration.gaussian_delta + sum(stage.delta for stage in calibration.stages) + SMOOTHING_DELTA
    if parts > calibration.delta:
        raise VerificationError("the parts of delta exceed the whole: nothing can be drawn")
    return _theorem(calibration, calibration.epsilon)


def profile(calibration: Calibration, epsilon: Fraction) -> Fraction:
    """The theorem's δ at another ε ≥ 0, for verified constants."""
    if calibration.ramp is not None:
        return branches(calibration).curve.delta(epsilon)
    return _theorem(calibration, epsilon)


def _theorem(calibration: Calibration, epsilon: Fraction, persons: int = 1) -> Fraction:
    """At least δ_T + (1 − δ_T)·δ_μ(ε) + 4κ, with μ of this many persons."""
    mu, seen = _mu(calibration, persons), revealed(calibration.stages)
    return seen + (1 - seen) * gaussian_delta(mu, epsilon) + persons * SMOOTHING_DELTA


@lru_cache(maxsize=32)
def replace_one(calibration: Calibration) -> Fraction | None:
    """An ε at which replacing all cases of one person by others costs no more than δ (Corollaries 1 and 3).

    Without a ramp the sums differ by two non-negative vectors, so the squared norm at most doubles; the probability that a
    key is published which only one person has stays the same.
    """

    def holds(epsilon: Fraction) -> bool:
        ramped = calibration.ramp is not None
        spent = branches(calibration).replaced(epsilon) if ramped else _theorem(calibration, epsilon, 2)
        return spent <= calibration.delta

    most = 2 * calibration.epsilon
    if not holds(most):
        return None
    step = Fraction(10) ** (math.floor(math.log10(calibration.epsilon)) - 3)
    tried, least = range(math.ceil(most / step)), math.floor(calibration.epsilon / step) + 1
    return min(most, step * bisect_left(tried, True, lo=least, key=lambda steps: holds(steps * step)))


def _check_form(calibration: Calibration) -> None:
    """Every constant is of the kind that the theorem requires."""
    stages = calibration.stages
    if not 0 < len(stages) <= _MAX_STAGES or len({stage.name for stage in stages}) < len(stages):
        raise VerificationError("the stages must have unique names, and there must be at most 1,000 of them")
    if not 1 <= calibration.max_cases <= MAX_CASES or calibration.epsilon <= 0 or not 0 < calibration.delta < 1:
        raise VerificationError("epsilon, delta or max_cases is out of range")
    for stage in stages:
        if not 1 <= stage.contribution < _MAX_CONTRIBUTION:
            raise VerificationError(f"what a case adds to the measurement {stage.name!r} is out of range")
        if stage.selection is None and (stage.threshold or stage.delta):
            raise VerificationError(f"the measurement {stage.name!r} selects nothing but has a threshold or a delta")
        if stage.group not in get_args(Group):
            raise VerificationError(f"the measurement {stage.name!r} is of no known group of cases")
        is_simple = stage is stages[0] and stage.selection == Selection() and not stage.threshold
        if stage.ramp is not None and not (is_simple and calibration.max_cases == 1):
            raise VerificationError(f"the ramp of {stage.name!r} is not that of the first measurement, for one case")
        if stage.selection is not None and not (
            1 <= stage.selection.fewest <= stage.selection.most <= stage.contribution**2
            and 0 < stage.delta < Fraction(1, 2)
        ):
            raise VerificationError(f"the selection {stage.name!r} has keys or a delta out of range")


def _check_threshold(stage: Stage, selection: Selection, cases: int) -> None:
    """Lemma 4 and Corollary 2: m·g(M·w_m) + (M − 1)·K·g(0) ≤ δ for every m, with g(v) = Q((τ − v)/S)."""
    others = (cases - 1) * selection.most
    unseen = others * tail_bounds(Fraction(stage.threshold, STANDARD_DEVIATION))[1] if others else Fraction(0)
    for keys in range(selection.fewest, selection.most + 1):
        sum_of_cases = cases * math.isqrt(stage.contribution**2 // keys)
        if stage.threshold <= sum_of_cases:  # g is convex below τ only
            raise VerificationError(f"the threshold of {stage.name!r} is below what one person can add")
        passing = tail_bounds(Fraction(stage.threshold - sum_of_cases, STANDARD_DEVIATION))[1]
        if keys * passing + unseen > stage.delta:
            raise VerificationError(
                f"the threshold of {stage.name!r} is too low for {keys} keys of one case: nothing can be drawn"
            )


def dominating_pair(calibration: Calibration) -> tuple[Fraction, Fraction]:
    """μ, rounded up, and δ_T: together N(μ, 1) against N(0, 1) and a part that reveals everything dominate a release."""
    return _mu(calibration), revealed(calibration.stages)


def _mu(calibration: Calibration, persons: int = 1) -> Fraction:
    """At least μ for μ² = persons·M²·ΣΔ²/(S² − r²)."""
    return mu_above(persons * sum((calibration.max_cases * stage.contribution) ** 2 for stage in calibration.stages))
