"""From (ε, δ) for a unit with several cases to (ε, δ) for one step of one count. Proof: docs/unit.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .guarantee import Counted
from .noise_tables import exponential_bounds
from .numbers import rounded_down

_BITS = 192


@dataclass(frozen=True)
class GroupStep:
    """The cost of one count changing by one such that a whole unit costs (ε, δ).

    `factor`: the δ of the whole is at most `factor` times the δ of a step.
    """

    epsilon: Fraction
    delta: Fraction
    factor: Fraction


def step(epsilon: Fraction, delta: Fraction, max_cases: int, counted: Counted) -> GroupStep:
    """Return the step of a unit of at most `max_cases` counts: different counts if units are counted, any if cases are.

    Different counts: by composition (ε/m, δ/m). Anywhere: by group privacy ε' = ε/m, δ' = δ/(1 + e^ε' + … + e^((m−1)ε')),
    with an upper bound of e^ε', rounded down.

    >>> step(Fraction(1), Fraction(1, 100), 4, "units")
    GroupStep(epsilon=Fraction(1, 4), delta=Fraction(1, 400), factor=Fraction(4, 1))
    """
    if max_cases == 1 or counted == "units":
        return GroupStep(epsilon / max_cases, delta / max_cases, Fraction(max_cases))
    _, growth = exponential_bounds(epsilon / max_cases, _BITS)
    total = 0
    for _ in range(max_cases):
        total = (1 << _BITS) - (-total * growth >> _BITS)  # 1 + e^ε'·total, rounded up
    factor = Fraction(total, 1 << _BITS)
    return GroupStep(epsilon / max_cases, rounded_down(delta / factor), factor)
