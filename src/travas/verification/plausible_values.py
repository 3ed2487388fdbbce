"""What a guarantee file states about the file of a release, and what every release satisfies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..model.abstraction import Abstraction
from ..model.release import Frequencies, Profile, Timestamps
from ..sources.reading import released_columns

LARGEST_SUM = 1 << 62
"""Noisy sums from here on are refused: no log has that many cases, and further sums would overflow 64 bits."""


@dataclass(frozen=True)
class StatedFacts:
    """What a guarantee file states about the file of a release.

    Attributes:
        frequencies: Which counts it contains.
        used: The rules by which its traces were made.
        reading: The described reading; None where counts were given.
        profile: For which program it was written.
        timestamps: Whether its events have timestamps.
        assumptions: What reading the log assumed.
        notices: What the file says about the log as a whole.
        version: The version of the guarantee file.
    """

    frequencies: Frequencies
    used: tuple[Abstraction, ...]
    reading: Mapping[str, Any] | None
    profile: Profile
    timestamps: Timestamps
    assumptions: tuple[str, ...]
    notices: Mapping[str, str]
    version: int


def impossible_columns(columns: tuple[str, ...], reading: Mapping[str, Any] | None) -> str | None:
    """Why the activities of a release do not have these columns; None if they can have."""
    if reading is not None and columns != released_columns(tuple(reading["columns"]["activities"])):
        return "its columns are not those of the activities that were read"
    return None
