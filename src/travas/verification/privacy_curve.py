"""The exact privacy curve of a mechanism: for every ε' an upper and a lower bound of the worst-case δ(ε').

A mechanism states the steps that one unit changes and the noise of each (`unit_losses`). Nothing here trusts its (ε, δ):
the curve is computed from the tables and constants that are sampled, by code that the mechanism does not use. Where the two
bounds agree, the curve is exact; where they differ, the lower one is reached by a pair of neighbouring logs that the
proof names. Lemmas: docs/audit.md, section "Exact curves".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Protocol

from ..errors import ParameterError, VerificationError
from ..model.mechanism import Mechanism
from ..search.loss_bounds import GROWTH_BITS, LossBound, Side, common_interval, growth_bounds, of_pairs, of_response
from ..trusted.guarantee import Standing
from ..trusted.numbers import MAX_EPSILON, as_text, rounded_down, rounded_up
from ..trusted.stage_check import GaussianNoise, profile, reached
from ..trusted.tables import Noise, NoiseTable, joint_delta
from ..trusted.unit_losses import LossStep, MeasurementLosses, SelectionLosses

POINTS = 16
"""The curve is printed at this many steps from 0 to 2ε."""

_LONGEST = 20_000  # entries of a table that is placed on a grid of losses


@dataclass(frozen=True)
class Point:
    """The worst-case δ at ε', in the worse direction: between `reached` and `at_most`."""

    epsilon: Fraction
    reached: Fraction
    at_most: Fraction

    def as_json(self) -> dict[str, str]:
        """Return the numbers as text, δ with four digits, rounded outwards."""
        reached = as_text(rounded_down(self.reached, 4))
        return {"epsilon": as_text(self.epsilon), "reached": reached, "at_most": rounded_up(self.at_most, 4)}

    @property
    def is_exact(self) -> bool:
        """Whether both bounds agree to three digits."""
        return self.reached >= self.at_most * Fraction(999, 1000)


class Curve(Protocol):
    """Bounds of the worst-case δ."""

    def at(self, epsilon: Fraction) -> Point:
        """Return the bounds at ε' ≥ 0."""


def privacy_curve(mechanism: Mechanism) -> Curve:
    """Return the privacy curve of a mechanism.

    Args:
        mechanism: A mechanism with an established guarantee.

    Returns:
        The curve, for adding or removing one unit.

    Raises:
        VerificationError: The guarantee is not established, or the mechanism is not one of travas.
    """
    if mechanism.guarantee().standing is Standing.NOT_ESTABLISHED:
        raise VerificationError(f"the guarantee of {mechanism.name} is not established: it has no privacy curve")
    losses = mechanism.unit_losses()
    match losses:
        case SelectionLosses():
            return _of_selection(losses)
        case MeasurementLosses():
            return GaussianCurve(losses.noise, losses.reached)
        case tuple():
            return _composed(losses)
    raise VerificationError(f"the privacy curve of {mechanism.name} is not known")


def points(mechanism: Mechanism, epsilons: Sequence[Fraction] = ()) -> tuple[Point, ...]:
    """Return points of the curve.

    Args:
        mechanism: A mechanism with an established guarantee.
        epsilons: The ε' of the points; by default from 0 to 2ε.

    Returns:
        The points in this order.
    """
    curve = privacy_curve(mechanism)
    wanted = epsilons or [2 * mechanism.epsilon * step / POINTS for step in range(POINTS + 1)]
    if not all(0 <= epsilon <= 2 * MAX_EPSILON for epsilon in wanted):
        raise ParameterError(f"epsilon of a curve must be from 0 to {2 * MAX_EPSILON}", field="epsilon")
    return tuple(curve.at(epsilon) for epsilon in wanted)


# ---------------------------------------------------------------------------------------------------------- one table


@dataclass(frozen=True)
class TableCurve:
    """One count with noise from a table: the exact sum over all outcomes, for every count, in both directions (Lemma 3)."""

    noise: Noise

    def at(self, epsilon: Fraction) -> Point:
        at_most = max(_of_counts(self._weights, epsilon, "above"))
        return Point(epsilon, max(_of_counts(self._weights, epsilon, "below")), at_most)

    @cached_property
    def _weights(self) -> list[int]:
        return weights_of(self.noise.table)


def weights_of(table: NoiseTable) -> list[int]:
    """P[N = j]·2^128, j = 1, 2, …"""
    return [high - low for low, high in pairwise([0, *table.boundaries()])]


def _of_counts(weights: list[int], epsilon: Fraction, side: Side) -> Iterator[Fraction]:
    """δ for a count of n against n + 1, in the worse direction, for n = 0, 1, …, length.

    Outcomes are the noisy counts n − N ≥ 0 and that the variant is absent.
    """
    low, high = growth_bounds(epsilon)
    growth = low if side == "above" else high
    more = less = 0
    absent_more = absent_less = sum(weights)
    whole = absent_more << GROWTH_BITS
    for p, q in zip([*weights, 0], [0, *weights], strict=True):  # of the same noisy count, from n + 1 and from n
        more += max(0, (p << GROWTH_BITS) - growth * q)
        less += max(0, (q << GROWTH_BITS) - growth * p)
        absent_more -= p
        absent_less -= q
        hidden_more = max(0, (absent_more << GROWTH_BITS) - growth * absent_less)
        hidden_less = max(0, (absent_less << GROWTH_BITS) - growth * absent_more)
        yield Fraction(max(more + hidden_more, less + hidden_less), whole)


# ------------------------------------------------------------------------------------------------- several steps


@dataclass(frozen=True)
class Step:
    """A step of a mechanism: what one unit changes in it.

    `above` and `below` make the bounds of its losses on a grid, for one unit more and one less; `below` is None if it is
    not known that neighbouring logs reach it together with the other steps.
    """

    epsilon: Fraction
    above: Callable[[Fraction], tuple[LossBound, LossBound]]
    below: Callable[[Fraction], tuple[LossBound, LossBound]] | None
    times: int = 1
    reached_times: int = 1


@dataclass(frozen=True)
class ComposedCurve:
    """Steps with independent noise; each may depend on the output of those before (Lemma 2)."""

    steps: tuple[Step, ...]

    def at(self, epsilon: Fraction) -> Point:
        reached = [bound.delta(epsilon) for bound in self._below]
        return Point(epsilon, max(reached, default=Fraction(0)), max(bound.delta(epsilon) for bound in self._above))

    @cached_property
    def _interval(self) -> Fraction:
        return common_interval([step.epsilon for step in self.steps for _ in range(step.times)])

    @cached_property
    def _above(self) -> list[LossBound]:
        made = [[bound.repeated(step.times) for bound in step.above(self._interval)] for step in self.steps]
        return [_product([both[direction] for both in made]) for direction in (0, 1)]

    @cached_property
    def _below(self) -> list[LossBound]:
        made = [
            [bound.repeated(step.reached_times) for bound in step.below(self._interval)]
            for step in self.steps
            if step.below is not None
        ]
        return [_product([both[direction] for both in made]) for direction in (0, 1) if made]


def _product(bounds: Sequence[LossBound]) -> LossBound:
    total = bounds[0]
    for bound in bounds[1:]:
        total = total.and_then(bound)
    return total


def table_step(noise: Noise, times: int = 1, reached_times: int = 1) -> Step:
    """Counts with noise from a table, each changed by one."""
    if noise.table.length > _LONGEST:
        return response_step(noise.epsilon, noise.delta, times)
    return Step(noise.epsilon, _shift(noise, 1, "above"), _shift(noise, 1, "below"), times, reached_times)


def _shift(noise: Noise, steps: int, side: Side) -> Callable[[Fraction], tuple[LossBound, LossBound]]:
    def made(interval: Fraction) -> tuple[LossBound, LossBound]:
        weights, nothing = weights_of(noise.table), [0] * steps
        pairs = list(zip([*weights, *nothing], [*nothing, *weights], strict=True))
        return of_pairs(pairs, interval, side), of_pairs([(q, p) for p, q in pairs], interval, side)

    return made


def response_step(epsilon: Fraction, delta: Fraction = Fraction(0), times: int = 1, *, reached: bool = False) -> Step:
    """A step of which only (ε, δ) is known: its worst case. `reached` if it is discrete Laplace noise on one count."""

    def made(side: Side) -> Callable[[Fraction], tuple[LossBound, LossBound]]:
        return lambda interval: (of_response(epsilon, delta, interval, side),) * 2

    return Step(epsilon, made("above"), made("below") if reached else None, times)


def _composed(steps: Sequence[LossStep]) -> ComposedCurve:
    return ComposedCurve(tuple(map(_of_step, steps)))


def _of_step(stated: LossStep) -> Step:
    """A count that changes by one, from its table; by more, from above by what it costs the whole person (Lemma 5)."""
    noise, reached = stated.noise, stated.reached
    if noise is None:
        return response_step(stated.epsilon, stated.delta, stated.counts, reached=reached > 0)
    if stated.cases == 1:
        step = table_step(noise, stated.counts, reached)
        return step if reached else replace(step, below=None)
    above = response_step(stated.epsilon, stated.delta).above
    below = _shift(noise, stated.cases, "below") if reached else None
    return Step(stated.epsilon, above, below, stated.counts, reached)


# ------------------------------------------------------------------------------------------------- a person's counts


@dataclass(frozen=True)
class JointCurve:
    """Noise that was made for all counts of a person together: bounded as it was verified (docs/mechanisms/persons.md)."""

    noise: Noise
    reached: ComposedCurve

    def at(self, epsilon: Fraction) -> Point:
        return Point(epsilon, self.reached.at(epsilon).reached, joint_delta(self.noise, epsilon))


def _of_selection(stated: SelectionLosses) -> Curve:
    noise, counts = stated.noise, stated.counts
    if counts == 1:
        return TableCurve(noise)
    composed = ComposedCurve((table_step(noise, counts, counts),))
    return composed if noise.counts == 1 else JointCurve(noise, composed)


# ------------------------------------------------------------------------------------------------- measurements


@dataclass(frozen=True)
class GaussianCurve:
    """Gaussian measurements, by the theorem of docs/mechanisms/synthesis.md at every ε'.

    `reached` has squared norms that neighbouring logs differ by, each with the probability that a selection hides it.
    """

    noise: GaussianNoise
    reached: tuple[tuple[int, Fraction], ...] = ()

    def at(self, epsilon: Fraction) -> Point:
        at_most = profile(self.noise.calibration, epsilon)
        bounds = (max(Fraction(0), reached(norm, epsilon) - hidden) for norm, hidden in self.reached)
        return Point(epsilon, max(bounds, default=Fraction(0)), at_most)
