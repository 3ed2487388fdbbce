"""The noisy measurements of a process map: public, and all that the map ever depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError
from ..model.plain import ActivitySums, as_shape, digest_of
from ..model.questions import DURATION_BUCKETS
from ..model.traces import Activity
from ..trusted.contributions import SIZE_CELLS, nodes_of
from ..trusted.stages import STANDARD_DEVIATION

FloatArray = NDArray[np.float64]

ACTIVITIES, SIZES, PAIRS, DURATIONS, REWORK, THROUGHPUT = (
    "activities",
    "sizes",
    "pairs",
    "durations",
    "rework",
    "throughput",
)
"""The names of the stages A, M, F, D, R and P."""


def pair_cells(activities: int) -> NDArray[np.bool_]:
    """Which pairs are cells, by node before and after. The last row is START, the last column END.

    Every trace has an event, so no case goes from START to END.
    """
    size = nodes_of(activities)
    cells = np.ones((size, size), dtype=bool)
    cells[-1, -1] = False
    return cells


@dataclass(frozen=True, eq=False)
class MapMeasurements:
    """Sums over cases with noise of standard deviation S, as integers, and the sizes of what a case added to them.

    Attributes:
        contributions: Δ of every stage, by name.
        activities: The activities that have their own node, sorted; all others are the node `other`.
        activity_sums: A: the noisy sums of the activities; empty if they are public.
        sizes: M: noisy sums by number of distinct pairs, in the cells `SIZE_CELLS`.
        cap: c: cases with more distinct pairs count less; chosen by a rule on `sizes`.
        pairs: F: noisy sums by node before and after: activities, `other`, START or END.
        rework: R: noisy sums of cases with an activity, and of cases that repeat it; None if not measured.
        duration_pairs: The pairs whose durations were measured, as nodes; None if durations were not measured.
        durations: D: noisy sums by pair and duration bucket; None if not measured.
        throughput: P: noisy sums by duration bucket; None if not measured.
    """

    contributions: Mapping[str, int]
    activities: tuple[Activity, ...]
    activity_sums: ActivitySums
    sizes: NDArray[np.int64]
    cap: int
    pairs: NDArray[np.int64]
    rework: NDArray[np.int64] | None = None
    duration_pairs: NDArray[np.int64] | None = None
    durations: NDArray[np.int64] | None = None
    throughput: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        size, activities = nodes_of(len(self.activities)), len(self.activities)
        timed = 0 if self.duration_pairs is None else len(self.duration_pairs)
        shapes: dict[str, tuple[int, ...]] = {
            "sizes": (len(SIZE_CELLS),),
            "pairs": (size, size),
            "rework": (2, activities),
            "duration_pairs": (timed, 2),
            "durations": (timed, DURATION_BUCKETS),
            "throughput": (DURATION_BUCKETS,),
        }
        as_shape(self, {name: shape for name, shape in shapes.items() if getattr(self, name) is not None})
        measured = {name for name in (DURATIONS, REWORK, THROUGHPUT) if getattr(self, name) is not None}
        if (
            self.cap not in SIZE_CELLS
            or {name for name in self.contributions if name != ACTIVITIES} != {SIZES, PAIRS} | measured
            or (self.durations is None) != (self.duration_pairs is None)
            or not set(self.activity_sums) <= set(self.activities)
            or min(self.contributions.values()) <= 0
            or not all(self.weight(name) > 0 for name in {PAIRS, REWORK} & set(self.contributions))
        ):
            raise LogError("the measurements are inconsistent: a stage, the cap or an activity is missing or unknown")

    def deviation(self, stage: str) -> float:
        """The standard deviation of the noise of a stage to which a case adds Δ, in cases.

        Args:
            stage: The name of the stage.

        Returns:
            The standard deviation.
        """
        return STANDARD_DEVIATION / self.contributions[stage]

    def weight(self, stage: str) -> int:
        """What a case below the cap adds to every cell of F or R: a noisy sum divided by it is in cases.

        Args:
            stage: The name of the stage, F or R.

        Returns:
            The weight.
        """
        return isqrt(self.contributions[stage] ** 2 // (self.cap if stage == PAIRS else self.rework_cap))

    @property
    def rework_cap(self) -> int:
        """c_w: the cap of R; a case adds to at most two cells for every activity."""
        return rework_cap(self.cap, len(self.activities))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the measurements as compact JSON with sorted keys."""
        return digest_of(self)


def rework_cap(cap: int, activities: int) -> int:
    """c_w = min(2·c, 2·|𝒜|), at least 1: a case with m distinct pairs has fewer than 2·m cells of R."""
    return max(1, min(2 * cap, 2 * activities))
