"""Columns that say something about every single case of a released log, whatever its trace is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CASE_PREFIX = "case:"
"""How tables mark attributes of cases; XES has them as attributes of traces, without it."""


@dataclass(frozen=True, eq=False)
class CaseColumn:
    """The values of a case attribute, one for each case.

    Attributes:
        attribute: The name of the attribute.
        kind: What the values are.
        values: The values, case by case, in the order in which the log is written; for texts the index of each in `texts`.
        missing: Whether a case has no value.
        texts: All texts that occur, if the values are texts.
    """

    attribute: str
    kind: Literal["text", "whole number", "number"]
    values: NDArray[np.int64] | NDArray[np.float64]
    missing: NDArray[np.bool_]
    texts: tuple[str, ...] = ()

    @property
    def column(self) -> str:
        """The name of the column in tables."""
        return case_column(self.attribute)


def case_column(attribute: str) -> str:
    """The name of the column of a case attribute in tables."""
    return attribute if attribute.startswith(CASE_PREFIX) else CASE_PREFIX + attribute
