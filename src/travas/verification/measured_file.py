"""Synthetic logs and process maps read back with their measurements: anyone can generate or write again, free of charge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from ..maps.map_measurements import MapMeasurements
from ..maps.map_release import MapRelease
from ..model.abstraction import Abstraction
from ..model.mechanism import Mechanism
from ..model.other_packages import is_ours
from ..model.release import MAKER, Origin
from ..model.release_kind import Kind
from ..sources.reading import Reading
from ..sources.release_json import columns_of, load_release_json, refusing_malformed
from ..synthesis.measurements import Measurements
from ..synthesis.synthetic_release import SyntheticRelease
from .map_plausibility import impossible_measurements as impossible_map
from .release_file import content_of, read_release, refuse_damaged, stated_mechanism
from .synthetic_plausibility import impossible_synthetic

if TYPE_CHECKING:
    from ..mechanisms.process_map import ProcessMap
    from ..mechanisms.synthesis_mechanism import Synthesis


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
    release = load_synthetic(source)
    if is_ours(release.mechanism):
        mechanism = cast("Synthesis", release.mechanism)
        refuse_damaged(source, impossible_synthetic(read_release(source), release, mechanism))
    return release


def load_synthetic(source: Path) -> SyntheticRelease:
    """The synthetic log of a `.json` file, whether its mechanism can have released it or not."""
    with refusing_malformed(source, "not a synthetic log with its measurements; use a .json file of a synthetic log"):
        content = load_release_json(source)
        log, origins = content_of(content), tuple(content["origins"])
        if log.noisy is None or len(origins) != len(log.variants) or not set(origins) <= set(get_args(Origin)):
            raise ValueError
        return SyntheticRelease(
            _mechanism(content, "synthetic log"),
            log.variants,
            log.noisy,
            **_stated(content),
            measurements=Measurements.from_json(content["measurements"]),
            origins=origins,
            seed=int(content["seed"]),
            generation="again" if content["generation"] == "again" else "first",
            maker=MAKER,
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
    release = load_map(source)
    if is_ours(release.mechanism):
        mechanism = cast("ProcessMap", release.mechanism)
        refuse_damaged(source, impossible_map(release.measurements, mechanism, len(release.columns)))
    return release


def load_map(source: Path) -> MapRelease:
    """The process map of a `.json` file, whether its mechanism can have released it or not."""
    with refusing_malformed(source, "not a process map; use a .json file written by `travas map`"):
        content = load_release_json(source)
        measurements, stated = MapMeasurements.from_json(content["measurements"]), _stated(content)
        if any(
            (1 if isinstance(name, str) else max(len(name), 2)) != len(stated["columns"])
            for name in measurements.activities
        ):
            raise ValueError
        return MapRelease(_mechanism(content, "process map"), (), (), **stated, measurements=measurements, maker=MAKER)


def _mechanism(content: dict[str, Any], kind: Kind) -> Mechanism:
    mechanism = stated_mechanism(content)
    if mechanism.kind != kind:
        raise ValueError
    return mechanism


def _stated(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of a release that both kinds have, in addition to the mechanism."""
    if content["reading"] is not None:
        Reading.from_description(content["reading"])  # raises
    if not content["abstractions"]:
        raise ValueError
    return {
        "columns": columns_of(content),
        "frequencies": "noisy",
        "abstractions": tuple(map(Abstraction.from_json, content["abstractions"])),
        "assumptions": tuple(map(str, content["assumptions"])),
        "reading": content["reading"],
    }
