"""The guarantee file beside a release. Schema: docs/guarantee.md.

Numbers that decide privacy are exact decimals or fractions in text, never JSON floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..model.mechanism import Mechanism
from ..privacy.numbers import as_text, rounded_up

FORMAT = "travas guarantee"


VERSION = 2
"""Version 1 has no `description` and no `reading`."""


ARTIFICIAL = "artificial: only their order within a case means anything"


ASSUMED_PUBLIC = (
    "the form of the file and the names of its columns",
    "the rule from events to variants (columns, order, ties, missing values, abstraction), fixed without looking at the log",
)


def guarantee_path(release: Path) -> Path:
    """`OUT.guarantee.json`, beside the release."""
    return release.with_name(release.name + ".guarantee.json")


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    import hashlib

    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def describe(
    chosen: Mechanism, release: dict[str, Any], reading: Mapping[str, Any] | None, version: int = VERSION
) -> dict[str, Any]:
    """What the guarantee file says of a release.

    Args:
        chosen: The mechanism.
        release: Format, frequencies, abstractions and digest of the release.
        reading: The rule from events to variants; None where counts were given.
        version: Of the guarantee file.

    Returns:
        The content of the file.
    """
    from .._version import __version__

    guarantee = chosen.guarantee()
    epsilon, delta = guarantee.replace_one
    spent = rounded_up(guarantee.delta_spent)
    return {
        "format": FORMAT,
        "version": version,
        "software": f"travas {__version__}",
        "standing": str(guarantee.standing),
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "delta_spent": spent if Fraction(spent) <= guarantee.delta else as_text(guarantee.delta),
        "unit": describe_unit(chosen),
        "neighbours": guarantee.neighbours,
        "replace_one": {"epsilon": as_text(epsilon), "delta": as_text(delta)},
        "mechanism": guarantee.mechanism,
        **({} if version == 1 else {"description": chosen.describe(), "reading": reading and dict(reading)}),
        "parameters": chosen.parameters(),
        "assumed_public": [*ASSUMED_PUBLIC, *guarantee.assumptions, *release.get("assumptions", ())],
        "timestamps": ARTIFICIAL,
        "release": release,
    }


def describe_unit(chosen: Mechanism) -> dict[str, Any]:
    """Whom it protects and, where that is not the case itself, what is counted and how (ε, δ) is kept for all its cases."""
    unit = {"name": chosen.unit.name, "max_cases": chosen.unit.max_cases}
    if chosen.unit.is_case:
        return unit
    return unit | {"counted": chosen.counted} | chosen.unit_terms()
