"""The content of a release: opened, written again with our own writers, and compared.

It finds what was changed by accident or by hand: a count, a name, the order of rows, a line of the header. It does not
show where a file comes from: whoever makes both files can write anything into both (docs/guarantee.md).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from ..errors import LogError, VerificationError
from ..log.abstraction import FULL, Abstraction
from ..mechanisms.ladder import generalises, rungs_of
from ..mechanisms.mechanism import Mechanism
from ..outputs.json_writer import json_content
from ..outputs.write import write_content, writers
from ..releases.release import SEGMENT, Release, VariantRelease, frequencies_of, kind_of
from ..sources.files import suffix_of
from ..sources.reading import released_columns
from ..sources.release_json import load_release_json, texts_of
from .opened import read_release, release_of, unpacked

_ROUNDING = {
    **dict.fromkeys(("total", "expected_false_pairs", "activities", "pairs", "throughput"), 1e-6),
    **dict.fromkeys(("missing_cases", "missing_cases_interval", "counts", "estimated", "intervals"), 1e-2),
}
"""Fields of `.json` that are computed with floats, and by how much they may differ between machines, beyond 1."""


def check_content(
    path: Path, complete: Path | None, mechanism: Mechanism, stated: dict[str, Any], guarantee: Path
) -> None:
    """Raise VerificationError unless a release, and the file with all of it, are what travas writes for their content."""
    facts = stated["release"]
    try:
        suffix = suffix_of(path, tuple(writers(kind_of(mechanism))))
        if suffix is None or suffix != f".{facts['format']}":
            raise _changed(path, "its format")
        if complete is None:
            release: Release = _variants_of_file(path, mechanism, stated)
        else:
            content = load_release_json(complete, "not a release of travas; use a .json release")
            opened = release_of(content, complete, stated)
            assumptions = texts_of(facts.get("assumptions", []))
            release = replace(opened, mechanism=mechanism, reading=stated["reading"], assumptions=assumptions)
            if (why := _difference_of_json(content, release)) is not None:
                raise _changed(complete, why)
        if (why := _difference_of_facts(release, stated)) is not None:
            raise _changed(path, why)
        if path != complete and not _is_written_as(path, suffix, release):
            raise _changed(path, "cases, times, order, columns or header")
    except VerificationError:
        raise
    except LogError as error:
        is_named = str(error).startswith((str(path), str(guarantee)))
        raise VerificationError(str(error) if is_named else f"{path}: {error}") from None
    except Exception as error:  # whatever numbers a sender writes, they are refused in one line
        raise VerificationError(f"{path}: cannot be written again ({type(error).__name__}); it is damaged") from error


def _changed(path: Path, what: str) -> VerificationError:
    return VerificationError(
        f"{path}: is not what travas writes: {what}; a file was changed, or is of another version of travas"
    )


def _difference_of_facts(release: Release, stated: Mapping[str, Any]) -> str | None:
    """What the guarantee file states otherwise about a release. It has the activity columns that were read."""
    facts, reading = stated["release"], stated["reading"]
    if [rule.as_json() for rule in release.used_abstractions] != facts["abstractions"]:
        return "its abstractions"
    if frequencies_of(release) != facts["frequencies"]:
        return "its frequencies"
    if release.notices != (facts.get("notices") or {}):
        return "its notices"
    is_read = reading is None or release.columns == released_columns(tuple(reading["columns"]["activities"]))
    return None if is_read else "its columns are not those of the activities that were read"


# ----------------------------------------------------------------------------------------------------------- .json


def _difference_of_json(content: dict[str, Any], release: Release) -> str | None:
    """What differs between a `.json` file of any kind and the one that is written for its release."""
    if isinstance(release, VariantRelease) and (release.cases is None) == generalises(release.mechanism):
        return "its number of cases"
    expected = json.loads(json.dumps(json_content(release)))
    if names := content.keys() ^ expected.keys():
        return f"its field {min(names)[:40]!r}"
    for name, value in expected.items():
        is_exact = name not in _ROUNDING or (name == "counts" and frequencies_of(release) == "noisy")
        if not _alike(content[name], value, None if is_exact else _ROUNDING[name]):
            return f"its field {name!r}"
    return None


def _alike(found: Any, expected: Any, rounding: float | None) -> bool:
    """Whether two values are the same in JSON, up to the rounding of numbers."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            _alike(found[name], value, rounding) for name, value in expected.items()
        )
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(_alike, found, expected, repeat(rounding)))
    if rounding is not None and isinstance(found, int | float) and isinstance(expected, int | float):
        return abs(found - expected) <= 1 + rounding * abs(expected)
    return bool(found == expected)


# ------------------------------------------------------------------------------------------------------ event logs


def _is_written_as(path: Path, suffix: str, release: Release) -> bool:
    """Whether an event log is the one that is written for its release."""
    with tempfile.TemporaryDirectory(prefix="travas-") as folder:
        again = Path(folder) / f"again{suffix}"
        write_content(release, again, suffix)
        if suffix != ".parquet":
            return unpacked(path) == unpacked(again)
        import polars as pl

        one, other = (pl.read_parquet(file, glob=False, hive_partitioning=False) for file in (path, again))
        return one.schema == other.schema and one.equals(other)


@dataclass(frozen=True, repr=False)
class _VariantsOfFile(VariantRelease):
    """Released variants whose counts are those of their file."""

    counts: tuple[int, ...] = field(default=(), kw_only=True)


def _variants_of_file(path: Path, mechanism: Mechanism, stated: Mapping[str, Any]) -> VariantRelease:
    """The released variants that an event log contains, in canonical order, to be written again."""
    content, facts, rules = read_release(path), stated["release"], _rules(mechanism, stated)
    rungs = map(list(map(str, rules)).index, content.rules)
    rows = sorted(zip(content.variants, rungs, content.counts, strict=True))
    return _VariantsOfFile(
        mechanism,
        variants=tuple(trace for trace, _, _ in rows),
        rungs=tuple(rung for _, rung, _ in rows),
        counts=tuple(count for _, _, count in rows),
        frequencies=facts["frequencies"],
        columns=content.columns,
        abstractions=rules,
        assumptions=texts_of(facts.get("assumptions", [])),
        reading=stated["reading"],
        segment=(facts.get("notices") or {}).get(SEGMENT, ""),
    )


def _rules(mechanism: Mechanism, stated: Mapping[str, Any]) -> tuple[Abstraction, ...]:
    """All rules of a ladder; only those that were used if it is not known how the traces were generalised before."""
    used = tuple(map(Abstraction.from_json, stated["release"]["abstractions"]))
    before = FULL if stated["reading"] is None else Abstraction.from_json(stated["reading"]["abstraction"])
    rules = tuple(before | rule for rule in rungs_of(mechanism))
    return rules if set(used) <= set(rules) else used
