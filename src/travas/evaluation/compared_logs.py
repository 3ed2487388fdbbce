"""The two logs of a comparison: the original, read as it was for the release, and what was released. Confidential."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ..errors import LogError, ParameterError
from ..model.abstraction import FULL, Abstraction
from ..model.release import Release
from ..model.totals import NO_DETAILS, Details
from ..model.variants import Variants
from ..outputs.guarantee_file import guarantee_path
from ..sources.engine import read
from ..sources.files import MAP_IS_NO_LOG, merged
from ..sources.reading import DEFAULT_READING, Reading, released_columns
from ..sources.release_json import is_process_map
from ..verification.release_file import is_map, read_release
from ..verification.verify import load, released_abstractions, released_reading

if TYPE_CHECKING:
    from ..maps.map_release import MapRelease
    from .detail_comparison import ReleasedDetails


_MAP_WITHOUT_MEASUREMENTS = "only the .json file of a process map can be compared; use it"


def read_original(
    original: Any, reading: Reading, details: Details = NO_DETAILS, progress: Callable[[float], None] = lambda _: None
) -> Variants:
    """Read the original log without an abstraction. Confidential.

    Args:
        original: The log. Of variants, which have been read before, only the unit is checked.
        reading: How it was read for the release.
        details: What is needed in addition to its variants.
        progress: Called with the share of the work that is done.

    Returns:
        The variants.
    """
    if isinstance(original, Variants):
        unit = Reading(unit=reading.unit, max_cases=reading.max_cases, counted=reading.counted)
        return read(original, attrs.evolve(unit, details=details), progress)
    return read(original, attrs.evolve(reading, abstraction=FULL, details=details), progress)


def released_variants(released: Any, reading: Reading = DEFAULT_READING) -> Variants:
    """Return the variants of a released log.

    Args:
        released: A `Release`, or a log as for `read`. A file next to its guarantee is read by the rules of our own
            files: names may be escaped in it.
        reading: The columns of the original log. A release of travas has the default names; one of another tool may
            have those of the original.

    Returns:
        The variants.

    Raises:
        LogError: The log cannot be read, or it is a process map.
    """
    if isinstance(released, str | Path) and is_map(Path(released)):
        raise LogError(f"{released}: {MAP_IS_NO_LOG}")
    if isinstance(released, str | Path) and guarantee_path(Path(released)).is_file():
        if is_process_map(load(guarantee_path(Path(released)))):
            raise LogError(f"{released}: {_MAP_WITHOUT_MEASUREMENTS}")
        content = read_release(Path(released))
        return Variants.from_mapping(merged(content.variants, content.counts), content.columns)
    reading = attrs.evolve(reading, unit=None, max_cases=None, counted=None)
    ours = Reading(activities=released_columns(reading.activities) if reading.activities else ())
    try:
        return read(released, ours)
    except LogError:
        if reading == ours:
            raise
    return read(released, reading)


def released_map(released: Any) -> MapRelease | None:
    """Return what was released as a process map: itself, or from its `.json` file; None if it is not one."""
    if isinstance(released, Release) and not released.is_event_log:
        from ..maps.map_release import map_release

        return map_release(released)
    if isinstance(released, str | Path) and is_map(Path(released)):
        from ..verification.measured_file import read_map

        return read_map(released)
    return None


def released_details(original: Any, released: Any) -> ReleasedDetails | None:
    """Return what was released as a synthetic log with times or attributes that can be compared.

    Args:
        original: The original log. Counts have none, and variants may have been read without them.
        released: What was released.

    Returns:
        The synthetic log; None if it is not one, or has neither times nor attributes to compare.
    """
    if not isinstance(released, Release | str | Path) or isinstance(original, Release | Mapping | list):
        return None
    from .detail_comparison import detailed_log

    made = detailed_log(released)
    if made is not None and isinstance(original, Variants):
        totals = original.totals
        return made if totals is not None and totals.details.covers(made.details) else None
    return made


def abstractions_of(released: Any) -> tuple[Abstraction, ...]:
    """Return the rules by which released traces were generalised, as the release or its guarantee file states them."""
    if isinstance(released, Release):
        return released.used_abstractions
    return released_abstractions(Path(released)) if isinstance(released, str | Path) else (FULL,)


def reading_of(released: Any, reading: Reading) -> Reading:
    """Return how the original log was read for a release, so that the same cases are compared.

    Args:
        released: What was released. A `Release` and the guarantee file next to a file state it.
        reading: Its settings other than the defaults take precedence.

    Returns:
        The reading.
    """
    if isinstance(released, Release):
        return reading if released.reading is None else _over(Reading.from_description(released.reading), reading)
    if not isinstance(released, str | Path) or not guarantee_path(Path(released)).is_file():
        return reading
    path = guarantee_path(Path(released))
    recorded = released_reading(Path(released))
    try:
        if recorded is not None:
            return _over(recorded, reading)
        unit = load(path).get("unit")  # version 1
        if reading.unit is not None or not isinstance(unit, dict) or unit.get("name", "case") == "case":
            return reading
        return attrs.evolve(reading, unit=unit["name"], max_cases=unit.get("max_cases"), counted=unit.get("counted"))
    except ParameterError as error:
        raise LogError(f"{path}: {error}") from None


def _over(recorded: Reading, reading: Reading) -> Reading:
    """The recorded reading without its abstraction, overridden by the settings that differ from the defaults."""
    settings = {field.name: getattr(reading, field.name) for field in attrs.fields(Reading)}
    changed = {name: value for name, value in settings.items() if value != getattr(DEFAULT_READING, name)}
    return attrs.evolve(recorded, **{"abstraction": FULL} | changed)
