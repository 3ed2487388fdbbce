"""Sequences of Gaussian measurements as plain public values, fixed before any data are seen.

A case adds a vector of non-negative integers to every stage, of Euclidean norm at most the stage's contribution Δ.
Every sum is published with noise from the discrete Gaussian N_Z(0, S²). The noise is the same in all stages: the size
of Δ carries the budget. Proof: docs/mechanisms/synthesis.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from .samplers import GAUSSIAN_BITS

STANDARD_DEVIATION = 1 << GAUSSIAN_BITS
"""S: the noise has the variance S², up to a factor that Lemma 2 bounds."""

SMOOTHING_VARIANCE = 16
"""r²: the part of the variance that pays for the step from discrete to continuous noise (Lemma 2)."""

SMOOTHING_DELTA = Fraction(1, 1 << 320)
"""At least 4κ of the theorem and 8κ of Theorem 2, for up to 1,000 stages, 1,000 cases per person and 2^100 events per case."""


Group = Literal["variants", "residual", "every case"]
"""Which cases contribute to a stage: V itself, residual cases only (the flow), or all cases, released or not."""


@dataclass(frozen=True)
class Selection:
    """A stage whose keys are not public: a key is published only if its noisy sum exceeds a threshold.

    Attributes:
        fewest: The least number of keys to which a case adds something, if it adds anything.
        most: The largest number of keys to which a case adds something (K).
    """

    fewest: int = 1
    most: int = 1


RAMP_BITS = 32
"""Probabilities of a ramp are multiples of 2^-32."""


@dataclass(frozen=True)
class Ramp:
    """g: a key whose noisy sum is v whole cases, rounded down, is released unless U < g(v), U uniform below 2^32.

    Attributes:
        first: The least v at which a key can be released: g is 2^32 below.
        table: g(first), g(first + 1), …; 0 from there on.
    """

    first: int
    table: tuple[int, ...]

    @property
    def end(self) -> int:
        """The least v at which every key is released."""
        return self.first + len(self.table)

    @property
    def falls(self) -> list[int]:
        """g(v − 1) − g(v) from the first v on; they add up to 2^32."""
        return [before - after for before, after in pairwise((1 << RAMP_BITS, *self.table, 0))]


@dataclass(frozen=True)
class Stage:
    """A calibrated stage.

    Attributes:
        name: A unique name.
        contribution: Δ, the largest Euclidean norm of what one case adds.
        selection: How many keys a case has, where keys are selected; None where all cells are public.
        threshold: τ: a key is published if its noisy sum is larger; 0 where nothing is selected.
        delta: The probability that a key is published which only one person has; 0 where nothing is selected.
        group: Which cases contribute.
        ramp: What takes the place of the threshold, where cases of a released key add nothing to later stages (Theorem 2).
    """

    name: str
    contribution: int
    selection: Selection | None = None
    threshold: int = 0
    delta: Fraction = Fraction(0)
    group: Group = "every case"
    ramp: Ramp | None = None

    def weight(self, keys: int) -> int:
        """w_m: what a case with `keys` keys adds to each of them."""
        return math.isqrt(self.contribution**2 // keys)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, in multiples of the contribution. For post-processing only."""
        return STANDARD_DEVIATION / self.contribution


def revealed(stages: Iterable[Stage]) -> Fraction:
    """1 − Π(1 − δ_j): at least the probability that some selection publishes a key which only one person has."""
    return 1 - math.prod((1 - stage.delta for stage in stages), start=Fraction(1))


@dataclass(frozen=True)
class Calibration:
    """The constants of all stages, and the guarantee that they are meant to have.

    Attributes:
        epsilon: ε.
        delta: δ of the whole.
        gaussian_delta: δ_G, the part of δ for the noise itself; each selection has its own part.
        stages: The stages, in the order in which they are measured.
        max_cases: M, the largest number of cases of one person.
    """

    epsilon: Fraction
    delta: Fraction
    gaussian_delta: Fraction
    stages: tuple[Stage, ...]
    max_cases: int = 1

    @property
    def ramp(self) -> Ramp | None:
        """The ramp of V; None where it has a threshold."""
        return self.stages[0].ramp if self.stages else None
