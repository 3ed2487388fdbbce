"""The answers to questions about a table of events, as Ibis expressions for all databases and Spark.

    details   one row per complete event: case, order, activity, microseconds, attributes
    kept      with a unit, the cases that are counted
    events    the details of counted cases, after the abstraction: case, place, activity, microseconds
    answer    one row per cell: its sum

Only sums leave the database, except for `travas compare`, which fetches the events. All numbers are integers; quotients
and square roots go through floats where the result is exact, or corrected to be: see `_quotient` and `_weight`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from ...errors import ParameterError
from ...log import questions as q
from ...log.abstraction import (
    FULL,
    Abstraction,
    AbstractionStep,
    AsSet,
    First,
    Fold,
    Group,
    Only,
    Prefix,
    Suffix,
    Without,
)
from ...log.calendar import DAY, DAYS_FROM_MONDAY, FIRST_INSTANT, HOUR, WEEK, WEEKS, WEEKS_PER_BLOCK, zone_offsets
from ...log.questions import Details, Totals, check_details
from ...log.traces import Activity
from .details_expression import MICROSECONDS, attribute_column, counted_cases
from .variants_expression import CASE, Query

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import numpy as np
    from numpy.typing import NDArray

_INDEX, _SIZE, _NODE, _SUM, _CELL, _COUNT, _NORM = "index", "size", "node", "sum", "cell", "number", "norm"
_RANK, _VALUE, _OWN = "rank", "value", "own"

RunQuery = Callable[["ir.Table"], list[dict[str, Any]]]
"""Runs an expression where the data are, and returns its rows."""


@dataclass(frozen=True, eq=False, repr=False)
class RemoteTotals:
    """Answers questions by queries. `table` is that of `details_of`; `is_zoned`: timestamps have a zone."""

    query: Query
    table: ir.Table
    ask: RunQuery
    is_zoned: bool
    abstraction: Abstraction = FULL

    @property
    def details(self) -> Details:
        """What can be asked about."""
        return self.query.reading.details

    def under(self, abstraction: Abstraction) -> Totals:
        """Return the answers for traces that are generalised further."""
        for step in abstraction.steps:
            if not isinstance(step, Fold | First | AsSet | Prefix | Suffix | Only | Group):
                raise ParameterError(
                    f"abstraction has the step {step}, which databases and Spark cannot apply to times and attributes; "
                    "remove it, or export the log to a file",
                    field="abstraction",
                )
        return replace(self, abstraction=self.abstraction | abstraction)

    def sums(self, question: q.CellQuestion) -> NDArray[np.int64]:
        """Return what all cases add to the cells of a question."""
        import numpy as np

        if isinstance(question, q.TIME_QUESTIONS):
            check_details(self, Details("read"))
        sums = np.zeros(int(np.prod(question.shape)), dtype=np.int64)
        if len(sums):
            index_of = _indexes(question)
            for row in self.ask(self.answer(question)):
                index = index_of(int(row[_CELL]))
                if index is not None:
                    sums[index] += int(row[_SUM])
        return sums.reshape(question.shape)

    def value_sums(self, question: q.AttributeValues) -> dict[str | None, int]:
        """Return what all cases add to the values of an attribute."""
        check_details(self, Details(attributes=(question.attribute,)))
        cases = self._with_value(self._events().select(CASE).distinct(), question.attribute)
        answer = cases.group_by(_VALUE).aggregate(**{_COUNT: cases.count()})
        return {_text(row[_VALUE]): int(row[_COUNT]) * question.contribution for row in self.ask(answer)}

    def counted_events(self) -> list[dict[str, Any]]:
        """Fetch the events of all cases that are counted, case by case, in order: for evaluation only. Confidential."""
        events = self._events()
        return self.ask(events.order_by(events[CASE], events[_INDEX]))

    def counted_values(self, attribute: str) -> dict[Any, Any]:
        """Fetch the value of an attribute for every case that is counted: for evaluation only. Confidential."""
        cases = self._with_value(self._events().select(CASE).distinct(), attribute)
        return {row[CASE]: row[_VALUE] for row in self.ask(cases)}

    def try_out(self) -> None:
        """Ask one question of every kind that was asked for, so that what cannot be answered is refused now."""
        if self.details.times == "read":
            self.sums(q.EventHours(activities=(), others="node", zone="UTC", contribution=1))
        for name in self.details.attributes:
            self.value_sums(q.AttributeValues(attribute=name, contribution=1))
        for name in self.details.numbers:
            self.sums(q.AttributeBins(attribute=name, edges=(0,), contribution=1))

    def answer(self, question: q.CellQuestion) -> ir.Table:
        """Return the expression of the answer: `cell` and `sum`, for the cells that are not 0."""
        if isinstance(question, q.AttributeBins):
            cases = self._with_value(self._events().select(CASE).distinct(), question.attribute)
            return _histogram(cases, self._bin(cases, question), question)
        if not isinstance(question, q.ProjectedQuestion):
            raise TypeError(f"not a question: {type(question).__name__}")
        events = self._projected(question)
        match question:
            case q.Durations():
                return _durations(events, question)
            case q.Throughput():
                first, last = events[_INDEX] == 0, events[_INDEX] == events[_SIZE] - 1
                moment = events[MICROSECONDS]
                cases = events.group_by(CASE).aggregate(span=moment.max(where=last) - moment.max(where=first))
                return _histogram(cases, _bucket(cases["span"]), question)
            case q.AttributeValuesByLast() | q.AttributeBinsByLast():
                last = events.filter(events[_INDEX] == events[_SIZE] - 1).select(CASE, _NODE)
                cases = self._with_value(last, question.attribute)
                row = (
                    self._bin(cases, question) if isinstance(question, q.BinnedQuestion) else self._row(cases, question)
                )
                return _histogram(cases, row * question.nodes + cases[_NODE], question)
            case q.EventWeekdays() | q.EventHours():
                hours = events.mutate(**{_CELL: self._unit_of_time(events, question)})
                return _counts_by_norm(hours, question, lambda hour: _day_or_hour(hour, question))
            case q.CalendarQuestion():
                starts = events.filter(events[_INDEX] == 0)
                return _histogram(starts, self._unit_of_time(starts, question), question)
        raise TypeError(f"not a question: {type(question).__name__}")

    # ------------------------------------------------------------------------------------------------------- the events

    def _events(self) -> ir.Table:
        """The events of counted cases after the abstraction."""
        import ibis

        query, table = self.query, self.table
        if query.columns.unit is not None:
            table = table.semi_join(counted_cases(query, table), CASE)
        in_order = ibis.window(group_by=table[CASE], order_by=query.sorting(table))
        position = ibis.row_number().over(in_order)
        columns = [CASE, *query.parts, *([MICROSECONDS] if self.details.times == "read" else [])]
        events = table.mutate(**{_INDEX: position}).select(*columns, _INDEX)
        for step in self.abstraction.steps:
            events = self._applied(step, events)
        return events

    def _applied(self, step: AbstractionStep, events: ir.Table) -> ir.Table:
        import ibis

        parts = [events[part] for part in self.query.parts]
        by_case = ibis.window(group_by=events[CASE], order_by=events[_INDEX])
        match step:
            case Fold():
                again = reduce(and_, (part == part.lag().over(by_case) for part in parts))
                return _filtered(events, ~again.fill_null(False))
            case First() | AsSet():
                one = ibis.window(group_by=[events[CASE], *parts], order_by=events[_INDEX])
                events = _filtered(events, ibis.row_number().over(one) == 0)
                if isinstance(step, AsSet):
                    by_name = ibis.window(group_by=events[CASE], order_by=[events[part] for part in self.query.parts])
                    events = events.mutate(**{_INDEX: ibis.row_number().over(by_name)})
                return events
            case Prefix():
                return _filtered(events, ibis.row_number().over(by_case) < step.length)
            case Suffix():
                size = events.count().over(ibis.window(group_by=events[CASE]))
                return _filtered(events, size - ibis.row_number().over(by_case) <= step.length)
            case Only():
                named = parts[0].isin([self._bytes(name) for name in step.activities])
                return events.filter(~named if isinstance(step, Without) else named)
            case Group():
                grouped = self._by_name(parts[0], [(name, self._bytes(group)) for name, group in step.groups], parts[0])
                return events.mutate(**{self.query.parts[0]: grouped})
        raise TypeError(f"not a step of databases: {step}")

    def _bytes(self, text: str) -> Any:
        import ibis

        return self.query.as_bytes(ibis.literal(text))

    def _by_name(self, column: Any, results: Sequence[tuple[str, Any]], default: Any) -> Any:
        """Return what belongs to a name, or the default."""
        import ibis

        if not results:
            return default
        return ibis.cases(*((column == self._bytes(name), result) for name, result in results), else_=default)

    def _projected(self, question: q.ProjectedQuestion) -> ir.Table:
        """The events as nodes of a question, with their index in the case and its size."""
        import ibis

        events = self._events()
        other = ibis.literal(len(question.activities) if question.others == "node" else -1, "int64")
        branches = [(self._is(events, name), ibis.literal(n, "int64")) for n, name in enumerate(question.activities)]
        node = ibis.cases(*branches, else_=other) if branches else other
        events = events.mutate(**{_NODE: node})
        events = events.filter(events[_NODE] >= 0)
        case = ibis.window(group_by=events[CASE])
        position = ibis.row_number().over(ibis.window(group_by=events[CASE], order_by=events[_INDEX]))
        return events.mutate(**{_INDEX: position, _SIZE: events.count().over(case)})

    def _is(self, events: ir.Table, activity: Activity) -> Any:
        names = activity if isinstance(activity, tuple) else (activity,)
        if len(names) != len(self.query.parts):
            import ibis

            return ibis.literal(False)
        pairs = zip(self.query.parts, names, strict=True)
        return reduce(and_, (events[part] == self._bytes(name) for part, name in pairs))

    # --------------------------------------------------------------------------------------------------------- the cells

    def _unit_of_time(self, events: ir.Table, question: q.CalendarQuestion) -> Any:
        """The week of the calendar, or the hour of the week, of every event by the wall clock.

        The moment occurs once in the expression, because SQL repeats what an expression uses twice.
        """
        moment = events[MICROSECONDS]
        wall = moment + _offset(moment, zone_offsets(question.zone)) if self.is_zoned else moment
        if isinstance(question, q.StartBlocks | q.StartWeeks):
            return _quotient(wall + DAYS_FROM_MONDAY * DAY, WEEK)
        since = wall - (FIRST_INSTANT - WEEK)  # positive, and from a Monday on, as 0001-01-01 was one
        return _quotient(since % WEEK, HOUR)

    def _with_value(self, cases: ir.Table, attribute: str) -> ir.Table:
        """The cases with their value of an attribute: the first one that is not missing, in the order of the events."""
        import ibis

        table, column = self.table, attribute_column(self.query, attribute)
        present = table.filter(table[column].notnull())
        order = [*self.query.sorting(present), present[column]]
        rank = ibis.row_number().over(ibis.window(group_by=present[CASE], order_by=order))
        ranked = present.select(**{_OWN: present[CASE], _VALUE: present[column], _RANK: rank})
        first = ranked.filter(ranked[_RANK] == 0)
        return cases.left_join(first, cases[CASE] == first[_OWN]).select(*cases.columns, _VALUE)

    def _bin(self, cases: ir.Table, question: q.BinnedQuestion) -> Any:
        import ibis

        check_details(self, Details(numbers=(question.attribute,)))
        value = cases[_VALUE]
        return ibis.ifelse(value.isnull(), question.bins, _reached(value, [float(edge) for edge in question.edges]))

    def _row(self, cases: ir.Table, question: q.AttributeValuesByLast) -> Any:
        import ibis

        check_details(self, Details(attributes=(question.attribute,)))
        value, other = cases[_VALUE], len(question.values)
        known = [(text, ibis.literal(row, "int64")) for row, text in enumerate(question.values)]
        return ibis.ifelse(value.isnull(), other + 1, self._by_name(value, known, ibis.literal(other, "int64")))


def _filtered(events: ir.Table, kept: Any) -> ir.Table:
    """Filter by a condition with window functions, which must be computed first."""
    marked = events.mutate(kept=kept)
    return marked.filter(marked["kept"]).drop("kept")


def _durations(events: ir.Table, question: q.Durations) -> ir.Table:
    import ibis

    by_case = ibis.window(group_by=events[CASE], order_by=events[_INDEX])
    pair = events[_NODE] * question.nodes + events[_NODE].lead().over(by_case)
    steps = events.mutate(pair=pair, span=events[MICROSECONDS].lead().over(by_case) - events[MICROSECONDS])
    steps = steps.filter(steps["pair"].isin([one * question.nodes + other for one, other in question.pairs]))
    return _counts_by_norm(
        steps.mutate(**{_CELL: steps["pair"] * q.DURATION_BUCKETS + _bucket(steps["span"])}), question
    )


def _indexes(question: q.CellQuestion) -> Callable[[int], int | None]:
    """Return the function from a cell of the expression to the index of the answer; None if it belongs to none."""
    if not isinstance(question, q.Durations):
        return partial(_index_of, question)
    rows = {one * question.nodes + other: row for row, (one, other) in enumerate(question.pairs)}
    size = q.DURATION_BUCKETS
    return lambda cell: rows[cell // size] * size + cell % size


def _index_of(question: q.CellQuestion, cell: int) -> int | None:
    if isinstance(question, q.StartBlocks | q.StartWeeks):
        cell = min(max(cell, 0), WEEKS - 1)
    match question:
        case q.StartBlocks():
            return cell // WEEKS_PER_BLOCK
        case q.StartWeeks():
            block, week = divmod(cell, WEEKS_PER_BLOCK)
            return question.blocks.index(block) * WEEKS_PER_BLOCK + week if block in question.blocks else None
        case q.StartWeekdays():
            return cell // 24
        case q.StartHours():
            return cell % 24 + 24 * (cell // 24 in question.weekend)
    return cell


def _bucket(span: Any) -> Any:
    return _reached(span, list(q.DURATION_EDGES))


def _reached(value: Any, edges: Sequence[float]) -> Any:
    """The number of increasing edges that a value is not below: one flat expression, whatever their number."""
    import ibis

    below = ((value < edge, ibis.literal(number, "int64")) for number, edge in enumerate(edges))
    return ibis.cases(*below, else_=ibis.literal(len(edges), "int64"))


def _histogram(cases: ir.Table, cell: Any, question: q.CellQuestion) -> ir.Table:
    """The sums where every case adds Δ to one cell."""
    rows = cases.select(**{_CELL: cell})
    return rows.group_by(_CELL).aggregate(**{_SUM: rows.count() * question.contribution})


def _day_or_hour(hour: Any, question: q.CalendarQuestion) -> Any:
    """The cell of an hour of the week."""
    import ibis

    weekday = _quotient(hour, 24)
    if not isinstance(question, q.HoursQuestion):
        return weekday
    kind = ibis.ifelse(weekday.isin(question.weekend), 24, 0) if question.weekend else 0
    return hour % 24 + kind


def _counts_by_norm(events: ir.Table, question: q.CellQuestion, cell: Callable[[Any], Any] | None = None) -> ir.Table:
    """The sums where every case adds W·c; `cell` merges the cells of `events` to those of the question."""
    import ibis

    counts = events.group_by([CASE, _CELL]).aggregate(**{_COUNT: events.count()})
    if cell is not None:
        counts = counts.mutate(**{_CELL: cell(counts[_CELL])})
        counts = counts.group_by([CASE, _CELL]).aggregate(**{_COUNT: counts[_COUNT].sum().cast("int64")})
    squares = (counts[_COUNT] * counts[_COUNT]).sum().over(ibis.window(group_by=counts[CASE])).cast("int64")
    counts = counts.mutate(**{_NORM: squares})
    added = counts[_COUNT] * _weight(counts[_NORM], question.contribution**2)
    counts = counts.mutate(added=added)
    return counts.group_by(_CELL).aggregate(**{_SUM: counts["added"].sum()})


def _weight(norm: Any, bound: int) -> Any:
    """W = isqrt(⌊bound/norm⌋), the largest W with W²·norm ≤ bound: a float's root is off by at most one, and corrected."""
    import ibis

    root = (ibis.literal(float(bound)) / norm).sqrt().floor().cast("int64")
    root = ibis.ifelse(root * root * norm > bound, root - 1, root)
    return ibis.ifelse((root + 1) * (root + 1) * norm <= bound, root + 1, root)


def _quotient(value: Any, divisor: int) -> Any:
    """⌊value/divisor⌋, exact for integers up to ±2^53: no multiple of the divisor is within the rounding of the float.

    Weeks are divided beyond that, but there it only matters that they are outside the calendar.
    """
    return (value / divisor).floor().cast("int64")


def _offset(moment: Any, offsets: Sequence[tuple[int, int]]) -> Any:
    """How far the wall clock is ahead at a moment, by a balanced tree of comparisons."""
    import ibis

    if len(offsets) == 1:
        return ibis.literal(offsets[0][1], "int64")
    middle = len(offsets) // 2
    earlier, later = _offset(moment, offsets[:middle]), _offset(moment, offsets[middle:])
    return ibis.ifelse(moment < offsets[middle][0], earlier, later)


def _text(value: Any) -> str | None:
    return bytes(value).decode() if isinstance(value, bytes | bytearray | memoryview) else value
