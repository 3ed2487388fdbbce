"""The noisy measurements of a case attribute: public, and all that generated values ever depend on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError
from ..model.detail_options import Attribute
from ..privacy.numbers import as_text

OTHER = "other"
"""What stands for all values that were not selected."""


def first_stage(attribute: str) -> str:
    """The name of the stage that counts the values of an attribute."""
    return f"attribute {attribute}"


def second_stage(attribute: str) -> str:
    """The name of the stage that measures an attribute again, alone or by last activity."""
    return f"refined attribute {attribute}"


@dataclass(frozen=True, eq=False)
class AttributeMeasurements:
    """Sums over cases with noise, as integers.

    The cells of a name are its selected values, `other` and *missing*; those of a number its bins and *missing*.

    Attributes:
        attribute: The attribute.
        values: The selected values of a name, sorted; empty for a number.
        first: Noisy sums by cell, without `other`.
        second: Noisy sums by cell, or by cell and last activity.
    """

    attribute: Attribute
    values: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    def __post_init__(self) -> None:
        cells = self.cells
        measured = cells if self.attribute.is_number else cells - 1
        if self.first.shape != (measured,) or self.second.shape[:1] != (cells,) or self.second.ndim > 2:
            raise LogError(f"the measurements of the attribute {self.attribute.name!r} are inconsistent")

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.attribute.bins) + 2 if self.attribute.is_number else len(self.values) + 2

    @property
    def labels(self) -> tuple[str | None, ...]:
        """What the cells are called: values and `other`, or bins; None is missing."""
        if not self.attribute.is_number:
            return (*self.values, OTHER, None)
        edges = [as_text(edge) for edge in self.attribute.bins]
        inner = (f"{low} to {high}" for low, high in pairwise(edges))
        return (f"below {edges[0]}", *inner, f"from {edges[-1]}", None)

    @property
    def is_by_last(self) -> bool:
        """Whether the second stage measured values by last activity."""
        return self.second.ndim == 2

    def as_json(self) -> dict[str, Any]:
        """All measurements as plain values for a JSON file.

        Returns:
            The values by name.
        """
        return {
            "attribute": self.attribute.describe(),
            "values": list(self.values),
            "first": self.first.tolist(),
            "second": self.second.tolist(),
        }

    @classmethod
    def from_json(cls, content: dict[str, Any], activities: Sequence[Any]) -> AttributeMeasurements:
        """The measurements of a JSON file: what `as_json` returned.

        Args:
            content: What `as_json` returned.
            activities: The activities of the log.

        Returns:
            The measurements.
        """
        second = np.array(content["second"], dtype=np.int64)
        if second.ndim == 2 and second.shape[1] != len(activities):
            raise LogError("the measurements of an attribute are inconsistent with the activities")
        return cls(
            Attribute.from_description(content["attribute"]),
            tuple(map(str, content["values"])),
            np.array(content["first"], dtype=np.int64),
            second,
        )
