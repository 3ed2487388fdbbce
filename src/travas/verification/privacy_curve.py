"""The exact privacy curve of a mechanism: for every ε' an upper and a lower bound of the worst-case δ(ε').

A mechanism states the steps that one unit changes and the noise of each (`losses`). Its (ε, δ) is not used where the noise
is known: the engine of `trusted.losses`, which also composes releases in the ledger, reads the tables and constants that are
sampled. Where the two bounds agree, the curve is exact; where they differ, the lower one is reached by a pair of
neighbouring logs that the proof names. Lemmas: docs/audit.md, section "Exact curves".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import ParameterError, VerificationError
from ..mechanisms.mechanism import Mechanism
from ..releases.release import name_of
from ..trusted.guarantee import Standing
from ..trusted.losses import delta_curve
from ..trusted.numbers import MAX_EPSILON, as_text, rounded_down, rounded_up

POINTS = 16
"""The curve is printed at this many steps from 0 to 2ε."""


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


def points(mechanism: Mechanism, epsilons: Sequence[Fraction] = ()) -> tuple[Point, ...]:
    """Return points of the privacy curve of a mechanism, for adding or removing one unit."""
    if mechanism.guarantee().standing is Standing.NOT_ESTABLISHED:
        raise VerificationError(f"the guarantee of {name_of(mechanism)} is not established: it has no privacy curve")
    wanted = epsilons or [2 * mechanism.epsilon * step / POINTS for step in range(POINTS + 1)]
    if not all(0 <= epsilon <= 2 * MAX_EPSILON for epsilon in wanted):
        raise ParameterError(f"epsilon of a curve must be from 0 to {2 * MAX_EPSILON}", field="epsilon")
    steps = ((mechanism.losses(), 1),)
    reached, at_most = delta_curve(steps, "below"), delta_curve(steps, "above")
    return tuple(Point(epsilon, reached(epsilon), at_most(epsilon)) for epsilon in wanted)
