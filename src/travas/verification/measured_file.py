"""Synthetic logs and process maps read back with their measurements: anyone can generate or write again, free of charge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from ..errors import LogError, ParameterError
from ..maps.map_measurements import MapMeasurements
from ..maps.map_release import MapRelease
from ..mechanisms import find_mechanism
from ..model.abstraction import Abstraction
from ..model.mechanism import Mechanism, is_ours
from ..model.plain import measurements_from_plain
from ..model.release import Origin
from ..model.release_kind import Kind
from ..model.traces import listed
from ..outputs.guarantee_file import VERSION
from ..sources.reading import Reading
from ..sources.release_json import (
    is_activity_of,
    load_release_json,
    refusing_malformed,
    stated_columns,
    texts_of,
    whole_numbers,
)
from ..synthesis.measurements import Measurements
from ..synthesis.synthetic_release import SyntheticRelease
from .json_fields import impossible_fields
from .map_plausibility import impossible_map
from .release_file import content_of, refuse_damaged, stated_mechanism
from .synthetic_plausibility import impossible_synthetic

if TYPE_CHECKING:
    from ..mechanisms.process_map import ProcessMap
    from ..mechanisms.synthesis_mechanism import Synthesis


_NO_SYNTHETIC_LOG = "not a synthetic log with its measurements; use a .json file of a synthetic log"
_NO_MAP = "not a process map; use a .json file written by `travas map`"


def read_synthetic(path: str | Path) -> SyntheticRelease:
    """The synthetic log of a `.json` file, with its measurements.

    Args:
        path: A `.json` file that `SyntheticRelease.write` wrote. `verify` checks that it is the one that its guarantee
            file describes.

    Returns:
        The release. Its standing is not established if the file says so.

    Raises:
        LogError: The file cannot be read, it is not a synthetic log, or its mechanism cannot have released it.
    """
    source = Path(path)
    content = load_release_json(source, _NO_SYNTHETIC_LOG)
    release = synthetic_of(content, source)
    if is_ours(release.mechanism):
        why = impossible_synthetic(release, cast("Synthesis", release.mechanism))
        refuse_damaged(source, why or impossible_fields(content, release, VERSION))
    return release


def synthetic_of(content: dict[str, Any], source: Path) -> SyntheticRelease:
    """The synthetic log of a loaded `.json` file, whether its mechanism can have released it or not."""
    mechanism = _mechanism(content, "synthetic log", source, _NO_SYNTHETIC_LOG)
    with refusing_malformed(source, _NO_SYNTHETIC_LOG):
        log, origins = content_of(content), texts_of(content["origins"])
        if len(origins) != len(log.variants) or not set(origins) <= set(get_args(Origin)):
            raise ValueError
        return SyntheticRelease(
            mechanism,
            **_stated(content),
            variants=log.variants,
            numbers=log.counts,
            measurements=measurements_from_plain(content["measurements"], Measurements),
            origins=cast("tuple[Origin, ...]", origins),
            seed=whole_numbers([content["seed"]])[0],
            generation="again" if content["generation"] == "again" else "first",
        )


def read_map(path: str | Path) -> MapRelease:
    """The process map of a `.json` file.

    Args:
        path: A `.json` file that `MapRelease.write` wrote. `verify` checks that it is the one that its guarantee file
            describes.

    Returns:
        The map, computed again from the measurements in the file. Its standing is not established if the file says so.

    Raises:
        LogError: The file cannot be read, it is not a process map, or its mechanism cannot have released it.
    """
    source = Path(path)
    content = load_release_json(source, _NO_MAP)
    release = map_of(content, source)
    if is_ours(release.mechanism):
        why = impossible_map(release.measurements, cast("ProcessMap", release.mechanism), len(release.columns))
        refuse_damaged(source, why or impossible_fields(content, release, VERSION))
    return release


def map_of(content: dict[str, Any], source: Path) -> MapRelease:
    """The process map of a loaded `.json` file, whether its mechanism can have released it or not."""
    mechanism = _mechanism(content, "process map", source, _NO_MAP)
    with refusing_malformed(source, _NO_MAP):
        measurements, stated = measurements_from_plain(content["measurements"], MapMeasurements), _stated(content)
        if not all(is_activity_of(name, len(stated["columns"])) for name in measurements.activities):
            raise ValueError
        return MapRelease(mechanism, **stated, measurements=measurements)


def _mechanism(content: dict[str, Any], kind: Kind, source: Path, reason: str) -> Mechanism:
    """The mechanism of a release of this kind; one that is not installed is named."""
    with refusing_malformed(source, reason):
        name = content["description"]["mechanism"]
    try:
        find_mechanism(name)
    except ParameterError as error:
        raise LogError(f"{source}: {error}") from None
    with refusing_malformed(source, reason):
        mechanism = stated_mechanism(content)
        if mechanism.kind != kind:
            raise ValueError
        return mechanism


def _stated(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of a release that both kinds have, in addition to the mechanism."""
    if content["reading"] is not None:
        Reading.from_description(content["reading"])  # raises
    if not listed(content["abstractions"]):
        raise ValueError
    return {
        "columns": stated_columns(content),
        "abstractions": tuple(map(Abstraction.from_json, content["abstractions"])),
        "assumptions": texts_of(content["assumptions"]),
        "reading": content["reading"],
    }
