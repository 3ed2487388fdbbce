"""The verifier of a stage V with a ramp: a released variant's cases add nothing to the flow, and are not charged for it.

The two branches, released or not, overlap; what changes slowly is the probability p_n that a variant of n cases is not
released. Everything is in integers of 160 bits, rounded so that δ grows. Theorem 2 and its lemmas:
docs/mechanisms/synthesis.md.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import VerificationError
from .normal import gaussian_delta, mu_above, tail_bounds
from .numbers import GROWTH_BITS, growth_bounds
from .samplers import Booleans, Integers, RandomBytes
from .stages import RAMP_BITS, STANDARD_DEVIATION, Calibration, Stage, revealed

_BITS = 160
_ONE = 1 << _BITS
_SPARE = 20  # bits: where less than δ/2^20 is left, tables end
_DOTS = 32  # of a profile, for every standard deviation of the loss
_LIMB, _LIMBS, _SUM_BITS = 30, 4, 119  # a sum of products with 32 bits fits into 64
_MOST_STEPS = 10_000

Dot = tuple[int, int]
"""γ and a bound of H_γ, times 2^160."""


def released(stage: Stage, drawn: Integers, random_bytes: RandomBytes) -> Booleans:
    """Which of these noisy sums are released: those above the threshold, or by a ramp with U of its own for each."""
    if stage.ramp is None:
        return drawn > stage.threshold
    held = np.array([1 << RAMP_BITS, *stage.ramp.table, 0], dtype=np.int64)
    place = np.clip(drawn // stage.contribution - stage.ramp.first + 1, 0, len(held) - 1)
    uniform = np.frombuffer(random_bytes(RAMP_BITS // 8 * len(drawn)), dtype="<u4").astype(np.int64)
    return uniform >= held[place]


@lru_cache(maxsize=1 << 14)
def _at_least(value: int) -> tuple[int, int]:
    """Bounds of P[Z ≥ value] (Lemma 3)."""
    if value <= 0:
        low, high = _at_least(1 - value)
        return _ONE - high, _ONE - low
    low = math.floor(tail_bounds(Fraction(value, STANDARD_DEVIATION))[0] * _ONE) - 1
    return max(0, low), math.ceil(tail_bounds(Fraction(value - 1, STANDARD_DEVIATION))[1] * _ONE)


@lru_cache(maxsize=1 << 14)
def _dot(mu: Fraction, epsilon: Fraction) -> Dot:
    """e^ε, rounded down, and δ_μ there, rounded up; for ε < 0 by symmetry."""
    low, high = growth_bounds(epsilon)
    growth = low >> GROWTH_BITS - _BITS
    if epsilon < 0:
        above = _ONE - growth - (-high * _dot(mu, -epsilon)[1] >> GROWTH_BITS)
    else:
        above = math.ceil(gaussian_delta(mu, epsilon) * _ONE) if mu else 0
    return growth, min(
        _ONE, above + 2
    )  # e^ε is off by less than 2 units, and so is δ_μ, whose slope in e^ε is −1 or more


class _Profile:
    """From above, δ_E + (1 − δ_E)·δ_μ: δ_μ is convex in e^ε, so chords between multiples of a step are above it."""

    def __init__(self, squares: int, step: Fraction, revealed: int = 0) -> None:
        self._mu = mu_above(squares) if squares else Fraction(0)
        self._step, self._revealed, self._dots = step, revealed, dict[int, Dot]()

    def dot(self, index: int) -> Dot:
        """e^(index·step), and the bound there."""
        if index not in self._dots:
            growth, delta = _dot(self._mu, index * self._step)
            self._dots[index] = growth, self._revealed + _product(_ONE - self._revealed, delta)
        return self._dots[index]

    def at(self, growth: int) -> int:
        """The bound at any e^ε, times 2^160: a lower bound of it is enough."""
        if growth << _SPARE < _ONE:
            return _ONE
        index = math.floor((math.log(growth) - _BITS * math.log(2)) / float(self._step))
        while self.dot(index)[0] > growth:
            index -= 1
        while self.dot(index + 1)[0] <= growth:
            index += 1
        return _on_chord(self.dot(index), self.dot(index + 1), growth)


def _on_chord(one: Dot, other: Dot, growth: int) -> int:
    """The bound at γ between two dots, rounded up."""
    return one[1] - (one[1] - other[1]) * (growth - one[0]) // (other[0] - one[0])


@lru_cache(maxsize=16)
def branches(calibration: Calibration) -> Branches:
    """The two branches of a calibration with a ramp, made once."""
    return Branches(calibration)


class Branches:
    """Bounds of everything in Theorem 2, for one case that is added or removed, or replaced."""

    def __init__(self, calibration: Calibration) -> None:
        stage, *others = calibration.stages
        ramp = stage.ramp
        if (
            ramp is None
            or stage.group != "variants"
            or any(other.group == "variants" for other in others)
            or not others
        ):
            raise VerificationError("the ramp must be that of the variants")
        if len(ramp.table) > _MOST_STEPS or min(ramp.falls) < 0:
            raise VerificationError(f"the ramp of {stage.name!r} must fall from 2^32 to 0, within 10,000 cases")
        self._stage, self._ramp = stage, ramp
        self._variants = stage.contribution**2
        every = [other for other in others if other.group == "every case"]
        self._every = sum(other.contribution**2 for other in every)
        self._residual = sum(other.contribution**2 for other in others) - self._every
        self._of_every, self._of_all = (math.ceil(revealed(part) * _ONE) for part in (every, others))  # δ_E and δ_T
        mu, epsilon = mu_above(self._residual + self._every), calibration.epsilon
        self._step = epsilon / (16 * math.ceil(_DOTS * epsilon / mu / 16))
        self._growth = growth_bounds(epsilon)[0] >> GROWTH_BITS - _BITS
        self._delta = math.floor(calibration.delta * _ONE)
        self._held = self._not_released()
        self._new = _ONE - self._held[1][0]  # 1 − p_1

    def _profile(self, squares: int, revealed: int, step: Fraction | None = None) -> _Profile:
        return _Profile(squares, step or self._step, revealed)

    def _not_released(self) -> list[tuple[int, int]]:
        """Bounds of p_n for n = 0, 1, … until nearly every variant is released."""
        found, falls = [(_ONE, _ONE)], list(enumerate(self._ramp.falls, self._ramp.first))
        for cases in range(1, 2 * _MOST_STEPS):
            if found[-1][1] <= self._delta >> _SPARE:
                return found
            tails = [(fall, _at_least((value - cases) * self._stage.contribution)) for value, fall in falls if fall]
            low, high = (sum(fall * (_ONE - bounds[side]) for fall, bounds in tails) for side in (1, 0))
            found.append((low >> RAMP_BITS, -(-high >> RAMP_BITS)))
        raise VerificationError(f"the ramp of {self._stage.name!r} must fall from 2^32 to 0, within 10,000 cases")

    def first_released(self) -> int:
        """The least number of cases with which a variant is released with a probability of at least 1/2."""
        return next(cases for cases, (_, held) in enumerate(self._held) if 2 * held <= _ONE)

    def check(self) -> Fraction:
        """The δ that is spent, if (i) to (iii) of Theorem 2 hold; otherwise raises VerificationError."""
        flow, every = self._residual + self._every, self._variants + self._every
        new, known = self._profile(flow, self._of_all), self._profile(flow, self._of_every)
        shown = self._profile(every, self._of_every).at(self._growth)
        spent = max(self._new + new.at(self._growth), shown + known.at(self._growth), shown + self._held[-1][1])
        for cases, ((_, held), (next_held, _)) in enumerate(pairwise(self._held)):
            growth = self._growth * next_held // held
            spent = max(spent, shown + _product(held, known.at(growth)) if cases else new.at(growth))
        if self._new > self._stage.delta * _ONE or spent >= self._delta:  # 8κ is less than one unit
            raise VerificationError(
                f"the ramp of {self._stage.name!r} rises too early or too fast for delta: nothing can be drawn"
            )
        return Fraction(spent + 1, _ONE)

    def replaced(self, epsilon: Fraction) -> Fraction:
        """δ at ε where a case is replaced by another one (Corollary 3)."""
        growth = growth_bounds(epsilon)[0] >> GROWTH_BITS - _BITS
        both = self._profile(2 * (self._residual + self._every), self._of_all)
        one = self._profile(self._variants + self._residual + 2 * self._every, self._of_all)
        none = self._profile(2 * (self._variants + self._every), self._of_every)
        others = one.at(growth) + max(none.at(growth), self._new)
        worst = others + 2 * self._held[-1][1]
        for cases, ((_, held), (next_held, _)) in enumerate(pairwise(self._held)):
            shifted = growth * next_held // held
            hidden = _product(held, both.at(shifted) + one.at(shifted))
            worst = max(worst, hidden + (others if cases else self._new))
        return Fraction(worst + 1, _ONE)

    # ------------------------------------------------------------------------------------------------- the ledger

    @cached_property
    def curve(self) -> Curve:
        """The largest δ at every ε, in both directions and for every number of cases (Lemma 13)."""
        step, flow = 2 * self._step, self._residual + self._every
        new, known = self._profile(flow, self._of_all, step), self._profile(flow, self._of_every, step)
        shown = self._profile(self._variants + self._every, self._of_every, step)
        count = 1
        while max(known.dot(count)[1], shown.dot(count)[1]) - self._of_every > self._delta >> _SPARE:
            count += 1
        growths = [known.dot(index)[0] for index in range(count)]
        above = [shown.dot(index)[1] + self._held[-1][1] for index in range(count)]
        for index, growth in enumerate(growths):
            rarer, commoner = new.at(growth * self._held[1][0] >> _BITS), new.at((growth << _BITS) // self._held[1][1])
            above[index] = max(above[index], rarer, self._new + _product(self._held[1][1], commoner))
        for is_more, parts in enumerate(self._released_parts(step, count)):
            for cases in range(1, len(self._held) - 1):
                (low, high), (next_low, next_high) = self._held[cases : cases + 2]
                held, up, down = (next_high, low, next_high) if is_more else (high, next_low, high)
                for index, growth in enumerate(growths):
                    found = int(parts[cases][index]) + _product(held, known.at(growth * up // down))
                    above[index] = max(above[index], found)
        return Curve.through(zip(growths, (value + 3 for value in above), strict=True))

    def _released_parts(self, step: Fraction, count: int) -> Iterable[list[NDArray[np.object_]]]:
        """Σ_k w(k)·f(k)·R_E by n and ε, for n against n + 1 and the reverse.

        The noise is cut into blocks of one case, so that w is constant, and at losses that are multiples of the step. As in
        `losses.of_pairs`, the mass between two of these is split onto both; w is a sum of its falls.
        """
        size, falls = self._stage.contribution, np.array(self._ramp.falls, dtype=np.int64)
        far = 2
        while (beyond := 2 * _at_least((far - 1) * size)[1]) > self._delta >> _SPARE:
            far += 1
        profile = self._profile(self._every, self._of_every, step)
        reach = math.ceil(Fraction(size * (2 * far + 1) * size, 2 * STANDARD_DEVIATION**2) / step) + 1
        near = [profile.dot(index)[1] for index in range(-count, count)]
        at = np.array([_ONE] * (reach - count) + near[max(0, count - reach) :] + near[-1:] * (reach + 1), dtype=object)
        for masses in self._masses(far, step):
            suffix = [np.zeros(count, dtype=object)]
            for block in range(far - 1, -far - 1, -1):
                parts = (mass * at[reach - loss : reach - loss + count] for loss, mass in masses[block].items())
                suffix.append(sum(parts, suffix[-1]))
            sums = np.array([-(-row >> 2 * _BITS - _SUM_BITS) for row in suffix[::-1]], dtype=object)  # from −far on
            limbs = [(sums >> _LIMB * limb & (1 << _LIMB) - 1).astype(np.int64) for limb in range(_LIMBS)]
            found: list[Any] = []
            for cases in range(len(self._held)):
                rows = np.clip(np.arange(len(falls)) + self._ramp.first - cases + far, 0, 2 * far)
                totals = ((falls @ limb[rows]).astype(object) << _LIMB * index for index, limb in enumerate(limbs))
                found.append((sum(totals, np.zeros(count, dtype=object)) << _BITS - _SUM_BITS - RAMP_BITS) + beyond + 1)
            yield found

    def _masses(self, far: int, step: Fraction) -> tuple[dict[int, dict[int, int]], dict[int, dict[int, int]]]:
        """Masses by block of one case and loss, of n cases against n + 1 and the reverse, by the noise a − n·Δ of n cases."""
        size = self._stage.contribution

        def loss(value: int) -> Fraction:
            """ln(f_n/f_n+1), in steps; it falls."""
            return Fraction(size * (size - 2 * value), 2 * STANDARD_DEVIATION**2) / step

        growths = _Profile(0, step)
        cuts = {block * size for block in range(-far, far + 1)}
        for index in range(math.floor(loss(far * size)) + 1, math.floor(loss(-far * size)) + 1):
            cuts.add(math.floor(Fraction(size, 2) - index * step * STANDARD_DEVIATION**2 / size) + 1)
        found: tuple[dict[int, dict[int, int]], ...] = defaultdict(dict), defaultdict(dict)
        for start, stop in pairwise(sorted(cuts)):
            lower = math.floor(loss(stop - 1))
            own, other = (
                (_at_least(first), _at_least(last)) for first, last in ((start, stop), (start - size, stop - size))
            )
            for masses, (p, q), down in zip(found, ((own, other), (other, own)), (lower, -lower - 1), strict=True):
                mass, against = max(0, p[0][1] - p[1][0]), max(0, q[0][0] - q[1][1])
                excess = mass - (against * growths.dot(down)[0] >> _BITS)
                between = _ONE - growths.dot(-1)[0] - 2
                upper = min(mass, max(0, -(-excess * _ONE // between)))
                of_block = masses[start // size]
                of_block[down + 1] = of_block.get(down + 1, 0) + upper
                of_block[down] = of_block.get(down, 0) + mass - upper
        return found[0], found[1]


def _product(held: int, delta: int) -> int:
    return -(-held * delta >> _BITS)


@dataclass(frozen=True)
class Curve:
    """From above, δ at every γ = e^ε: convex dots, linear between them and constant beyond the last."""

    dots: tuple[Dot, ...]

    @classmethod
    def through(cls, dots: Iterable[Dot]) -> Curve:
        """The lower convex hull of these dots for γ ≥ 1, of what symmetry says below 1, and of (0, 1)."""
        upper = list(dots)
        mirrored = []
        for growth, above in upper:
            if growth > _ONE:
                low = _ONE * _ONE // growth
                mirrored.append((low, min(_ONE, _ONE - low + _product(low + 1, above) + 2)))
        hull: list[Dot] = [(0, _ONE)]
        for dot in [*reversed(mirrored), *upper]:
            while len(hull) > 1 and _on_chord(hull[-2], dot, hull[-1][0]) <= hull[-1][1]:
                hull.pop()
            hull.append(dot)
        return cls(tuple(hull))

    def delta(self, epsilon: Fraction) -> Fraction:
        """δ at this ε ≥ 0."""
        growth = growth_bounds(epsilon)[0] >> GROWTH_BITS - _BITS
        place = bisect_right(self.dots, (growth, _ONE))
        if place == len(self.dots):
            return Fraction(self.dots[-1][1], _ONE)
        return Fraction(_on_chord(self.dots[place - 1], self.dots[place], growth), _ONE)

    def pairs(self, bits: int) -> Sequence[Dot]:
        """Outcomes with this curve, with and without a case: p times 2^bits, rounded up, and q, rounded down."""
        falls = [Fraction(one[1] - other[1], other[0] - one[0]) for one, other in pairwise(self.dots)]
        found = []
        for (growth, _), before, after in zip(self.dots[1:], falls, [*falls[1:], Fraction(0)], strict=True):
            mass = (before - after) * (1 << bits)
            found.append((math.ceil(mass * growth / _ONE), math.floor(mass)))
        return [*found, (-(-self.dots[-1][1] >> _BITS - bits), 0)]
