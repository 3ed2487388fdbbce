"""A ramp for V: released and residual cases do not pay twice. docs/mechanisms/synthesis.md, section "Calibration".

The result is not trusted: `trusted.branch` checks it with separate code. Floats are only added, multiplied and divided, or
made from exact fractions, so that every machine finds the same ramp.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

from ..trusted.stages import RAMP_BITS, SMOOTHING_VARIANCE, STANDARD_DEVIATION, Calibration, Ramp
from . import calibration
from .calibration import BITS, FAR, StagePlan, gaussian_delta_above, normal_tail_bounds, stages_of
from .table_builders import exponential_bounds

MOST_CASES = 300
"""Where a new variant needs more, ramps are too long."""

RELEASED, RESIDUAL = Fraction(81, 100), Fraction(9, 10)
"""The parts of μ² for a case whose variant is released, and for a residual one; both with the stages of every case."""

_DOTS = 128
_SPARE = 0.99  # of δ: what the verifier rounds
_ONE = 1 << RAMP_BITS


def calibrate(epsilon: Fraction, delta: Fraction, plans: tuple[StagePlan, ...], max_cases: int = 1) -> Calibration:
    """With a ramp for the variants where Theorem 2 allows it, and as `calibration.calibrate` otherwise."""
    share = {group: sum(plan.share for plan in plans if plan.group == group) for group in ("residual", "every case")}
    every = share["every case"]
    if plans[0].group == "variants" and max_cases == 1:
        sizes = {
            "variants": (RELEASED - every) / plans[0].share,
            "residual": (RESIDUAL - every) / share["residual"],
            "every case": Fraction(1),
        }
        stages = stages_of(epsilon, delta, tuple(replace(plan, share=plan.share * sizes[plan.group]) for plan in plans))
        made = Calibration(epsilon, delta, calibration.split_delta(delta)[0], stages)
        is_short = stages[0].threshold <= MOST_CASES * stages[0].contribution
        if is_short and (ramp := _Search(made).ramp()) is not None:
            return replace(made, stages=(replace(stages[0], threshold=0, ramp=ramp), *stages[1:]))
    return calibration.calibrate(epsilon, delta, plans, max_cases)


@dataclass(frozen=True)
class _Search:
    """A calibration without a ramp, whose threshold is where the ramp begins."""

    made: Calibration

    def ramp(self) -> Ramp | None:
        """The steepest ramp that Theorem 2 allows, as far to the left as possible; None if there is none."""
        target = _SPARE * float(self.made.delta) - self._shown
        if target <= self._profile[0][1]:
            return None
        ramp = self._proposal(target)
        held = self._not_released(ramp)
        return self._moved(ramp, held) if all(self._is_allowed(*pair) for pair in pairwise(held)) else None

    def _moved(self, ramp: Ramp, held: list[float]) -> Ramp | None:
        """As far to the left as a new variant allows: all others have what they had with more cases."""
        shift = 0
        while ramp.first - shift > 1 and self._may_begin(Ramp(ramp.first - shift - 1, ramp.table), held[shift + 2]):
            shift += 1
        moved = Ramp(ramp.first - shift, ramp.table)
        return moved if self._may_begin(moved, held[shift + 1]) else None

    @property
    def _size(self) -> int:
        return self.made.stages[0].contribution

    def _squares(self, *groups: str) -> int:
        return sum(stage.contribution**2 for stage in self.made.stages if stage.group in groups)

    def _revealed(self, *groups: str) -> float:
        return float(1 - math.prod(1 - stage.delta for stage in self.made.stages if stage.group in groups))

    @cached_property
    def _shown(self) -> float:
        """D_R(ε)."""
        mu, revealed = _mu(self._squares("variants", "every case")), self._revealed("every case")
        return revealed + (1 - revealed) * float(gaussian_delta_above(mu, self.made.epsilon))

    @cached_property
    def _profile(self) -> list[tuple[float, float]]:
        """e^(−r) and R_1(ε − r), for r from 0 to 2ε."""
        mu, revealed = _mu(self._squares("residual", "every case")), self._revealed("every case")
        step = self.made.epsilon / _DOTS
        right = [float(gaussian_delta_above(mu, index * step)) for index in range(_DOTS + 1)]
        falls = [Fraction(1 << BITS, exponential_bounds(index * step, BITS)[0]) for index in range(2 * _DOTS + 1)]
        left = [float(1 - fall) + float(fall) * delta for fall, delta in zip(falls, right, strict=False)]
        return [
            (float(fall), revealed + (1 - revealed) * delta)
            for fall, delta in zip(falls, [*right[::-1], *left[1:]], strict=True)
        ]

    def _at(self, ratio: float) -> float:
        """R_1 at e^ε·ratio."""
        place = bisect_right(self._profile, -ratio, key=lambda dot: -dot[0])
        if place == len(self._profile):
            return 1.0
        (near, low), (far, high) = self._profile[max(place - 1, 0)], self._profile[max(place, 1)]
        return low + (high - low) * (near - ratio) / (near - far)

    def _proposal(self, target: float) -> Ramp:
        """Where p_n·R_1(ε − r_n) is the target, if p_n was g(n)."""
        first = -(-self.made.stages[0].threshold // self._size)
        table, held = list[int](), 1.0
        while held > target and held * _ONE >= 1 and len(table) < 10 * first:
            wanted = target / held
            place = bisect_right(self._profile, wanted, key=lambda dot: dot[1])
            if place == len(self._profile):
                held *= self._profile[-1][0]
            else:
                (near, low), (far, high) = self._profile[place - 1 : place + 1]
                held *= near - (near - far) * (wanted - low) / (high - low)
            table.append(math.ceil(held * _ONE))
        return Ramp(first, tuple(table))

    def _not_released(self, ramp: Ramp) -> list[float]:
        """p_n by n, from n = 0 on, until nearly every variant is released."""
        found = [1.0]
        while found[-1] * _ONE > float(self.made.delta):
            below = (_below(value - len(found), self._size) * fall for value, fall in enumerate(ramp.falls, ramp.first))
            found.append(math.fsum(below) / _ONE)
        return found

    def _is_allowed(self, held: float, after: float) -> bool:
        """(iii) of Theorem 2."""
        return self._shown + held * self._at(after / held) <= _SPARE * float(self.made.delta)

    def _may_begin(self, ramp: Ramp, held: float) -> bool:
        """What (i) to (iii) say of a new variant, which is not released with this probability."""
        delta, new = _SPARE * float(self.made.delta), self._revealed("residual", "every case")
        shown = (
            math.fsum(_below(1 - value, self._size) * fall for value, fall in enumerate(ramp.falls, ramp.first)) / _ONE
        )
        return (
            shown <= _SPARE * float(self.made.stages[0].delta)
            and max(shown + self._at(1.0), self._at(held)) + new <= delta
        )


def _mu(squares: int) -> Fraction:
    variance = STANDARD_DEVIATION**2 - SMOOTHING_VARIANCE
    return Fraction(math.isqrt((squares << 100) // variance) + 1, 1 << 50)


@lru_cache(maxsize=1 << 13)
def _below(cases: int, size: int) -> float:
    """Nearly P[Z < cases·Δ]."""
    distance = min(Fraction(abs(cases) * size, STANDARD_DEVIATION), Fraction(FAR))
    tail = float(Fraction(normal_tail_bounds(distance)[1], 1 << BITS))
    return tail if cases <= 0 else 1 - tail
