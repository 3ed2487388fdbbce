"""The exact verifier of noise tables, and the sampler, which is the only source of noise.

`Noise` verifies a table in exact integers and only then can draw from it. The mathematics, line by line:
docs/mechanisms/optimal.md, docs/mechanisms/travas.md, docs/mechanisms/persons.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import VerificationError
from .composition import composed_delta
from .noise_tables import ONE, NoiseTable
from .numbers import as_text, rounded_up

if TYPE_CHECKING:  # importing numpy takes a tenth of a second, and `travas --help` does not need it
    import numpy as np
    from numpy.typing import NDArray


_BITS = 192  # after the point of a rational near e^ε

RandomBytes = Callable[[int], bytes]
"""A source of random bytes. A guarantee requires `os.urandom`."""


@dataclass(frozen=True)
class Seeded:
    """Return a reproducible source of bytes for tests and experiments, without a guarantee."""

    seed: int
    _generator: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        import numpy as np

        object.__setattr__(self, "_generator", np.random.Generator(np.random.Philox(self.seed)))

    def __call__(self, size: int) -> bytes:
        return self._generator.bytes(size)


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
        growth = _growth_for_verification(self.epsilon)
        if self.counts == 1:
            spent = _spent(_weights(self.table), growth)
        else:
            spent = composed_delta(list(_weights(self.table)), growth, self.delta, self.counts)
        if spent > self.delta:
            raise VerificationError(
                f"the noise table spends delta {rounded_up(spent)}, more than the {as_text(self.delta)} requested: "
                "it must not be sampled"
            )
        object.__setattr__(self, "delta_spent", spent)

    def draw(self, size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
        """Draw `size` independent N, distributed exactly as the table: N = 1 + #{j < length : P[N ≤ j]·2^128 ≤ U}.

        U is uniform on 128 bits. Its upper half decides nearly always; where it equals that of a boundary, the
        lower half is drawn too. The work does not depend on any count.

        Args:
            size: The number of values.
            random_bytes: The source of randomness.

        Returns:
            The values.
        """
        import numpy as np

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


def joint_delta(noise: Noise, epsilon: Fraction) -> Fraction:
    """An upper bound of δ at another ε ≥ 0, for all counts that the noise was verified for together."""
    weights = list(_weights(noise.table))
    return composed_delta(weights, _growth_for_verification(epsilon), noise.delta, noise.counts)


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


def _spent(weights: Iterator[int], growth: int) -> Fraction:
    """δ for one count that changes by one, in the worse direction."""
    rising = falling = previous = 0
    for weight in weights:
        rising += max(0, (weight << _BITS) - growth * previous)
        falling += max(0, (previous << _BITS) - growth * weight)
        previous = weight
    falling += previous << _BITS
    return Fraction(max(rising, falling), ONE << _BITS)


def _growth_for_verification(epsilon: Fraction) -> int:
    """Return an integer g with g/2^192 ≤ e^ε: `decimal` rounds its exponential correctly, so the next lower is below."""
    context = Context(prec=100, rounding=ROUND_FLOOR)
    power = context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    below: Any = context.exp(power).next_minus(context)
    return math.floor(Fraction(below) * (1 << _BITS))
