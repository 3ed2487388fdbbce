"""Times and attributes of a synthetic log compared with those of the original, in numbers and words. Confidential."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..errors import LogError, ParameterError, confidential_repr
from ..mechanisms import from_description
from ..model.case_columns import CASE_PREFIX, case_column
from ..model.escaped_names import escape_name, original_name
from ..model.mechanism import Mechanism
from ..model.release import Release
from ..model.totals import NO_DETAILS, Details, Totals, check_details
from ..model.variants import Variants
from ..outputs.guarantee_file import guarantee_path
from ..outputs.profiles import MISSING
from ..sources.encoded_cases import Coded, EncodedCases, EncodedTotals
from ..sources.engine import read
from ..sources.formats import CSV_SUFFIXES, RELEASE_SUFFIXES, XES_SUFFIXES, suffix_of
from ..sources.reading import Reading
from ..synthesis.synthetic_release import SyntheticRelease
from ..verification.measured_file import read_synthetic
from ..verification.release_file import read_release
from ..verification.verify import load
from .fetched_cases import fetched_cases
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

    def __repr__(self) -> str:
        return confidential_repr(self)

    def as_json(self) -> dict[str, Any]:
        """The distances as plain values.

        Returns:
            The values by name.
        """
        return {
            "times": None
            if self.times is None
            else {name: _finite(value) for name, value in asdict(self.times).items()},
            "attributes": [asdict(distance) for distance in self.attributes],
        }

    def in_words(self) -> list[tuple[str, str]]:
        """Names and sentences.

        Returns:
            The texts with their names.
        """
        facts = [] if self.times is None else _times_in_words(self.times)
        for distance in self.attributes:
            facts.append(
                (
                    f"attribute {distance.attribute}",
                    f"{distance.alone:.0%} of the cases have a different value than in the original log (with the last activity "
                    f"{distance.by_last:.0%}); {distance.kept:.0%} of the original cases have a value that was released",
                )
            )
        return facts


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _times_in_words(distance: TimeDistance) -> list[tuple[str, str]]:
    apart = (
        f"{distance.throughput:.2f} doublings apart: on average a duration is off by a factor of {2**distance.throughput:.1f}"
        if math.isfinite(distance.throughput)
        else "one of the two logs has no cases"
    )
    return [
        ("throughput", apart),
        ("durations", f"{distance.medians:.0%} of the steps are of pairs whose median is within a factor of two"),
        ("weeks", f"up to {distance.weeks:.0%} of the cases start too early or too late"),
        ("hours", f"up to {distance.hours:.0%} of the cases start at an earlier or later hour of the week"),
    ]


@dataclass(frozen=True)
class ReleasedDetails:
    """The cases of a synthetic log that has times or attributes, and what they mean.

    Attributes:
        cases: The cases as numbers.
        mechanism: What made the log: its time zone and its attributes.
    """

    cases: EncodedCases
    mechanism: Mechanism

    @property
    def details(self) -> Details:
        """What has to be read of the original log."""
        return self.mechanism.details

    @classmethod
    def of(cls, release: SyntheticRelease) -> ReleasedDetails:
        """Return those of a release in memory."""
        return cls(released_cases(release), release.mechanism)


def detailed_log(released: Release | str | Path) -> ReleasedDetails | None:
    """Return a synthetic log, if it has times or attributes.

    Args:
        released: A release; or a `.json` release, or an event log next to its guarantee file, which says what its columns
            mean.

    Returns:
        The log; None if it is not a synthetic log of travas, or has neither times nor attributes.
    """
    if isinstance(released, Release):
        has_details = isinstance(released, SyntheticRelease) and released.mechanism.details != NO_DETAILS
        return ReleasedDetails.of(cast(SyntheticRelease, released)) if has_details else None
    path = Path(released)
    try:
        if not path.is_file():
            return None
        if suffix_of(path, RELEASE_SUFFIXES):
            return _of_json(path)
        return _of_events(path) if guarantee_path(path).is_file() else None
    except (LogError, ParameterError, ValueError, TypeError, KeyError):
        return None


def _of_json(path: Path) -> ReleasedDetails | None:
    if "measurements" not in json.loads(path.read_text(encoding="utf-8")):
        return None
    release = read_synthetic(path)
    return ReleasedDetails.of(release) if release.mechanism.details != NO_DETAILS else None


def _of_events(path: Path) -> ReleasedDetails | None:
    """Read an event log by the columns that travas writes: attributes of cases have a prefix in tables."""
    stated = load(guarantee_path(path))
    mechanism = from_description(stated["description"])
    if mechanism.kind != "synthetic log" or mechanism.details == NO_DETAILS:
        return None
    is_xes = suffix_of(path, XES_SUFFIXES) is not None
    is_escaped = suffix_of(path, CSV_SUFFIXES) is not None or is_xes
    details = mechanism.details
    column_of = {name: _column(name, is_xes, is_escaped) for name in (*details.attributes, *details.numbers)}
    columns = Details(
        details.times,
        tuple(column_of[name] for name in details.attributes),
        tuple(column_of[name] for name in details.numbers),
    )
    activities = read_release(path).columns
    written = tuple(map(escape_name, activities)) if is_escaped else activities
    log = read(path, Reading(activities=written, order="file", details=columns))
    cases = cast(EncodedTotals, log.totals).cases
    absent = MISSING if stated["release"].get("profile", "travas") != "travas" else None
    named = {name: _original(cases.attributes[column_of[name]], is_escaped, absent) for name in details.attributes}
    return ReleasedDetails(
        replace(cases, attributes=named, numbers={name: cases.numbers[column_of[name]] for name in details.numbers}),
        mechanism,
    )


def _column(attribute: str, is_xes: bool, is_escaped: bool) -> str:
    name = attribute.removeprefix(CASE_PREFIX) if is_xes else case_column(attribute)
    return escape_name(name) if is_escaped else name


def _original(values: Coded, is_escaped: bool, absent: str | None) -> Coded:
    """The values of an attribute as they were before the file was written."""
    codes = values.codes
    if absent is not None and absent in values.values:
        codes = np.where(codes == list(values.values).index(absent), -1, codes).astype(np.int32)
    return Coded(codes, [original_name(text) if is_escaped else text for text in values.values])


def compare_details(original: Variants, released: SyntheticRelease | ReleasedDetails) -> DetailComparison:
    """Compare times and attributes. The result is confidential.

    Args:
        original: The original log, read with the details of the mechanism. The events of a database are fetched.
        released: The synthetic log.

    Returns:
        The distances.

    Raises:
        ParameterError: The log was read without times or attributes that the release has.
    """
    made = ReleasedDetails.of(released) if isinstance(released, SyntheticRelease) else released
    check_details(original.totals, made.details)
    before, after = fetched_cases(cast(Totals, original.totals)), made.cases
    measured = made.mechanism.released_times if made.details.times == "read" else None
    times = None if measured is None else time_distance(before, after, measured.zone)
    attributes = (attribute_distance(before, after, attribute) for attribute in made.mechanism.released_attributes)
    return DetailComparison(times, tuple(attributes))
