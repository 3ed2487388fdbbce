"""The rows of a period in a database or Spark: window functions within each case (docs/mechanisms/periods.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from ..errors import LogError
from .closing import Period, microseconds

if TYPE_CHECKING:
    import ibis.expr.types as ir

END, MOMENT, COUNTS = "is_end", "moment", "counts"
_COMPLETE, _GAP, _CLOSINGS, _KEPT, _LAST = "is_complete", "after_gap", "closings", "kept", "last_time"


def dated(time: Any, unfit: Callable[[Any, str, str], LogError]) -> Any:
    """Return the times as instants; refuse columns that are not dates or timestamps, such as numbers."""
    kind = time.type()
    if kind.is_timestamp():
        return time
    if kind.is_date():
        return time.cast("timestamp").name(time.get_name())
    raise unfit(time, "which has no dates for a period", "a timestamp")


def is_one_of(name: Any, activities: Sequence[str], as_bytes: Callable[[Any], Any]) -> Any:
    """Return whether a name is one of these activities, compared by its bytes."""
    import ibis

    if not activities:
        return ibis.literal(False)
    return reduce(or_, (name == as_bytes(ibis.literal(activity)) for activity in activities)).fill_null(False)


def closed_rows(events: ir.Table, period: Period, complete: Any, case: str, sorting: Sequence[str]) -> ir.Table:
    """Add the column `COUNTS`: whether a row is complete, and is of a case closed in the period, up to its closing.

    Args:
        events: The rows, with the columns `END` and `MOMENT`: timestamps, or microseconds since 1970.
        period: The period.
        complete: Whether nothing is missing in a row; other rows are kept for the notes, but close nothing.
        case: The column of the case.
        sorting: The columns by which the events of a case are ordered, with the time first.

    Returns:
        The rows with another column.
    """
    import ibis

    rows = events.mutate(**{_COMPLETE: complete})
    rows = rows.filter(~rows[_COMPLETE] | (rows[MOMENT] < _literal(rows[MOMENT], period.end)))  # lemma 1
    own = [rows[case], rows[_COMPLETE]]
    in_order = [rows[name] for name in sorting]
    if (gap := period.gap_length) is None:
        rows = rows.mutate(**{_GAP: rows[END]})  # what closes a case is its last event, and the next one is left out
        frame = ibis.window(group_by=own, order_by=in_order, preceding=(None, 1))
    else:
        before = rows[MOMENT].lag().over(ibis.window(group_by=own, order_by=in_order))
        late = rows[MOMENT] >= before + _length(rows[MOMENT], gap)
        rows = rows.mutate(**{_GAP: late.fill_null(False)})
        frame = ibis.window(group_by=own, order_by=in_order, preceding=(None, 0))
    closings = ibis.ifelse(rows[_GAP], 1, 0).sum().over(frame).fill_null(0)
    rows = rows.mutate(**{_CLOSINGS: closings})
    rows = rows.mutate(**{_KEPT: rows[_COMPLETE] & (rows[_CLOSINGS] == 0)})
    is_last = rows[_KEPT] & rows[END] if gap is None else rows[_KEPT]
    last = ibis.ifelse(is_last, rows[MOMENT], None).max().over(ibis.window(group_by=[rows[case], rows[_COMPLETE]]))
    rows = rows.mutate(**{_LAST: last})
    first, after = (_literal(rows[MOMENT], instant) for instant in period.last_events)
    within = (rows[_LAST] >= first) & (rows[_LAST] < after)
    return rows.mutate(**{COUNTS: rows[_KEPT] & within.fill_null(False)})


def _literal(moment: Any, instant: datetime) -> Any:
    """Return an instant in the type of the column; without a zone, times are UTC."""
    import ibis

    kind = moment.type()
    if kind.is_integer():
        return ibis.literal(microseconds(instant))
    return ibis.literal(instant if kind.timezone is not None else instant.replace(tzinfo=None), type=kind)


def _length(moment: Any, length: timedelta) -> Any:
    import ibis

    return (
        length // timedelta(microseconds=1)
        if moment.type().is_integer()
        else ibis.interval(seconds=length // timedelta(seconds=1))
    )
