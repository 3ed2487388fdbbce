"""The events of a table: encoded as numbers, sorted, grouped by case, counted by trace.

Every step is a rule on one row or one case. Columns are encoded while they are read, so that memory holds a few numbers
per event and no text. Events are sorted in parts, a part being the cases with certain hashes; a log too long to be held
as numbers is read in several passes over such parts.

A case can be represented by a hash of its identifier, which is much faster than a dictionary of identifiers. The result
is still exact: identifiers are counted as well, and if there are more of them than hashes, the log is read again with
other hashes. This pays off if one column can be read without the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property

import attrs
import polars as pl
import polars.selectors as cs

from ...errors import CONFIDENTIAL, LogError
from ..contribution_bounding import case_digest, several_units
from ..reading import ATTRIBUTE_NUMBER, Reading
from ..row_selection import by_column, spellings
from ..wording import MissingValues, UseOfTimestamps, left_out_note, missing_values
from .closed_events import check_dated, closed_events
from .column_types import check_types, is_time
from .instants import AWARE, NANOSECONDS, TIME, UnknownFormatError, aware, instants
from .table_columns import Columns

EVENTS_PER_PART = 32_000_000
"""Sorting a part takes about 60 bytes per event."""

PARTS_PER_PASS = 4
"""An event outside the current part takes 20 bytes; a pass with times or ties as text is a single part."""

COUNT = "count"
_CASE, _TIE, _ROW, _UNIT, _DIGEST, _SELECTED = "case", "tie", "row", "unit", "digest", "selected"
_FIRST = "first"
_ATTEMPTS = 3


class Events:
    """A table of events. `notes` state what was left out so far, `several` the cases with several values of an attribute.

    `hashed`: cases are represented by hashes. `whole_rows`: no column may be skipped, because an error in one would
    shift all others.
    """

    def __init__(
        self,
        table: pl.LazyFrame,
        reading: Reading,
        where: str,
        blank_rows: Callable[[], list[int]] = list,
        *,
        hashed: bool = False,
        whole_rows: bool = False,
    ) -> None:
        self._table, self.where, self._blank_rows = table, where, blank_rows
        self._schema = table.collect_schema()
        self.present = self._schema.names()
        self.columns = self._columns_of(reading)
        self.reading = attrs.evolve(reading, details=self.columns.details)
        self.notes: list[str] = []
        self.several: Counter[str] = Counter()
        columns = self.columns
        for name in columns.names:
            if f"{name}_duplicated_0" in self._schema:
                raise LogError(f"{where}: two columns are named {name!r}; rename one {CONFIDENTIAL}")
        check_types(columns, self._schema, where)
        if reading.period is not None:
            check_dated(str(columns.timestamp), self._schema, where)
        self._columns_apart = pl.QueryOptFlags(projection_pushdown=not whole_rows)
        is_number = self._schema[columns.case].is_integer()  # cases of a unit are selected by their identifier
        self._by_hash = hashed and columns.unit is None and not is_number and reading.period is None

    def _columns_of(self, reading: Reading) -> Columns:
        """The columns; numbers in the time column order events, but are not times."""
        columns = Columns.of(reading, self._schema.names(), self.where)
        numbers = columns.timestamp is not None and not is_time(self._schema[columns.timestamp])
        if reading.details.times == "if recorded" and numbers:
            reading = attrs.evolve(reading, details=reading.details.settled("not recorded"))
            return Columns.of(reading, self._schema.names(), self.where)
        return columns

    @property
    def parts(self) -> list[str]:
        """The columns of `traces` that make up an activity."""
        return [f"activity {index}" for index in range(len(self.columns.activities))]

    def passes(self, rows: int) -> int:
        """Return the number of passes over a table of about `rows` rows. A person's cases may be in any pass."""
        if self.columns.unit is not None:
            return 1
        kinds = [self._schema[name] for name in (self.columns.timestamp, self.columns.ties) if name is not None]
        light = all(kind.is_temporal() or kind.is_numeric() for kind in kinds)
        return rows // (EVENTS_PER_PART * (PARTS_PER_PASS if light else 1)) + 1

    @property
    def attributes(self) -> list[str]:
        """The columns of `cases` with the values of attributes."""
        return [f"attribute {index}" for index in range(len(self.columns.attributes))]

    def traces(self, number: int, passes: int) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """Return the traces of a pass, and its counted cases if details are read.

        Traces have `parts` (parallel lists of names) and `COUNT`; cases have `parts`, `TIME` and `AWARE` (parallel lists)
        and `attributes`.
        """
        for attempt in range(_ATTEMPTS):
            events, identifiers = self._read(number, passes, attempt)
            traces, cases = self._counted(events)
            if identifiers is None or identifiers == traces[COUNT].sum():
                if cases is not None:
                    for name, column in zip(self.columns.attributes, self.attributes, strict=True):
                        self.several[name] += int(cases[_several(column)].sum())
                return traces, cases
        raise LogError(f"{self.where}: the log changed while it was being read; try again")

    def _read(self, number: int, passes: int, seed: int) -> tuple[pl.DataFrame, int | None]:
        """Return the complete events of a pass, and the number of case identifiers if cases are hashed."""
        case, kind = self.columns.case, self._schema[self.columns.case]
        rows = self._table.filter(*self._selected) if self._selected else self._table
        rows = rows if passes == 1 else rows.filter(_hash(case, kind) % passes == number)
        events = rows.select(**self._numbers(seed)).collect(engine="streaming", optimizations=self._columns_apart)
        if self.columns.timestamp is not None:
            times = events[TIME]
            events = events.with_columns(self._instants(times))
            if self._reads_times and times.dtype == pl.String:
                events = events.with_columns(aware(times, self.reading.timestamp_format))
        if any(events[name].null_count() for name in self._needed):
            self.notes = list(self._left_out)
            events = events.drop_nulls(list(self._needed))
            rows = rows.filter(~pl.any_horizontal(*self._missing.values()))
        if not self._by_hash:
            return self._of_period(events), None
        return events, rows.select(_name(case).n_unique()).collect(engine="streaming").item()

    def _of_period(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return the events of the period: those of cases that are closed in it, up to their closing."""
        period = self.reading.period
        if period is None:
            return events
        closed = []
        for part in _in_parts(events):
            by = _sort_keys(part, self.parts, self.reading)
            ordered = part.sort(by, maintain_order=True, nulls_last=True)
            closed.append(closed_events(ordered, period, _CASE, TIME, self.parts[0]))
        return pl.concat(closed)

    def _counted(self, events: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        owners = self._owners(events) if self.columns.unit is not None and events.height else None
        reads_details = bool(self.reading.details)
        tables = []
        for part in _in_parts(events.drop(_UNIT, strict=False)):
            cases = self._cases(part)
            if owners is not None:
                cases = self._kept(cases.join(owners.lazy(), on=_CASE))
            elif not reads_details:
                cases = cases.group_by(self.parts).len(COUNT)
            tables.append(cases.collect())
        counted = pl.concat(tables)
        if owners is not None and len(tables) > 1:
            counted = self._kept(counted.lazy()).collect()
        named = [pl.col(part).list.eval(pl.element().cat.to(events[part].dtype)) for part in self.parts]
        cases_read = counted.with_columns(named) if reads_details else None
        if owners is not None or reads_details:
            counted = counted.lazy().group_by(self.parts).len(COUNT).collect()
        elif len(tables) > 1:
            counted = counted.group_by(self.parts).agg(pl.col(COUNT).sum())
        return counted.with_columns(named), cases_read

    def _cases(self, events: pl.DataFrame) -> pl.LazyFrame:
        """Group events by case: the names of its activities as numbers, and its details."""
        by = _sort_keys(events, self.parts, self.reading) if self.columns.by_time else []
        ordered = events
        if by and not (len(by) == 1 and events[TIME].is_sorted()):
            ordered = events.sort(by, maintain_order=True, nulls_last=True)
        parts = pl.col(self.parts).to_physical()  # Polars cannot group by lists of categoricals and something else
        times = (TIME, AWARE) if self._reads_times else ()
        lists = [parts, *(pl.col(name) for name in times if name in events.columns)]
        if self.reading.duplicate_events == "drop":
            same = [name for name in (_CASE, TIME, NANOSECONDS, *self.parts) if name in events.columns]
            ordered = ordered.with_columns((pl.int_range(pl.len()).over(same) == 0).alias(_FIRST))
            lists = [each.filter(pl.col(_FIRST)) for each in lists]
        codes = {name: pl.col(name).to_physical() for name in self.attributes}
        several = [(code.min() != code.max()).fill_null(False).alias(_several(name)) for name, code in codes.items()]
        if self.reading.ties != "activity":
            firsts = [pl.col(name).drop_nulls().first() for name in self.attributes]
            return ordered.lazy().group_by(_CASE).agg(*lists, *firsts, *several)
        cases = ordered.lazy().group_by(_CASE).agg(*lists, *several)
        # of simultaneous events with the same name, the smallest value: rows have no order
        for name in self.attributes:
            own = events.lazy().filter(pl.col(name).is_not_null())
            value = pl.col(name).cast(pl.String) if isinstance(events[name].dtype, pl.Categorical) else pl.col(name)
            values = own.sort([*by, value], maintain_order=True).group_by(_CASE).agg(pl.col(name).first())
            cases = cases.join(values, on=_CASE, how="left")
        return cases

    @property
    def is_zoned(self) -> bool:
        """Whether timestamps have a zone, by the type of their column; text is decided value by value."""
        kind = None if self.columns.timestamp is None else self._schema[self.columns.timestamp]
        return isinstance(kind, pl.Datetime) and kind.time_zone is not None

    @property
    def _reads_times(self) -> bool:
        return self.reading.details.times == "read"

    @cached_property
    def _selected(self) -> list[pl.Expr]:
        """The conditions on the rows that are read (`sources.row_selection`); none by default."""
        conditions = [
            _column(name).cast(pl.String).is_in(list(values)).fill_null(False)
            for name, values in by_column(self.reading.where).items()
        ]
        if (lifecycle := self.reading.lifecycle) != "all" and self.columns.lifecycle is not None:
            transition = _name(self.columns.lifecycle)
            matches = transition.is_in(list(spellings(lifecycle)))
            conditions.append(matches.fill_null(lifecycle == "complete"))
        return conditions

    @cached_property
    def _needed(self) -> dict[str, str]:
        """The values that an event must have, and their columns."""
        columns = self.columns
        needed = {_CASE: columns.case} | dict(zip(self.parts, columns.activities, strict=True))
        return needed if columns.timestamp is None else needed | {TIME: columns.timestamp}

    def _numbers(self, seed: int) -> dict[str, pl.Expr]:
        """The columns of an event; missing values are null."""
        columns, kinds = self.columns, self._schema
        case, kind = columns.case, kinds[columns.case]
        read = {_CASE: _hashed(_name(case), seed) if self._by_hash else _compared(case, kind)}
        read |= {part: _coded(name) for part, name in zip(self.parts, columns.activities, strict=True)}
        if columns.timestamp is not None:
            read[TIME] = _time(columns.timestamp, kinds[columns.timestamp])
        if columns.ties is not None:
            read[_TIE] = _column(columns.ties)
        if columns.unit is not None:
            read[_UNIT] = _compared(columns.unit, kinds[columns.unit])
        named = len(columns.details.attributes)
        for index, (column, name) in enumerate(zip(self.attributes, columns.attributes, strict=True)):
            read[column] = _coded(name) if index < named else _number(name, kinds[name])
        return read

    @property
    def _missing(self) -> dict[str, pl.Expr]:
        numbers = self._numbers(0)
        return {name: numbers[name].is_null() for name in self._needed}

    @property
    def _is_selected(self) -> pl.Expr:
        return pl.all_horizontal(self._selected) if self._selected else pl.lit(True)

    @cached_property
    def _left_out(self) -> list[str]:
        """Refuse or drop events without a case, an activity or a required timestamp; note how many are dropped."""
        missing = self._table.select(**self._missing, **{_SELECTED: self._is_selected}).with_row_index(_ROW)
        rows = missing.filter(_SELECTED, pl.any_horizontal(list(self._needed))).collect(engine="streaming")
        rows = rows.filter(~pl.col(_ROW).is_in(self._blank_rows()))
        incomplete: list[MissingValues] = []
        for name, column in self._needed.items():
            lacking = rows.filter(pl.col(name))[_ROW]
            if len(lacking):
                kind = "a case" if name == _CASE else "a timestamp" if name == TIME else "an activity"
                first = f"row {int(lacking[0]) + 1:,} (not counting the header)"
                incomplete.append(MissingValues(f"events without {kind}", len(lacking), first, column))
        if incomplete and self.reading.on_missing == "fail":
            use: UseOfTimestamps = "for order" if self.columns.by_time else "for times"
            raise missing_values(self.where, incomplete, "set on_missing to 'drop'", use)
        return [left_out_note(each.number, each.what) for each in incomplete]

    def _instants(self, times: pl.Series) -> list[pl.Series]:
        try:
            return instants(times, self.reading.timestamp_format)
        except UnknownFormatError as error:
            text, form, column = str(error), self.reading.timestamp_format, str(self.columns.timestamp)
        cells = {TIME: _column(column).cast(pl.String), _SELECTED: self._is_selected}
        values = self._table.select(**cells).with_row_index(_ROW)
        first = values.filter(_SELECTED, pl.col(TIME) == text).select(pl.col(_ROW).min())
        row = int(first.collect(engine="streaming").item()) + 1
        kind = "in ISO 8601" if form is None else f"of the format {form!r}"
        raise LogError(
            f"{self.where}, column {column!r}, row {row:,} (not counting the header): {text[:60]!r} is not a timestamp {kind}; "
            f"fix the log, or set timestamp_format {CONFIDENTIAL}",
            field="timestamp_format",
        )

    def _owners(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return the unit and the digest of every case; cases without a unit are dropped or refused."""
        unit = str(self.columns.unit)
        values = pl.col(_UNIT).drop_nulls()
        owners = events.lazy().group_by(_CASE).agg(values.n_unique().alias("values"), values.first()).collect()
        texts = owners[_CASE].cast(pl.String)
        if (several := owners["values"] > 1).any():
            raise several_units(self.where, unit, str(texts.filter(several).min()))
        if number := int((nobody := owners["values"] == 0).sum()):
            what = f"cases without the unit {unit!r}"
            if self.reading.on_missing == "fail":
                first = f"case {str(texts.filter(nobody).min())[:60]!r}"
                missing = [MissingValues(what, number, first)]
                raise missing_values(self.where, missing, "set on_missing to 'drop'")
            self.notes.append(left_out_note(number, what))
        digests = pl.Series(_DIGEST, [case_digest(text) for text in texts], dtype=pl.Binary)
        return owners.select(_CASE, _UNIT).with_columns(digests).filter(~nobody)

    def _kept(self, cases: pl.LazyFrame) -> pl.LazyFrame:
        """Select the cases that are counted. Applied to the selections of parts, it selects what it would of the whole."""
        if self.reading.counts_of == "units":
            cases = cases.group_by(_UNIT, *self.parts).agg(pl.all().sort_by(_DIGEST).first())
        return cases.filter(pl.col(_DIGEST).rank("ordinal").over(_UNIT) <= self.reading.privacy_unit.max_cases)


def _in_parts(events: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the events in parts, each with complete cases."""
    parts = events.height // EVENTS_PER_PART + 1
    part = pl.col(_CASE).to_physical().hash() % parts
    yield from (events.filter(part == number) for number in range(parts)) if parts > 1 else (events,)


def _sort_keys(events: pl.DataFrame, parts: list[str], reading: Reading) -> list[pl.Expr]:
    """Return the keys of a stable sort by time; one sort of the whole log also orders the events of each case."""
    by: list[pl.Expr] = [pl.col(name) for name in (TIME, NANOSECONDS) if name in events.columns]
    if reading.ties == "activity":
        by += [pl.col(part).cast(pl.String) for part in parts]
    elif _TIE in events.columns:
        tie = pl.col(_TIE)
        if isinstance(events[_TIE].dtype, pl.Categorical | pl.Enum):
            tie = tie.cast(pl.String)
        if (
            not events[_TIE].dtype.is_numeric() and not events[_TIE].dtype.is_temporal()
        ):  # whole numbers by size, then other texts, then what is missing
            tie = pl.when(tie != "").then(tie)
            number = pl.when(tie.str.contains(r"^[+-]?[0-9]{1,18}$")).then(tie).cast(pl.Int64, strict=False)
            by += [number, pl.when(number.is_null()).then(tie)]
        else:
            by.append(tie)
    return by


def _several(attribute: str) -> str:
    """The column of `cases` that says whether an attribute has several values in a case."""
    return f"several {attribute}"


def _column(name: str) -> pl.Expr:
    """Return the column of exactly this name; `pl.col` interprets some names as patterns."""
    return cs.by_name(name).as_expr()


def _name(column: str) -> pl.Expr:
    """Return a value as text; empty text is null."""
    text = _column(column).cast(pl.String)
    return pl.when(text != "").then(text)


def _coded(column: str) -> pl.Expr:
    """Encode names as numbers."""
    return _name(column).cast(pl.Categorical(pl.Categories.random()))


def _compared(column: str, kind: pl.DataType) -> pl.Expr:
    """Encode identifiers that are only compared; integers stay as they are."""
    return _column(column) if kind.is_integer() else _coded(column)


def _hashed(name: pl.Expr, seed: int) -> pl.Expr:
    return pl.when(name.is_not_null()).then(name.hash(seed))


def _hash(column: str, kind: pl.DataType) -> pl.Expr:
    """Hash a case identifier; equal for equal cases in any file."""
    value = _column(column)
    return (value if kind.is_numeric() else value.cast(pl.String)).hash()


def _number(column: str, kind: pl.DataType) -> pl.Expr:
    """Return a number; NaN and text that is not a plain decimal number are null."""
    if kind.is_numeric():
        return _column(column).cast(pl.Float64).fill_nan(None)
    text = _column(column).cast(pl.String)
    return pl.when(text.str.contains(ATTRIBUTE_NUMBER)).then(text).cast(pl.Float64, strict=False)


def _time(column: str, kind: pl.DataType) -> pl.Expr:
    """Return the timestamp column; NaN and empty text are null."""
    if kind.is_temporal() or kind.is_numeric():
        return _column(column).fill_nan(None) if kind.is_float() else _column(column)
    text = _column(column).cast(pl.String)
    return pl.when(text != "").then(text)
