"""The fields of a `.json` release compared with those that travas writes for the same release."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from ..errors import shown
from ..model.release import Release, frequencies_of
from ..outputs.json_writer import json_content

_ROUNDING = dict.fromkeys(("total", "expected_false_pairs", "activities", "pairs", "throughput"), 1e-6) | dict.fromkeys(
    ("missing_cases", "missing_variants", "counts", "estimated", "intervals"), 1e-2
)
"""Fields that are computed with floats, and by how much they may differ between machines, beyond 1."""

_ADDED = ("cases", "abstractions", "rungs")
"""Fields that releases of earlier versions lack."""

_CHANGED = ("missing_cases", "missing_variants")
"""Fields whose computation has changed since version 1 of the guarantee file."""


def impossible_fields(stated: Mapping[str, Any], release: Release, version: int) -> str | None:
    """Why a `.json` file is not what travas writes for a release; None if it is.

    Args:
        stated: The content of the file.
        release: The release that it contains, with the mechanism, the reading and the assumptions of its guarantee.
        version: The version of the guarantee file.

    Returns:
        The reason.
    """
    expected = json_content(release)
    if unknown := next((field for field in stated if field not in expected), None):
        return f"it has a field {shown(unknown)}, which releases of this kind do not have"
    for field, value in expected.items():
        if (field not in stated and field in _ADDED) or (version == 1 and field in _CHANGED):
            continue
        is_computed = field in _ROUNDING and not (field == "counts" and frequencies_of(release) == "noisy")
        alike = _alike(stated.get(field), value, _ROUNDING[field]) if is_computed else _equal(stated.get(field), value)
        if field not in stated or not alike:
            return f"its field {field!r} is not what its measurements and its guarantee give"
    return None


def _equal(stated: Any, expected: Any) -> bool:
    """Whether two values are the same in JSON, where 1, 1.0 and true are three values."""
    return json.dumps(stated, sort_keys=True) == json.dumps(expected, sort_keys=True)


def _alike(stated: Any, expected: Any, rounding: float) -> bool:
    """Whether two values are equal up to the rounding of numbers."""
    if isinstance(expected, dict):
        return isinstance(stated, dict) and list(stated) == list(expected) and all(
            _alike(stated[name], value, rounding) for name, value in expected.items()
        )  # fmt: skip
    if isinstance(expected, list | tuple):
        return isinstance(stated, list) and len(stated) == len(expected) and all(
            _alike(one, other, rounding) for one, other in zip(stated, expected, strict=True)
        )  # fmt: skip
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        if not isinstance(stated, int | float) or isinstance(stated, bool):
            return False
        # a whole number that no float holds cannot be subtracted
        return abs(stated) <= sys.float_info.max and abs(stated - expected) <= 1 + rounding * abs(expected)
    return _equal(stated, expected)
