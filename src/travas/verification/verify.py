"""The guarantee file beside a release: written, read, and checked again from nothing but itself.

Schema: docs/guarantee.md. Numbers that decide privacy are exact decimals or fractions in text, never JSON floats.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..errors import LogError, ParameterError, VerificationError
from ..mechanisms import MECHANISMS, mechanism
from ..model.abstraction import FULL, Abstraction
from ..model.mechanism import Mechanism
from ..model.release import check_frequencies
from ..outputs.guarantee_file import FORMAT, VERSION, describe, digest, guarantee_path
from ..privacy.guarantee import PrivacyUnit, Standing


def released_abstractions(release: Path) -> tuple[Abstraction, ...]:
    """The rules by which a release was made coarser, as the guarantee file beside it says; none if there is no such file."""
    path = guarantee_path(release)
    return stated_abstractions(load(path), path) if path.is_file() else (FULL,)


def stated_abstractions(stated: dict[str, Any], path: Path) -> tuple[Abstraction, ...]:
    """The same from a guarantee file that was loaded from there."""
    facts = stated.get("release")
    rules = facts.get("abstractions", [[]]) if isinstance(facts, dict) else None
    try:
        if not isinstance(rules, list) or not rules:
            raise ParameterError("its abstractions are not a list of rules")
        return tuple(map(Abstraction.from_json, rules))
    except (ParameterError, LogError) as error:
        raise LogError(f"{path}: {error}") from None


@dataclass(frozen=True)
class Verified:
    """The outcome of a verification: the mechanism with its freshly verified tables, and what was compared."""

    mechanism: Mechanism
    delta_spent: Fraction
    digest_checked: bool


def verify(guarantee: str | Path, release: str | Path | None = None) -> Verified:
    """Rebuild the table a guarantee file speaks of, verify it in exact arithmetic, compare; with the release, its digest.

    Raises VerificationError where something does not hold, LogError where the file is not a guarantee file.
    """
    path = Path(guarantee)
    stated = load(path)
    try:
        kind = MECHANISMS.get(stated["mechanism"])
        options = {option: stated["parameters"][option] for option in kind.options()} if kind else {}
        if "rungs" in options:  # rules written out: a guarantee must not make us open a file
            options["rungs"] = [Abstraction.from_json(rung) for rung in options["rungs"]]
        unit = PrivacyUnit(stated["unit"]["name"], stated["unit"]["max_cases"])
        rebuilt = mechanism(stated["mechanism"], stated["epsilon"], stated["delta"], unit=unit, **options)
        facts, sha256 = stated["release"], stated["release"]["sha256"]
        check_frequencies(facts["frequencies"])
        for rule in facts["abstractions"]:
            Abstraction.from_json(rule)
        if not isinstance(facts.get("assumptions", []), list):
            raise TypeError
    except (ParameterError, LogError) as error:
        raise VerificationError(f"{path}: does not fit together: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise LogError(
            f"{path}: not a guarantee file of travas, or damaged: a field is missing or of another kind; see docs/guarantee.md"
        ) from None
    if stated.get("standing") == Standing.NOT_ESTABLISHED:
        raise VerificationError(f"{path}: its standing is 'not established': there is nothing to verify")
    for field, true in describe(rebuilt, facts).items():
        if stated.get(field) != true and field != "software":
            raise VerificationError(
                f"{path}: does not fit together: {field} is not what {rebuilt.name} at this epsilon and delta gives"
            )
    if release is not None:
        _check(Path(release), path, stated, sha256)
    return Verified(rebuilt, rebuilt.guarantee().delta_spent, release is not None)


def _check(release: Path, path: Path, stated: dict[str, Any], sha256: str) -> None:
    """The release must be the one that was digested, and say of itself what the guarantee says of it."""
    from .release_file import said_by

    if _digest(release) != sha256:
        raise VerificationError(
            f"{release}: its SHA-256 is not the one in {path}: not the release this guarantee is for"
        )
    of_the_file = {name: stated["release"].get(name) for name in ("format", "frequencies", "abstractions")}
    for field, said in said_by(release).items():
        if said != (stated | of_the_file)[field]:
            raise VerificationError(f"{release}: its own {field} is not the one in {path}: one of them was changed")


def load(path: Path) -> dict[str, Any]:
    """A guarantee file as it stands, checked for nothing but that it is one."""
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LogError(f"{path}: cannot be opened ({error.strerror}); check the path") from None
    except (ValueError, RecursionError):
        raise LogError(f"{path}: not a guarantee file, it is not JSON; give OUT.guarantee.json") from None
    if not isinstance(stated, dict) or stated.get("format") != FORMAT:
        raise LogError(f"{path}: not a guarantee file of travas; give OUT.guarantee.json")
    if stated.get("version") != VERSION:
        raise LogError(f"{path}: guarantee file of version {stated.get('version')!r}, I know {VERSION}; update travas")
    return stated


def _digest(path: Path) -> str:
    try:
        return digest(path)
    except OSError as error:
        raise LogError(f"{path}: cannot be opened ({error.strerror}); check the path") from None
