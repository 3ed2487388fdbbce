"""What one unit changes in a release, as the mechanism states it: the steps, and the noise that each of them samples.

Plain values without arithmetic. `verification/privacy_curve.py` computes the privacy curve from the tables and constants
that they hold, by separate code.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .stage_check import GaussianNoise
from .tables import Noise


@dataclass(frozen=True)
class LossStep:
    """A step of a release with independent noise, which may depend on the output of earlier steps.

    Attributes:
        epsilon: ε of one of the `counts`, if it changes by `cases`.
        delta: δ of one of the `counts`, if it changes by `cases`.
        noise: The table that is sampled; None if there is none, or if only (ε, δ) is known.
        cases: By how much one unit changes a count at most.
        counts: How many counts with this noise one unit changes at most.
        reached: How many of them a pair of neighbouring logs that the proof names changes, together with those of the
            other steps; 0 if no such pair is known. A step without a table is reached if it is discrete Laplace noise on a
            count that changes by one.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    noise: Noise | None = None
    cases: int = 1
    counts: int = 1
    reached: int = 0


@dataclass(frozen=True)
class SelectionLosses:
    """A release that consists of counts with noise from one table, of which one unit changes some by one each.

    Attributes:
        noise: The table that is sampled.
        counts: How many counts one unit changes at most; some pair of neighbouring logs changes all of them.
    """

    noise: Noise
    counts: int


@dataclass(frozen=True)
class MeasurementLosses:
    """A release made of Gaussian measurements.

    Attributes:
        noise: The noise that is drawn.
        reached: Squared norms by which neighbouring logs differ, each with the probability that a selection hides it.
    """

    noise: GaussianNoise
    reached: tuple[tuple[int, Fraction], ...] = ()


UnitLosses = SelectionLosses | MeasurementLosses | tuple[LossStep, ...]
"""What one unit changes in a release; a tuple has independent steps in their order."""
