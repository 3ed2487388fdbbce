"""The guarantee file of a release. Schema: docs/guarantee.md.

Numbers that decide privacy are exact decimals or fractions as text, never JSON floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..log.plain import plain
from ..mechanisms.mechanism import Mechanism, parameters_of
from ..releases.release import about_timestamps, counted_of, kind_of
from ..trusted.numbers import as_text, rounded_up

FORMAT = "travas guarantee"


VERSION = 1


ASSUMED_PUBLIC = (
    "the form of the file and the names of its columns",
    "the rule from events to variants (columns, order, ties, missing values, abstraction), fixed without looking at the log",
    "the options of the mechanism (such as alphabet, rungs, rules, attributes and zone), chosen without looking at the log",
)


def guarantee_path(release: Path) -> Path:
    """Return the path of the guarantee file: `OUT.guarantee.json` next to the release."""
    return release.with_name(release.name + ".guarantee.json")


def measurements_path(release: Path) -> Path:
    """Return the path of the measurements beside a synthetic log: the log itself if it is a `.json` file, which has them."""
    return release if release.name.endswith(".json") else release.with_name(release.name + ".measurements.json")


def file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    import hashlib

    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def describe(mechanism: Mechanism, release: dict[str, Any], reading: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the content of the guarantee file of a release."""
    from .._version import __version__

    guarantee = mechanism.guarantee()
    epsilon, delta = guarantee.replace_one
    spent = rounded_up(guarantee.delta_spent)
    return {
        "format": FORMAT,
        "version": VERSION,
        "software": f"travas {__version__}",
        "standing": str(guarantee.standing),
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "delta_spent": spent if Fraction(spent) <= guarantee.delta else as_text(guarantee.delta),
        "unit": describe_unit(mechanism),
        "neighbours": guarantee.neighbours,
        "replace_one": {"epsilon": as_text(epsilon), "delta": as_text(delta)},
        "mechanism": guarantee.mechanism,
        "kind": kind_of(mechanism),
        "description": mechanism.describe(),
        "reading": reading and dict(reading),
        "parameters": parameters_of(mechanism),
        "assumed_public": [*ASSUMED_PUBLIC, *guarantee.assumptions, *release.get("assumptions", ())],
        "timestamps": about_timestamps(mechanism),
        "release": release,
    }


def describe_unit(mechanism: Mechanism) -> dict[str, Any]:
    """Describe the protected unit and, unless it is a case, what is counted."""
    unit: dict[str, Any] = plain(mechanism.unit)
    return unit if mechanism.unit.is_case else unit | {"counted": counted_of(mechanism)}
