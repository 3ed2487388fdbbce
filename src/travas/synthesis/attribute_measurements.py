"""The noisy measurements of a case attribute: public, and all that generated values ever depend on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError
from ..model.detail_options import Attribute
from ..trusted.numbers import as_text

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
