"""Exact discrete Gaussian noise: the sampler, and the only object that can draw from it.

`GaussianNoise` holds constants that were verified when it was made. Noise is drawn in 64-bit integers from random
bytes; no float decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import VerificationError
from .gaussian_stages import STANDARD_DEVIATION, Calibration, Stage
from .gaussian_verifier import verify_calibration
from .noise import RandomBytes
from .sampling import happens, uniform_below

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLOCK = 1 << 17
_BITS = STANDARD_DEVIATION.bit_length() - 1  # S = 2^bits
_MOST_STEPS = 2047  # (m − S)² stays below 2^63


@dataclass(frozen=True)
class GaussianNoise:
    """Noise for a sequence of measurements that was verified to be (ε, δ)-DP when this object was made.

    Attributes:
        calibration: The constants of all stages.
        delta_spent: The δ that is used, never more than the calibration's.
    """

    calibration: Calibration
    delta_spent: Fraction = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta_spent", verify_calibration(self.calibration))

    def stage(self, name: str) -> Stage:
        """The calibrated stage of this name.

        Args:
            name: The name of the stage.

        Returns:
            The stage.
        """
        for stage in self.calibration.stages:
            if stage.name == name:
                return stage
        raise VerificationError(f"there is no measurement {name!r} in what was verified: nothing can be drawn for it")

    def draw(self, size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
        """`size` independent values of N_Z(0, S²).

        Args:
            size: The number of values.
            random_bytes: The source of randomness.

        Returns:
            The values.
        """
        return discrete_gaussian(size, random_bytes)


def discrete_gaussian(size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
    """Independent values with P[k] ∝ e^(−k²/2S²) on all integers, sampled exactly.

    Canonne, Kamath and Steinke 2020, Algorithm 3 with t = σ = S: a discrete Laplace value m of scale S is accepted with
    probability e^(−(m − S)²/2S²), and e^(−m/S)·e^(−(m − S)²/2S²) = e^(−m²/2S²)·e^(−1/2).

    Args:
        size: How many values.
        random_bytes: The source of randomness.

    Returns:
        The values.
    """
    import numpy as np

    drawn = np.empty(size, dtype=np.int64)
    for start in range(0, size, _BLOCK):
        _fill(drawn[start : start + _BLOCK], random_bytes)
    return drawn


def _fill(drawn: NDArray[np.int64], random_bytes: RandomBytes) -> None:
    import numpy as np

    waiting = np.arange(len(drawn))
    while len(waiting):
        magnitude = _geometric(len(waiting), random_bytes)
        negative = np.frombuffer(random_bytes(len(waiting)), dtype=np.uint8) & 1 == 1
        accepted = ~(negative & (magnitude == 0))  # zero has one sign only
        accepted &= _accepts((magnitude - (1 << _BITS)) ** 2, random_bytes, 2 * _BITS + 1)
        drawn[waiting[accepted]] = np.where(negative, -magnitude, magnitude)[accepted]
        waiting = waiting[~accepted]


def _geometric(size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
    """P[m] ∝ e^(−m/S): m = U + S·G, U below S with weight e^(−u/S), G with weight e^−g."""
    import numpy as np

    fine = np.empty(size, dtype=np.int64)
    waiting = np.arange(size)
    while len(waiting):
        candidates = uniform_below(np.full(len(waiting), 1 << _BITS, dtype=np.int64), random_bytes)
        good = happens(candidates, 1 << _BITS, random_bytes)
        fine[waiting[good]] = candidates[good]
        waiting = waiting[~good]
    coarse = np.zeros(size, dtype=np.int64)
    going = np.arange(size)
    while len(going):
        going = going[happens(np.ones(len(going), dtype=np.int64), 1, random_bytes)]
        coarse[going] += 1
    if coarse.max(initial=0) >= _MOST_STEPS:  # probability e^−2047, part of SMOOTHING_DELTA
        raise VerificationError("a noise value is too large for 64 bits: the random generator is broken")
    return fine + (coarse << _BITS)


def _accepts(squares: NDArray[np.int64], random_bytes: RandomBytes, bits: int) -> NDArray[np.bool_]:
    """Events of probability exactly e^(−a/2^bits): one for the fraction, and one of e^−1 for every whole."""
    import numpy as np

    whole = squares >> bits
    accepted = happens(squares & ((1 << bits) - 1), 1 << bits, random_bytes)
    going = np.flatnonzero(accepted & (whole > 0))
    while len(going):
        happened = happens(np.ones(len(going), dtype=np.int64), 1, random_bytes)
        accepted[going[~happened]] = False
        going = going[happened]
        whole[going] -= 1
        going = going[whole[going] > 0]
    return accepted
