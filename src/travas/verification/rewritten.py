"""The content of a release: opened, written again with our own writers, and compared.

It finds what was changed by accident or by hand: a count, a name, the order of rows, a line of the header. It does not
show where a file comes from: whoever makes both files can write anything into both (docs/guarantee.md).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import LogError, VerificationError
from ..log.abstraction import FULL, Abstraction
from ..log.options import SERVICE_TIMES, Attribute, CaseColumn, case_column
from ..log.questions import SERVICE
from ..mechanisms.ladder import generalises, rungs_of
from ..mechanisms.mechanism import Mechanism
from ..outputs.event_tables import TIME_FORMAT
from ..outputs.json_writer import json_content
from ..outputs.write import writers
from ..releases.release import (
    ORIGIN,
    SEGMENT,
    START_TIMESTAMP,
    SYNTHETIC,
    Profile,
    Release,
    ReleasedLog,
    VariantRelease,
    details_of,
    frequencies_of,
    kind_of,
    released_attributes,
    released_event_attributes,
    released_times,
)
from ..releases.synthetic_log import SyntheticRelease
from ..sources.files import suffix_of
from ..sources.reading import released_columns
from ..sources.release_json import load_release_json, texts_of
from .opened import Cases, read_cases, release_of, unpacked

if TYPE_CHECKING:
    import polars as pl

_ROUNDING = dict.fromkeys(("total", "expected_false_pairs", "activities", "pairs", "throughput"), 1e-6) | dict.fromkeys(
    ("missing_cases", "missing_variants", "counts", "estimated", "intervals"), 1e-2
)
"""Fields of `.json` that are computed with floats, and by how much they may differ between machines, beyond 1."""


def check_content(
    path: Path, complete: Path | None, mechanism: Mechanism, stated: dict[str, Any], guarantee: Path
) -> None:
    """Raise VerificationError unless a release, and the file with all of it, are what travas writes for their content."""
    facts = stated["release"]
    why: str | None
    try:
        if suffix_of(path, tuple(writers(kind_of(mechanism), facts.get("profile", "travas")))) != f".{facts['format']}":
            why = "its format"
        else:
            why = None if path == complete else _changed_log(path, mechanism, stated)
            if why is None and complete is not None:
                path, why = complete, _changed_json(complete, mechanism, stated, guarantee)
    except VerificationError:
        raise
    except LogError as error:
        is_named = str(error).startswith((str(path), str(guarantee)))
        raise VerificationError(str(error) if is_named else f"{path}: {error}") from None
    except Exception as error:  # whatever numbers a sender writes, they are refused in one line
        raise VerificationError(f"{path}: cannot be written again ({type(error).__name__}); it is damaged") from error
    if why is not None:
        raise VerificationError(f"{path}: is not what travas writes: {why}; one of the files was changed")


# ----------------------------------------------------------------------------------------------------------- .json


def _changed_json(path: Path, mechanism: Mechanism, stated: dict[str, Any], guarantee: Path) -> str | None:
    """What differs between a `.json` release of any kind and the one that its measurements give."""
    content = load_release_json(path, "not a release of travas; use a .json release")
    facts, release = stated["release"], release_of(content, path, stated, guarantee)
    assumptions = texts_of(facts.get("assumptions", []))
    made = replace(release, mechanism=mechanism, reading=stated["reading"], assumptions=assumptions)
    if (why := _changed_facts(made, stated)) is not None:
        return why
    if isinstance(made, VariantRelease) and (made.cases is None) == generalises(mechanism):
        return "its number of cases"
    expected = json.loads(json.dumps(json_content(made)))
    if names := content.keys() ^ expected.keys():
        return f"its field {min(names)[:40]!r}"
    for name, value in expected.items():
        is_exact = name not in _ROUNDING or (name == "counts" and frequencies_of(made) == "noisy")
        if not _alike(content[name], value, None if is_exact else _ROUNDING[name]):
            return f"its field {name!r}"
    return None


def _alike(found: Any, expected: Any, rounding: float | None) -> bool:
    """Whether two values are the same in JSON, where 1, 1.0 and true are three values, or up to the rounding of numbers."""
    kinds = {type(found), type(expected)}
    if rounding is None or not (kinds <= {int, float} or kinds in ({dict}, {list})):
        return json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)
    if kinds == {dict}:
        return list(found) == list(expected) and all(_alike(found[name], expected[name], rounding) for name in expected)
    if kinds == {list}:
        return len(found) == len(expected) and all(map(_alike, found, expected, repeat(rounding)))
    # a whole number that no float holds cannot be subtracted
    return abs(found) <= sys.float_info.max and bool(abs(found - expected) <= 1 + rounding * abs(expected))


# ------------------------------------------------------------------------------------------------------ event logs


def _changed_log(path: Path, mechanism: Mechanism, stated: dict[str, Any]) -> str | None:
    """What differs between an event log and the one that its cases give."""
    facts, notices = stated["release"], dict(stated["release"].get("notices") or {})
    if (kind_of(mechanism) == "synthetic log") != (SYNTHETIC in notices):
        return "its notices"
    profile: Profile = facts.get("profile", "travas")
    suffix = "." + facts["format"]
    release = _reread(read_cases(path), mechanism, stated)
    if (why := _changed_facts(release, stated)) is not None:
        return why
    with tempfile.TemporaryDirectory(prefix="travas-") as folder:
        again = Path(folder) / f"again{suffix}"
        writers(kind_of(mechanism), profile)[suffix](release, again)
        if suffix == ".parquet":
            import polars as pl

            one, other = (pl.read_parquet(file, glob=False, hive_partitioning=False) for file in (path, again))
            is_same = one.schema == other.schema and one.equals(other)
        else:
            is_same = unpacked(path) == unpacked(again)
    return None if is_same else "cases, times, order, columns or header"


def _changed_facts(release: Release, stated: Mapping[str, Any]) -> str | None:
    """What the guarantee file states otherwise about a release. It has the activity columns that were read."""
    facts, reading = stated["release"], stated["reading"]
    if [rule.as_json() for rule in release.used_abstractions] != facts["abstractions"]:
        return "its abstractions"
    if release.notices != (facts.get("notices") or {}):
        return "its notices"
    is_read = reading is None or release.columns == released_columns(tuple(reading["columns"]["activities"]))
    return None if is_read else "its columns are not those of the activities that were read"


@dataclass(frozen=True, repr=False)
class _VariantsOfFile(VariantRelease):
    """Released variants whose counts are those of their file."""

    counts: tuple[int, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, repr=False)
class _SyntheticLogOfFile(SyntheticRelease):
    """A synthetic log without its measurements: what is computed from them elsewhere is that of its file."""

    notices: Any = field(default=None, kw_only=True)
    event_times: Any = field(default=None, kw_only=True)
    event_starts: CaseColumn | None = field(default=None, kw_only=True)
    case_columns: tuple[CaseColumn, ...] = field(default=(), kw_only=True)
    event_columns: tuple[CaseColumn, ...] = field(default=(), kw_only=True)
    zone: str = field(default="UTC", kw_only=True)


def _reread(cases: Cases, mechanism: Mechanism, stated: dict[str, Any]) -> ReleasedLog:
    """The release that an event log contains, in canonical order, to be written again."""
    content, facts = cases.content, stated["release"]
    rules = _rules(mechanism, stated)
    names = list(map(str, rules))
    of_every_kind: dict[str, Any] = {
        "columns": content.columns,
        "abstractions": rules,
        "assumptions": texts_of(facts.get("assumptions", [])),
        "reading": stated["reading"],
        "segment": (facts.get("notices") or {}).get(SEGMENT, ""),
    }
    if kind_of(mechanism) == "synthetic log":
        origins = cases.labels[ORIGIN].to_list() if ORIGIN in cases.labels else [""] * len(cases.traces)
        times = released_times(mechanism)
        origin_of = dict(zip(cases.traces, origins, strict=True))
        columns = [each for each in released_event_attributes(mechanism) if each != SERVICE_TIMES]
        starts = _starts(cases) if SERVICE_TIMES in released_event_attributes(mechanism) else None
        return _SyntheticLogOfFile(
            mechanism, variants=content.variants, numbers=content.counts, measurements=cast("Any", None),
            origins=tuple(origin_of[trace] for trace in content.variants), seed=0, notices=dict(facts["notices"]),
            event_times=_seconds(cases, mechanism), zone="UTC" if times is None else times.zone,
            case_columns=_columns(released_attributes(mechanism), case_column, cases.labels),
            event_columns=_columns(columns, str, cases.of_events), event_starts=starts, **of_every_kind,
        )  # fmt: skip
    rows = sorted(zip(content.variants, map(names.index, content.rules), content.counts, strict=True))
    return _VariantsOfFile(
        mechanism, variants=tuple(trace for trace, _, _ in rows), rungs=tuple(rung for _, rung, _ in rows),
        counts=tuple(count for _, _, count in rows), frequencies=facts["frequencies"], **of_every_kind,
    )  # fmt: skip


def _rules(mechanism: Mechanism, stated: Mapping[str, Any]) -> tuple[Abstraction, ...]:
    """All rules of a ladder; only those that were used if it is not known how the traces were generalised before."""
    used = tuple(map(Abstraction.from_json, stated["release"]["abstractions"]))
    before = FULL if stated["reading"] is None else Abstraction.from_json(stated["reading"]["abstraction"])
    rules = tuple(before | rule for rule in rungs_of(mechanism))
    return rules if set(used) <= set(rules) else used


def _seconds(cases: Cases, mechanism: Mechanism) -> Any:
    """The times of all events in seconds from 1970, if times were drawn; None if they are artificial."""
    if released_times(mechanism) is None or details_of(mechanism).times != "read":
        return None
    times = _moments(cases.times)
    if times.null_count():
        raise LogError("a time is missing, or is not written as travas does")
    return times.to_numpy()


def _starts(cases: Cases) -> CaseColumn:
    """The starts of all events, in the same way; missing ones are kept apart."""
    import polars as pl

    missing = pl.Series([None] * len(cases.times), dtype=pl.String)
    times = _moments(cases.of_events.get(START_TIMESTAMP, missing))
    return CaseColumn(SERVICE, "whole number", times.fill_null(0).to_numpy(), times.is_null().to_numpy())


def _moments(times: pl.Series) -> pl.Series:
    """Times in seconds from 1970; null where there is none, or where it is not written as travas does."""
    import polars as pl

    if times.dtype == pl.String:
        text = times.str.replace(".000+", "+", literal=True).str.replace(".000-", "-", literal=True)
        times = text.str.to_datetime(TIME_FORMAT, time_unit="us", strict=False)
    if not times.dtype.is_temporal():
        raise LogError("a time is not written as travas does")
    return times.dt.epoch("s")


def _columns(
    attributes: Sequence[Attribute], column_of: Callable[[str], str], columns: Mapping[str, pl.Series]
) -> tuple[CaseColumn, ...]:
    """The attributes of all cases, or of all events, from the columns of a file."""
    import polars as pl

    rows = next((len(values) for values in columns.values()), 0)
    missing = pl.Series([None] * rows, dtype=pl.String)
    return tuple(_column(attribute, columns.get(column_of(attribute.name), missing)) for attribute in attributes)


def _column(attribute: Attribute, values: pl.Series) -> CaseColumn:
    import numpy as np
    import polars as pl

    if attribute.is_number:
        if values.dtype == pl.String:
            whole = values.cast(pl.Int64, strict=False)
            values = whole if whole.null_count() == values.null_count() else values.cast(pl.Float64, strict=False)
        missing = values.is_null().to_numpy()
        kind: Any = "whole number" if values.dtype == pl.Int64 else "number"
        return CaseColumn(attribute.name, kind, values.fill_null(0).to_numpy(), missing)
    texts = values.cast(pl.String).to_list()
    names = {text: index for index, text in enumerate(dict.fromkeys(text for text in texts if text is not None))}
    index = np.array([names.get(text, len(names)) for text in texts], dtype=np.int64)
    return CaseColumn(attribute.name, "text", index, index == len(names), tuple(names))
