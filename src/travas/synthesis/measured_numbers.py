"""Measured numbers with intervals, for the quality of a synthetic log."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95
RADIUS = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class MeasuredNumber:
    """A measured number with its 95 % interval. The interval accounts for the noise, and for nothing else.

    Attributes:
        value: The noisy value.
        low: The lower end of the interval, at least 0.
        high: The upper end of the interval.
    """

    value: float
    low: float
    high: float

    @property
    def mostly_noise(self) -> bool:
        """Whether the value cannot be distinguished from 0."""
        return self.low <= 0


def measured(value: float, deviation: float) -> MeasuredNumber:
    """A value with normal noise of this standard deviation."""
    return MeasuredNumber(value, max(0.0, value - RADIUS * deviation), max(0.0, value + RADIUS * deviation))
