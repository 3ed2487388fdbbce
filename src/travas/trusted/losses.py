"""What one unit can change in a release, stated once by its mechanism, and the exact engine that composes it.

The loss of an outcome is ln(p/q): p and q are its probabilities with and without one unit. The engine gives the guarantee
of persons, the exact total of the ledger and the privacy curve. Every outcome is placed on a grid of losses, split so that
it reveals more, and its probability is rounded up: δ at any ε' is then an upper bound of the exact one. All arithmetic is on
integers. Lemmas: docs/audit.md, "Privacy curves".
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Inexact, InvalidOperation, Overflow, Rounded
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from .branch import branches
from .normal import tail_bounds
from .numbers import BITS, GROWTH_BITS, ONE, growth_bounds
from .stage_check import GaussianNoise, dominating_pair, profile

if TYPE_CHECKING:
    from .tables import Noise

Pair = tuple[int, int]
"""Probabilities of one outcome with and without one unit, times 2^128."""

_UNIT = 1 << GROWTH_BITS
FEWEST_CELLS, _MOST_CELLS = 1 << 12, 1 << 14  # of the sum of all ε
_LATTICE_CELLS = 1 << 12
_REACH = 1 << 16  # cells; what is beyond counts as infinite, as far as it exceeds the last one
_SPARE = ONE >> 100  # what may be cut from the ends of a convolution
_LONGEST = 20_000  # entries of a table that is placed on a grid; longer ones are bounded by (ε, δ)
_TAIL_BITS = 160
_POINT_BITS = 96  # cuts of the normal distribution are rounded down to multiples of 2^-96
_ROUNDED = 1 << (_TAIL_BITS - _POINT_BITS)  # at least what that changes of a tail, whose slope is below 1/2
_BEYOND = Fraction(1, 1 << 20)  # of δ: what may count as revealed because its loss is too large for the grid
_SLOT = 78  # decimal digits of a coefficient of a product of two distributions: at most 2^256
_EXACT = Context(
    prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, Rounded, Overflow, InvalidOperation]
)  # its multiplication is fast (a number-theoretic transform) and here raises rather than rounds


# -------------------------------------------------------------------------------------------------- the statement


@dataclass(frozen=True)
class Step:
    """A step of a release with independent noise, which may depend on the output of earlier steps.

    Attributes:
        epsilon: ε of the whole step for one unit.
        delta: δ of the whole step for one unit.
        noise: The table that is sampled; None if there is none, or if only (ε, δ) is known.
        cases: By how much one unit changes a count at most.
        counts: How many counts with this noise one unit changes at most; each has an equal part of (ε, δ).
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    noise: Noise | None = None
    cases: int = 1
    counts: int = 1

    @property
    def sampled(self) -> Noise | None:
        """The table whose losses, shifted by one, are composed; None where only (ε, δ) is used."""
        return self.noise if self.noise and self.cases == 1 and self.noise.table.length <= _LONGEST else None

    @property
    def parts(self) -> int:
        """Into how many equal parts its (ε, δ) is divided: none, where one table was verified for all counts."""
        return 1 if self.noise is not None and self.noise.counts > 1 else self.counts


Losses = tuple[Step | GaussianNoise, ...]
"""What one unit changes in a release, step by step; all Gaussian measurements of a release are one step."""


# ------------------------------------------------------------------------------------------------------ the totals


def hockey_stick(weights: Iterable[int], epsilon: Fraction) -> Fraction:
    """δ at ε' of one count that changes by one, in the worse direction, up to the rounding of e^ε' (Lemma 3)."""
    growth = growth_bounds(epsilon)[0]
    rising = falling = previous = 0
    for weight in weights:
        rising += max(0, (weight << GROWTH_BITS) - growth * previous)
        falling += max(0, (previous << GROWTH_BITS) - growth * weight)
        previous = weight
    return Fraction(max(rising, falling + (previous << GROWTH_BITS)), ONE << GROWTH_BITS)


def lattice(weights: Sequence[int], epsilon: Fraction) -> Fraction:
    """A distance of losses: that of a Gaussian table, on which all its losses lie. Any number is right."""
    centre = len(weights) // 2
    before, middle, after = (weights[j] if 0 <= j < len(weights) else 0 for j in range(centre - 1, centre + 2))
    if 0 < before * after < middle * middle:
        context = Context(prec=60)
        ratio = context.divide(context.create_decimal(middle**2), context.create_decimal(before * after))
        natural = Fraction(context.ln(ratio)) / 2
        if natural * _LATTICE_CELLS >= epsilon:
            return natural
    return max(epsilon, Fraction(1, 1 << 20)) / _LATTICE_CELLS


DeltaCurve = Callable[[Fraction], Fraction]
"""A bound of δ by ε' ≥ 0."""


def _worse(bounds: Sequence[LossBound]) -> DeltaCurve:
    """The bound of δ in the worse direction."""
    return lambda epsilon: max((bound.delta(epsilon) for bound in bounds), default=Fraction(0))


def joint(weights: Sequence[int], counts: int, interval: Fraction) -> DeltaCurve:
    """The losses of counts that change by one each, with independent noise (docs/mechanisms/persons.md)."""
    grid = Grid(interval)
    return _worse([of_pairs(pairs, grid).repeated(counts) for pairs in _neighbours(weights)])


def delta_curve(releases: Iterable[tuple[Losses, int]], cells: int = FEWEST_CELLS) -> DeltaCurve:
    """A bound of δ at every ε' ≥ 0 for independent releases, each as often as it says; of one step, the sharpest known.

    Any number of `cells` gives a bound; fewer are faster and less sharp.
    """
    steps = [(step, times) for losses, times in releases for step in losses]
    if len(steps) == 1 and steps[0][1] == 1:
        step = steps[0][0]
        if isinstance(step, GaussianNoise):
            return partial(profile, step.calibration)
        noise = step.noise
        if noise is not None and step.cases == step.counts == 1:
            return partial(hockey_stick, noise.weights)
        if noise is not None and noise.counts == step.counts > 1:
            return joint(noise.weights, noise.counts, lattice(noise.weights, noise.epsilon))
    return composed(steps, cells)


def composed(steps: Sequence[tuple[Step | GaussianNoise, int]], cells: int = FEWEST_CELLS) -> DeltaCurve:
    """The total of independent steps, each as often as it says (Lemma 2)."""
    grid = Grid(common_interval(((step.epsilon / step.parts, times * step.parts) for step, times in steps), cells))
    totals: list[tuple[LossBound, LossBound]] = []
    for step, times in steps:
        one, other = _directions(step, grid)
        parts = times * (step.counts if isinstance(step, Step) and step.sampled else step.parts)
        once = one.repeated(parts)
        totals.append((once, once if one == other else other.repeated(parts)))
    is_symmetric = all(one is other for one, other in totals)
    directions = list(zip(*totals, strict=True))[: 1 if is_symmetric else 2]
    return _worse([_product(bounds) for bounds in directions])


def _product(bounds: Sequence[LossBound]) -> LossBound:
    if len(bounds) == 1:
        return bounds[0]
    return _product(bounds[: len(bounds) // 2]).and_then(_product(bounds[len(bounds) // 2 :]))


def _directions(step: Step | GaussianNoise, grid: Grid) -> tuple[LossBound, LossBound]:
    """The bound of one count of a step, for one unit more and one less (Lemmas 1, 4 and 5)."""
    if isinstance(step, GaussianNoise):
        bound = of_pairs(_gaussian_pairs(step, grid.interval), grid)
    elif step.sampled:
        one, other = _neighbours(step.sampled.weights)
        return of_pairs(one, grid), of_pairs(other, grid)
    else:
        bound = of_response(step.epsilon / step.parts, step.delta / step.parts, grid)
    return bound, bound


def _neighbours(weights: Sequence[int]) -> tuple[list[Pair], list[Pair]]:
    """The outcomes of a count that changes by one: the weights against those of N + 1, and the reverse."""
    pairs = list(zip([*weights, 0], [0, *weights], strict=True))
    return pairs, [(q, p) for p, q in pairs]


def common_interval(steps: Iterable[tuple[Fraction, int]], cells: int = FEWEST_CELLS) -> Fraction:
    """A distance of losses that divides every ε, with at least `cells` of them in their sum, unless that takes over 2^14."""
    times_of = list(steps)
    denominator = math.lcm(*(epsilon.denominator for epsilon, _ in times_of))
    common = Fraction(math.gcd(*(int(epsilon * denominator) for epsilon, _ in times_of)), denominator)
    total = sum((epsilon * times for epsilon, times in times_of), Fraction(0))
    if total / common > _MOST_CELLS:
        return total / _MOST_CELLS
    return common / max(1, -(-cells // math.ceil(total / common)))


# ------------------------------------------------------------------------------------------------------ the engine


class Grid:
    """Losses k·interval, and lower bounds of e^(k·interval)·2^192 by repeated multiplication."""

    def __init__(self, interval: Fraction) -> None:
        self.interval = interval
        low, high = growth_bounds(interval)
        self._powers: tuple[list[int], list[int]] = [_UNIT, low], [_UNIT, high]
        self.fall = -(-_UNIT * _UNIT // low)  # at least e^−interval

    def growth(self, index: int) -> int:
        """At most e^(index·interval)·2^192."""
        lows, highs = self._powers
        while len(lows) <= abs(index):
            lows.append(lows[-1] * lows[1] >> GROWTH_BITS)
            highs.append(-(-highs[-1] * highs[1] >> GROWTH_BITS))
        return lows[index] if index >= 0 else _UNIT * _UNIT // highs[-index]


@dataclass(frozen=True)
class LossBound:
    """An upper bound of the distribution of losses, under the log with the unit.

    Attributes:
        grid: The grid of losses.
        lowest: The index of the first mass.
        masses: Probabilities times 2^128.
        infinite: The probability of an outcome that is impossible without the unit, times 2^128.
    """

    grid: Grid
    lowest: int
    masses: tuple[int, ...]
    infinite: int

    def and_then(self, other: LossBound) -> LossBound:
        """The bound of both steps, with independent noise (Lemma 2)."""
        masses = [-(-value >> BITS) for value in exact_product(self.masses, other.masses)]
        infinite = ONE - ((ONE - self.infinite) * (ONE - other.infinite) >> BITS)
        return self._trimmed(self.lowest + other.lowest, masses, infinite)

    def repeated(self, times: int) -> LossBound:
        """The bound of this step `times` times, with independent noise."""
        total = self
        for bit in f"{times:b}"[1:]:
            total = total.and_then(total)
            if bit == "1":
                total = total.and_then(self)
        return total

    def delta(self, epsilon: Fraction) -> Fraction:
        """The bound of δ at this ε' ≥ 0: the sum of the masses of larger losses, less e^ε' times that of mass·e^−loss."""
        first = max(math.floor(epsilon / self.grid.interval) + 1 - self.lowest, 0)
        masses, without = self._sums[first] if first < len(self._sums) else (0, 0)
        safe = max(0, (masses << 2 * GROWTH_BITS) - growth_bounds(epsilon)[0] * without)
        return Fraction(self.infinite, ONE) + Fraction(safe, ONE << 2 * GROWTH_BITS)

    @cached_property
    def _sums(self) -> list[tuple[int, int]]:
        """Sums from every index on: of masses, and of mass·e^−loss·2^192 (above 0 only, where δ needs them)."""
        total = without = 0
        sums = []
        for index in range(len(self.masses) - 1, -1, -1):
            if self.lowest + index > 0:
                total += self.masses[index]
                without += self.masses[index] * self.grid.growth(-self.lowest - index)
            sums.append((total, without))
        return sums[::-1]

    def _trimmed(self, lowest: int, values: Sequence[int], infinite: int) -> LossBound:
        """Without ends of almost no mass: one end counts as the next loss, the other reveals everything."""
        start, stop, low, high = 0, len(values), 0, 0
        while start < stop - 1 and low + values[start] <= _SPARE:
            low += values[start]
            start += 1
        while stop > start + 1 and high + values[stop - 1] <= _SPARE:
            stop -= 1
            high += values[stop]
        masses = (values[start] + low, *values[start + 1 : stop])
        return LossBound(self.grid, lowest + start, masses, min(ONE, infinite + high))


def of_pairs(pairs: Iterable[Pair], grid: Grid) -> LossBound:
    """The bound of one step with these outcomes (Lemma 1)."""
    mass_at: defaultdict[int, int] = defaultdict(int)
    infinite = 0
    for p, q in pairs:
        if not q:
            infinite += p
        elif p:
            index = _index(p, q, grid)
            if index > _REACH:
                inside = min(p, q * grid.growth(_REACH) >> GROWTH_BITS)
                mass_at[_REACH] += inside
                infinite += p - inside
            elif index <= -_REACH:
                mass_at[-_REACH] += p
            else:
                excess = max(0, (p << GROWTH_BITS) - q * grid.growth(index - 1))
                upper = min(p, -(-excess // (_UNIT - grid.fall)))
                mass_at[index] += upper
                mass_at[index - 1] += p - upper
    lowest, highest = min(mass_at, default=0), max(mass_at, default=0)
    return LossBound(grid, lowest, tuple(mass_at.get(i, 0) for i in range(lowest, highest + 1)), infinite)


def _index(p: int, q: int, grid: Grid) -> int:
    """The first point of the grid that is not below ln(p/q)."""
    index = math.floor((math.log(p) - math.log(q)) / float(grid.interval))
    if abs(index) > _REACH + 1:
        return index
    while p << GROWTH_BITS > q * grid.growth(index):
        index += 1
    while p << GROWTH_BITS <= q * grid.growth(index - 1):
        index -= 1
    return index


def of_response(epsilon: Fraction, delta: Fraction, grid: Grid) -> LossBound:
    """Randomised response at ε that reveals everything with probability δ: no (ε, δ)-DP step has a larger curve (Lemma 4).

    Discrete Laplace noise of scale 1/ε on a count that changes by one has exactly this curve, with δ = 0.
    """
    growth = growth_bounds(epsilon)[1]
    infinite = math.ceil(delta * ONE)
    rest = ONE - infinite
    more = -(-rest * growth // (growth + _UNIT))
    up, down = math.ceil(epsilon / grid.interval), -math.floor(epsilon / grid.interval)
    masses = [0] * (up - down + 1)
    masses[0] += rest - more
    masses[-1] += more
    return LossBound(grid, down, tuple(masses), infinite)


def exact_product(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """The convolution of two lists of masses below 2^128 with sums of at most about 2^128: exact, in units of 2^-256.

    One product of long decimal numbers (Kronecker substitution).
    """
    slots = len(first) + len(second) - 1
    packed = ("".join(f"{mass:0{_SLOT}d}" for mass in masses) for masses in (first, second))
    digits = str(_EXACT.multiply(*map(_EXACT.create_decimal, packed))).zfill(slots * _SLOT)
    return [int(digits[start : start + _SLOT]) for start in range(0, slots * _SLOT, _SLOT)]


# ------------------------------------------------------------------------------------------------ Gaussian outcomes


@lru_cache(maxsize=16)
def _gaussian_pairs(noise: GaussianNoise, interval: Fraction) -> tuple[Pair, ...]:
    """Outcomes of all measurements, by cells of the grid: only then splitting a cell into its ends is safe.

    By docs/mechanisms/synthesis.md, "In the ledger": N(μ, 1) against N(0, 1), and a part that reveals everything. The same
    list serves for the reverse. p is rounded up, q down. With a ramp, the outcomes are those of its curve (Lemma 13).
    """
    if noise.calibration.ramp is not None:
        return tuple(branches(noise.calibration).curve.pairs(BITS))
    mu, revealed = dominating_pair(noise.calibration)
    reach = _reach(mu, interval, noise.calibration.delta)
    tails = {index: _tail(mu, interval, index) for index in range(-reach, reach + 1)}
    shift, one = _TAIL_BITS - BITS, 1 << _TAIL_BITS

    def up(high: int, low: int) -> int:
        return max(0, -(-(high - low) >> shift))

    def down(low: int, high: int) -> int:
        return max(0, (low - high) >> shift)

    # Q(x_k − μ) = 1 − Q(x_−k), so one list of tails serves for both distributions
    pairs = [(up(tails[reach][1], 0), down(one, tails[-reach][1]))]
    for index in range(-reach, reach):
        p = up(tails[-index - 1][1], tails[-index][0])
        pairs.append((p, down(tails[index][0], tails[index + 1][1])))
    pairs.append((up(one, tails[-reach][0]), 0))
    lost = math.ceil(revealed * ONE) + 1
    rest = ONE - lost
    return (*((-(-p * rest // ONE), q * rest // ONE) for p, q in pairs), (lost, 0), (0, lost))


def _reach(mu: Fraction, interval: Fraction, delta: Fraction) -> int:
    """The number of cells on each side of 0 after which so little is left that it may count as revealed."""
    least = (1 << _TAIL_BITS) - math.floor(delta * _BEYOND * (1 << _TAIL_BITS))

    def is_far(cells: int) -> bool:
        return _tail(mu, interval, -cells)[0] >= least

    reach = 1
    while not is_far(reach):
        reach *= 2
    return bisect_left(range(reach), True, lo=reach // 2 + 1, key=is_far)


def _tail(mu: Fraction, interval: Fraction, index: int) -> tuple[int, int]:
    """Bounds of Q(x_k)·2^160 for the cut x_k = (k·h + μ²/2)/μ between losses below and above k·h."""
    point = math.floor((index * interval + mu * mu / 2) / mu * (1 << _POINT_BITS))
    low, high = tail_bounds(Fraction(point, 1 << _POINT_BITS))
    return max(0, math.floor(low * (1 << _TAIL_BITS)) - _ROUNDED), math.ceil(high * (1 << _TAIL_BITS))
