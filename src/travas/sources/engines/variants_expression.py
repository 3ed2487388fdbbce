"""The variants of a table of events, as one Ibis expression for all databases and Spark.

    rows      one row per event: case, time, tie, activity, unit; missing values are null
    cases     one row per case: its activities in order
    shares    with a unit, the cases or variants of each that are counted (`sources.contribution_bounding`)
    variants  one row per trace: how often it is counted, and how many events lacked something

The rule is that of `sources.events`, but rows have no order: simultaneous events of a case are ordered by the tie
column, then by name, so that every run returns the same. Names and ties are compared by their UTF-8 bytes: two
spellings that a database considers equal are two names, or one case could rename the variant of all others.
It is one statement, which sees one state of the log; what is not counted is summed up in a row without a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import attrs

from ...errors import CONFIDENTIAL, LogError, ParameterError, number_of
from ...log.calendar import FIRST_INSTANT, LAST_INSTANT
from ..columns import Columns, lifecycle_note
from ..messages import NO_EVENTS, MissingValues, left_out_note, missing_values, several_units
from ..reading import Reading, by_column, spellings
from .clocks import Clock, plain_clock
from .closed_rows import COUNTS, END, MOMENT, closed_rows, is_one_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

Gather = Callable[["ir.Table", list[str], list[Any], Any, dict[str, Any]], "ir.Table"]
"""Groups events by case: columns as arrays, sorted by keys, of the rows that meet a condition; and other aggregates."""

CASE, TIME, UNIT, COUNT = "case", "time", "unit", "count"
DIGEST, _OTHER_UNIT, _RANK, _COUNTED, _COPY = "digest", "other_unit", "rank", "counted", "copy"
_SEVERAL, _NOBODY = "several_units", "without_unit"


def gather(events: ir.Table, parts: list[str], keys: list[Any], where: Any, others: dict[str, Any]) -> ir.Table:
    """Aggregate with ordered aggregates, which most databases support."""
    arrays = {part: events[part].collect(where=where, order_by=keys) for part in parts}
    return events.group_by(CASE).aggregate(**arrays, **others)


def as_it_is(text: Any) -> Any:
    """Return text unchanged: Spark compares text by its bytes, and does not mix collations."""
    return text


@dataclass(frozen=True)
class Query:
    """The variants of a table of events. `where` names the table in messages."""

    events: ir.Table
    reading: Reading
    where: str
    gather: Gather = gather
    as_bytes: Callable[[Any], Any] = as_it_is
    clock: Clock = plain_clock
    columns: Columns = field(init=False)

    def __post_init__(self) -> None:
        for name, remedy in (("order", "use 'time'"), ("ties", "use 'activity' or a column")):
            if getattr(self.reading, name) == "file":
                raise ParameterError(
                    f"{name} is 'file' but the rows of a {self.where} have no order; {remedy}", field=name
                )
        by_time = attrs.evolve(self.reading, order="time")
        columns = Columns.of(by_time, list(self.events.columns), self.where)
        if by_time.details.times == "if recorded" and not self._has_times(columns):
            by_time = attrs.evolve(by_time, details=by_time.details.settled("not recorded"))
            columns = Columns.of(by_time, list(self.events.columns), self.where)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "reading", attrs.evolve(self.reading, details=columns.details))
        object.__setattr__(self, "events", self._selected())

    def _has_times(self, columns: Columns) -> bool:
        """Whether the time column has instants: text and numbers order events, but are not times."""
        return _is_dated(self.events[str(columns.timestamp)].type())

    def _selected(self) -> ir.Table:
        """Return the events of the lifecycle and with the values that are set (`sources.reading`)."""
        table, lifecycle = self.events, self.reading.lifecycle
        for name, values in by_column(self.reading.where).items():
            table = table.filter(is_one_of(self.as_bytes(self.name(table[name])), values, self.as_bytes))
        if lifecycle == "all" or self.columns.lifecycle is None:
            return table
        transition = self.name(table[self.columns.lifecycle])
        matches = is_one_of(self.as_bytes(transition), spellings(lifecycle), self.as_bytes)
        return table.filter(matches | transition.isnull() if lifecycle == "complete" else matches)

    @property
    def parts(self) -> list[str]:
        """The columns that make up an activity."""
        return [f"activity_{index}" for index in range(len(self.columns.activities))]

    @property
    def lacking(self) -> dict[str, tuple[str, str]]:
        """The columns that count missing values: what is missing, and in which column."""
        columns = self.columns
        names = {
            f"without_{part}": ("an activity", name) for part, name in zip(self.parts, columns.activities, strict=True)
        }
        return {
            f"without_{CASE}": ("a case", columns.case),
            **names,
            f"without_{TIME}": ("a timestamp", str(columns.timestamp)),
        }

    @property
    def sums(self) -> list[str]:
        """The columns to sum over all rows, for `notes`."""
        return [*self.lacking, *(() if self.columns.unit is None else (_SEVERAL, _NOBODY))]

    @property
    def firsts(self) -> list[str]:
        """The columns whose minimum is needed for `notes`."""
        return [] if self.columns.unit is None else [_first(_SEVERAL), _first(_NOBODY)]

    def variants(self, rows: ir.Table | None = None) -> ir.Table:
        """Return the variants of `rows`: `parts` (parallel arrays of text), `count`, `sums` and `firsts`.

        One row may have null or empty arrays: it is not a variant, but stands for what is not counted, such as cases
        without a complete event.
        """
        cases = self.cases(self.rows() if rows is None else rows)
        cases = cases if self.columns.unit is None else self._shares(cases)
        return cases.group_by(self.parts).aggregate(**{COUNT: cases.count()}, **self._remarks(cases))

    def _remarks(self, rows: ir.Table) -> dict[str, Any]:
        return {name: rows[name].sum() for name in self.sums} | {name: rows[name].min() for name in self.firsts}

    def _shares(self, cases: ir.Table) -> ir.Table:
        """Select what is counted of each unit. Everything else loses its trace, but still contributes to the notes."""
        import ibis

        marks = {
            _SEVERAL: cases[UNIT] != cases[_OTHER_UNIT],
            _NOBODY: cases[UNIT].isnull() & cases[DIGEST].notnull(),
        }
        numbers = {name: ibis.ifelse(mark, 1, 0) for name, mark in marks.items()}
        names = {_first(name): ibis.ifelse(mark, cases[CASE].cast("string"), None) for name, mark in marks.items()}
        rows = cases.mutate(**numbers, **names)
        if self.reading.counts_of == "units":
            smallest = {DIGEST: rows[DIGEST].min()}
            rows = rows.group_by([UNIT, *self.parts]).aggregate(**smallest, **self._remarks(rows))
        rank = ibis.row_number().over(ibis.window(group_by=rows[UNIT], order_by=rows[DIGEST]))  # from 0
        rows = rows.mutate(**{_RANK: rank})
        counts = rows[UNIT].notnull() & (rows[_RANK] < self.reading.privacy_unit.max_cases)
        return rows.mutate(**{part: ibis.ifelse(counts, rows[part], None) for part in self.parts})

    def rows(self, more: Mapping[str, Any] | None = None) -> ir.Table:
        """Return the required columns of the events, and `more`."""
        columns, table = self.columns, self.events
        read = {CASE: present(table[columns.case]), TIME: self._time(table[columns.timestamp])}
        names = zip(self.parts, columns.activities, strict=True)
        read |= {part: self.as_bytes(self.name(table[name])) for part, name in names}
        if columns.ties is not None:
            read |= {f"tie_{index}": key for index, key in enumerate(self._ties(present(table[columns.ties])))}
        if columns.unit is not None:
            read |= {UNIT: self._unit(table[columns.unit]), DIGEST: self._digest(table[columns.case])}
        if (period := self.reading.period) is not None:
            read[MOMENT] = self.instants(self._dated(table[columns.timestamp]))
            first = self.as_bytes(self.name(table[columns.activities[0]]))
            read[END] = is_one_of(first, period.end_activities, self.as_bytes)
        return table.select(**read, **(more or {}))

    def sorting(self, rows: ir.Table) -> list[Any]:
        """Return the columns by which the rows of a case are sorted."""
        ties = [rows[name] for name in rows.columns if name.startswith("tie_")]
        return [rows[TIME], *ties, *(rows[part] for part in self.parts)]

    def marked(self, rows: ir.Table, more: Sequence[str] = ()) -> tuple[ir.Table, Any, Any]:
        """Decide which rows count and which are read.

        Args:
            rows: The rows of the events.
            more: Columns that decide between events that are otherwise equal, so that it is not left to the database.

        Returns:
            The rows; whether one counts, because it is complete and of the period if there is one; and whether it is
            read, because it counts and is not a duplicate if those are dropped.
        """
        complete = reduce(and_, (rows[name].notnull() for name in (CASE, *self.parts, TIME)))
        if self.reading.period is not None:
            names = [column.get_name() for column in self.sorting(rows)]
            rows = closed_rows(rows, self.reading.period, complete, CASE, [*names, *more])
            complete = rows[COUNTS]
        if self.reading.duplicate_events == "keep":
            return rows, complete, complete
        rows = self._numbered(rows.mutate(**{_COUNTED: complete}), more)
        return rows, rows[_COUNTED], rows[_COUNTED] & (rows[_COPY] == 0)

    def _numbered(self, rows: ir.Table, more: Sequence[str]) -> ir.Table:
        """Number the events of a case with the same activity and time from 0, those that count on their own."""
        import ibis

        same = [rows[name] for name in (CASE, TIME, *self.parts, _COUNTED)]
        order = [name for name in rows.columns if name.startswith("tie_")] + list(more)
        number = ibis.row_number().over(ibis.window(group_by=same, order_by=[rows[name] for name in order or [TIME]]))
        return rows.mutate(**{_COPY: number})

    def cases(self, rows: ir.Table) -> ir.Table:
        """Return the cases of `rows`: their activities in order, what is missing, and with a unit their owner."""
        events, complete, read = self.marked(rows)
        keys = self.sorting(events)
        present = {f"without_{name}": events[name] for name in (CASE, *self.parts, TIME)}
        lacking = {name: events.count() - value.count() for name, value in present.items()}  # faster than summing
        if self.columns.unit is None:
            return self.gather(events, self.parts, keys, read, lacking)
        owner = {
            UNIT: events[UNIT].max(where=complete),
            _OTHER_UNIT: events[UNIT].min(where=complete),
            DIGEST: events[DIGEST].min(where=complete),  # text that the database considers equal may differ
        }
        return self.gather(events, self.parts, keys, read, lacking | owner)

    def name(self, column: Any) -> Any:
        """Return a column of names as text; missing ones are null."""
        kind = column.type()
        if not _is_name(kind):
            raise self.unfit(column, "which is not a name", "text")
        return present(column) if kind.is_string() else column.cast("string")

    def _time(self, column: Any) -> Any:
        if column.type().is_temporal() or column.type().is_numeric():
            return present(column)
        raise self.unfit(column, "which is not a time", "a timestamp")

    def _dated(self, column: Any) -> Any:
        if _is_dated(column.type()):
            return column
        raise self.unfit(column, "which has no dates for a period", "a timestamp")

    def instants(self, column: Any) -> Any:
        """Return microseconds since 1970 of timestamps or dates; years before 1 or after 9999 are the nearest of these."""
        return self.clock(column).clip(lower=FIRST_INSTANT, upper=LAST_INSTANT)

    def _unit(self, column: Any) -> Any:
        """Return the unit column in a type that supports both comparison and `max` in every database."""
        kind = column.type()
        return present(column) if kind.is_numeric() or kind.is_temporal() else self.name(column)

    def _digest(self, case: Any) -> Any:
        """Return the digest of a case: only for text and integers, because other types are formatted differently."""
        import ibis

        @ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
        def md5(text) -> str:  # type: ignore[no-untyped-def,empty-body]
            """Return lower-case hexadecimal text, or bytes; both have the same order."""

        if not _is_name(case.type()):
            raise self.unfit(case, "by which the cases of a unit cannot be selected", "text or whole numbers")
        return md5(self.as_bytes(case.cast("string")))

    def _ties(self, tie: Any) -> list[Any]:
        """Return the sort keys of ties: missing values last; in text, integers by size before other text."""
        import ibis

        if not tie.type().is_string():
            return [tie.isnull(), tie]
        # for some databases, $ also matches before a line break
        whole = tie.re_search(r"^[+-]?[0-9]{1,18}$") & ~tie.contains("\n")
        number = ibis.ifelse(whole, tie, None).cast("int64")
        return [tie.isnull(), number.isnull(), number, self.as_bytes(ibis.ifelse(whole, None, tie))]

    def unfit(self, column: Any, verdict: str, remedy: str) -> LogError:
        """Return the error for a column of a type that cannot be used."""
        name, kind = column.get_name(), column.type()
        return LogError(
            f"{self.where}: column {name!r} has type {kind}, {verdict}; convert it to {remedy} "
            f"in a query or a view {CONFIDENTIAL}"
        )

    def notes(self, totals: Mapping[str, Any], variants: int) -> tuple[str, ...]:
        """Refuse missing values, or note how many were dropped. `totals`: the values of `sums` and `firsts`."""
        missing = [(f"events without {what}", totals[name], column) for name, (what, column) in self.lacking.items()]
        missing = [(what, number, column) for what, number, column in missing if number]
        if missing and self.reading.on_missing == "fail":
            parts = "; ".join(f"column {column!r}: {number_of(number, what)}" for what, number, column in missing)
            raise LogError(
                f"{self.where}, {parts}; fix the log, or set on_missing to 'drop' {CONFIDENTIAL}", field="on_missing"
            )
        notes = [left_out_note(number, what) for what, number, _ in missing]
        if self.columns.unit is not None:
            notes += self._unit_notes(self.columns.unit, totals)
        if not variants and not notes:
            notes.append(NO_EVENTS)
        return (*notes, *lifecycle_note(self.reading, self.events.columns))

    def _unit_notes(self, unit: str, totals: Mapping[str, Any]) -> list[str]:
        if totals[_SEVERAL]:
            raise several_units(self.where, unit, str(totals[_first(_SEVERAL)]))
        if not (number := totals[_NOBODY]):
            return []
        what = f"cases without the unit {unit!r}"
        if self.reading.on_missing == "fail":
            first = f"case {str(totals[_first(_NOBODY)])[:60]!r}"
            missing = [MissingValues(what, number, first)]
            raise missing_values(self.where, missing, "set on_missing to 'drop'")
        return [left_out_note(number, what)]


def _first(name: str) -> str:
    return f"first_{name}"


def _is_dated(kind: Any) -> bool:
    return bool(kind.is_timestamp() or kind.is_date())


def _is_name(kind: Any) -> bool:
    """Return whether values of this type are formatted identically in every database."""
    return bool(kind.is_string() or kind.is_integer() or kind.is_boolean() or kind.is_uuid())


def present(column: Any) -> Any:
    """Return the value, or null for empty text and NaN."""
    import ibis

    if column.type().is_string():
        return column.nullif("")
    if column.type().is_floating():
        return ibis.ifelse(column.isnan(), None, column)
    return column
