"""The noisy measurements of a synthetic log: public, and all that generation ever sees."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError, ParameterError
from ..model.trace_features import BUCKETS, states
from ..model.traces import Activity, Trace, activity_from_json, trace_from_json
from ..privacy.gaussian_stages import STANDARD_DEVIATION
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
    activity_sums: Mapping[Activity, int]
    lengths: NDArray[np.int64]
    transitions: NDArray[np.int64]
    pairs: NDArray[np.int64] | None
    refinement: NDArray[np.int64]
    times: TimeMeasurements | None = None
    attributes: tuple[AttributeMeasurements, ...] = ()

    def __post_init__(self) -> None:
        size = states(len(self.activities))
        rows = size if self.pairs is None else len(self.pairs)
        shapes = (self.lengths.shape, self.transitions.shape, self.refinement.shape)
        if shapes != ((BUCKETS,), (size, size), (rows, size)):
            raise LogError(
                "the measurements are inconsistent: a table does not have the size that its activities require"
            )
        needed = {VARIANTS, LENGTHS, TRANSITIONS, REFINEMENT}
        if not needed <= self.contributions.keys() or not all(
            1 <= value < 1 << 62 for value in self.contributions.values()
        ):
            raise LogError("the measurements are inconsistent: a contribution is missing or out of range")
        if self.pairs is not None and not ((self.pairs >= [0, 1]) & (self.pairs < size)).all():
            raise LogError("the measurements are inconsistent: a pair is not one of two states")
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
        text = json.dumps(self.as_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """All measurements as plain values for a JSON file: integers, lists and texts.

        Returns:
            The values by name.
        """
        control_flow = {
            "contributions": dict(self.contributions),
            "variants": [[trace, value] for trace, value in self.variants],
            "activities": list(self.activities),
            "activity_sums": [[activity, value] for activity, value in sorted(self.activity_sums.items())],
            "lengths": self.lengths.tolist(),
            "transitions": self.transitions.tolist(),
            "pairs": None if self.pairs is None else self.pairs.tolist(),
            "refinement": self.refinement.tolist(),
        }
        times = {} if self.times is None else {"times": self.times.as_json()}
        attributes = {"attributes": [measured.as_json() for measured in self.attributes]} if self.attributes else {}
        return control_flow | times | attributes

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Measurements:
        """The measurements of a JSON file.

        Args:
            content: What `as_json` returned.

        Returns:
            The measurements.

        Raises:
            LogError: A field is missing or of another kind.
        """
        try:
            size = states(len(content["activities"]))
            pairs = content["pairs"]
            return cls(
                contributions={str(name): int(value) for name, value in content["contributions"].items()},
                variants=tuple((trace_from_json(trace), int(value)) for trace, value in content["variants"]),
                activities=trace_from_json(content["activities"]),
                activity_sums={activity_from_json(name): int(value) for name, value in content["activity_sums"]},
                lengths=np.array(content["lengths"], dtype=np.int64),
                transitions=np.array(content["transitions"], dtype=np.int64).reshape(-1, size),
                pairs=None if pairs is None else np.array(pairs, dtype=np.int64).reshape(-1, 2),
                refinement=np.array(content["refinement"], dtype=np.int64).reshape(-1, size),
                times=TimeMeasurements.from_json(content["times"]) if "times" in content else None,
                attributes=tuple(
                    AttributeMeasurements.from_json(part, content["activities"])
                    for part in content.get("attributes", ())
                ),
            )
        except LogError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, ParameterError):
            raise LogError("the measurements cannot be read: a field is missing or of another kind") from None
