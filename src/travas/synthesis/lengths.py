"""The lengths of the cases whose variant was not released, cleaned of noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..trusted.contributions import longest_in
from .measurements import LENGTHS, Measurements

LEAST = 1.0  # a bucket below this many standard deviations is taken as empty
CERTAIN = 4.0  # buckets above the last one that exceeds this many standard deviations are taken as empty
PLAUSIBLE = 2.0  # where no bucket is certain: if all together are below this many standard deviations, there is no case


@dataclass(frozen=True, eq=False)
class Lengths:
    """How many cases are to be generated, and how long.

    Attributes:
        cases: The estimated number of cases whose variant was not released.
        shares: The share of each length bucket, among traces with at least one event; adds up to 1, or 0 if there are none.
        longest: The largest length that is generated.
    """

    cases: float
    shares: NDArray[np.float64]
    longest: int

    @classmethod
    def of(cls, measurements: Measurements) -> Lengths:
        """Estimate the lengths from the measurements."""
        noisy = measurements.in_cases(LENGTHS, measurements.lengths)
        deviation = measurements.deviation(LENGTHS)
        certain = np.flatnonzero(noisy > CERTAIN * deviation)
        if not len(certain) and noisy.sum() < PLAUSIBLE * deviation * len(noisy) ** 0.5:
            return cls(0.0, np.zeros(len(noisy)), 0)
        last = int(certain[-1]) if len(certain) else int(np.argmax(noisy))
        kept = np.where((noisy > LEAST * deviation) & (np.arange(len(noisy)) <= last), noisy, 0.0)
        if not kept.any():
            kept = np.maximum(noisy, 0.0)
        with_events = kept.copy()
        with_events[0] = 0.0
        if not with_events.any():
            return cls(0.0, with_events, 0)
        shares = with_events / with_events.sum()
        return cls(float(kept.sum()), shares, longest_in(int(np.flatnonzero(shares)[-1])))

    def hazards(self) -> NDArray[np.float64]:
        """For each bucket, the share of traces that end there among those that reach it."""
        return hazards(self.shares, np.ones(len(self.shares)))


def hazards(ends: NDArray[np.float64], otherwise: NDArray[np.float64], prior: float = 0.0) -> NDArray[np.float64]:
    """Ends by bucket divided by what reaches the bucket; `otherwise` where nothing does."""
    reached = np.cumsum(ends[::-1])[::-1]
    return np.where(reached > 0, (ends + prior) / np.maximum(reached + 2 * prior, 1e-12), otherwise)
