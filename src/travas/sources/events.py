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
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from ..errors import CONFIDENTIAL, LogError, number_of
from ..log.calendar import SECOND, microseconds
from ..log.escaped_names import original_name
from ..log.log import Log
from ..log.questions import SERVICE_COLUMN, DetailColumn, Totals
from ..log.traces import Activity, keys_of
from ..trusted.samplers import Floats, Integers
from .columns import Columns, cautions, columns_of, is_text
from .encoded_cases import Coded, EncodedCases, EncodedTotals
from .instants import TIME, has_zone, instant_of, whole_microseconds
from .messages import NO_EVENTS, UNTIMED, WITHOUT_TIMES, left_out_note, no_numbers
from .period import Period
from .reading import ATTRIBUTE_NUMBER, LOCAL_NUMBERS, Decimal, Reading, released_columns

EVENTS_PER_FRAME = 32_000_000
"""Sorting a frame takes about 60 bytes per event."""

_CASE, _TIE, _UNIT, _DIGEST, _INDEX = "case", "tie", "unit", "digest", "index"
_MOMENT, _AWARE, _IS_START, _SERVICE = "moment", "aware", "is start", "service"


@dataclass(frozen=True)
class Table:
    """What every source becomes: one row per event, in the order of the source.

    Attributes:
        rows: The rows, or those of some complete cases.
        columns: Which columns are read.
        where: The name of the log in messages.
        height: About the number of rows, if they may not fit into memory.
        whole_rows: No column may be skipped, because an error in one would shift all others.
    """

    rows: pl.LazyFrame
    columns: Columns
    where: str
    height: int = 0
    whole_rows: bool = False


def table_variants(
    rows: pl.LazyFrame,
    reading: Reading,
    where: str,
    *,
    height: int = 0,
    whole_rows: bool = False,
    present: Sequence[str] = (),
) -> Log:
    """Return the variants of any table, whose columns are set or recognised: `pl.from_arrow(...).lazy()`.

    `present` names all columns of the log, if these are not all.
    """
    schema = rows.collect_schema()
    counting = Counting(reading)
    counting.add(Table(rows, columns_of(reading, schema, where), where, height, whole_rows))
    return counting.variants((), cautions(reading, present or list(schema)))


class Counting:
    """Counts the cases of tables, of which no case is in two.

    `missing` has the number of missing values, by what is missing and in which column, if columns have names in messages;
    `numbers`, by numeric attribute, how many more values are numbers than are other text.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.missing: Counter[tuple[str, str]] = Counter()
        self.numbers: Counter[str] = Counter()
        self.remedy = "set on_missing to 'drop'"
        self.categories: dict[str, pl.Categories] = {}  # of all tables, so that their codes can be compared
        self._table: Table | None = None
        self._counted: list[pl.DataFrame] = []
        self._held: list[pl.DataFrame] = []  # without rows; the codes are forgotten with the last column that has them

    def add(self, table: Table) -> None:
        """Count the cases of a table: a large one in frames, each with the cases of some hashes."""
        self._table, frame = table, _Frame(table, self)
        frames = table.height // EVENTS_PER_FRAME + 1
        of_frame = text_of(table.columns.case).hash() % frames  # a person's cases may be in any of them
        for number in range(frames):
            events = frame.events(table.rows.filter(of_frame == number) if frames > 1 else table.rows)
            self._held.append(events.clear())
            self._counted.append(frame.cases(events))

    def variants(self, notes: Sequence[str] = (), seems_wrong: Sequence[str] = ()) -> Log:
        """Return the variants of everything that was added, with notes about it; LogError if values are missing."""
        assert self._table is not None
        reading, columns, missing = self.reading, self._table.columns, sorted(self.missing.items())
        if missing and reading.on_missing == "fail":
            raise self._refused(self._table)
        cases = pl.concat(self._counted)
        if columns.unit is not None:
            cases = _kept(cases, columns.parts, reading)
        traces = cases.group_by(columns.parts).len(_INDEX)
        alphabet, codes = self._activities(traces, columns.parts)
        left_out = [left_out_note(number, what) for (what, _), number in missing]
        return Log(
            alphabet,
            keys_of(codes, _lengths(traces, columns)),
            traces[_INDEX].cast(pl.Int64).to_numpy(),
            released_columns(columns.roles.activities),
            (*(left_out if left_out or traces.height else [NO_EVENTS]), *notes),
            unit=reading.privacy_unit,
            counted=reading.counts_of,
            roles=columns.roles,
            cautions=(*seems_wrong, *(no_numbers(name) for name, more in self.numbers.items() if more < 0)),
            totals=self._totals(columns, cases) if columns.details else None,
        )

    def _refused(self, table: Table) -> LogError:
        """Return the error about all missing values, with the remedy."""
        is_avoidable = not table.columns.by_time and any(what == UNTIMED for what, _ in self.missing)
        found = "; ".join(
            f"{f'column {column!r}: ' if column else ''}{number_of(number, what)}"
            for (what, column), number in sorted(self.missing.items())
        )
        return LogError(
            f"{table.where}: {found}; fix the log, or {self.remedy}{WITHOUT_TIMES if is_avoidable else ''} {CONFIDENTIAL}",
            field="on_missing",
            other_fields=("times",) if is_avoidable else (),
        )

    def _totals(self, columns: Columns, cases: pl.DataFrame) -> Totals:
        """Return the answers about the counted cases."""
        details = columns.details
        alphabet, codes = self._activities(cases, columns.parts)
        times, aware = None, np.zeros(len(codes), dtype=bool)
        if details.times == "read":
            times, aware = (cases[name].explode(empty_as_null=False).to_numpy() for name in (_MOMENT, _AWARE))
        read: dict[DetailColumn, Coded | Floats] = {}
        if details.service:
            read[SERVICE_COLUMN] = _floats(cases[_SERVICE].explode(empty_as_null=False))
        for attribute, role, _ in columns.attributes:
            values = cases[role] if attribute.of == "case" else cases[role].explode(empty_as_null=False)
            read[attribute] = _floats(values) if attribute.values == "number" else self._coded(values)
        return EncodedTotals(EncodedCases(alphabet, codes, _lengths(cases, columns), times, aware, read), details)

    def _activities(self, cases: pl.DataFrame, parts: list[str]) -> tuple[list[Activity], NDArray[np.uint32]]:
        """Return the activities that occur, and the codes of those of all cases, one after another."""
        texts, codes = self._decoded(cases.select(pl.col(part).explode(empty_as_null=False) for part in parts))
        alphabet: list[Any] = texts.to_series().to_list() if len(parts) == 1 else texts.rows()
        return alphabet, codes.to_numpy()

    def _coded(self, values: pl.Series) -> Coded:
        """Return the values of an attribute as indexes into those that occur."""
        texts, codes = self._decoded(values.to_physical().to_frame())
        return Coded(codes.cast(pl.Int32).fill_null(-1).to_numpy(), texts.to_series().to_list())

    def _decoded(self, names: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
        """Return the different rows of encoded names as text, and the index of each row among them; null if it is null."""
        kinds, roles = names.unique().drop_nulls(), names.columns
        texts = kinds.select(
            pl.col(role).cat.to(pl.Categorical(self.categories[role])).cast(pl.String) for role in roles
        )
        return texts, names.join(kinds.with_row_index(_INDEX), on=roles, how="left", maintain_order="left")[_INDEX]


def persons_of(table: Table, reading: Reading) -> pl.DataFrame:
    """Return every case and its person, as text, by the rows that are counted; of several persons one, to be refused."""
    events = _Frame(table, Counting(reading)).events(table.rows)
    person = pl.col(_UNIT).cast(pl.String).drop_nulls().min()
    return events.group_by(pl.col(_CASE).cast(pl.String)).agg(person.alias("person"))


class _Frame:
    """How rows of a table become events, and events become cases."""

    def __init__(self, table: Table, counting: Counting) -> None:
        self.table, self.columns, self.reading, self.counting = table, table.columns, counting.reading, counting
        self._schema = table.rows.collect_schema()
        self._reads_times = self.columns.details.times == "read"

    def events(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Return the events of some rows as numbers, in their order; those without a value that is needed are noted."""
        columns, counting = self.columns, self.counting
        needed = {part: ("events without an activity", name) for part, name in columns.named_parts}
        needed[_CASE] = "events without a case", columns.case
        numeric = [(each.name, role, column) for each, role, column in columns.attributes if each.values == "number"]
        given = {f"given {role}": text_of(column).is_not_null() for _, role, column in numeric}
        if columns.timestamp is not None:
            needed[TIME] = UNTIMED, columns.timestamp
        rows = rows.filter(*conditions(columns, self.reading))
        columns_apart = pl.QueryOptFlags(projection_pushdown=not self.table.whole_rows)
        events = rows.select(**self._numbers, **given).collect(engine="streaming", optimizations=columns_apart)
        if columns.timestamp is not None and is_text(self._schema[columns.timestamp]) and events[TIME].null_count():
            self._check_times(rows, columns.timestamp)
        for name, role, _ in numeric:
            counting.numbers[name] += 2 * events[role].count() - int(events[f"given {role}"].sum())
        for role, (what, column) in needed.items():
            if number := events[role].null_count():
                counting.missing[what, self._shown(column)] += number
        return self._selected(events.drop(given).drop_nulls(list(needed)))

    @cached_property
    def _numbers(self) -> dict[str, pl.Expr]:
        """The columns of an event; missing values are null."""
        columns, kinds = self.columns, self._schema
        read = {_CASE: self._compared(columns.case, _CASE)}
        read |= {part: self._coded(name, part) for part, name in columns.named_parts}
        if columns.timestamp is not None:
            time = column_of(columns.timestamp), kinds[columns.timestamp], self.reading.timestamp_format
            read[TIME] = instant_of(*time)
            if self._reads_times:
                read[_AWARE] = has_zone(*time)
        if columns.ties is not None:
            read[_TIE] = column_of(columns.ties)
        if columns.unit is not None:
            read[_UNIT] = self._compared(columns.unit, _UNIT)
        if columns.details.service:
            read[_IS_START] = _transition(str(columns.lifecycle)) == "start"
        for attribute, role, name in columns.attributes:
            read[role] = (
                self._coded(name, role)
                if attribute.values == "name"
                else number_of_text(column_of(name), kinds[name], self.reading.decimal)
            )
        return read

    def _coded(self, column: str, role: str) -> pl.Expr:
        """Encode names as numbers, those of cases for this frame only."""
        known = {} if role == _CASE else self.counting.categories
        return text_of(column).cast(pl.Categorical(known.setdefault(role, pl.Categories.random())))

    def _compared(self, column: str, role: str) -> pl.Expr:
        """Encode identifiers that are only compared; integers stay as they are."""
        return column_of(column) if self._schema[column].is_integer() else self._coded(column, role)

    def _shown(self, column: str) -> str:
        """The name of a column in messages; those of traces have names of their own."""
        return "" if self.columns.stated else column

    def _check_times(self, rows: pl.LazyFrame, column: str) -> None:
        """Raise LogError if a text is not a time."""
        cells = rows.select(self._numbers[TIME].alias(TIME), text_of(column).alias(_INDEX))
        unknown = cells.filter(pl.col(TIME).is_null(), pl.col(_INDEX).is_not_null()).head(1).collect(engine="streaming")
        if unknown.height:
            place = f", column {column!r}" if self._shown(column) else ""
            form = self.reading.timestamp_format
            kind = "in ISO 8601" if form is None else f"of the format {form!r}"
            raise LogError(
                f"{self.table.where}{place}: {unknown[_INDEX][0][:60]!r} is not a timestamp {kind}; fix the log, or set "
                f"timestamp_format {CONFIDENTIAL}",
                field="timestamp_format",
            )

    def _selected(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return complete events in order: with service times, if starts are read, and those of the period, if there is one."""
        period = self.reading.period
        if self._reads_times or period is not None:
            events = events.with_columns(pl.Series(_MOMENT, whole_microseconds(events[TIME])))
        by = self._sort_keys(events) if self.columns.by_time else []
        if by and not (len(by) == 1 and events[TIME].is_sorted()):
            events = events.sort(by, maintain_order=True, nulls_last=True)  # also orders the events of each case
        if self.columns.details.service:
            events = _paired(events, self.columns.parts)
        return events if period is None else _closed(events, period, self.columns.parts[0])

    def _owners(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return the unit and the digest of every case that has a unit; cases without one are noted."""
        unit = str(self.reading.unit)
        values = pl.col(_UNIT).drop_nulls()
        owners = events.group_by(_CASE).agg(values.n_unique().alias(_INDEX), values.first())
        if (several := owners.filter(pl.col(_INDEX) > 1)[_CASE].cast(pl.String)).len():
            raise LogError(
                f"{self.table.where}: the case {str(several.min())[:60]!r} has several values of the unit {unit!r}; "
                f"a case must have exactly one; fix the log {CONFIDENTIAL}"
            )
        if nobody := owners[_UNIT].null_count():
            self.counting.missing[f"cases without the unit {unit!r}", ""] += nobody
        owners = owners.drop_nulls(_UNIT)
        digests = [case_digest(text) for text in owners[_CASE].cast(pl.String)]
        return owners.select(_CASE, _UNIT, pl.Series(_DIGEST, digests, dtype=pl.Binary))

    def cases(self, events: pl.DataFrame) -> pl.DataFrame:
        """Group events by case: the names of its activities as numbers, its details, its unit and digest."""
        columns = self.columns
        of_events = [role for each, role, _ in columns.attributes if each.of == "event"]
        lists = cs.by_name(*columns.parts, *of_events, _MOMENT, _AWARE, _SERVICE, require_all=False)
        firsts = [pl.col(role).drop_nulls().first() for each, role, _ in columns.attributes if each.of == "case"]
        counted = lists.to_physical()  # Polars cannot group by lists of categoricals and something else
        if self.reading.duplicate_events == "drop":
            counted = counted.filter(pl.struct(TIME, *columns.parts).is_first_distinct())
        cases = events.lazy().group_by(_CASE).agg(counted, *firsts)
        if columns.unit is not None:
            cases = cases.join(self._owners(events).lazy(), on=_CASE)
        return cases.drop(_CASE).collect()

    def _sort_keys(self, events: pl.DataFrame) -> list[pl.Expr]:
        """Return the keys of a stable sort: the time, the tie, and what orders rows that may have no order."""
        keys = [pl.col(TIME)]
        if self.reading.ties in (None, "file"):
            return keys
        if _TIE in events.columns:
            keys += _tie_keys(events[_TIE].dtype)
        starts = [~pl.col(_IS_START)] if _IS_START in events.columns else []  # before ends
        values = [pl.col(role).cast(pl.String) for _, role, _ in self.columns.attributes]
        zones = [pl.col(_AWARE)] if _AWARE in events.columns else []
        return [*keys, pl.col(*self.columns.parts).cast(pl.String), *starts, *zones, *values]


def _tie_keys(kind: pl.DataType) -> list[pl.Expr]:
    """Return the keys of a tie: of text, whole numbers by size, then other texts, then what is missing."""
    if kind.is_numeric() or kind.is_temporal():
        return [pl.col(_TIE)]
    tie = text_of(_TIE)
    number = pl.when(tie.str.contains(r"^[+-]?[0-9]{1,18}$")).then(tie).cast(pl.Int64, strict=False)
    return [number, pl.when(number.is_null()).then(tie)]


def conditions(columns: Columns, reading: Reading) -> list[pl.Expr]:
    """Return the conditions on the rows that are read; none by default."""
    selected = [text_of(name).is_in(list(values)).fill_null(False) for name, values in columns.where.items()]
    if columns.lifecycle is not None:
        read = ["complete" if reading.lifecycle == "pairs" else reading.lifecycle]
        read += ["start"] if columns.details.service else []
        selected.append(_transition(columns.lifecycle).is_in(read))
    return selected


def _transition(column: str) -> pl.Expr:
    """Return a transition in lower case; an event without one is complete."""
    return text_of(column).str.to_lowercase().fill_null("complete")


def case_digest(case: str) -> bytes:
    """Return the digest that decides whether a case is counted."""
    return hashlib.md5(case.encode(), usedforsecurity=False).digest()


def _kept(cases: pl.DataFrame, parts: list[str], reading: Reading) -> pl.DataFrame:
    """Select the cases that are counted."""
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
        is_after, is_closed = is_end.shift(fill_value=False), is_end.any()
    else:
        is_after, is_closed = moment.diff() >= gap // timedelta(microseconds=1), pl.lit(True)
    rows = (
        events.lazy()
        .filter(moment < microseconds(period.end))
        .filter((is_after.fill_null(False).cum_sum() == 0).over(_CASE))
    )
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


def _lengths(cases: pl.DataFrame, columns: Columns) -> Integers:
    return cases[columns.parts[0]].list.len().cast(pl.Int64).to_numpy()


def unescaped(names: pl.Series) -> pl.Series:
    """Return the names that were escaped in a release of travas (docs/outputs.md)."""
    escaped = names.filter(names.str.contains("\\u{", literal=True)).unique()
    return names.replace(escaped, list(map(original_name, escaped))) if len(escaped) else names


def column_of(name: str) -> pl.Expr:
    """Return the column of exactly this name; `pl.col` interprets some names as patterns."""
    return cs.by_name(name).as_expr()


def text_of(column: str) -> pl.Expr:
    """Return a value as text; empty text is null."""
    text = column_of(column).cast(pl.String)
    return pl.when(text != "").then(text)


def number_of_text(value: pl.Expr, kind: pl.DataType, decimal: Decimal | None) -> pl.Expr:
    """Return a number; NaN and text that is not a number are null."""
    if kind.is_numeric():
        return value.cast(pl.Float64).fill_nan(None)
    text = value.cast(pl.String)
    text = pl.when(text.str.contains(ATTRIBUTE_NUMBER if decimal is None else LOCAL_NUMBERS[decimal])).then(text)
    if decimal is not None:
        text = text.str.replace_all(rf"[^0-9eE+{decimal}-]", "").str.replace(",", ".", literal=True)
    return text.cast(pl.Float64, strict=False)
