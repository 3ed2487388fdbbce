"""What the rows of a table are like: missing cells, duplicates, ties, order, lifecycle, spellings, persons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs
import polars as pl

from ...errors import number_of
from ..column_names import plain, recognised
from ..columns import is_name_type, is_ordered
from ..instants import TIME, UnknownFormatError, parsed_microseconds
from ..reading import Reading, spellings
from .diagnosis import Observation
from .time_formats import TimeValues

_CASE, _ACTIVITY, _ROW, _NUMBER, _TIED = "case", "activity", "row", "number", "tied"
_SHOWN = 3
_TRANSITIONS = frozenset({
    "schedule", "assign", "reassign", "start", "suspend", "resume", "complete", "withdraw", "autoskip", "manualskip",
    "ate_abort", "pi_abort", "abort", "unknown",
})  # fmt: skip
"""The transitions of the XES standard and MXML: values by which a column of another name is recognised."""


def lifecycle_finding(table: pl.DataFrame, reading: Reading) -> tuple[Reading, list[Observation]]:
    """Find the transitions of events, and propose to read one of them if there are starts and completions."""
    column = recognised("lifecycle", table.columns)
    if column is None and reading.lifecycle == "all":
        return reading, list(_unnamed_transitions(table, reading))
    if column is None or reading.lifecycle != "all" or column in reading.activity:
        return reading, []
    if (texts := _texts(table[column])) is None:
        return reading, [_unfit(column, table, "not names", "text", "lifecycle")]
    counts = dict(texts.fill_null("").value_counts(sort=True).iter_rows())
    shown = ", ".join(f"{str(name)[:20] or 'none'} {number:,}" for name, number in list(counts.items())[:6])
    pairs = all(any(map(counts.get, names)) for names in (spellings("start"), spellings("complete")))
    if not pairs:
        return reading, [Observation("lifecycle", f"column {column!r}: {shown}; all events are read")]
    text = f"column {column!r}: {shown}; with complete, every activity is read once; with all, possibly several times"
    return attrs.evolve(reading, lifecycle="complete"), [Observation("lifecycle", text, "choice")]


def _unnamed_transitions(table: pl.DataFrame, reading: Reading) -> Iterator[Observation]:
    """Yield the columns whose values are transitions, starts and completions among them, whatever they are called."""
    used = {reading.case, reading.timestamp, *reading.activity, *(name for name, _ in reading.where)}
    for name in table.columns:
        if name in used or table.schema[name] not in (pl.String, pl.Categorical):
            continue
        values = table[name].drop_nulls().unique().cast(pl.String).to_list()
        found = {value.lower() for value in values}
        if found <= _TRANSITIONS and {"start", "complete"} <= found:
            complete = next(value for value in values if value.lower() == "complete")
            yield Observation(
                "lifecycle",
                f"column {name[:40]!r} has start and complete: as it is, every activity is read several times; to read "
                f"it once, set where to {f'{name}={complete}'!r}",
                "choice",
                "where",
            )


def row_findings(
    table: pl.DataFrame, reading: Reading, units: Sequence[str], times: TimeValues | None = None
) -> Iterator[Observation]:
    """Yield what the rows are like."""
    case = reading.case or recognised("case", table.columns)
    activity = reading.activity[0] if reading.activity else recognised("activity", table.columns)
    time = None if reading.order == "file" else reading.timestamp or recognised("timestamp", table.columns)
    yield Observation("size", number_of(table.height, "events"))
    yield from _missing(table, [name for name in (case, activity, time) if name is not None])
    if case is None or activity is None:
        return
    names: dict[str, pl.Series] = {}
    for role, name in ((_CASE, case), (_ACTIVITY, activity)):
        texts = _texts(table[name]) if is_name_type(table.schema[name]) else None
        if texts is None:
            yield _unfit(name, table, "not exact names", "text", role)
            return
        names[role] = texts
    counted = {role: column.alias(role).value_counts(sort=True, name=_NUMBER) for role, column in names.items()}
    yield Observation(
        "size",
        f"{number_of(counted[_CASE].height, 'cases')}, {number_of(counted[_ACTIVITY].height, 'activities')}",
    )
    if time is not None and not is_ordered(table.schema[time]):
        yield _unfit(time, table, "not times", "a timestamp", "timestamp")
    elif time is not None and (moments := _moments(table[time], reading, times)) is not None:
        yield from _order(names[_CASE], names[_ACTIVITY], moments)
    yield from _spellings(counted[_ACTIVITY])
    yield from _blanks(counted)
    for unit in units:
        if (persons := _texts(table[unit])) is not None:
            yield _persons(names[_CASE], persons, unit)


def _texts(column: pl.Series) -> pl.Series | None:
    """Return the values as text; None if they have none, such as lists, or bytes that are not UTF-8."""
    try:
        return column.cast(pl.String)
    except pl.exceptions.PolarsError:
        return None


def _unfit(name: str, table: pl.DataFrame, what: str, remedy: str, field: str) -> Observation:
    text = f"column {name!r} has the type {table.schema[name]}, whose values are {what}; convert it to {remedy}"
    return Observation("columns", text, "problem", field)


def _missing(table: pl.DataFrame, needed: Sequence[str]) -> Iterator[Observation]:
    for name in table.columns:
        column = table[name]
        lacking = column.is_null() | (column == "") if column.dtype == pl.String else column.is_null()
        if number := int(lacking.sum()):
            first = f"the first in row {int(lacking.arg_max() or 0) + 1:,}"
            if name in needed:
                text = f"column {name!r}: {number_of(number, 'cells missing')}, {first}; fix the log, or set on_missing to 'drop'"
                yield Observation("missing", text, "problem", "on_missing")
            else:
                yield Observation(
                    "missing", f"column {name[:40]!r}: {number_of(number, 'cells missing')}, {first}; it is not read"
                )


def _moments(column: pl.Series, reading: Reading, times: TimeValues | None) -> pl.Series | None:
    if times is not None and times.instants is not None and times.formats[0] == reading.timestamp_format:
        return times.instants
    try:
        if column.dtype != pl.String:
            return column
        return parsed_microseconds(column.set(column == "", None), reading.timestamp_format)
    except UnknownFormatError:
        return None


def _order(case: pl.Series, activity: pl.Series, time: pl.Series) -> Iterator[Observation]:
    """Report duplicates, simultaneous events and rows that are not in the order of time.

    Cases are compared by their hashes: 8 bytes instead of text for every event.
    """
    events = pl.DataFrame({_CASE: case.hash(), TIME: time}).with_row_index(_ROW)
    known = events.filter(case.is_not_null() & time.is_not_null()).sort(_CASE, maintain_order=True)
    follows = pl.col(_CASE) == pl.col(_CASE).shift()
    backwards = int(known.select((follows & (pl.col(TIME) < pl.col(TIME).shift())).sum()).item())
    if backwards:
        known = known.sort(_CASE, TIME)
    known = known.with_columns((follows & (pl.col(TIME) == pl.col(TIME).shift())).fill_null(False).alias(_TIED))
    groups = known.filter(pl.col(_TIED) | pl.col(_TIED).shift(-1))
    tied = int(groups[_TIED].sum())
    groups = groups.with_columns(activity.gather(groups[_ROW]).alias(_ACTIVITY))
    duplicates = groups.height - groups.n_unique(subset=[_CASE, TIME, _ACTIVITY])
    if duplicates:
        text = f"{number_of(duplicates, 'events')} of a case with the same activity and time as another; to read them once, "
        yield Observation("duplicates", text + "set duplicate_events to 'drop'", "choice", "duplicate_events")
    if tied > duplicates:
        text = f"{number_of(tied - duplicates, 'events')} at the same time as another activity of the case, read in the order "
        yield Observation(
            "ties", text + "of the file; for another order, set ties to 'activity' or a column", "choice", "ties"
        )
    if backwards:
        yield Observation(
            "order", f"{number_of(backwards, 'rows')} before an earlier row of the case; events are sorted by time"
        )


def _spellings(activities: pl.DataFrame) -> Iterator[Observation]:
    counts = dict(activities.drop_nulls().iter_rows())
    groups: dict[str, list[str]] = {}
    for name in counts:
        groups.setdefault(plain(str(name)), []).append(str(name))
    several = [names for key, names in groups.items() if len(names) > 1 and key]
    if several:
        shown = "; ".join(
            " and ".join(f"{name[:30]!r} ({counts[name]:,})" for name in names[:3]) for names in several[:_SHOWN]
        )
        text = (
            f"{number_of(len(several), 'activities')} with several spellings, which are different activities: {shown}"
        )
        yield Observation("spelling", text, "choice")


def _blanks(counted: Mapping[str, pl.DataFrame]) -> Iterator[Observation]:
    for role, values in counted.items():
        if number := int(values.filter(pl.col(role).str.strip_chars() != pl.col(role))[_NUMBER].sum()):
            text = f"{number_of(number, 'cells')} of the {role} begin or end with a blank, which is part of the name"
            yield Observation("spelling", text, "choice")


def _persons(cases: pl.Series, persons: pl.Series, unit: str) -> Observation:
    pairs = pl.DataFrame({_CASE: cases, "unit": persons})
    known = pairs.drop_nulls().filter(pl.col("unit") != "").unique()
    shared = known.group_by(_CASE).len().filter(pl.col("len") > 1).height
    if shared:
        return Observation(
            "persons",
            f"column {unit!r}: {number_of(shared, 'cases')} with several values: it is not one person per case",
        )
    return Observation(
        "persons",
        f"column {unit!r} may identify the person; to protect persons, set unit, and choose max_cases without the log",
        "choice",
        "unit",
    )
