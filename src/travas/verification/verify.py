"""Verification of a guarantee file, from its own content and, optionally, its release.

Schema: docs/guarantee.md. Numbers that decide privacy are exact decimals or fractions as text, never JSON floats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..errors import LogError, ParameterError, VerificationError, shown
from ..mechanisms import MECHANISMS, from_description
from ..model.abstraction import FULL, Abstraction
from ..model.mechanism import Mechanism
from ..model.release import check_frequencies, check_profile, check_timestamps
from ..model.release_kind import EVENT_LOGS
from ..outputs.guarantee_file import FORMAT, VERSION, describe, file_digest, guarantee_path
from ..sources.formats import RELEASE_SUFFIXES, suffix_of
from ..sources.reading import Reading, implied_assumptions
from ..sources.release_json import load_release_json, strict_json, texts_of
from ..trusted.guarantee import Standing
from ..trusted.numbers import is_whole_number
from .json_plausibility import check_json
from .plausibility import check_event_log
from .plausible_values import StatedFacts
from .release_file import NO_JSON_RELEASE, stated_by


def released_abstractions(release: Path) -> tuple[Abstraction, ...]:
    """Return the rules by which a release was generalised, from its guarantee file; empty if there is no such file."""
    path = guarantee_path(release)
    return stated_abstractions(load(path), path) if path.is_file() else (FULL,)


def stated_abstractions(stated: dict[str, Any], path: Path) -> tuple[Abstraction, ...]:
    """Return the rules by which a release was generalised, from a loaded guarantee file."""
    facts = stated.get("release")
    rules = facts.get("abstractions", [[]]) if isinstance(facts, dict) else None
    try:
        if not isinstance(rules, list) or not rules:
            raise ParameterError("its abstractions are not a list of rules", field="guarantee")
        return tuple(map(Abstraction.from_json, rules))
    except (ParameterError, LogError) as error:
        raise LogError(f"{path}: {error}") from None


@dataclass(frozen=True)
class Verified:
    """The result of a verification: the mechanism with newly verified tables, and what was compared."""

    mechanism: Mechanism
    delta_spent: Fraction
    digest_checked: bool
    notes: tuple[str, ...] = ()


def verify(guarantee: str | Path, release: str | Path | None = None) -> Verified:
    """Verify a guarantee file: rebuild its noise tables, check them in exact arithmetic and compare all fields.

    Args:
        guarantee: The guarantee file.
        release: The release; its digest and content are checked as well.

    Returns:
        The verified mechanism, and what was checked.

    Raises:
        VerificationError: The guarantee is wrong, not established, or not that of the release.
        LogError: The file is not a guarantee file.
    """
    path = Path(guarantee)
    stated = load(path)
    if stated.get("standing") == Standing.NOT_ESTABLISHED:
        raise VerificationError(f"{path}: its standing is 'not established'; there is nothing to verify")
    try:
        rebuilt = from_description(_description(stated))
        reading = stated_reading(stated, path)
        facts, sha256 = stated["release"], stated["release"]["sha256"]
        if stated["version"] != 1 and "reading" not in stated:
            raise KeyError("reading")
        times = check_timestamps(facts.get("timestamps", "artificial"), rebuilt.kind)
        profile = check_profile(facts.get("profile", "travas"), times)
        frequencies = check_frequencies(facts["frequencies"])
        used = tuple(map(Abstraction.from_json, facts["abstractions"]))
        assumptions, notices = texts_of(facts.get("assumptions", [])), dict(facts.get("notices") or {})
        implied = () if reading is None else implied_assumptions(stated["reading"])
    except (ParameterError, LogError) as error:
        raise VerificationError(f"{path}: is inconsistent: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError):
        raise LogError(
            f"{path}: not a guarantee file, or damaged: a field is missing or has the wrong type; see: travas docs guarantee"
        ) from None
    if reading is not None and reading.privacy_unit != rebuilt.unit:
        raise VerificationError(f"{path}: is inconsistent: its reading and its mechanism have different units")
    if missing := [sentence for sentence in implied if sentence not in assumptions]:
        raise VerificationError(
            f"{path}: is inconsistent: release.assumptions does not state what its reading assumes: {missing[0]}"
        )
    try:
        expected = describe(rebuilt, facts, stated.get("reading"), stated["version"])
    except VerificationError as error:
        raise VerificationError(f"{path}: {error}") from None
    for field, true in expected.items():
        if _claimed(stated, field) != true and field != "software":
            raise VerificationError(
                f"{path}: is inconsistent: {field} is not what {rebuilt.name} at this epsilon and delta gives"
            )
    if release is not None:
        content = _check(Path(release), path, stated, sha256)
        said = StatedFacts(
            frequencies, used, stated.get("reading"), profile, times, assumptions, notices, stated["version"]
        )
        if content is not None:
            check_json(Path(release), content, rebuilt, said)
        elif rebuilt.kind in EVENT_LOGS:
            check_event_log(Path(release), rebuilt, said)
    notes = _notes(stated) + _notes_of_map(rebuilt, release)
    return Verified(rebuilt, rebuilt.guarantee().delta_spent, release is not None, notes)


_FORMER_WORDING = (
    (
        re.compile(r"the column (.+) tells whose a case is: one (.+) has one value there"),
        r"the column \1 identifies the \2 of every case; each \2 has exactly one value",
    ),
    (
        re.compile(r"of the cases of one (.+) at most (\d+) count: fixed without looking at the log"),
        r"at most \2 cases per \1 are counted; this number was chosen without looking at the log",
    ),
)
"""Sentences of guarantee files of earlier versions, and their current wording."""


def _claimed(stated: dict[str, Any], field: str) -> Any:
    """Return a field of a guarantee file. Files written before synthetic logs existed have no `kind`."""
    if field == "assumed_public":
        return _current(stated.get(field))
    return stated.get(field, "variants") if field == "kind" else stated.get(field)


def _current(assumptions: Any) -> Any:
    """Return the assumptions of a guarantee file in their current wording."""
    if not isinstance(assumptions, list):
        return assumptions
    for former, current in _FORMER_WORDING:
        assumptions = [former.sub(current, text) if isinstance(text, str) else text for text in assumptions]
    return assumptions


def _description(stated: dict[str, Any]) -> dict[str, Any]:
    """Return the description of the mechanism; in version 1 it is spread over the file."""
    if stated["version"] != 1:
        described: dict[str, Any] = stated["description"]
        return described
    kind = MECHANISMS.get(stated["mechanism"])
    names = [option for option in kind.options() if option not in kind.former_options] if kind else []
    options = {option: stated["parameters"][option] for option in names}
    if not isinstance(options.get("rungs", []), list) or any(
        isinstance(rung, str) for rung in options.get("rungs", [])
    ):
        raise ParameterError("an abstraction of version 1 must be a list of steps", field="guarantee")
    unit = {name: stated["unit"][name] for name in ("name", "max_cases")}
    return {name: stated[name] for name in ("mechanism", "epsilon", "delta")} | {"unit": unit} | options


def _notes(stated: dict[str, Any]) -> tuple[str, ...]:
    if stated["version"] == 1:
        return ("the guarantee file has version 1: it does not state what a case is, nor how the log was read",)
    if stated["reading"] is None:
        return ("the release was made from counts: the guarantee file cannot state what a case is",)
    return ()


def _notes_of_map(mechanism: Mechanism, release: str | Path | None) -> tuple[str, ...]:
    if mechanism.kind in EVENT_LOGS or release is None or Path(release).suffix.lower() == ".json":
        return ()
    return ("only the digest of this file was checked: of a process map, a .json file has the measurements",)


def released_reading(release: Path) -> Reading | None:
    """Return how the original log was read, from the guarantee file of a release; None if it is not stated."""
    path = guarantee_path(release)
    return stated_reading(load(path), path) if path.is_file() else None


def stated_reading(stated: dict[str, Any], path: Path) -> Reading | None:
    """Return how the log was read, from a guarantee file, without the query; None if it is not stated.

    Args:
        stated: The content of the guarantee file.
        path: Where it was loaded from.

    Returns:
        The reading.
    """
    described = stated.get("reading")
    try:
        return None if described is None else Reading.from_description(described)
    except (ParameterError, LogError) as error:
        raise LogError(f"{path}: {error}") from None


def _check(release: Path, path: Path, stated: dict[str, Any], sha256: str) -> dict[str, Any] | None:
    """Check that the release has the digest in the guarantee, and that both state the same facts.

    Returns:
        The content of a `.json` file; None for other formats.
    """
    if _digest(release) != sha256:
        raise VerificationError(
            f"{release}: its SHA-256 does not match {path}; it is not the release of this guarantee"
        )
    of_the_file = {name: stated["release"].get(name) for name in ("format", "frequencies", "abstractions", "notices")}
    content = load_release_json(release, NO_JSON_RELEASE) if suffix_of(release, RELEASE_SUFFIXES) else None
    for field, value in stated_by(release, content).items():
        if value != (stated | of_the_file)[field]:
            raise VerificationError(f"{release}: its {field} does not match {path}; one of them was changed")
    return content


def load(path: Path) -> dict[str, Any]:
    """Load a guarantee file, without verifying it."""
    try:
        stated = strict_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LogError(f"{path}: cannot be opened ({error.strerror}); check the path") from None
    except (ValueError, RecursionError):
        raise LogError(f"{path}: not a guarantee file, it is not JSON; use OUT.guarantee.json") from None
    if not isinstance(stated, dict) or stated.get("format") != FORMAT:
        raise LogError(f"{path}: not a guarantee file of travas; use OUT.guarantee.json")
    version = stated.get("version")
    if not is_whole_number(version) or not 1 <= version <= VERSION:
        raise LogError(f"{path}: guarantee file of version {shown(version)}; supported: 1 to {VERSION}; update travas")
    return stated


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        raise LogError(f"{path}: cannot be opened ({error.strerror}); check the path") from None
