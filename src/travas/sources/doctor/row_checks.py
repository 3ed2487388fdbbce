"""What the rows of a table are like: missing cells, numbers, duplicates, ties, order, spellings; and how to read such rows."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import polars as pl

from ...errors import number_of
from ..columns import is_name_type, is_ordered, plain
from ..instants import TIME, UnknownFormatError, parsed_microseconds
from ..reading import ATTRIBUTE_NUMBER, LOCAL_NUMBERS, Decimal, Reading
from .diagnosis import Observation
from .roles import ColumnSearch

_CASE, _ACTIVITY, _ROW, _NUMBER, _TIED = "case", "activity", "row", "number", "tied"
_SHOWN, _SHUFFLED, _MOST = 3, 0.05, 0.9


class RowChecks:
    """Examines the rows, and adds to the reading what they need."""

    def __init__(self, table: pl.DataFrame, search: ColumnSearch, reading: Reading) -> None:
        self._table, self._search, self.reading = table, search, reading

    def findings(self) -> Iterator[Observation]:
        """Yield what the rows are like."""
        table, search = self._table, self._search
        case, activity, time = search.case, search.activity, search.timestamp
        yield Observation("size", number_of(table.height, "events"))
        yield from self._missing([name for name in (case, activity, time) if name is not None])
        yield from self._decimals([name for name in (case, activity, time, *search.people) if name is not None])
        if case is None or activity is None:
            return
        names: dict[str, pl.Series] = {}
        for role, name in ((_CASE, case), (_ACTIVITY, activity)):
            try:
                if not is_name_type(table.schema[name]):
                    raise pl.exceptions.InvalidOperationError
                names[role] = _emptied(table[name].cast(pl.String))
            except pl.exceptions.PolarsError:
                yield self._unfit(name, "not exact names", "text", role)
                return
        counted = {
            role: column.alias(role).drop_nulls().value_counts(sort=True, name=_NUMBER)
            for role, column in names.items()
        }
        cases, activities = counted[_CASE].height, counted[_ACTIVITY].height
        yield Observation("size", f"{number_of(cases, 'cases')}, {number_of(activities, 'activities')}")
        if time is not None and not is_ordered(table.schema[time]):
            yield self._unfit(time, "not times", "a timestamp", "timestamp")
        elif time is not None and (moments := self._moments(time)) is not None:
            yield from self._order(names[_CASE], names[_ACTIVITY], moments)
        yield from _spellings(counted[_ACTIVITY])
        for role, values in counted.items():
            if number := int(values.filter(pl.col(role).str.strip_chars() != pl.col(role))[_NUMBER].sum()):
                text = (
                    f"{number_of(number, 'cells')} of the {role} begin or end with a blank, which is part of the name"
                )
                yield Observation("spelling", text, "choice")

    def _unfit(self, name: str, what: str, remedy: str, field: str) -> Observation:
        text = (
            f"column {name!r} has the type {self._table.schema[name]}, whose values are {what}; convert it to {remedy}"
        )
        return Observation("columns", text, "problem", field)

    def _missing(self, needed: list[str]) -> Iterator[Observation]:
        people = [name for name in (self.reading.unit, *self._search.people) if name in self._table.columns]
        for name in dict.fromkeys((*needed, *people)):
            lacking = _emptied(self._table[name]).is_null()
            if number := int(lacking.sum()):
                cells = f"{number_of(number, 'cells missing')}, the first in row {int(lacking.arg_max() or 0) + 1:,}"
                what = "these events" if name in needed else "cases without a person"
                text = f"column {name!r}: {cells}; to leave out {what}, set on_missing to 'drop'"
                yield Observation("missing", text, "choice", "on_missing")
                self.reading = attrs.evolve(self.reading, on_missing="drop")

    def _decimals(self, used: list[str]) -> Iterator[Observation]:
        """Find numbers with decimal commas or marks between thousands, which need a setting."""
        if self.reading.decimal is not None:
            return
        for name in self._table.columns:
            if name in used or self._table.schema[name] != pl.String:
                continue
            values = _emptied(self._table[name]).drop_nulls()
            plain_ones = values.str.contains(ATTRIBUTE_NUMBER)
            fits: dict[Decimal, int] = {
                mark: int(values.str.contains(form).sum()) for mark, form in LOCAL_NUMBERS.items()
            }
            best = max(fits, key=lambda mark: fits[mark])  # of equal ones the comma
            if plain_ones.sum() < fits[best] >= _MOST * len(values):
                example = str(values.filter(~plain_ones)[0])[:20]
                text = f"column {name[:40]!r} has numbers such as {example!r}; to release it in bins, set decimal to {best!r}"
                yield Observation("numbers", text, "choice", "decimal")
                self.reading = attrs.evolve(self.reading, decimal=best)
                return

    def _moments(self, name: str) -> pl.Series | None:
        column, form, times = self._table[name], self._search.reading.timestamp_format, self._search.times
        if times is not None and times.instants is not None and times.formats[0] == form:
            return times.instants
        try:
            return column if column.dtype != pl.String else parsed_microseconds(_emptied(column), form)
        except UnknownFormatError:
            return None

    def _order(self, case: pl.Series, activity: pl.Series, time: pl.Series) -> Iterator[Observation]:
        """Report duplicates, simultaneous events and rows that are not in the order of time.

        Cases are compared by their hashes: 8 bytes instead of text for every event.
        """
        events = pl.DataFrame({_CASE: case.hash(), TIME: time}).with_row_index(_ROW)
        known = events.filter(case.is_not_null() & time.is_not_null()).sort(_CASE, maintain_order=True)
        follows = pl.col(_CASE) == pl.col(_CASE).shift()
        backward = follows & (pl.col(TIME) < pl.col(TIME).shift())
        steps, backwards = known.select(steps=follows.sum(), backwards=backward.sum()).row(0)
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
        if backwards:
            text = f"{number_of(backwards, 'rows')} before an earlier row of the case; events are sorted by time"
            yield Observation("order", text)
        if tied > duplicates and self.reading.ties is None:
            text = f"{number_of(tied - duplicates, 'events')} at the same time as another activity of the case, "
            if backwards > _SHUFFLED * steps:
                text += "and the rows are not in order: the order of the file says nothing about them; set ties to 'activity'"
                self.reading = attrs.evolve(self.reading, ties="activity")
            else:
                text += "read in the order of the file; for another order, set ties to 'activity' or a column"
            yield Observation("ties", text, "choice", "ties")


def _emptied(column: pl.Series) -> pl.Series:
    """Return a column with null instead of empty text."""
    return column.set(column == "", None) if column.dtype == pl.String else column


def _spellings(activities: pl.DataFrame) -> Iterator[Observation]:
    counts = dict(activities.iter_rows())
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
