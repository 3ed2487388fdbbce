"""From a table of events to a table of variants, as one Ibis expression for every database and for Spark.

    events    case, time, tie, activity; what is missing is null
    cases     one row a case: its activities in order         (a cap on the cases of a person belongs here)
    variants  one row a trace: how many cases have it, and how many events lacked something

The rule is the one of `logs.tables`, but rows have no order here: events of one case at one time go by the tie's
column, then by name, so that every run gives the same. Names and ties are compared by the bytes of their UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from ..errors import PRIVATE, EmptyLogError, LogError, ParameterError
from ..logs.columns import Columns, Reading

if TYPE_CHECKING:
    import ibis.expr.types as ir

Gather = Callable[["ir.Table", list[str], list[Any], Any, dict[str, Any]], "ir.Table"]
"""Of events: these columns, case by case, as arrays sorted by these keys, of the rows where …; and other aggregates."""

CASE, TIME, COUNT = "case", "time", "count"


def gather(events: ir.Table, parts: list[str], keys: list[Any], where: Any, others: dict[str, Any]) -> ir.Table:
    """By ordered aggregates, which most databases have."""
    arrays = {part: events[part].collect(where=where, order_by=keys) for part in parts}
    return events.group_by(CASE).aggregate(**arrays, **others)


def as_it_is(text: Any) -> Any:
    """Most databases compare text by its bytes, or by its code points, which is the same order."""
    return text


@dataclass(frozen=True)
class Query:
    """The variants of a table of events. `where` names the table in messages."""

    events: ir.Table
    reading: Reading
    where: str
    gather: Gather = gather
    sort_key: Callable[[Any], Any] = as_it_is
    columns: Columns = field(init=False)

    def __post_init__(self) -> None:
        if self.reading.unit is not None:
            raise ParameterError(f"unit is {self.reading.unit!r}, which a {self.where} cannot count yet: export the log")
        for name, remedy in (("order", "order by time"), ("ties", "take activity, or a column")):
            if getattr(self.reading, name) == "file":
                raise ParameterError(f"{name} is 'file', but the rows of a {self.where} have no order: {remedy}")
        by_time = replace(self.reading, order="time")
        object.__setattr__(self, "columns", Columns.of(by_time, list(self.events.columns), self.where))

    @property
    def parts(self) -> list[str]:
        """The columns that make an activity."""
        return [f"activity_{place}" for place in range(len(self.columns.activities))]

    @property
    def lacking(self) -> dict[str, tuple[str, str]]:
        """The columns that count what is missing: what that is, and where it should be."""
        columns = self.columns
        names = {
            f"without_{part}": ("an activity", name) for part, name in zip(self.parts, columns.activities, strict=True)
        }
        return {
            f"without_{CASE}": ("a case", columns.case),
            **names,
            f"without_{TIME}": ("a timestamp", str(columns.timestamp)),
        }

    def variants(self) -> ir.Table:
        """`parts` (arrays of text, in step), `count`, and `lacking`, which add up over all rows.

        One row may have null or empty arrays: it is no variant, but counts cases of whose events none was complete.
        """
        cases = self._cases()
        sums = {name: cases[name].sum() for name in self.lacking}
        return cases.group_by(self.parts).aggregate(**{COUNT: cases.count()}, **sums)

    def _events(self) -> ir.Table:
        columns, table = self.columns, self.events
        read = {CASE: _present(table[columns.case]), TIME: self._time(table[columns.timestamp])}
        read |= {part: self._name(table[name]) for part, name in zip(self.parts, columns.activities, strict=True)}
        if columns.ties is not None:
            read |= {f"tie_{place}": key for place, key in enumerate(self._ties(_present(table[columns.ties])))}
        return table.select(**read)

    def _cases(self) -> ir.Table:
        events = self._events()
        present = {f"without_{name}": events[name] for name in (CASE, *self.parts, TIME)}
        ties = [events[name] for name in events.columns if name.startswith("tie_")]
        keys = [events[TIME], *ties, *(self.sort_key(events[part]) for part in self.parts)]
        complete = reduce(and_, (value.notnull() for value in present.values()))
        lacking = {name: value.isnull().sum() for name, value in present.items()}
        return self.gather(events, self.parts, keys, complete, lacking)

    def _name(self, column: Any) -> Any:
        kind = column.type()
        if kind.is_string():
            return _present(column)
        if kind.is_integer() or kind.is_boolean() or kind.is_uuid():
            return column.cast("string")
        raise self._unfit(column, "no name", "text")

    def _time(self, column: Any) -> Any:
        if column.type().is_temporal() or column.type().is_numeric():
            return _present(column)
        raise self._unfit(column, "no time", "a timestamp")

    def _ties(self, tie: Any) -> list[Any]:
        """Missing ones last. Of texts, whole numbers by size come before others."""
        import ibis

        if not tie.type().is_string():
            return [tie.isnull(), tie]
        whole = tie.re_search(r"^[+-]?[0-9]{1,18}$") & ~tie.contains("\n")  # some take $ for the end of a line
        number = ibis.ifelse(whole, tie, None).cast("int64")
        return [tie.isnull(), number.isnull(), number, self.sort_key(ibis.ifelse(whole, None, tie))]

    def _unfit(self, column: Any, verdict: str, remedy: str) -> LogError:
        name, kind = column.get_name(), column.type()
        return LogError(
            f"{self.where}: column {name!r} is of type {kind}, {verdict}; make {remedy} of it, with --query or a view {PRIVATE}"
        )

    def notes(self, lacking: Mapping[str, int], variants: int) -> tuple[str, ...]:
        """Refuse what is missing, or say how many events were left out; refuse an empty log."""
        notes = []
        for name, (what, column) in self.lacking.items():
            if not (number := lacking[name]):
                continue
            if self.reading.on_missing == "fail":
                raise LogError(
                    f"{self.where}, column {column!r}: {number:,} events without {what}; mend the log, or leave them out "
                    f"with --on-missing drop {PRIVATE}"
                )
            notes.append(f"{number:,} events without {what} were left out")
        if not variants:
            raise EmptyLogError(f"{self.where}: the log is empty, it has no events; is it the right table?")
        return tuple(notes)


def _present(column: Any) -> Any:
    """Null where nothing is: the empty text and NaN too."""
    import ibis

    if column.type().is_string():
        return column.nullif("")
    if column.type().is_floating():
        return ibis.ifelse(column.isnan(), None, column)
    return column
