"""The rule from events to variants, once for all sources: a table of events becomes cases, and cases are counted.

Every step is a rule on one row or one case (docs/reading.md). Columns are encoded while they are read, so that memory holds
a few numbers per event and no text. A table is read in one or several frames, each with complete cases: what is counted of
a frame does not depend on the others.

Contribution bounding reads only a unit's own cases:

    digest  of a case: MD5 of the UTF-8 bytes of its identifier as text; digests are compared byte by byte
    cases   the `max_cases` cases of each unit with the smallest digests are counted
    units   every different variant of a unit has the smallest digest of its cases; the `max_cases` variants with the
            smallest digests are counted, each once

Privacy requires only that no unit changes what is counted of another. MD5 only spreads the identifiers and keeps nothing
secret: anyone who can choose identifiers can choose which of their own cases are counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from ..errors import CONFIDENTIAL, LogError
from ..log.calendar import SECOND
from ..log.escaped_names import original_name
from ..log.log import Log
from ..log.questions import SERVICE_COLUMN, DetailColumn, Totals
from ..log.traces import CODE, Activity, keys_of
from ..trusted.samplers import Floats
from .columns import Columns, cautions, columns_of
from .encoded_cases import Coded, EncodedCases, EncodedTotals
from .instants import AWARE, IS_TEXT, NANOSECONDS, TIME, time_columns, whole_microseconds
from .messages import NO_EVENTS, UNTIMED, WITHOUT_TIMES, MissingValues, left_out_note, no_numbers
from .period import Period, microseconds
from .reading import Decimal, Lifecycle, Reading, number_pattern, released_columns, spellings

EVENTS_PER_FRAME = 32_000_000
"""Sorting a frame takes about 60 bytes per event."""

COUNT = "count"
_CASE, _TIE, _ROW, _UNIT, _DIGEST, _SELECTED, _FIRST = "case", "tie", "row", "unit", "digest", "selected", "first"
_MOMENT, _IS_START, _SERVICE = "moment", "is start", "service"


def _row(index: int) -> str:
    return f"row {index + 1:,} (not counting the header and empty lines)"


@dataclass(frozen=True)
class Table:
    """What every source becomes: one row per event, in the order of the source.

    Attributes:
        rows: The rows, or those of some complete cases.
        columns: Which columns are read.
        where: The name of the log in messages.
        whole_rows: No column may be skipped, because an error in one would shift all others.
        place: The words for a row in messages.
    """

    rows: pl.LazyFrame
    columns: Columns
    where: str
    whole_rows: bool = False
    place: Callable[[int], str] = _row


def table_variants(
    rows: pl.LazyFrame,
    reading: Reading,
    where: str,
    *,
    height: int = 0,
    whole_rows: bool = False,
    present: Sequence[str] = (),
) -> Log:
    """Return the variants of any table, whose columns are set or recognised. For databases and Spark, too.

    `rows` is one row per event: `pl.from_arrow(...).lazy()`, or the complete cases of one partition; `height` is about its
    number of rows, if it may not fit into memory. `present` names all columns of the log, if these are not all.
    To count several frames without a case in common, use `Counting`.
    """
    schema = rows.collect_schema()
    table = Table(rows, columns_of(reading, schema, where), where, whole_rows)
    counting, frames = Counting(reading), height // EVENTS_PER_FRAME + 1  # a person's cases may be in any of them
    of_frame = _name(table.columns.case).hash() % frames
    for number in range(frames):
        counting.add(table, rows if frames == 1 else rows.filter(of_frame == number))
    return counting.variants((), cautions(reading, present or list(schema)))


class Counting:
    """Counts the cases of tables, of which no case is in two.

    `missing` is what is missing in them; `texts`, by numeric attribute, how many values are no numbers, and how many there are.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.missing: dict[str, MissingValues] = {}
        self.texts: dict[str, tuple[int, int]] = {}
        self.remedy = "set on_missing to 'drop'"
        self._last: Table | None = None
        self._noted: Table | None = None
        self._nobody: list[MissingValues] = []  # cases without a unit, by frame
        self._counted: list[pl.DataFrame] = []
        self._categories: dict[str, pl.Categories] = {}  # of all frames, so that their codes can be compared
        self._held: list[pl.DataFrame] = []  # without rows; the codes are forgotten with the last column that has them

    def add(self, table: Table, rows: pl.LazyFrame) -> None:
        """Count the cases of some rows of a table: no other rows are of the same cases."""
        frame = _Frame(table, self.reading, self._categories)
        events = frame.events(rows)
        self.note_texts(frame.texts)
        self._held.append(events.clear())
        if any(events[name].null_count() for name in frame.needed):
            if table is not self._noted:  # once for all frames of a table
                self._noted = table
                self.note_missing(frame.missing())
            events = events.drop_nulls(list(frame.needed))
        self._last = table
        if self.missing and self.reading.on_missing == "fail":
            return
        events = frame.selected(frame.dated(events))
        owners = None
        if table.columns.unit is not None:
            owners, nobody = frame.owners(events)
            self._nobody += nobody
        self._counted.append(frame.counted(events, owners))

    def note_missing(self, found: Sequence[MissingValues]) -> None:
        """Note values that are missing."""
        for each in found:
            earlier = self.missing.get(each.what)
            self.missing[each.what] = each if earlier is None else replace(earlier, number=earlier.number + each.number)

    def note_texts(self, found: Mapping[str, tuple[int, int]], times: int = 1) -> None:
        """Note values of numeric attributes that are no numbers."""
        for name, (others, known) in found.items():
            earlier = self.texts.get(name, (0, 0))
            self.texts[name] = earlier[0] + times * others, earlier[1] + times * known

    def variants(self, notes: Sequence[str] = (), seems_wrong: Sequence[str] = ()) -> Log:
        """Return the variants of everything that was added, with notes about it; LogError if values are missing."""
        assert self._last is not None
        reading, columns = self.reading, self._last.columns
        self.note_missing(sorted(self._nobody, key=lambda each: each.first))
        if self.missing and reading.on_missing == "fail":
            raise self._refused(self._last)
        traces, cases = self._traces(columns)
        alphabet, codes = _encoded(traces, columns.parts, self._categories)
        lengths = traces[columns.parts[0]].list.len().to_numpy().astype(np.int64)
        left_out = [left_out_note(each.number, each.what) for each in self.missing.values()]
        unfit = [name for name, (others, known) in self.texts.items() if 2 * others > known]
        return Log(
            alphabet,
            keys_of(codes, lengths),
            traces[COUNT].cast(pl.Int64).to_numpy(),
            released_columns(columns.roles.activities),
            (*(left_out if left_out or traces.height else [NO_EVENTS]), *notes),
            unit=reading.privacy_unit,
            counted=reading.counts_of,
            roles=columns.roles,
            cautions=(*seems_wrong, *map(no_numbers, unfit)),
            totals=None if cases is None else self._totals(columns, cases, alphabet),
        )

    def _refused(self, table: Table) -> LogError:
        """Return the error about all missing values, with the remedy."""
        is_avoidable = UNTIMED in self.missing and not table.columns.by_time
        what, remedy = "; ".join(map(str, self.missing.values())), self.remedy + (WITHOUT_TIMES if is_avoidable else "")
        return LogError(
            f"{table.where}: {what}; fix the log, or {remedy} {CONFIDENTIAL}",
            field="on_missing",
            other_fields=("times",) if is_avoidable else (),
        )

    def _traces(self, columns: Columns) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """Return the traces with their counts, and the counted cases if details are read."""
        counted = self._counted
        cases = counted[0] if len(counted) == 1 else pl.concat(counted)
        if COUNT in cases.columns:
            return (cases.group_by(columns.parts).agg(pl.col(COUNT).sum()) if len(counted) > 1 else cases), None
        if columns.unit is not None and len(counted) > 1:
            cases = _kept(cases.lazy(), columns.parts, self.reading).collect()
        traces = cases.lazy().group_by(columns.parts).len(COUNT).collect()
        return traces, cases if columns.details else None

    def _totals(self, columns: Columns, cases: pl.DataFrame, alphabet: list[Activity]) -> Totals:
        """Return the answers about the counted cases."""
        details = columns.details
        _, codes = _encoded(cases, columns.parts, self._categories, alphabet)
        times, aware = None, np.zeros(len(codes), dtype=bool)
        if details.times == "read":
            times, aware = (cases[name].explode(empty_as_null=False).to_numpy() for name in (_MOMENT, AWARE))
        read: dict[DetailColumn, Coded | Floats] = {}
        if details.service:
            read[SERVICE_COLUMN] = _floats(cases[_SERVICE].explode(empty_as_null=False))
        for attribute, role, _ in columns.attributes_read:
            values = cases[role] if attribute.of == "case" else cases[role].explode(empty_as_null=False)
            is_number = attribute.values == "number"
            read[attribute] = (
                _floats(values) if is_number else _coded_values(values.to_physical(), self._categories[role])
            )
        lengths = cases[columns.parts[0]].list.len().to_numpy().astype(np.int64)
        return EncodedTotals(EncodedCases(alphabet, codes, lengths, times, aware, read), details)


def persons_of(table: Table, reading: Reading) -> pl.DataFrame:
    """Return every case and its person, as text, by the rows that are counted; of several persons one, to be refused."""
    frame = _Frame(table, reading, {})
    events = frame.events(table.rows).drop_nulls(list(frame.needed))
    events = frame.selected(frame.dated(events))
    person = pl.col(_UNIT).cast(pl.String).drop_nulls().min()
    return events.group_by(pl.col(_CASE).cast(pl.String)).agg(person.alias("person"))


class _Frame:
    """How rows of a table become events, and events become cases."""

    def __init__(self, table: Table, reading: Reading, categories: dict[str, pl.Categories]) -> None:
        self.table, self.columns, self.reading, self._categories = table, table.columns, reading, categories
        self._schema = table.rows.collect_schema()
        columns = self.columns
        self.needed = {_CASE: columns.case} | dict(zip(columns.parts, columns.activities, strict=True))
        if columns.timestamp is not None:
            self.needed[TIME] = columns.timestamp
        self._selected = conditions(columns, reading)
        self._reads_times = columns.details.times == "read"
        self.texts: dict[str, tuple[int, int]] = {}

    def events(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Return the selected rows as numbers; missing values are null."""
        rows = rows.filter(*self._selected) if self._selected else rows
        columns = self.columns
        texts = [(each.name, role, column) for each, role, column in columns.attributes_read if each.values == "number"]
        given = {f"given {role}": _name(column).is_not_null() for _, role, column in texts}
        columns_apart = pl.QueryOptFlags(projection_pushdown=not self.table.whole_rows)
        events = rows.select(**self._numbers, **given).collect(engine="streaming", optimizations=columns_apart)
        for name, role, _ in texts:
            known = int(events[f"given {role}"].sum())
            self.texts[name] = known - events[role].count(), known
        events = events.drop(given)
        if IS_TEXT not in events.columns:
            return events
        if (events[IS_TEXT] & events[TIME].is_null()).any():
            raise self._unknown_time()
        is_exact = NANOSECONDS not in events.columns or not events[NANOSECONDS].max()
        return events.drop(IS_TEXT, *((NANOSECONDS,) if is_exact else ()), strict=False)

    def dated(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return complete events with their times in whole microseconds, where they are needed."""
        if not self._reads_times and self.reading.period is None:
            return events
        return events.with_columns(pl.Series(_MOMENT, whole_microseconds(events[TIME])))

    @cached_property
    def _numbers(self) -> dict[str, pl.Expr]:
        """The columns of an event; missing values are null."""
        columns, kinds = self.columns, self._schema
        read = {_CASE: self._compared(columns.case, _CASE)}
        read |= {part: self._coded(name, part) for part, name in zip(columns.parts, columns.activities, strict=True)}
        if columns.timestamp is not None:
            of_time = time_columns(
                column_of(columns.timestamp), kinds[columns.timestamp], self.reading.timestamp_format
            )
            read |= {name: each for name, each in of_time.items() if name != AWARE or self._reads_times}
        if columns.ties is not None:
            read[_TIE] = column_of(columns.ties)
        if columns.unit is not None:
            read[_UNIT] = self._compared(columns.unit, _UNIT)
        if columns.details.service:
            read[_IS_START] = _name(str(columns.lifecycle)).is_in(list(spellings("start"))).fill_null(False)
        for attribute, role, name in columns.attributes_read:
            read[role] = (
                self._coded(name, role)
                if attribute.values == "name"
                else number_of_text(column_of(name), kinds[name], self.reading.decimal)
            )
        return read

    def _coded(self, column: str, role: str) -> pl.Expr:
        """Encode names as numbers, those of cases for this frame only."""
        known = {} if role == _CASE else self._categories
        return _name(column).cast(pl.Categorical(known.setdefault(role, pl.Categories.random())))

    def _compared(self, column: str, role: str) -> pl.Expr:
        """Encode identifiers that are only compared; integers stay as they are."""
        return column_of(column) if self._schema[column].is_integer() else self._coded(column, role)

    def missing(self) -> list[MissingValues]:
        """Return the values that are missing in selected rows of the table."""
        lacking = {role: self._numbers[role].is_null() for role in self.needed}
        rows = self._cells(lacking).filter(pl.any_horizontal(list(self.needed))).collect(engine="streaming")
        found = []
        for role, column in self.needed.items():
            if len(numbers := rows.filter(pl.col(role))[_ROW]):
                what = {_CASE: "events without a case", TIME: UNTIMED}.get(role, "events without an activity")
                first = self.table.place(int(numbers[0]))
                found.append(MissingValues(what, len(numbers), first, self._shown(column)))
        return found

    def _shown(self, column: str) -> str:
        """The name of a column in messages; those of traces have names of their own."""
        return "" if self.columns.stated else column

    def _cells(self, read: Mapping[str, pl.Expr]) -> pl.LazyFrame:
        """Return cells of the selected rows, with the number of each row in the table."""
        is_selected = pl.all_horizontal(self._selected) if self._selected else pl.lit(True)
        return self.table.rows.select(**read, **{_SELECTED: is_selected}).with_row_index(_ROW).filter(_SELECTED)

    def _unknown_time(self) -> LogError:
        """Return the error about the first text that is not a time."""
        column, form = str(self.columns.timestamp), self.reading.timestamp_format
        cells = self._cells({TIME: self._numbers[TIME], "text": _name(column)})
        unknown = cells.filter(pl.col(TIME).is_null() & pl.col("text").is_not_null()).select(_ROW, "text")
        row, text = unknown.head(1).collect(engine="streaming").row(0)
        place = self.table.place(row)
        place = f"column {column!r}, {place}" if self._shown(column) else place
        kind = "in ISO 8601" if form is None else f"of the format {form!r}"
        return LogError(
            f"{self.table.where}, {place}: {text[:60]!r} is not a timestamp {kind}; fix the log, or set timestamp_format "
            f"{CONFIDENTIAL}",
            field="timestamp_format",
        )

    def selected(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return completions with service times, if starts are read; of them those of the period, if there is one."""
        period, has_starts = self.reading.period, self.columns.details.service
        if period is None and not has_starts:
            return events
        by = self._sort_keys(events) if self.columns.by_time else []
        ordered = events.sort(by, maintain_order=True, nulls_last=True) if by else events
        ordered = _paired(ordered, self.columns.parts) if has_starts else ordered
        return ordered if period is None else _closed(ordered, period, self.columns.parts[0])

    def owners(self, events: pl.DataFrame) -> tuple[pl.DataFrame, list[MissingValues]]:
        """Return the unit and the digest of every case that has a unit, and the cases without one."""
        unit = str(self.reading.unit)
        values = pl.col(_UNIT).drop_nulls()
        owners = events.lazy().group_by(_CASE).agg(values.n_unique().alias("values"), values.first()).collect()
        texts = owners[_CASE].cast(pl.String)
        if (several := owners["values"] > 1).any():
            raise LogError(
                f"{self.table.where}: the case {str(texts.filter(several).min())[:60]!r} has several values of the unit "
                f"{unit!r}; a case must have exactly one; fix the log {CONFIDENTIAL}"
            )
        nobody, missing = owners["values"] == 0, []
        if number := int(nobody.sum()):
            first = f"case {str(texts.filter(nobody).min())[:60]!r}"
            missing.append(MissingValues(f"cases without the unit {unit!r}", number, first))
        digests = pl.Series(_DIGEST, [case_digest(text) for text in texts], dtype=pl.Binary)
        return owners.select(_CASE, _UNIT).with_columns(digests).filter(~nobody), missing

    def counted(self, events: pl.DataFrame, owners: pl.DataFrame | None) -> pl.DataFrame:
        """Return the cases that are counted of these; with neither units nor details, their traces with `COUNT`."""
        parts, cases = self.columns.parts, self._cases(events.drop(_UNIT, strict=False))
        if owners is not None:
            cases = _kept(cases.join(owners.lazy(), on=_CASE), parts, self.reading)
        elif not self.columns.details:
            return cases.group_by(parts).len(COUNT).collect()
        return cases.drop(_CASE).collect()

    def _cases(self, events: pl.DataFrame) -> pl.LazyFrame:
        """Group events by case: the names of its activities as numbers, and its details."""
        by = self._sort_keys(events) if self.columns.by_time else []
        ordered = events
        if by and not (len(by) == 1 and events[TIME].is_sorted()):
            same = self.columns.of_events if self.reading.ties == "activity" else []  # rows may have no order
            texts = [pl.col(name).cast(pl.String) for name in same]
            ordered = events.sort([*by, *texts], maintain_order=True, nulls_last=True)
        parts, roles = self.columns.parts, self.columns.of_cases
        times = (_MOMENT, AWARE) if self._reads_times else ()
        # Polars cannot group by lists of categoricals and something else
        lists = [pl.col(parts).to_physical(), *(pl.col(name) for name in times if name in events.columns)]
        lists += [pl.col(name).to_physical() for name in self.columns.of_events]
        lists += [pl.col(_SERVICE)] if self.columns.details.service else []
        if self.reading.duplicate_events == "drop":
            same = [name for name in (_CASE, TIME, NANOSECONDS, *parts) if name in events.columns]
            ordered = ordered.with_columns((pl.int_range(pl.len()).over(same) == 0).alias(_FIRST))
            lists = [each.filter(pl.col(_FIRST)) for each in lists]
        if self.reading.ties != "activity":
            firsts = [pl.col(name).drop_nulls().first() for name in roles]
            return ordered.lazy().group_by(_CASE).agg(*lists, *firsts)
        cases = ordered.lazy().group_by(_CASE).agg(*lists)
        # of simultaneous events with the same name, the smallest value: rows may have no order
        for name in roles:
            own = events.lazy().filter(pl.col(name).is_not_null())
            value = pl.col(name).cast(pl.String) if isinstance(events[name].dtype, pl.Categorical) else pl.col(name)
            values = own.sort([*by, value], maintain_order=True).group_by(_CASE).agg(pl.col(name).first())
            cases = cases.join(values, on=_CASE, how="left")
        return cases

    def _sort_keys(self, events: pl.DataFrame) -> list[pl.Expr]:
        """Return the keys of a stable sort by time; one sort of the whole log also orders the events of each case."""
        by: list[pl.Expr] = [pl.col(name) for name in (TIME, NANOSECONDS) if name in events.columns]
        starts = [~pl.col(_IS_START)] if _IS_START in events.columns else []  # before ends, if rows may have no order
        if self.reading.ties == "activity":
            return by + [pl.col(part).cast(pl.String) for part in self.columns.parts] + starts
        if _TIE not in events.columns:
            return by
        kind, tie = events[_TIE].dtype, pl.col(_TIE)
        if kind.is_numeric() or kind.is_temporal():
            return [*by, tie, *starts]
        # whole numbers by size, then other texts, then what is missing
        tie = tie.cast(pl.String)
        tie = pl.when(tie != "").then(tie)
        number = pl.when(tie.str.contains(r"^[+-]?[0-9]{1,18}$")).then(tie).cast(pl.Int64, strict=False)
        return [*by, number, pl.when(number.is_null()).then(tie), *starts]


def conditions(columns: Columns, reading: Reading) -> list[pl.Expr]:
    """Return the conditions on the rows that are read; none by default."""
    selected = [_name(name).is_in(list(values)).fill_null(False) for name, values in columns.where.items()]
    if (lifecycle := reading.lifecycle) != "all" and columns.lifecycle is not None:
        ends: Lifecycle = "complete" if lifecycle == "pairs" else lifecycle
        starts = spellings("start") if columns.details.service else ()
        matches = _name(columns.lifecycle).is_in([*spellings(ends), *starts])
        selected.append(matches.fill_null(ends == "complete"))
    return selected


def case_digest(case: str) -> bytes:
    """Return the digest that decides whether a case is counted."""
    return hashlib.md5(case.encode(), usedforsecurity=False).digest()


def _kept(cases: pl.LazyFrame, parts: list[str], reading: Reading) -> pl.LazyFrame:
    """Select the cases that are counted. Applied to the selections of frames, it selects what it would of the whole."""
    if reading.counts_of == "units":
        cases = cases.group_by(_UNIT, *parts).agg(pl.all().sort_by(_DIGEST).first())
    return cases.filter(pl.col(_DIGEST).rank("ordinal").over(_UNIT) <= reading.privacy_unit.max_cases)


def _closed(events: pl.DataFrame, period: Period, activity: str) -> pl.DataFrame:
    """Select the events of cases that are closed in a period, up to their closing (docs/mechanisms/periods.md).

    The events of each case are in order, and complete.
    """
    moment, gap = pl.col(_MOMENT), period.gap_length
    if gap is None:
        is_end = pl.col(activity).cast(pl.String).is_in(list(period.end_activity))
        closings, is_closed = is_end.cum_sum() - is_end.cast(pl.UInt32), is_end.any()
    else:
        is_late = moment.diff() >= gap // timedelta(microseconds=1)
        closings, is_closed = is_late.fill_null(False).cum_sum(), pl.lit(True)
    rows = events.lazy().filter(moment < microseconds(period.end)).filter((closings == 0).over(_CASE))
    first, after = (microseconds(instant) for instant in period.last_events)
    is_within = is_closed & moment.max().is_between(first, after, closed="left")
    return rows.filter(is_within.over(_CASE)).collect()


def _paired(events: pl.DataFrame, parts: list[str]) -> pl.DataFrame:
    """Return the completions, with the seconds since the start of each (docs/reading.md, lemma 2c).

    The events of each case are in order, and complete.
    """
    begin = pl.when(_IS_START).then(pl.col(_MOMENT)).shift().over(_CASE, *parts)
    seconds = (pl.col(_MOMENT) - begin).clip(0) / SECOND
    return events.with_columns(seconds.alias(_SERVICE)).filter(~pl.col(_IS_START)).drop(_IS_START)


def _floats(values: pl.Series) -> Floats:
    """Return numbers; NaN is missing."""
    return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _encoded(
    table: pl.DataFrame, parts: list[str], categories: dict[str, pl.Categories], alphabet: list[Activity] | None = None
) -> tuple[list[Activity], NDArray[np.uint32]]:
    """Return the activities that occur, and the codes of the activities of all rows, one after another."""
    names = table.select(pl.col(part).explode(empty_as_null=False) for part in parts)
    kinds = names.unique()
    texts = kinds.select(pl.col(part).cat.to(pl.Categorical(categories[part])).cast(pl.String) for part in parts)
    activities: list[Activity] = [row[0] for row in texts.rows()] if len(parts) == 1 else list(texts.rows())
    alphabet = activities if alphabet is None else alphabet
    code_of = {activity: code for code, activity in enumerate(alphabet)}
    new = np.array([code_of[activity] for activity in activities], dtype=CODE)
    if len(parts) == 1:
        old = kinds.to_series().to_numpy()
        dense = np.zeros(int(old.max(initial=0)) + 1, dtype=CODE)
        dense[old] = new
        return alphabet, dense[names.to_series().to_numpy()]
    kinds = kinds.with_columns(pl.Series("code", new))
    coded = names.join(kinds, on=parts, how="left", maintain_order="left")["code"].to_numpy()
    return alphabet, coded.astype(CODE, copy=False)


def _coded_values(values: pl.Series, categories: pl.Categories) -> Coded:
    """Return the values of an attribute, numbers of these categories, as indexes into those that occur."""
    kinds = values.unique().drop_nulls()
    texts = kinds.to_frame("value").select(pl.col("value").cat.to(pl.Categorical(categories)).cast(pl.String))
    index = np.full(int(kinds.to_numpy().max(initial=0)) + 2, -1, dtype=np.int32)  # the last one stands for null
    index[kinds.to_numpy()] = np.arange(len(kinds))
    return Coded(index[values.fill_null(len(index) - 1).to_numpy()], texts.to_series().to_list())


def unescaped(names: pl.Series) -> pl.Series:
    """Return the names that were escaped in a release of travas (docs/outputs.md)."""
    escaped = names.filter(names.str.contains("\\u{", literal=True)).unique()
    return names.replace(escaped, list(map(original_name, escaped))) if len(escaped) else names


def column_of(name: str) -> pl.Expr:
    """Return the column of exactly this name; `pl.col` interprets some names as patterns."""
    return cs.by_name(name).as_expr()


def _name(column: str) -> pl.Expr:
    """Return a value as text; empty text is null."""
    text = column_of(column).cast(pl.String)
    return pl.when(text != "").then(text)


def number_of_text(value: pl.Expr, kind: pl.DataType, decimal: Decimal | None) -> pl.Expr:
    """Return a number; NaN and text that is not a number are null."""
    if kind.is_numeric():
        return value.cast(pl.Float64).fill_nan(None)
    text = value.cast(pl.String)
    text = pl.when(text.str.contains(number_pattern(decimal))).then(text)
    if decimal is not None:
        text = text.str.replace_all(rf"[^0-9eE+{decimal}-]", "").str.replace(",", ".", literal=True)
    return text.cast(pl.Float64, strict=False)
