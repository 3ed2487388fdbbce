"""The privacy curve of a mechanism: for every ε' an upper bound of the worst-case δ(ε').

A mechanism states the steps that one unit changes and the noise of each (`losses`). Its (ε, δ) is not used where the noise
is known: the engine of `trusted.losses`, which also composes releases in the ledger, reads the tables and constants that are
sampled. Lemmas: docs/audit.md, section "Privacy curves".
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
from ..trusted.numbers import MAX_EPSILON, as_text, rounded_up

POINTS = 16
"""The curve is printed at this many steps from 0 to 2ε."""


@dataclass(frozen=True)
class Point:
    """The worst-case δ at ε', in the worse direction, is at most `at_most`."""

    epsilon: Fraction
    at_most: Fraction

    def as_json(self) -> dict[str, str]:
        """Return the numbers as text, δ with four digits, rounded up."""
        return {"epsilon": as_text(self.epsilon), "at_most": rounded_up(self.at_most, 4)}


def points(mechanism: Mechanism, epsilons: Sequence[Fraction] = ()) -> tuple[Point, ...]:
    """Return points of the privacy curve of a mechanism, for adding or removing one unit."""
    if mechanism.guarantee().standing is Standing.NOT_ESTABLISHED:
        raise VerificationError(f"the guarantee of {name_of(mechanism)} is not established: it has no privacy curve")
    wanted = epsilons or [2 * mechanism.epsilon * step / POINTS for step in range(POINTS + 1)]
    if not all(0 <= epsilon <= 2 * MAX_EPSILON for epsilon in wanted):
        raise ParameterError(f"epsilon of a curve must be from 0 to {2 * MAX_EPSILON}", field="epsilon")
    at_most = delta_curve([(mechanism.losses(), 1)])
    return tuple(Point(epsilon, at_most(epsilon)) for epsilon in wanted)
