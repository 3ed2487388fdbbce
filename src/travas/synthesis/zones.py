"""Wall-clock times of a time zone, for whole arrays at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..model.calendar import SECOND, zone_offsets
from .shrinkage import Floats


@dataclass(frozen=True, eq=False)
class Zone:
    """When the difference between a zone's wall clock and UTC changes.

    Attributes:
        changes: The times of the changes, in seconds from 1970 in UTC, sorted.
        offsets: The differences in seconds: before the first change, and after each.
    """

    changes: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def to_local(self, moments: Floats) -> Floats:
        """Wall-clock times, in seconds from 1970, of times in UTC."""
        one_offset = not len(self.changes)
        index = 0 if one_offset else np.searchsorted(self.changes, moments, side="right")
        local: Floats = moments + self.offsets[index]
        return local

    def to_utc(self, local: Floats) -> Floats:
        """Times in UTC of wall-clock times. An hour that a change skips is moved, one that it repeats is the earlier one."""
        guess = local - (self.to_local(local) - local)
        return local - (self.to_local(guess) - guess)


@lru_cache(maxsize=8)
def zone_of(name: str) -> Zone:
    """The zone of this name in the IANA database."""
    offsets = zone_offsets(name)
    return Zone(
        np.array([moment // SECOND for moment, _ in offsets[1:]], dtype=np.int64),
        np.array([offset // SECOND for _, offset in offsets], dtype=np.int64),
    )
