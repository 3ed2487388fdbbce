"""The noisy measurements of a synthetic log: public, and all that generation ever sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError
from ..model.plain import ActivitySums, as_shape, digest_of
from ..model.traces import Activity, Trace
from ..trusted.contributions import BUCKETS, states
from ..trusted.stages import STANDARD_DEVIATION
from .attribute_measurements import AttributeMeasurements
from .time_measurements import TimeMeasurements

VARIANTS, ACTIVITIES, LENGTHS, TRANSITIONS, REFINEMENT = (
    "variants",
    "activities",
    "lengths",
    "transitions",
    "refinement",
)
"""The names of the stages V, A, L, T1 and T2."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Sums over cases with noise of standard deviation S, as integers, and the sizes of what a case added to them.

    Attributes:
        contributions: Δ of every stage, by name: a noisy sum divided by it is in cases.
        variants: V: the released variants with their noisy sums, sorted.
        activities: The activities that generated traces are made of, sorted.
        activity_sums: A: the noisy sums of those activities that were selected by it.
        lengths: L: the noisy sum of every length bucket.
        transitions: T1: noisy sums by state and symbol; 0 where there is no cell.
        pairs: The pairs of states whose continuations T2 measured; None where it measured T1's cells again.
        refinement: T2: noisy sums by pair and symbol, or by state and symbol.
        times: Those of times; None if times were not measured.
        attributes: Those of case attributes.
    """

    contributions: Mapping[str, int]
    variants: tuple[tuple[Trace, int], ...]
    activities: tuple[Activity, ...]
    activity_sums: ActivitySums
    lengths: NDArray[np.int64]
    transitions: NDArray[np.int64]
    pairs: NDArray[np.int64] | None
    refinement: NDArray[np.int64]
    times: TimeMeasurements | None = None
    attributes: tuple[AttributeMeasurements, ...] = ()

    def __post_init__(self) -> None:
        size = states(len(self.activities))
        shapes: dict[str, tuple[int, ...]] = {"lengths": (BUCKETS,), "transitions": (size, size)}
        if self.pairs is not None:
            shapes["pairs"] = (len(self.pairs), 2)
        as_shape(self, shapes | {"refinement": (size if self.pairs is None else len(self.pairs), size)})
        needed = {VARIANTS, LENGTHS, TRANSITIONS, REFINEMENT}
        if not needed <= self.contributions.keys() or not all(
            1 <= value < 1 << 62 for value in self.contributions.values()
        ):
            raise LogError("the measurements are inconsistent: a contribution is missing or out of range")
        if self.pairs is not None and not ((self.pairs >= [0, 1]) & (self.pairs < size)).all():
            raise LogError("the measurements are inconsistent: a pair is not one of two states")
        of_last = {measured.second.shape[1] for measured in self.attributes if measured.is_by_last}
        if not of_last <= {len(self.activities)}:
            raise LogError("the measurements of an attribute are inconsistent with the activities")
        names = [*self.activities, *(activity for trace, _ in self.variants for activity in trace)]
        if len({None if isinstance(name, str) else len(name) for name in names}) > 1:
            raise LogError("the measurements are inconsistent: activities are made of different numbers of columns")

    def deviation(self, stage: str) -> float:
        """The standard deviation of the noise of a stage, in cases.

        Args:
            stage: The name of the stage.

        Returns:
            The standard deviation.
        """
        return STANDARD_DEVIATION / self.contributions[stage]

    def in_cases(self, stage: str, sums: NDArray[np.int64]) -> NDArray[np.float64]:
        """Noisy sums of a stage in cases.

        Args:
            stage: The name of the stage.
            sums: The noisy sums.

        Returns:
            The sums divided by what a case adds.
        """
        return sums / self.contributions[stage]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the measurements as compact JSON with sorted keys: the same for every log generated from them."""
        return digest_of(self)
