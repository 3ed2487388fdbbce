"""Tables of noise: the value, the exact verifier, and the sampler.

A table is the distribution of one positive integer N, the number of cases a variant must have to be kept. It is
stored as it is sampled: the cumulative probabilities P[N ≤ j] as integers over 2^128.

`Noise` verifies a table in exact integers and only then can draw from it. The mathematics, line by line:
docs/mechanisms/optimal.md, docs/mechanisms/travas.md, docs/mechanisms/persons.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import VerificationError
from .losses import hockey_stick, joint, lattice
from .numbers import ONE, as_text, rounded_up
from .samplers import Integers, RandomBytes

_HALF = 64


@dataclass(frozen=True, eq=False)
class NoiseTable:
    """The distribution of N on 1..length. `high` and `low` are the halves of P[N ≤ j]·2^128 for j < length."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]

    def __post_init__(self) -> None:
        for half in (self.high, self.low):
            if half.dtype != "uint64" or half.shape != self.high.shape:
                raise VerificationError("a noise table must be two equally long arrays of unsigned 64-bit integers")
            half.flags.writeable = False

    @property
    def length(self) -> int:
        """The largest value of N."""
        return len(self.high) + 1

    def cumulative(self, cases: int) -> int:
        """Return P[N ≤ cases]·2^128, exactly: the probability that a variant of `cases` cases is kept."""
        if cases < 1:
            return 0
        if cases >= self.length:
            return ONE
        return int(self.high[cases - 1]) << _HALF | int(self.low[cases - 1])

    def keep_probability(self, cases: int) -> Fraction:
        """Return P[N ≤ cases]."""
        return Fraction(self.cumulative(cases), ONE)

    def boundaries(self) -> Iterator[int]:
        """Return P[N ≤ j]·2^128 for j = 1..length, from the arrays that are sampled."""
        for start in range(0, len(self.high), 1 << 16):
            part = slice(start, start + (1 << 16))
            for high, low in zip(self.high[part].tolist(), self.low[part].tolist(), strict=True):
                yield high << _HALF | low
        yield ONE

    def centre(self) -> int:
        """max(1, round E[N]): the constant added to n − N, so that noisy counts are correct on average."""
        total = self.length * ONE - sum(self.boundaries()) + ONE  # E[N] = Σ_{j ≥ 0} P[N > j]
        return max(1, round(Fraction(total, ONE)))


@dataclass(frozen=True, eq=False)
class Noise:
    """A table that was verified to be (ε, δ)-DP on construction, and can therefore be sampled.

    The verifier shares no code with the builders: it reads the weights back from the arrays that are sampled and
    computes its bound of e^ε with the decimal arithmetic of the standard library.

    Attributes:
        counts: How many counts, each with independent noise, may change by one at the cost of (ε, δ) for all together.
        delta_spent: What they spend of δ, rounded up.
    """

    table: NoiseTable
    epsilon: Fraction
    delta: Fraction
    counts: int = 1
    delta_spent: Fraction = field(init=False)

    def __post_init__(self) -> None:
        if self.counts == 1:
            spent = hockey_stick(_weights(self.table), self.epsilon)
        else:
            spent = joint(self.weights, self.counts, lattice(self.weights, self.epsilon))(self.epsilon)
        if spent > self.delta:
            raise VerificationError(
                f"the noise table spends delta {rounded_up(spent)}, more than the {as_text(self.delta)} requested: "
                "it must not be sampled"
            )
        object.__setattr__(self, "delta_spent", spent)

    @cached_property
    def weights(self) -> list[int]:
        """P[N = j]·2^128, j = 1, 2, …"""
        return list(_weights(self.table))

    def draw(self, size: int, random_bytes: RandomBytes) -> Integers:
        """Draw `size` independent N, distributed exactly as the table: N = 1 + #{j < length : P[N ≤ j]·2^128 ≤ U}.

        U is uniform on 128 bits. Its upper half decides nearly always; where it equals that of a boundary, the
        lower half is drawn too. The work does not depend on any count.
        """
        drawn = np.empty(size, dtype=np.int64)
        for start in range(0, size, 1 << 20):
            stop = min(start + (1 << 20), size)
            upper = np.frombuffer(random_bytes(8 * (stop - start)), dtype=np.uint64)
            first = np.searchsorted(self.table.high, upper, side="left")
            last = np.searchsorted(self.table.high, upper, side="right")
            for tie in np.flatnonzero(first != last):
                lower = np.frombuffer(random_bytes(8), dtype=np.uint64)[0]
                equal = self.table.low[first[tie] : last[tie]]
                first[tie] += np.searchsorted(equal, lower, side="right")
            drawn[start:stop] = first + 1
        return drawn


def _weights(table: NoiseTable) -> Iterator[int]:
    """P[N = j]·2^128, j = 1, 2, …, from the arrays that are sampled; refused unless they are a distribution."""
    below = total = 0
    for boundary in table.boundaries():
        if boundary < below:
            raise VerificationError("the noise table has a negative probability and must not be sampled")
        yield boundary - below
        total += boundary - below
        below = boundary
    if total != ONE:
        raise VerificationError("the noise table does not add up to one and must not be sampled")
