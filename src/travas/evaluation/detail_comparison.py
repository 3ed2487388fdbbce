"""Times and attributes of a synthetic log compared with those of the original, in numbers and words. Confidential."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import LogError, ParameterError
from ..model.totals import NO_DETAILS, check_details
from ..model.variants import Variants
from ..sources.encoded_cases import EncodedTotals
from ..sources.formats import RELEASE_SUFFIXES, suffix_of
from ..synthesis.synthetic_release import SyntheticRelease
from ..verification.synthetic_file import read_synthetic
from .time_metrics import AttributeDistance, TimeDistance, attribute_distance, released_cases, time_distance


@dataclass(frozen=True)
class DetailComparison:
    """How far times and attributes of a synthetic log are from those of the original. Confidential.

    Attributes:
        times: The distances of times; None if they were not released.
        attributes: The distances of attributes.
    """

    times: TimeDistance | None
    attributes: tuple[AttributeDistance, ...]

    def as_json(self) -> dict[str, Any]:
        """The distances as plain values."""
        return {
            "times": None if self.times is None else asdict(self.times),
            "attributes": [asdict(distance) for distance in self.attributes],
        }

    def in_words(self) -> list[tuple[str, str]]:
        """Names and sentences."""
        facts = [] if self.times is None else _times_in_words(self.times)
        for distance in self.attributes:
            facts.append(
                (
                    f"attribute {distance.attribute}",
                    f"{distance.alone:.0%} of the cases have another value than they should (with the last activity "
                    f"{distance.by_last:.0%}); {distance.kept:.0%} of the original cases have a value that was released",
                )
            )
        return facts


def _times_in_words(distance: TimeDistance) -> list[tuple[str, str]]:
    return [
        (
            "throughput",
            f"{distance.throughput:.2f} doublings apart: on average a duration is off by a factor of "
            f"{2**distance.throughput:.1f}",
        ),
        ("durations", f"{distance.medians:.0%} of the steps are of pairs whose median is within a factor of two"),
        ("weeks", f"up to {distance.weeks:.0%} of the cases start too early or too late"),
        ("hours", f"up to {distance.hours:.0%} of the cases start at an earlier or later hour of the week"),
    ]


def with_details(released: str | Path) -> SyntheticRelease | None:
    """The synthetic log of a `.json` file if it has times or attributes; None otherwise."""
    path = Path(released)
    if not suffix_of(path, RELEASE_SUFFIXES) or not path.is_file():
        return None
    try:
        if "measurements" not in json.loads(path.read_text(encoding="utf-8")):
            return None
        release = read_synthetic(path)
    except (LogError, ValueError, TypeError):
        return None
    return release if release.mechanism.details != NO_DETAILS else None


def compare_details(original: Variants, released: SyntheticRelease) -> DetailComparison:
    """Compare times and attributes. The result is confidential.

    Args:
        original: The original log, read with the details of the mechanism.
        released: The synthetic log.

    Returns:
        The distances.

    Raises:
        ParameterError: The log was read without times or attributes that the release has, or in a database.
    """
    check_details(original.totals, released.mechanism.details)
    if not isinstance(original.totals, EncodedTotals):
        raise ParameterError("times and attributes are compared for files and data frames only; export the log first")
    before, after = original.totals.cases, released_cases(released)
    times = None
    if released.measurements.times is not None:
        times = time_distance(before, after, released.zone)
    attributes = (attribute_distance(before, after, part.attribute) for part in released.measurements.attributes)
    return DetailComparison(times, tuple(attributes))
