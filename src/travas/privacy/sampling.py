"""Exact sampling without a table: discrete Laplace noise at δ = 0, and random subsets.

All of it is integer arithmetic on uniform integers, by rejection sampling; no float decides a draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import ParameterError
from .noise import RandomBytes
from .numbers import as_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def uniform_below(bounds: NDArray[np.int64], random_bytes: RandomBytes) -> NDArray[np.int64]:
    """Draw for every bound b ≥ 1 an independent integer, exactly uniform on 0..b−1."""
    import numpy as np

    limits = np.uint64(2**63) // bounds.astype(np.uint64) * bounds.astype(np.uint64)  # the largest multiple in 63 bits
    drawn = np.empty(len(bounds), dtype=np.int64)
    waiting = np.arange(len(bounds))
    while len(waiting):
        words = np.frombuffer(random_bytes(8 * len(waiting)), dtype=np.uint64) >> np.uint64(1)
        good = words < limits[waiting]
        drawn[waiting[good]] = words[good].astype(np.int64) % bounds[waiting[good]]
        waiting = waiting[~good]
    return drawn


def choose(number: int, size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
    """Draw `number` distinct indexes of 0..size−1, every set equally likely: Floyd's algorithm, one draw each."""
    import numpy as np

    indexes: set[int] = set()
    tops = np.arange(size - number, size, dtype=np.int64)
    for top, index in zip(tops.tolist(), uniform_below(tops + 1, random_bytes).tolist(), strict=True):
        indexes.add(top if index in indexes else index)
    return np.array(sorted(indexes), dtype=np.int64)


@dataclass(frozen=True)
class DiscreteLaplace:
    """P[X = x] ∝ e^(−|x|/scale) on all integers, sampled exactly (Canonne, Kamath, Steinke 2020, Algorithm 2).

    A count that changes by one changes every probability by at most the factor e^(1/scale): (1/scale, 0)-DP.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        if max(self.scale.numerator, self.scale.denominator) >= 1 << 53:
            raise ParameterError(
                f"noise of scale {as_text(self.scale)} cannot be drawn; use an epsilon with fewer digits",
                field="epsilon",
            )

    def draw(self, size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
        """Draw `size` independent values."""
        import numpy as np

        drawn = np.empty(size, dtype=np.int64)
        waiting = np.arange(size)
        while len(waiting):
            magnitude = self._magnitudes(len(waiting), random_bytes)
            negative = np.frombuffer(random_bytes(len(waiting)), dtype=np.uint8) & 1 == 1
            good = ~(negative & (magnitude == 0))  # zero has only one sign
            drawn[waiting[good]] = np.where(negative, -magnitude, magnitude)[good]
            waiting = waiting[~good]
        return drawn

    def _magnitudes(self, size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
        """Geometric with the factor e^(−1/scale): ⌊(U + tV)/s⌋ for scale t/s, U with weight e^(−u/t), V with e^−v."""
        import numpy as np

        top = self.scale.numerator
        fine = np.empty(size, dtype=np.int64)
        waiting = np.arange(size)
        while len(waiting):
            candidates = uniform_below(np.full(len(waiting), top, dtype=np.int64), random_bytes)
            good = happens(candidates, top, random_bytes)
            fine[waiting[good]] = candidates[good]
            waiting = waiting[~good]
        coarse = np.zeros(size, dtype=np.int64)
        going = np.arange(size)
        while len(going):
            going = going[happens(np.ones(len(going), dtype=np.int64), 1, random_bytes)]
            coarse[going] += 1
        magnitudes: NDArray[np.int64] = (fine + top * coarse) // self.scale.denominator
        return magnitudes


def geometric_up_to(most: int, rate: Fraction, random_bytes: RandomBytes) -> int:
    """Draw u of 0..most with P[u] ∝ e^(−rate·u), by rejection from the closer of uniform and geometric."""
    import numpy as np

    geometric = DiscreteLaplace(1 / rate)
    while rate * most <= 1:
        tried = uniform_below(np.array([most + 1]), random_bytes)
        if happens(tried * rate.numerator, rate.denominator, random_bytes)[0]:
            return int(tried[0])
    while (drawn := int(geometric._magnitudes(1, random_bytes)[0])) > most:
        pass
    return drawn


def happens(above: NDArray[np.int64], below: int, random_bytes: RandomBytes) -> NDArray[np.bool_]:
    """Events of probability exactly e^(−a/b), 0 ≤ a/b ≤ 1 (ibid., Algorithm 1): the first failure has an odd number.

    The k-th trial succeeds with probability a/(b·k), as the product of a/b and 1/k.
    """
    import numpy as np

    trials = np.ones(len(above), dtype=np.int64)
    going = np.arange(len(above))
    while len(going):
        first = uniform_below(np.full(len(going), below, dtype=np.int64), random_bytes) < above[going]
        second = uniform_below(trials[going], random_bytes) == 0
        going = going[first & second]
        trials[going] += 1
    happened: NDArray[np.bool_] = trials % 2 == 1
    return happened
