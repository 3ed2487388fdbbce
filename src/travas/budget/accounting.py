"""What several releases cost together: the sum, and the exact figure from the privacy losses of their tables.

The exact figure is an upper bound at every step. A release is described by pairs (p, q), the probabilities of an
outcome with and without one unit, as whole multiples of 2^-128: for a table of N, f against f shifted by one; a unit
of several counts is as many of them, each with noise of its own. Every pair is laid on a grid of losses in exact
integers, rounding towards more loss. Google's dp-accounting composes the grids, adding and removing apart, in floating
point; `_slack` bounds what that arithmetic can lose and is added. The argument in full: docs/budgets.md.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import MissingExtraError, ParameterError
from ..mechanisms import from_description
from ..model.mechanism import Mechanism, Pair
from ..privacy.guarantee import ONE_CASE, PrivacyUnit, Standing
from ..privacy.tables import MAX_EPSILON, ONE, exponential_bounds

_GRID = 1 << 13  # steps for the sum of all ε
_REACH = 8  # a loss beyond ± so many ε goes to the border: part of it to infinity, or up to the lowest
_MOST_SLACK = 16  # composing the counts of a unit may lose one part in so many of its δ
_SCALE = 192


@dataclass(frozen=True)
class Spending:
    """What one release costs one unit: enough to build its table again.

    `standing` is that of a release that was charged; None for one that is planned. Versions of travas that had no table
    for all counts of a unit together charged the parts of each as *proven*: they are taken at the worst.
    """

    mechanism: str
    epsilon: Fraction
    delta: Fraction
    unit: PrivacyUnit = ONE_CASE
    standing: Standing | None = None

    def pairs(self, interval: Fraction) -> tuple[list[Pair], list[Pair], int]:
        """Probabilities of all outcomes of one count with and without one unit, times 2^128; and without and with.

        The last is how many counts a unit changes, each with noise of its own. The actual table where it is known, the
        Gaussian distribution by the cells of a grid of losses where it is that, and else one count at its worst.
        """
        unit = {"name": self.unit.name, "max_cases": self.unit.max_cases}
        described = {"mechanism": self.mechanism, "epsilon": self.epsilon, "delta": self.delta, "unit": unit}
        try:
            mechanism = from_description(described)
            known, gaussian = mechanism.loss_pairs(), mechanism.gaussian_loss()
        except ParameterError:  # it needs options that the ledger does not hold, or another package
            return self.worst()
        if gaussian is not None:
            pairs = gaussian.pairs(interval)
            return pairs, pairs, 1
        if known is None or not self._same_tables(mechanism):
            return self.worst()
        return known, _reversed(known), mechanism.loss_counts

    def worst(self) -> tuple[list[Pair], list[Pair], int]:
        """The same for the worst that (ε, δ) allows (Kairouz, Oh, Viswanath 2015)."""
        pairs = _worst_pairs(self.epsilon, self.delta)
        return pairs, _reversed(pairs), 1

    def _same_tables(self, mechanism: Mechanism) -> bool:
        joint = self.unit.max_cases > 1 and mechanism.verified_units
        return self.standing is None or self.standing is Standing.VERIFIED or not joint


def _reversed(pairs: list[Pair]) -> list[Pair]:
    return [(q, p) for p, q in reversed(pairs)]


def basic(spendings: Iterable[Spending]) -> tuple[Fraction, Fraction]:
    """(Σε, Σδ): what releases cost together at most, also when a later one is chosen after seeing an earlier one."""
    chosen = list(spendings)
    return sum((s.epsilon for s in chosen), Fraction(0)), min(sum((s.delta for s in chosen), Fraction(0)), Fraction(1))


@dataclass(frozen=True)
class Composition:
    """What releases cost together, from their privacy losses: never below the truth, never above the sum."""

    spendings: tuple[Spending, ...]
    _losses: Any
    _slack: float

    def delta(self, epsilon: Fraction) -> Fraction:
        """A δ such that the releases together are (ε, δ)-DP."""
        total_epsilon, total_delta = basic(self.spendings)
        bound = total_delta if epsilon >= total_epsilon else Fraction(1)
        if not self.spendings:
            return Fraction(0)
        below = math.nextafter(float(epsilon), 0)  # a smaller ε has a larger δ
        found = float(self._losses.get_delta_for_epsilon(below))
        return min(Fraction(found) * (1 + Fraction(1, 1 << 30)) + Fraction(self._slack), bound)

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """The least ε, to one part in a million, such that the releases together are (ε, δ)-DP; None if there is none."""
        low, high = Fraction(0), basic(self.spendings)[0]
        if self.delta(low) <= delta:
            return low
        if self.delta(high) > delta:
            return None
        step = high / 1_000_000
        while high - low > step:
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return min(math.ceil(high / step) * step, basic(self.spendings)[0])


def compose(spendings: Iterable[Spending]) -> Composition:
    """The composition of releases. Needs the extra `accounting`."""
    chosen = tuple(spendings)
    distribution = _dp_accounting()
    if not chosen:
        return Composition(chosen, None, 0.0)
    interval = _interval([s.epsilon for s in chosen])
    grid = _Grid(interval)
    # never below the interval, also after a product is rounded: a loss is only ever evaluated where it is above 0
    step = math.nextafter(math.nextafter(float(interval), math.inf), math.inf)
    total: Any = None
    entries, factors = 1, 0
    for spending, times in Counter(chosen).items():
        once = _laid(spending, grid)
        entries += times * once.counts * once.entries
        factors += times * once.counts
        losses = distribution.PrivacyLossDistribution.create_from_rounded_probability(
            once.removing, once.lost_removing, step, True, once.adding, once.lost_adding, symmetric=False
        )
        for part in _powers(losses, times * once.counts):
            total = part if total is None else total.compose(part, tail_mass_truncation=0)
    return Composition(chosen, total, _slack(factors, entries))


@dataclass(frozen=True)
class _Laid:
    """The losses of one count on the grid, in both directions, and the number of counts."""

    removing: dict[int, float]
    lost_removing: float
    adding: dict[int, float]
    lost_adding: float
    counts: int

    @property
    def entries(self) -> int:
        return max(max(places) - min(places) + 1 for places in (self.removing, self.adding))


def _laid(spending: Spending, grid: _Grid) -> _Laid:
    """The losses of a release; of (ε, δ) at its worst where composing its counts would lose too much of a small δ."""
    reach = math.ceil(_REACH * spending.epsilon / grid.interval)

    def lay(removing: list[Pair], adding: list[Pair], counts: int) -> _Laid:
        return _Laid(*grid.losses(removing, reach), *grid.losses(adding, reach), counts)

    laid = lay(*spending.pairs(grid.interval))
    if laid.counts > 1 and _slack(laid.counts, laid.counts * laid.entries) > spending.delta / _MOST_SLACK:
        return lay(*spending.worst())
    return laid


def _powers(once: Any, times: int) -> Iterator[Any]:
    """Parts that compose to so many times the same: by repeated squaring."""
    while times:
        if times & 1:
            yield once
        times >>= 1
        if times:
            once = once.compose(once, tail_mass_truncation=0)


def _slack(factors: int, entries: int) -> float:
    """An upper bound of what the Fourier transforms of dp-accounting can lose of δ.

    One transform of length n errs by at most 16·log2(n)·u of the vector's length, u = 2^-53: Higham, Accuracy and
    Stability, Theorem 24.2, has 7 for radix 2, and scipy's longest radix, 11, stays below 14. A convolution of two
    distributions is three of them, so it errs by 48·log2(n)·u in length and √n times that in sum, which is what δ sees.
    Later convolutions do not enlarge it; n factors are n − 1 convolutions.
    """
    length = 2 * entries  # scipy pads to the next fast length, at most twice
    return (factors - 1) * 48 * math.log2(length) * math.sqrt(length) * 2.0**-53


def _interval(epsilons: Sequence[Fraction]) -> Fraction:
    """The distance of two losses on the grid: one on which every ε lies, where that is not too fine."""
    total = sum(epsilons, Fraction(0))
    common = Fraction(math.gcd(*(e.numerator * _denominator(epsilons) // e.denominator for e in epsilons)), 1)
    common /= _denominator(epsilons)
    steps = total / common
    if steps > _GRID:
        return total / _GRID
    return common / (1 << (_GRID // math.ceil(steps)).bit_length() - 1)


def _denominator(epsilons: Sequence[Fraction]) -> int:
    return math.lcm(*(epsilon.denominator for epsilon in epsilons))


def _worst_pairs(epsilon: Fraction, delta: Fraction) -> list[Pair]:
    """The worst pair of distributions that (ε, δ) allows: all of δ reveals, the rest is randomised response."""
    if epsilon > MAX_EPSILON:
        return [(ONE, 0), (0, ONE)]
    lost = math.ceil(delta * ONE)
    _, growth = exponential_bounds(epsilon)
    more = -(-(ONE - lost) * growth // (growth + (1 << _SCALE)))
    return [(lost, 0), (more, ONE - lost - more), (ONE - lost - more, more), (0, lost)]


class _Grid:
    """Lays pairs on losses k·interval in exact integers, so that no event becomes less telling.

    A pair (p, q) between two grid losses is split in two that lie on them and add up to it: whoever sees which half it
    is can forget it again, so nothing is lost (Doroshenko et al. 2022, connect the dots). e^loss is rounded down and
    what moves to the larger loss up.
    """

    def __init__(self, interval: Fraction) -> None:
        self.interval = interval
        self._float = float(interval)
        self._growths: dict[int, int] = {}
        below, _ = exponential_bounds(interval)
        self._shrink = (1 << _SCALE) - -(-(1 << 2 * _SCALE) // below)  # at most 1 − e^−interval

    def growth(self, place: int) -> int:
        """At most e^(place·interval)·2^192."""
        if place not in self._growths:
            below, above = exponential_bounds(abs(place) * self.interval)
            self._growths[place] = below if place >= 0 else (1 << 2 * _SCALE) // above
        return self._growths[place]

    def losses(self, pairs: Iterable[Pair], reach: int, scale: int = ONE) -> tuple[dict[int, float], float]:
        """Probability by grid place within ± reach, and that of an infinite loss, each rounded up; `scale` stands for one."""
        found: defaultdict[int, int] = defaultdict(int)
        infinite = 0
        for p, q in pairs:
            if not q:
                infinite += p
            elif p:
                place = math.floor((math.log(p) - math.log(q)) / self._float)
                place = min(max(place, -reach - 1), reach)
                while place < reach and p << _SCALE > q * self.growth(place + 1):
                    place += 1
                if place < -reach:
                    found[-reach] += p
                elif place == reach:
                    inside = min(p, q * self.growth(place) >> _SCALE)
                    found[place] += inside
                    infinite += p - inside
                else:
                    excess = max(0, (p << _SCALE) - q * self.growth(place))
                    upwards = min(p, -(-excess // self._shrink))
                    found[place] += p - upwards
                    found[place + 1] += upwards
        finite = {place: math.nextafter(mass / scale, math.inf) for place, mass in sorted(found.items()) if mass}
        return finite or {0: 0.0}, math.nextafter(infinite / scale, math.inf) if infinite else 0.0


def _dp_accounting() -> Any:
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        raise MissingExtraError("exact composition", "accounting") from None
    return privacy_loss_distribution
