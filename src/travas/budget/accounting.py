"""The composition of several releases: the sum, and the exact cost from the privacy losses of their noise tables.

The exact cost is an upper bound at every step. A release is described by pairs (p, q), the probabilities of an outcome
with and without one unit, as whole multiples of 2^-128: for a table of N, f against f shifted by one; a unit with
several counts has as many of them, each with independent noise. Every pair is placed on a grid of losses in exact
integers, rounded towards more loss. Google's dp-accounting composes the grids, separately for adding and removing, in
floating point; `_slack` bounds the error of that arithmetic and is added. Proof: docs/budgets.md.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

from ..errors import MissingExtraError, ParameterError, VerificationError
from ..mechanisms import from_description
from ..model.mechanism import Mechanism, Pair, is_ours
from ..search.table_builders import exponential_bounds
from ..trusted.guarantee import ONE_CASE, PrivacyUnit, Standing
from ..trusted.numbers import MAX_EPSILON, ONE

_GRID = 1 << 13  # grid steps for the sum of all ε
_REACH = 8  # losses beyond ± 8ε are moved to infinity or up to the lowest grid loss
_MOST_SLACK = 16  # composing the counts of a unit may lose at most 1/16 of its δ
_SCALE = 192


@dataclass(frozen=True)
class Spending:
    """The cost of one release for one unit, sufficient to rebuild its mechanism.

    `standing` is that of a charged release; None for a planned one. `description` is what `Mechanism.describe()` returned;
    without it, or without an option in it, the option has its former value. Where it disagrees with the standing, the
    worst case is assumed.
    """

    mechanism: str
    epsilon: Fraction
    delta: Fraction
    unit: PrivacyUnit = ONE_CASE
    standing: Standing | None = None
    description: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, mechanism: Mechanism) -> Self:
        """Return the cost of a release of this mechanism.

        Args:
            mechanism: The mechanism.

        Returns:
            Its cost and description.
        """
        promised = mechanism.guarantee()
        described = json.loads(json.dumps(mechanism.describe()))  # as it will be read from the ledger
        return cls(promised.mechanism, promised.epsilon, promised.delta, promised.unit, promised.standing, described)

    def pairs(self, interval: Fraction) -> tuple[list[Pair], list[Pair], int]:
        """Return the probabilities of all outcomes of one count with and without one unit, times 2^128, and reversed.

        The last value is the number of counts that a unit changes, each with independent noise. The probabilities are
        those of the table if it is known, of the cells of a grid for Gaussian noise, and otherwise the worst case.

        Args:
            interval: The distance of two losses on the grid.

        Returns:
            The pairs, the reversed pairs, and the number of counts.
        """
        unit = {"name": self.unit.name, "max_cases": self.unit.max_cases}
        charged = {"mechanism": self.mechanism, "epsilon": self.epsilon, "delta": self.delta, "unit": unit}
        try:
            mechanism = from_description({**self.description, **charged})
            if not is_ours(mechanism):  # another package may state anything
                return self.worst()
            pairs_of_table, gaussian = mechanism.loss_pairs(), mechanism.gaussian_loss()
        except (ParameterError, VerificationError):  # a required option was not recorded, or another table
            return self.worst()
        if gaussian is not None:
            pairs = gaussian.pairs(interval)
            return pairs, pairs, 1
        if pairs_of_table is None or not self._same_tables(mechanism):
            return self.worst()
        return pairs_of_table, _reversed(pairs_of_table), mechanism.loss_counts

    def worst(self) -> tuple[list[Pair], list[Pair], int]:
        """Return the pairs of the worst case that (ε, δ) allows (Kairouz, Oh, Viswanath 2015).

        Returns:
            The pairs, the reversed pairs, and the number of counts.
        """
        pairs = _worst_pairs(self.epsilon, self.delta)
        return pairs, _reversed(pairs), 1

    def _same_tables(self, mechanism: Mechanism) -> bool:
        is_charged = self.standing in (Standing.VERIFIED, Standing.PROVEN)
        if self.unit.max_cases == 1 or not is_charged:
            return True
        return (self.standing is Standing.VERIFIED) is mechanism.verified_units


def _reversed(pairs: list[Pair]) -> list[Pair]:
    return [(q, p) for p, q in reversed(pairs)]


def basic(spendings: Iterable[Spending]) -> tuple[Fraction, Fraction]:
    """Return (Σε, Σδ), which bounds the total cost even if later releases depend on earlier ones."""
    all_ = list(spendings)
    return sum((s.epsilon for s in all_), Fraction(0)), min(sum((s.delta for s in all_), Fraction(0)), Fraction(1))


@dataclass(frozen=True)
class Composition:
    """The total cost of releases from their privacy losses: never below the exact cost, never above the sum."""

    spendings: tuple[Spending, ...]
    _losses: Any
    _slack: float

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return a δ such that the releases together are (ε, δ)-DP."""
        total_epsilon, total_delta = basic(self.spendings)
        bound = total_delta if epsilon >= total_epsilon else Fraction(1)
        if not self.spendings:
            return Fraction(0)
        below = math.nextafter(float(epsilon), 0)  # a smaller ε has a larger δ
        delta = float(self._losses.get_delta_for_epsilon(below))
        return min(Fraction(delta) * (1 + Fraction(1, 1 << 30)) + Fraction(self._slack), bound)

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """Return the smallest ε, to one part in a million, such that the releases are (ε, δ)-DP; None if there is none."""
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
    """Compose releases. Requires the extra `accounting`."""
    releases = tuple(spendings)
    distribution = _dp_accounting()
    if not releases:
        return Composition(releases, None, 0.0)
    interval = _interval([s.epsilon for s in releases])
    grid = _Grid(interval)
    # never below the interval, even after rounding: a loss is only evaluated where it is above 0
    step = math.nextafter(math.nextafter(float(interval), math.inf), math.inf)
    total: Any = None
    entries, factors = 1, 0
    for spending, times in Counter(releases).items():
        once = _laid(spending, grid)
        entries += times * once.counts * once.entries
        factors += times * once.counts
        losses = distribution.PrivacyLossDistribution.create_from_rounded_probability(
            once.removing, once.lost_removing, step, True, once.adding, once.lost_adding, symmetric=False
        )
        for part in _powers(losses, times * once.counts):
            total = part if total is None else total.compose(part, tail_mass_truncation=0)
    return Composition(releases, total, _slack(factors, entries))


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
        return max(max(indexes) - min(indexes) + 1 for indexes in (self.removing, self.adding))


def _laid(spending: Spending, grid: _Grid) -> _Laid:
    """Return the losses of a release; the worst case if composing its counts would lose too much of a small δ."""
    reach = math.ceil(_REACH * spending.epsilon / grid.interval)

    def lay(removing: list[Pair], adding: list[Pair], counts: int) -> _Laid:
        return _Laid(*grid.losses(removing, reach), *grid.losses(adding, reach), counts)

    laid = lay(*spending.pairs(grid.interval))
    if laid.counts > 1 and _slack(laid.counts, laid.counts * laid.entries) > spending.delta / _MOST_SLACK:
        return lay(*spending.worst())
    return laid


def _powers(once: Any, times: int) -> Iterator[Any]:
    """Yield parts that compose to `times` copies, by repeated squaring."""
    while times:
        if times & 1:
            yield once
        times >>= 1
        if times:
            once = once.compose(once, tail_mass_truncation=0)


def _slack(factors: int, entries: int) -> float:
    """Return an upper bound of the error in δ of the Fourier transforms of dp-accounting.

    One transform of length n errs by at most 16·log2(n)·u of the vector's length, u = 2^-53: Higham, Accuracy and
    Stability, Theorem 24.2, has 7 for radix 2, and scipy's longest radix, 11, stays below 14. A convolution of two
    distributions is three of them, so it errs by 48·log2(n)·u in length and √n times that in sum, which is what δ sees.
    Later convolutions do not enlarge it; n factors are n − 1 convolutions.
    """
    length = 2 * entries  # scipy pads to the next fast length, at most twice
    return (factors - 1) * 48 * math.log2(length) * math.sqrt(length) * 2.0**-53


def _interval(epsilons: Sequence[Fraction]) -> Fraction:
    """Return the step of the grid of losses: one that divides every ε, unless that is too fine."""
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
    """Return the worst pair of distributions that (ε, δ) allows: δ reveals everything, the rest is randomised response."""
    if epsilon > MAX_EPSILON:
        return [(ONE, 0), (0, ONE)]
    lost = math.ceil(delta * ONE)
    _, growth = exponential_bounds(epsilon)
    more = -(-(ONE - lost) * growth // (growth + (1 << _SCALE)))
    return [(lost, 0), (more, ONE - lost - more), (ONE - lost - more, more), (0, lost)]


class _Grid:
    """Places pairs on losses k·interval in exact integers, so that no outcome becomes less revealing.

    A pair (p, q) between two grid losses is split into two that lie on them and add up to it: merging the two halves
    is post-processing, so the bound holds (Doroshenko et al. 2022, connect the dots). e^loss is rounded down and the
    mass that moves to the larger loss is rounded up.
    """

    def __init__(self, interval: Fraction) -> None:
        self.interval = interval
        self._float = float(interval)
        self._growths: dict[int, int] = {}
        below, _ = exponential_bounds(interval)
        self._shrink = (1 << _SCALE) - -(-(1 << 2 * _SCALE) // below)  # at most 1 − e^−interval

    def growth(self, index: int) -> int:
        """Return a lower bound of e^(index·interval)·2^192."""
        if index not in self._growths:
            below, above = exponential_bounds(abs(index) * self.interval)
            self._growths[index] = below if index >= 0 else (1 << 2 * _SCALE) // above
        return self._growths[index]

    def losses(self, pairs: Iterable[Pair], reach: int) -> tuple[dict[int, float], float]:
        """Return probabilities by grid index within ± reach, and of an infinite loss, rounded up."""
        masses: defaultdict[int, int] = defaultdict(int)
        infinite = 0
        for p, q in pairs:
            if not q:
                infinite += p
            elif p:
                index = math.floor((math.log(p) - math.log(q)) / self._float)
                index = min(max(index, -reach - 1), reach)
                while index < reach and p << _SCALE > q * self.growth(index + 1):
                    index += 1
                if index < -reach:
                    masses[-reach] += p
                elif index == reach:
                    inside = min(p, q * self.growth(index) >> _SCALE)
                    masses[index] += inside
                    infinite += p - inside
                else:
                    excess = max(0, (p << _SCALE) - q * self.growth(index))
                    upwards = min(p, -(-excess // self._shrink))
                    masses[index] += p - upwards
                    masses[index + 1] += upwards
        finite = {index: math.nextafter(mass / ONE, math.inf) for index, mass in sorted(masses.items()) if mass}
        return finite or {0: 0.0}, math.nextafter(infinite / ONE, math.inf) if infinite else 0.0


def _dp_accounting() -> Any:
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        raise MissingExtraError("exact composition", "accounting") from None
    return privacy_loss_distribution
