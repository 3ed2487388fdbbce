"""What the file of a process map itself proves wrong: measurements and numbers that its mechanism cannot have made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import VerificationError
from ..maps.map_counts import choose_cap, timed_pairs
from ..maps.map_measurements import ACTIVITIES, PAIRS, SIZES, MapMeasurements, pair_cells
from ..maps.map_release import MapRelease
from ..mechanisms.gaussian_mechanism import MOST_ACTIVITIES
from ..mechanisms.process_map import ProcessMap
from ..model.statements import description_of
from ..sources.reading import released_columns
from ..sources.release_json import is_name, load_release_json
from .plausible_values import LARGEST_SUM

_COMPUTED = ("total", "expected_false_pairs", "activities", "pairs", "throughput")
"""What is computed from the measurements with floats, which may differ by rounding between machines."""


def check_map(path: Path, release: MapRelease, mechanism: ProcessMap, reading: Mapping[str, Any] | None) -> None:
    """Raise VerificationError if a `.json` file cannot be a process map of this mechanism.

    Args:
        path: The file.
        release: What it contains.
        mechanism: What its guarantee says that it was made by.
        reading: The described reading of its guarantee; None where counts were given.
    """
    stated = load_release_json(path)
    why = _impossible_columns(release, reading) or impossible_measurements(
        release.measurements, mechanism, len(release.columns)
    )
    why = why or _impossible_file(stated, release, mechanism)
    if why is not None:
        raise VerificationError(f"{path}: {mechanism.name} cannot have released this: {why}")


def _impossible_columns(release: MapRelease, reading: Mapping[str, Any] | None) -> str | None:
    if reading is not None and release.columns != released_columns(tuple(reading["columns"]["activities"])):
        return "its columns are not those of the activities that were read"
    return None


def _impossible_file(stated: dict[str, Any], release: MapRelease, mechanism: ProcessMap) -> str | None:
    """Fields of the file that contradict the measurements, or numbers in another form than they are written in."""
    if stated["description"] != description_of(mechanism):
        return "its own description is of another mechanism"
    expected: dict[str, Any] = json.loads(json.dumps(release.json_fields()))
    for field, value in expected.items():
        alike = _alike if field in _COMPUTED else _equal
        if field not in stated or not alike(stated[field], value):
            return f"its {field} are not what its measurements give"
    return None


def impossible_measurements(made: MapMeasurements, mechanism: ProcessMap, width: int) -> str | None:
    """Why no release of this mechanism has these measurements; None if one can."""
    if dict(made.contributions) != mechanism.contributions:
        return "the contributions are not those that its epsilon and delta give"
    if list(made.activities) != sorted(set(made.activities)):
        return "an activity was measured twice, or they are not sorted"
    if not all(is_name(name, width) for name in made.activities):
        return "an activity is empty, not text, or has a different number of columns"
    return _impossible_activities(made, mechanism) or _impossible_cells(made, mechanism)


def _impossible_activities(made: MapMeasurements, mechanism: ProcessMap) -> str | None:
    if mechanism.alphabet is not None:
        public = made.activities == mechanism.alphabet and not made.activity_sums
        return None if public else "its activities are not the public ones"
    if set(made.activity_sums) != set(made.activities) or len(made.activities) > MOST_ACTIVITIES:
        return "its activities are not those that were selected"
    least = mechanism.noise.stage(ACTIVITIES).threshold
    if any(not least < value < LARGEST_SUM for value in made.activity_sums.values()):
        return "the noisy sum of an activity is not above the threshold"
    return None


def _impossible_cells(made: MapMeasurements, mechanism: ProcessMap) -> str | None:
    """Numbers where there is no cell, or a choice that is not that of the rule."""
    sizes, pairs = mechanism.noise.stage(SIZES), mechanism.noise.stage(PAIRS)
    in_cases = (made.sizes / sizes.contribution).tolist()
    if made.cap != choose_cap(in_cases, sizes.deviation, pairs.deviation, len(made.activities)):
        return "its cap is not the one that its measurements give"
    if made.pairs[~pair_cells(len(made.activities))].any():
        return "a pair was measured that cannot occur"
    if made.duration_pairs is not None and not np.array_equal(made.duration_pairs, timed_pairs(made.pairs)):
        return "durations were not measured for the pairs that stand out"
    return None


def _equal(stated: Any, expected: Any) -> bool:
    return type(stated) is type(expected) and bool(stated == expected)


def _alike(stated: Any, expected: Any) -> bool:
    """Whether two values are equal up to the rounding of numbers."""
    if isinstance(expected, dict):
        return isinstance(stated, dict) and list(stated) == list(expected) and all(
            _alike(stated[name], value) for name, value in expected.items()
        )  # fmt: skip
    if isinstance(expected, list):
        return isinstance(stated, list) and len(stated) == len(expected) and all(map(_alike, stated, expected))
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        if not isinstance(stated, int | float) or isinstance(stated, bool):
            return False
        return abs(stated - expected) <= 1 + 1e-6 * abs(expected)
    return _equal(stated, expected)
