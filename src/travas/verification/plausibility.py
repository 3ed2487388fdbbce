"""Checks whether the content of a release file can come from its mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from ..errors import LogError, VerificationError
from ..model.abstraction import FULL, Abstraction
from ..model.case_columns import case_column
from ..model.escaped_names import escape_name
from ..model.mechanism import Mechanism
from ..model.release import COMPLETENESS, MAKER, ORIGIN, TIMES_MARK, Frequencies, Origin, Profile, Release, Timestamps
from ..model.release_kind import Kind
from ..model.traces import Trace
from ..outputs.profiles import TIME_FORMATS, escape_for_excel, profile_events
from ..sources.formats import CSV_SUFFIXES, PARQUET_SUFFIXES, RELEASE_SUFFIXES, XES_SUFFIXES, suffix_of
from ..sources.reading import CASE, TIMESTAMP, released_columns
from ..sources.release_json import is_name
from .release_file import Content, read_release, read_table, stated_by

if TYPE_CHECKING:
    import polars as pl

    from ..mechanisms.process_map import ProcessMap
    from ..mechanisms.synthesis_mechanism import Synthesis

_Release = TypeVar("_Release", bound=Release)

MOST = 2**53
"""The largest plausible count."""


@dataclass(frozen=True)
class StatedFacts:
    """What a guarantee file states about the file of a release.

    Attributes:
        frequencies: Which counts it contains.
        used: The rules by which its traces were made.
        reading: The described reading; None where counts were given.
        profile: For which program it was written.
        timestamps: Whether its events have timestamps.
    """

    frequencies: Frequencies
    used: tuple[Abstraction, ...]
    reading: Mapping[str, Any] | None
    profile: Profile
    timestamps: Timestamps


def check_possible(path: Path, mechanism: Mechanism, stated: StatedFacts) -> None:
    """Raise VerificationError if a release cannot come from its mechanism.

    Args:
        path: The release.
        mechanism: The mechanism stated by the guarantee.
        stated: What the guarantee states about the file.
    """
    checks: dict[Kind, Callable[[Path, Mechanism, StatedFacts], None]] = {
        "variants": _check_variants,
        "synthetic log": _check_synthetic,
        "process map": _check_map,
    }
    checks[mechanism.kind](path, mechanism, stated)


def _check_variants(path: Path, mechanism: Mechanism, stated: StatedFacts) -> None:
    try:
        content = read_release(path)
    except LogError as error:
        raise VerificationError(str(error)) from None
    if content.noisy is None:
        content = _with_rungs(content, _rules(mechanism, stated))
        if stated.frequencies == "noisy" and len(content.abstractions) == len(mechanism.abstractions):
            content = replace(content, noisy=content.counts)
    why = _impossible(content, mechanism, stated)
    if why is None and suffix_of(path, RELEASE_SUFFIXES):
        why = _impossible_cases(content.cases, mechanism)
    is_table = suffix_of(path, CSV_SUFFIXES + PARQUET_SUFFIXES)
    if why is None and is_table and not _is_own_table(path, read_table(path), content, mechanism, stated):
        why = "cases, timestamps, order or columns are not those that travas writes"
    if why is not None:
        raise VerificationError(f"{path}: {mechanism.name} cannot have released this: {why}")


def _rules(mechanism: Mechanism, stated: StatedFacts) -> tuple[Abstraction, ...]:
    """All rules of a ladder; only those that were used if it is not known how the traces were generalised before."""
    before = FULL if stated.reading is None else Abstraction.from_json(stated.reading["abstraction"])
    rules = tuple(before | rule for rule in mechanism.abstractions)
    return rules if set(stated.used) <= set(rules) else stated.used


def _with_rungs(content: Content, rules: tuple[Abstraction, ...]) -> Content:
    """An event log in canonical order, with the index of every rule; without abstractions if one is not among them."""
    names = list(map(str, rules))
    is_known = set(content.rules) <= set(names)
    rungs = [names.index(rule) if is_known else 0 for rule in content.rules]
    rows = sorted(zip(content.variants, rungs, content.rules, content.counts, strict=True))
    return replace(
        content,
        variants=tuple(row[0] for row in rows),
        rungs=tuple(row[1] for row in rows),
        rules=tuple(row[2] for row in rows),
        counts=tuple(row[3] for row in rows),
        abstractions=rules if is_known else (),
    )


def _is_own_table(path: Path, table: pl.DataFrame, content: Content, mechanism: Mechanism, stated: StatedFacts) -> bool:
    """Whether a table has, row by row, what travas writes for this content: fresh cases and artificial times."""
    from polars import selectors

    made = Release(
        mechanism, content.variants, content.counts, content.columns, "noisy", content.abstractions, content.rungs,
        timestamps=stated.timestamps, maker=MAKER,
    )  # fmt: skip
    if suffix_of(path, CSV_SUFFIXES):
        written = escape_for_excel if stated.profile == "excel" else escape_name
        times = selectors.datetime().dt.strftime(TIME_FORMATS[stated.profile])
        expected = profile_events(made, stated.profile, written).with_columns(times).collect()
    else:
        expected = profile_events(made, stated.profile).collect()
    former = [
        mark for mark in (TIMES_MARK, COMPLETENESS) if mark not in table.columns
    ]  # earlier versions have no marks
    expected = expected.drop(former, strict=False)
    if mechanism.details and not _has_own_details(table, mechanism, stated.profile):
        return False
    generated = _generated_columns(mechanism)
    return table.drop(generated, strict=False).equals(expected.drop(generated, strict=False))


def _generated_columns(mechanism: Mechanism) -> list[str]:
    """The columns whose values are drawn for every case."""
    details = mechanism.details
    attributes = [escape_name(case_column(name)) for name in (*details.attributes, *details.numbers)]
    return [*([TIMESTAMP] if details.times == "read" else []), *attributes]


def _has_own_details(table: pl.DataFrame, mechanism: Mechanism, profile: Profile) -> bool:
    """Whether times never decrease within a case, and every case has one value of each attribute."""
    import polars as pl

    *_, last = generated = _generated_columns(mechanism)
    if not set(generated) <= set(table.columns) or table.columns.index(last) < table.columns.index(TIMESTAMP):
        return False
    times = pl.col(TIMESTAMP)
    if table.schema[TIMESTAMP] == pl.String:
        times = times.str.to_datetime(TIME_FORMATS[profile], time_unit="us", strict=False)
    attributes = [name for name in generated if name != TIMESTAMP]
    cases = (
        table.lazy()
        .group_by(CASE)
        .agg(
            (times.is_null().any() | (times.diff() < pl.duration())).any().alias(TIMESTAMP),
            *(pl.col(name).n_unique() > 1 for name in attributes),
        )
    )
    return not any(cases.select(pl.any_horizontal(TIMESTAMP, *attributes)).collect().to_series())


def _impossible(content: Content, mechanism: Mechanism, stated: StatedFacts) -> str | None:
    """Why no release of this mechanism has this content; None if one can."""
    reading = stated.reading
    if reading is not None and content.columns != released_columns(tuple(reading["columns"]["activities"])):
        return "its columns are not those of the activities that were read"
    if not content.abstractions:
        return "a variant was generalised by a rule that its guarantee does not state"
    if why := impossible_traces(mechanism, content.variants, content.rungs, len(content.columns)):
        return why
    if content.noisy is not None:
        if why := impossible_counts(mechanism, content.noisy, content.rungs):
            return why
        made = content.release(mechanism, stated.frequencies)
        if made is not None and any(map(_differ, content.counts, made.counts)):
            return f"the counts are not the {stated.frequencies} counts of its noisy counts"
    if any(not 1 <= count <= MOST for count in content.counts):
        return "a count is below 1 or too large"
    return None


def _impossible_cases(cases: int | None, mechanism: Mechanism) -> str | None:
    if (cases is not None) != mechanism.generalises:
        return f"it has a number of cases, which {mechanism.name} does not release"
    return "the number of cases is negative or too large" if cases is not None and not 0 <= cases <= MOST else None


def _check_synthetic(path: Path, mechanism: Mechanism, stated: StatedFacts) -> None:
    """A synthetic log must say that it is one; a `.json` file has measurements that can be checked."""
    from .measured_file import load_synthetic
    from .synthetic_plausibility import check_synthetic

    if suffix_of(path, RELEASE_SUFFIXES):
        release = _loaded(path, load_synthetic)
        check_synthetic(
            path, release, cast("Synthesis", mechanism)
        )  # only mechanisms of travas have a guarantee to verify
    elif suffix_of(path, XES_SUFFIXES):
        if not stated_by(path).get("notices"):
            raise VerificationError(f"{path}: does not say that it is a synthetic log; it was changed")
    else:
        _check_synthetic_table(path, mechanism, stated)


def _check_synthetic_table(path: Path, mechanism: Mechanism, stated: StatedFacts) -> None:
    table = read_table(path)
    if ORIGIN not in table.columns or not set(table[ORIGIN]) <= set(get_args(Origin)):
        raise VerificationError(f"{path}: a synthetic log without the origin of every case in {ORIGIN}; it was changed")
    content = _with_rungs(read_release(path), stated.used)
    if not _is_own_table(path, table.drop(ORIGIN), content, mechanism, stated):
        raise VerificationError(f"{path}: cases, timestamps, order or columns are not those that travas writes")


def _check_map(path: Path, mechanism: Mechanism, stated: StatedFacts) -> None:
    """A `.json` file has the measurements of a process map; of every other format the digest is all there is to check."""
    from .map_plausibility import check_map
    from .measured_file import load_map

    if suffix_of(path, RELEASE_SUFFIXES):
        check_map(path, _loaded(path, load_map), cast("ProcessMap", mechanism), stated.reading)


def _loaded(path: Path, load: Callable[[Path], _Release]) -> _Release:
    try:
        return load(path)
    except LogError as error:
        raise VerificationError(str(error)) from None


def _differ(stated: int, computed: int) -> bool:
    """Return whether two counts differ by more than rounding: estimates are floats and may differ between machines."""
    return abs(stated - computed) > 1 + computed // 100


def impossible_release(release: Release) -> str | None:
    """Return why no mechanism has released these variants; None if its own can have."""
    made = release.mechanism
    return (
        impossible_traces(made, release.variants, release.rungs, len(release.columns))
        or impossible_counts(made, release.noisy, release.rungs)
        or _impossible_cases(release.cases, made)
    )


def impossible_traces(
    mechanism: Mechanism, variants: tuple[Trace, ...], rungs: tuple[int, ...], width: int
) -> str | None:
    """Return why no release of this mechanism can have these variants; None if one can."""
    if any(first >= second for first, second in pairwise(zip(variants, rungs, strict=True))):
        return "the variants are not unique and in canonical order"
    for trace in variants:
        if not trace:
            return "a variant has no activities"
        if not all(is_name(activity, width) for activity in trace):
            return "an activity is empty, is not text, or has the wrong number of columns"
    return mechanism.impossible(variants, rungs)


def impossible_counts(mechanism: Mechanism, noisy: tuple[int, ...], rungs: tuple[int, ...]) -> str | None:
    """Return why no release of this mechanism can have these noisy counts; None if one can."""
    least = {rung: mechanism.least_count(rung) for rung in set(rungs)}
    if any(count < least[rung] for count, rung in zip(noisy, rungs, strict=True)):
        return "a noisy count is below the minimum"
    return "a noisy count is too large" if any(count > MOST for count in noisy) else None
