"""The events of a period in a table of Polars: those of cases that are closed in it (docs/mechanisms/periods.md)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import polars as pl

from ...errors import CONFIDENTIAL, LogError
from ..period import Period, microseconds
from .instants import whole_microseconds

_MOMENT, _CLOSINGS, _LAST = "moment", "closings", "last"


def check_dated(column: str, schema: Mapping[str, pl.DataType], where: str) -> None:
    """Raise LogError if the type of the timestamp column has no dates."""
    kind = schema[column]
    if kind.is_numeric() or isinstance(kind, pl.Time | pl.Duration):
        raise LogError(
            f"{where}: column {column!r} has type {kind}, which has no dates for a period; convert it to a timestamp "
            f"{CONFIDENTIAL}"
        )


def closed_events(events: pl.DataFrame, period: Period, case: str, time: str, activity: str) -> pl.DataFrame:
    """Select the events of cases that are closed in a period, up to their closing.

    Args:
        events: Complete events, the events of each case in order.
        period: The period.
        case: The column of the case.
        time: The column of the time.
        activity: The column of the activity, the first if there are several.

    Returns:
        The same columns, in the same order.
    """
    moments = events.lazy().with_columns(pl.Series(_MOMENT, whole_microseconds(events[time])))
    rows = moments.filter(pl.col(_MOMENT) < microseconds(period.end))
    moment = pl.col(_MOMENT)
    if (gap := period.gap_length) is None:
        is_end = pl.col(activity).cast(pl.String).is_in(list(period.end_activities))
        before = is_end.cast(pl.UInt32).cum_sum() - is_end.cast(pl.UInt32)
        rows = rows.with_columns(
            before.over(case).alias(_CLOSINGS), moment.filter(is_end).first().over(case).alias(_LAST)
        )
        rows = rows.filter(pl.col(_CLOSINGS) == 0)
    else:
        is_late = (moment.diff() >= gap // timedelta(microseconds=1)).fill_null(False)
        rows = rows.with_columns(is_late.cast(pl.UInt32).cum_sum().over(case).alias(_CLOSINGS))
        rows = rows.filter(pl.col(_CLOSINGS) == 0).with_columns(moment.max().over(case).alias(_LAST))
    first, after = (microseconds(instant) for instant in period.last_events)
    within = pl.col(_LAST).is_between(first, after, closed="left")
    return rows.filter(within).drop(_MOMENT, _CLOSINGS, _LAST).collect()
