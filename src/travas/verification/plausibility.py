"""Checks whether the variants of a release, and the rows of an event log, can come from its mechanism."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, get_args
from xml.sax.saxutils import quoteattr

from ..errors import LogError, VerificationError
from ..model.abstraction import FULL, Abstraction
from ..model.calendar import zone_offsets
from ..model.case_columns import case_column
from ..model.escaped_names import ESCAPED, escape_name
from ..model.mechanism import Mechanism
from ..model.release import COMPLETENESS, ORIGIN, SYNTHETIC, TIMES_MARK, Origin, Profile, VariantRelease
from ..model.traces import Trace
from ..outputs.profiles import TIME_FORMATS, escape_for_excel, profile_events
from ..outputs.xes_writer import xes_header, xes_string
from ..sources.formats import CSV_SUFFIXES, XES_SUFFIXES, suffix_of
from ..sources.reading import CASE, TIMESTAMP
from ..sources.release_json import is_activity_of
from .plausible_values import StatedFacts, impossible_columns
from .release_file import Content, read_release, read_table

if TYPE_CHECKING:
    import polars as pl


_FOREIGN = "cases, timestamps, order or columns are not those that travas writes"
_FORMER_LOG = {("log", frozenset({("xes.version", "1.0"), ("xes.features", "nested-attributes")}))}

MOST = 2**53
"""The largest plausible count."""


def check_event_log(path: Path, mechanism: Mechanism, stated: StatedFacts) -> None:
    """Raise VerificationError if an event log in a table or in XES cannot come from its mechanism.

    Args:
        path: The release.
        mechanism: The mechanism stated by the guarantee.
        stated: What the guarantee states about the file.
    """
    check = _check_variants if mechanism.kind == "variants" else _check_synthetic
    check(path, mechanism, stated)


def _check_variants(path: Path, mechanism: Mechanism, stated: StatedFacts) -> None:
    try:
        content = read_release(path)
    except LogError as error:
        raise VerificationError(str(error)) from None
    content = _with_rungs(content, _rules(mechanism, stated))
    if stated.frequencies == "noisy" and len(content.abstractions) == len(mechanism.abstractions):
        content = replace(content, noisy=content.counts)
    why = impossible_content(content, mechanism, stated)
    if why is None and not _is_own_table(path, _table(path, content, mechanism, stated), content, mechanism, stated):
        why = _FOREIGN
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


def _table(path: Path, content: Content, mechanism: Mechanism, stated: StatedFacts) -> pl.DataFrame:
    """The events of a release, of XES as they would be in a CSV file."""
    if not suffix_of(path, XES_SUFFIXES):
        return read_table(path)
    from ..synthesis.synthetic_release import TITLE, SyntheticRelease
    from .xes_table import ForeignContentError, header_elements, xes_table

    made = replace(_as_variants(content, mechanism, stated), frequencies=stated.frequencies)
    text = xes_header(made)
    if mechanism.kind == "synthetic log":
        text = text.replace(quoteattr(made.title), quoteattr(TITLE)).replace(made.operation, SyntheticRelease.operation)
    marks = "".join(xes_string(key, value) for key, value in {**stated.notices, ESCAPED: "escaped"}.items())
    try:
        return xes_table(path, header_elements(text + marks) | _FORMER_LOG)
    except ForeignContentError:
        raise VerificationError(f"{path}: {_FOREIGN}") from None


def _as_variants(content: Content, mechanism: Mechanism, stated: StatedFacts) -> VariantRelease:
    """A release with the counts in a file as they are."""
    made = VariantRelease.of(
        mechanism, content.variants, content.counts, content.columns, content.abstractions, content.rungs
    )
    return replace(made, frequencies="noisy", timestamps=stated.timestamps)


def _is_own_table(path: Path, table: pl.DataFrame, content: Content, mechanism: Mechanism, stated: StatedFacts) -> bool:
    """Whether a table has, row by row, what travas writes for this content: fresh cases and artificial times."""
    import polars as pl
    from polars import selectors

    made = _as_variants(content, mechanism, stated)
    is_xes = suffix_of(path, XES_SUFFIXES)
    if is_xes and not content.variants:
        return not table.height
    is_text = bool(is_xes or suffix_of(path, CSV_SUFFIXES))
    generated = _generated_columns(mechanism, is_text)
    if is_xes:
        # XES leaves out missing values, also where no case has one
        absent = [name for name in generated if name not in table.columns]
        table = table.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    if is_text:
        written = escape_for_excel if stated.profile == "excel" else escape_name
        times = selectors.datetime().dt.strftime(TIME_FORMATS[stated.profile])
        expected = profile_events(made, stated.profile, written).with_columns(times).collect()
    else:
        expected = profile_events(made, stated.profile).collect()
    # tables of earlier versions have no marks
    former = [mark for mark in (TIMES_MARK, COMPLETENESS) if mark not in table.columns]
    expected = expected.drop(former, strict=False)
    if mechanism.details and not _has_own_details(table, mechanism, stated.profile, is_text):
        return False
    table, expected = (each.drop(generated, strict=False) for each in (table, expected))
    if is_xes and set(table.columns) == set(expected.columns):
        table = table.select(expected.columns)
    # `equals` ignores some differences of types, such as categories that no row has
    return table.schema == expected.schema and table.equals(expected)


def _generated_columns(mechanism: Mechanism, is_text: bool) -> dict[str, tuple[pl.DataType, ...]]:
    """The columns whose values are drawn for every case, with the types that they can have; Parquet escapes no names."""
    import polars as pl

    details, times = mechanism.details, mechanism.released_times
    columns: dict[str, tuple[pl.DataType, ...]] = {}
    if details.times == "read" and times is not None:
        columns[TIMESTAMP] = tuple(pl.Datetime("us", zone) for zone in (times.zone, "UTC"))
    columns |= {case_column(name): (pl.String(),) for name in details.attributes}
    columns |= {case_column(name): (pl.Int64(), pl.Float64()) for name in details.numbers}
    return {escape_name(name): (pl.String(),) for name in columns} if is_text else columns


def _has_own_details(table: pl.DataFrame, mechanism: Mechanism, profile: Profile, is_text: bool) -> bool:
    """Whether times never decrease within a case, and every case has one value of each attribute."""
    import polars as pl

    generated = _generated_columns(mechanism, is_text)
    if TIMESTAMP not in table.columns or any(table.schema.get(name) not in types for name, types in generated.items()):
        return False
    if table.columns.index([*generated][-1]) < table.columns.index(TIMESTAMP):
        return False
    times = pl.col(TIMESTAMP)
    if is_text:
        times = times.str.to_datetime(TIME_FORMATS[profile], time_unit="us", strict=False)
    attributes = [name for name in generated if name != TIMESTAMP]
    cases = (
        table.lazy()
        .group_by(CASE)
        .agg(
            (times.is_null().any() | (times.diff() < -_longest_return(mechanism, profile))).any().alias(TIMESTAMP),
            *(pl.col(name).n_unique() > 1 for name in attributes),
        )
    )
    return not any(cases.select(pl.any_horizontal(TIMESTAMP, *attributes)).collect().to_series())


def _longest_return(mechanism: Mechanism, profile: Profile) -> timedelta:
    """By how much written times can go back within a case: for Excel by a change of the clock, as they have no offset."""
    if profile != "excel" or mechanism.released_times is None:
        return timedelta()
    offsets = [offset for _, offset in zone_offsets(mechanism.released_times.zone)]
    return timedelta(microseconds=max([0, *(before - after for before, after in pairwise(offsets))]))


def impossible_content(content: Content, mechanism: Mechanism, stated: StatedFacts) -> str | None:
    """Why no release of this mechanism has these variants; None if one can."""
    if why := impossible_columns(content.columns, stated.reading):
        return why
    if not content.abstractions:
        return "a variant was generalised by a rule that its guarantee does not state"
    if why := impossible_traces(mechanism, content.variants, content.rungs, len(content.columns)):
        return why
    if content.noisy is not None and (why := impossible_counts(mechanism, content.noisy, content.rungs)):
        return why
    if any(not 1 <= count <= MOST for count in content.counts):
        return "a count is below 1 or too large"
    return None


def impossible_cases(cases: int | None, mechanism: Mechanism) -> str | None:
    """Why a mechanism has not released this number of cases, which may be None; None if it can have."""
    if cases is None:
        return "its number of cases is missing" if mechanism.generalises else None
    if not mechanism.generalises:
        return f"it has a number of cases, which {mechanism.name} does not release"
    return None if 0 <= cases <= MOST else "the number of cases is negative or too large"


def _check_synthetic(path: Path, mechanism: Mechanism, stated: StatedFacts) -> None:
    """A synthetic log must say that it is one; measurements that can be checked are only in a `.json` file."""
    if SYNTHETIC not in stated.notices:
        raise VerificationError(f"{path}: does not say that it is a synthetic log; it was changed")
    content = _with_rungs(read_release(path), stated.used)
    if why := impossible_columns(content.columns, stated.reading):
        raise VerificationError(f"{path}: {why}")
    table = _table(path, content, mechanism, stated)
    if not content.variants and suffix_of(path, XES_SUFFIXES):
        return
    if ORIGIN not in table.columns or not set(table[ORIGIN]) <= set(get_args(Origin)):
        raise VerificationError(f"{path}: a synthetic log without the origin of every case in {ORIGIN}; it was changed")
    if not _is_own_table(path, table.drop(ORIGIN), content, mechanism, stated):
        raise VerificationError(f"{path}: {_FOREIGN}")


def impossible_release(release: VariantRelease) -> str | None:
    """Return why no mechanism has released these variants; None if its own can have."""
    made = release.mechanism
    return (
        impossible_traces(made, release.variants, release.rungs, len(release.columns))
        or impossible_counts(made, release.noisy, release.rungs)
        or impossible_cases(release.cases, made)
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
        if not all(is_activity_of(activity, width) for activity in trace):
            return "an activity is empty, is not text, or has the wrong number of columns"
    return mechanism.impossible(variants, rungs)


def impossible_counts(mechanism: Mechanism, noisy: tuple[int, ...], rungs: tuple[int, ...]) -> str | None:
    """Return why no release of this mechanism can have these noisy counts; None if one can."""
    least = {rung: mechanism.least_count(rung) for rung in set(rungs)}
    if any(count < least[rung] for count, rung in zip(noisy, rungs, strict=True)):
        return "a noisy count is below the minimum"
    return "a noisy count is too large" if any(count > MOST for count in noisy) else None
