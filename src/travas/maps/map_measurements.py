"""The noisy measurements of a process map: public, and all that the map ever depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError
from ..model.questions import DURATION_BUCKETS
from ..model.traces import Activity, activity_from_json, trace_from_json
from ..privacy.gaussian_stages import STANDARD_DEVIATION

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

SIZE_CELLS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256, 384, 512, 768, 1024)
"""The largest number of distinct pairs of every cell of M; the last cell also holds cases with more."""


def nodes_of(activities: int) -> int:
    """The number of rows and columns of the table of pairs: the activities, `other`, and START or END."""
    return activities + 2


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
    activity_sums: Mapping[Activity, int]
    sizes: NDArray[np.int64]
    cap: int
    pairs: NDArray[np.int64]
    rework: NDArray[np.int64] | None = None
    duration_pairs: NDArray[np.int64] | None = None
    durations: NDArray[np.int64] | None = None
    throughput: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        size = nodes_of(len(self.activities))
        consistent = self.sizes.shape == (len(SIZE_CELLS),) and self.pairs.shape == (size, size)
        consistent &= self.cap in SIZE_CELLS and {SIZES, PAIRS} <= set(self.contributions)
        consistent &= self.rework is None or self.rework.shape == (2, len(self.activities))
        consistent &= (self.rework is None) != (REWORK in self.contributions)
        consistent &= (self.throughput is None) != (THROUGHPUT in self.contributions)
        consistent &= (self.durations is None) == (self.duration_pairs is None) != (DURATIONS in self.contributions)
        if self.durations is not None and self.duration_pairs is not None:
            consistent &= self.durations.shape == (len(self.duration_pairs), DURATION_BUCKETS)
            consistent &= self.duration_pairs.shape[1:] == (2,)
        consistent &= self.throughput is None or self.throughput.shape == (DURATION_BUCKETS,)
        consistent &= (
            set(self.activity_sums) <= set(self.activities) and min(self.contributions.values(), default=0) > 0
        )
        consistent = consistent and all(self.weight(name) > 0 for name in {PAIRS, REWORK} & set(self.contributions))
        if not consistent:
            raise LogError(
                "the measurements are inconsistent: a table does not have the size that its activities require"
            )

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
        text = json.dumps(self.as_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """All measurements as plain values for a JSON file: integers, lists and texts.

        Returns:
            The values by name.
        """
        tables = {name: getattr(self, name) for name in _OPTIONAL}
        return {
            "contributions": dict(self.contributions),
            "activities": list(self.activities),
            "activity_sums": [[activity, value] for activity, value in sorted(self.activity_sums.items())],
            "sizes": self.sizes.tolist(),
            "cap": self.cap,
            "pairs": self.pairs.tolist(),
        } | {name: None if table is None else table.tolist() for name, table in tables.items()}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> MapMeasurements:
        """The measurements of a JSON file.

        Args:
            content: What `as_json` returned.

        Returns:
            The measurements.

        Raises:
            LogError: A field is missing or of another kind.
        """
        try:
            size = nodes_of(len(content["activities"]))
            tables = {name: _table(content[name], columns) for name, columns in _OPTIONAL.items()}
            if tables["rework"] is not None:
                tables["rework"] = tables["rework"].reshape(2, -1)
            return cls(
                contributions={str(name): int(value) for name, value in content["contributions"].items()},
                activities=trace_from_json(content["activities"]),
                activity_sums={activity_from_json(name): int(value) for name, value in content["activity_sums"]},
                sizes=np.array(content["sizes"], dtype=np.int64),
                cap=int(content["cap"]),
                pairs=np.array(content["pairs"], dtype=np.int64).reshape(-1, size),
                **tables,
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, LogError):
                raise
            raise LogError("the measurements cannot be read: a field is missing or of another kind") from None


def rework_cap(cap: int, activities: int) -> int:
    """c_w = min(2·c, 2·|𝒜|), at least 1: a case with m distinct pairs has fewer than 2·m cells of R."""
    return max(1, min(2 * cap, 2 * activities))


_OPTIONAL = {"rework": None, "duration_pairs": 2, "durations": DURATION_BUCKETS, "throughput": None}
"""Tables that are there if they were asked for, and their number of columns."""


def _table(value: Any, columns: int | None) -> NDArray[np.int64] | None:
    if value is None:
        return None
    table = np.array(value, dtype=np.int64)
    return table if columns is None else table.reshape(-1, columns)
