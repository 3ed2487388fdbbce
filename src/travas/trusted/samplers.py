"""Exact samplers: uniform integers, events of probability e^−x, discrete Laplace and discrete Gaussian noise.

All of it is 64-bit integer arithmetic on random bytes, by rejection sampling; no float decides a draw.
Canonne, Kamath and Steinke 2020, as in docs/mechanisms/prefix-tree.md and docs/mechanisms/synthesis.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, VerificationError
from .numbers import as_text

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

GAUSSIAN_BITS = 20
"""The standard deviation of Gaussian noise is S = 2^20."""

_BLOCK = 1 << 17
_MOST_STEPS = 2047  # (m − S)² stays below 2^63

RandomBytes = Callable[[int], bytes]
"""A source of random bytes. A guarantee requires `os.urandom`."""


@dataclass(frozen=True)
class Seeded:
    """A reproducible source of bytes for tests and experiments, without a guarantee."""

    seed: int

    @cached_property
    def _generator(self) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(self.seed))

    def __call__(self, size: int) -> bytes:
        return self._generator.bytes(size)


def _accepted(size: int, propose: Callable[[Integers], tuple[Integers, Booleans]]) -> Integers:
    """By rejection: values are proposed for the places that wait, until each has one that is good."""
    drawn = np.empty(size, dtype=np.int64)
    waiting = np.arange(size)
    while len(waiting):
        proposed, good = propose(waiting)
        drawn[waiting[good]] = proposed[good]
        waiting = waiting[~good]
    return drawn


def uniform_below(bounds: Integers, random_bytes: RandomBytes) -> Integers:
    """Draw for every bound b ≥ 1 an independent integer, exactly uniform on 0..b−1."""
    limits = np.uint64(2**63) // bounds.astype(np.uint64) * bounds.astype(np.uint64)  # the largest multiple in 63 bits

    def propose(waiting: Integers) -> tuple[Integers, Booleans]:
        words = np.frombuffer(random_bytes(8 * len(waiting)), dtype=np.uint64) >> np.uint64(1)
        return words.astype(np.int64) % bounds[waiting], words < limits[waiting]

    return _accepted(len(bounds), propose)


def _signed(magnitudes: Integers, random_bytes: RandomBytes) -> tuple[Integers, Booleans]:
    """Magnitudes with random signs, and which of them count: zero has only one sign."""
    negative = np.frombuffer(random_bytes(len(magnitudes)), dtype=np.uint8) & 1 == 1
    return np.where(negative, -magnitudes, magnitudes), ~(negative & (magnitudes == 0))


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

    def draw(self, size: int, random_bytes: RandomBytes) -> Integers:
        """Draw `size` independent values."""
        return _accepted(size, lambda waiting: _signed(self.magnitudes(len(waiting), random_bytes), random_bytes))

    def magnitudes(self, size: int, random_bytes: RandomBytes) -> Integers:
        """Independent values of ⌊geometric/s⌋, for a scale t/s: P[m] ∝ e^(−m/scale)."""
        return _geometric(size, self.scale.numerator, random_bytes) // self.scale.denominator


def discrete_gaussian(size: int, random_bytes: RandomBytes, bits: int = GAUSSIAN_BITS) -> Integers:
    """Independent values with P[k] ∝ e^(−k²/2S²), S = 2^bits, on all integers, sampled exactly.

    Canonne, Kamath and Steinke 2020, Algorithm 3 with t = σ = S: a discrete Laplace value m of scale S is accepted with
    probability e^(−(m − S)²/2S²), and e^(−m/S)·e^(−(m − S)²/2S²) = e^(−m²/2S²)·e^(−1/2).
    """

    def propose(waiting: Integers) -> tuple[Integers, Booleans]:
        magnitudes = _geometric(len(waiting), 1 << bits, random_bytes)
        if magnitudes.max(initial=0) >= _MOST_STEPS << bits:  # probability e^−2047, part of SMOOTHING_DELTA
            raise VerificationError("a noise value is too large for 64 bits: the random generator is broken")
        values, good = _signed(magnitudes, random_bytes)
        return values, good & _accepts((magnitudes - (1 << bits)) ** 2, 2 * bits + 1, random_bytes)

    blocks = [_accepted(min(_BLOCK, size - start), propose) for start in range(0, size, _BLOCK)]
    return np.concatenate([np.empty(0, dtype=np.int64), *blocks])


def _geometric(size: int, top: int, random_bytes: RandomBytes) -> Integers:
    """P[m] ∝ e^(−m/top): m = U + top·G, U below top with weight e^(−u/top), G with weight e^−g."""

    def propose(waiting: Integers) -> tuple[Integers, Booleans]:
        candidates = uniform_below(np.full(len(waiting), top, dtype=np.int64), random_bytes)
        return candidates, happens(candidates, top, random_bytes)

    fine = _accepted(size, propose)
    coarse = np.zeros(size, dtype=np.int64)
    going = np.arange(size)
    while len(going):
        going = going[happens(np.ones(len(going), dtype=np.int64), 1, random_bytes)]
        coarse[going] += 1
    return fine + top * coarse


def _accepts(squares: Integers, bits: int, random_bytes: RandomBytes) -> Booleans:
    """Events of probability exactly e^(−a/2^bits): one for the fraction, and one of e^−1 for every whole."""
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


def happens(above: Integers, below: int, random_bytes: RandomBytes) -> Booleans:
    """Events of probability exactly e^(−a/b), 0 ≤ a/b ≤ 1 (ibid., Algorithm 1): the first failure has an odd number.

    The k-th trial succeeds with probability a/(b·k), as the product of a/b and 1/k.
    """
    trials = np.ones(len(above), dtype=np.int64)
    going = np.arange(len(above))
    while len(going):
        first = uniform_below(np.full(len(going), below, dtype=np.int64), random_bytes) < above[going]
        second = uniform_below(trials[going], random_bytes) == 0
        going = going[first & second]
        trials[going] += 1
    happened: Booleans = trials % 2 == 1
    return happened
