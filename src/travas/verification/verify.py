"""Verification of a guarantee file, from its own content and, optionally, its release.

Schema: docs/guarantee.md. Numbers that decide privacy are exact decimals or fractions as text, never JSON floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ..errors import LogError, ParameterError, VerificationError
from ..log.abstraction import Abstraction
from ..mechanisms import from_description
from ..mechanisms.mechanism import Mechanism
from ..outputs.guarantee_file import describe
from ..releases.release import SEGMENT, check_frequencies, kind_of, name_of
from ..sources.reading import BY_QUERY
from ..sources.release_json import texts_of
from ..trusted.guarantee import Standing
from .opened import check_digest, load, stated_reading
from .rewritten import check_content

_FACTS = {"format", "frequencies", "notices", "abstractions", "sha256", "measurements", "assumptions"}
"""What a guarantee file states about the file of its release."""

DIGEST_ONLY = "only the digest of this file was checked: its measurements, which a .json file has, are not with it"
"""The note about a synthetic log or process map without the measurements that its content can be compared with."""


@dataclass(frozen=True)
class Verified:
    """The result of a verification: the mechanism with newly verified tables, and what was compared."""

    mechanism: Mechanism
    delta_spent: Fraction
    digest_checked: bool
    notes: tuple[str, ...] = ()


def verify(guarantee: str | Path, release: str | Path | None = None) -> Verified:
    """Verify a guarantee file: rebuild its noise tables, check them in exact arithmetic and compare all fields.

    With a release, its digest is compared, and it is written again from its own content and compared. Nothing can show
    where two files come from: whoever makes both can write anything into both.

    Args:
        guarantee: The guarantee file.
        release: The release.

    Returns:
        The verified mechanism, and what was checked.

    Raises:
        VerificationError: The guarantee is wrong, not established, or not that of the release.
        LogError: The file is not a guarantee file.
    """
    path = Path(guarantee)
    stated = load(path)

    def inconsistent(why: object) -> VerificationError:
        return VerificationError(f"{path}: is inconsistent: {why}")

    if stated.get("standing") == Standing.NOT_ESTABLISHED:
        raise VerificationError(f"{path}: its standing is 'not established'; there is nothing to verify")
    try:
        rebuilt = from_description(stated["description"])
        reading, described = stated_reading(stated, path), stated["reading"]
        facts = stated["release"]
        check_frequencies(facts["frequencies"])
        if unknown := set(facts) - _FACTS:
            raise ParameterError(f"release has an unknown field {min(unknown)[:40]!r}", field="guarantee")
        notices = dict(facts.get("notices") or {})
        texts_of([facts["format"], facts["sha256"], facts.get("measurements", ""), *notices.values()])
        for rule in facts["abstractions"]:
            Abstraction.from_json(rule)
        assumptions = texts_of(facts.get("assumptions", []))
        implied = () if reading is None else (*([BY_QUERY] if described["query"] else ()), *reading.assumptions)
    except (ParameterError, LogError) as error:
        raise inconsistent(error) from None
    except (KeyError, TypeError, AttributeError, ValueError):
        raise LogError(
            f"{path}: not a guarantee file, or damaged: a field is missing or has the wrong type; see: travas docs guarantee"
        ) from None
    if reading is not None and reading.privacy_unit != rebuilt.unit:
        raise inconsistent("its reading and its mechanism have different units")
    if reading is not None and notices.get(SEGMENT, "") not in reading.named_segments:
        raise inconsistent("its segment is not one of those that its reading lists")
    if missing := [sentence for sentence in implied if sentence not in assumptions]:
        raise inconsistent(f"release.assumptions does not state what its reading assumes: {missing[0]}")
    try:
        expected = describe(rebuilt, facts, described)
    except VerificationError as error:
        raise VerificationError(f"{path}: {error}") from None
    for field in [*expected, *(name for name in stated if name not in expected)]:
        if field != "software" and (field not in expected or stated.get(field) != expected[field]):
            raise inconsistent(f"{field[:40]} is not what {name_of(rebuilt)} at this epsilon and delta gives")
    notes = [] if reading is not None else ["made from counts: the guarantee file cannot state what a case is"]
    if release is not None:
        file = Path(release)
        complete = check_digest(file, path, stated)
        if complete is None and kind_of(rebuilt) != "variants":
            notes.append(DIGEST_ONLY)
        else:
            check_content(file, complete, rebuilt, stated, path)
    return Verified(rebuilt, rebuilt.guarantee().delta_spent, release is not None, tuple(notes))
