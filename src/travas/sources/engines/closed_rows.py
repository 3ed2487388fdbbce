"""The rows of a period in a database or Spark: window functions within each case (docs/mechanisms/periods.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from ..period import Period, microseconds

if TYPE_CHECKING:
    import ibis.expr.types as ir

END, MOMENT, COUNTS = "is_end", "moment", "counts"
_COMPLETE, _ENDS, _AFTER, _KEPT, _LAST = "is_complete", "ends_before", "after_gap", "kept", "last_time"


def is_one_of(name: Any, activities: Sequence[str], as_bytes: Callable[[Any], Any]) -> Any:
    """Return whether a name is one of these activities, compared by its bytes."""
    import ibis

    if not activities:
        return ibis.literal(False)
    return reduce(or_, (name == as_bytes(ibis.literal(activity)) for activity in activities)).fill_null(False)


def closed_rows(events: ir.Table, period: Period, complete: Any, case: str, sorting: Sequence[str]) -> ir.Table:
    """Add the column `COUNTS`: whether a row is complete, and is of a case closed in the period, up to its closing.

    Args:
        events: The rows, with the columns `END` and `MOMENT`, in microseconds since 1970.
        period: The period.
        complete: Whether nothing is missing in a row; other rows are kept for the notes, but close nothing.
        case: The column of the case.
        sorting: The columns by which the events of a case are ordered, with the time first.

    Returns:
        The rows with another column.
    """
    import ibis

    rows = events.mutate(**{_COMPLETE: complete})
    rows = rows.filter(~rows[_COMPLETE] | (rows[MOMENT] < microseconds(period.end)))  # lemma 1
    gap = period.gap_length
    rows = _up_to_end(rows, case, sorting) if gap is None else _up_to_gap(rows, case, gap)
    is_last = rows[_KEPT] & rows[END] if gap is None else rows[_KEPT]
    last = ibis.ifelse(is_last, rows[MOMENT], None).max().over(ibis.window(group_by=[rows[case], rows[_COMPLETE]]))
    rows = rows.mutate(**{_LAST: last})
    first, after = (microseconds(instant) for instant in period.last_events)
    within = (rows[_LAST] >= first) & (rows[_LAST] < after)
    return rows.mutate(**{COUNTS: rows[_KEPT] & within.fill_null(False)})


def _up_to_end(rows: ir.Table, case: str, sorting: Sequence[str]) -> ir.Table:
    """Add the column `_KEPT`: complete rows of a case up to its first end activity, which is the last of them."""
    import ibis

    own, in_order = [rows[case], rows[_COMPLETE]], [rows[name] for name in sorting]
    before = ibis.window(group_by=own, order_by=in_order, preceding=(None, 1))
    rows = rows.mutate(**{_ENDS: ibis.ifelse(rows[END], 1, 0).sum().over(before).fill_null(0)})
    return rows.mutate(**{_KEPT: rows[_COMPLETE] & (rows[_ENDS] == 0)})


def _up_to_gap(rows: ir.Table, case: str, gap: timedelta) -> ir.Table:
    """Add the column `_KEPT`: complete rows of a case before the first event that follows a gap.

    Times alone decide it: a database may order simultaneous events differently in each window.
    """
    import ibis

    own = [rows[case], rows[_COMPLETE]]
    before = rows[MOMENT].lag().over(ibis.window(group_by=own, order_by=rows[MOMENT]))
    late = (rows[MOMENT] >= before + gap // timedelta(microseconds=1)).fill_null(False)
    rows = rows.mutate(**{_AFTER: ibis.ifelse(late, rows[MOMENT], None)})
    first = rows[_AFTER].min().over(ibis.window(group_by=[rows[case], rows[_COMPLETE]]))
    rows = rows.mutate(**{_AFTER: first})
    return rows.mutate(**{_KEPT: rows[_COMPLETE] & (rows[_AFTER].isnull() | (rows[MOMENT] < rows[_AFTER]))})
