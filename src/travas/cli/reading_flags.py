"""The options of a reading: from events to variants, the protected unit and the period."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from ..errors import ParameterError
from ..sources.formats import Format
from ..sources.period import Period
from ..sources.reading import DuplicateCases, DuplicateEvents, Lifecycle, OnMissing, Order, Reading, parse_where
from ..trusted.numbers import typed_whole_number
from .options import panel_option, with_options


def _reading_option(kind: Any, default: Any, about: str, metavar: str) -> tuple[Any, Any]:
    return panel_option(kind, "Reading", about, metavar), default


def _reading_choice(kind: Any, default: Any, about: str, choices: Any) -> tuple[Any, Any]:
    values = get_args(choices)
    return panel_option(kind, "Reading", about, "|".join(values), values), default


def _unit_option(about: str, metavar: str) -> tuple[Any, Any]:
    return panel_option(str | None, "Protected unit", about, metavar), None


def _period_option(about: str, metavar: str) -> tuple[Any, Any]:
    return panel_option(str | None, "Period", about, metavar), None


def _period(name: str | None, end_activities: list[str] | None, gap: str | None, grace: str | None) -> Period | None:
    if name is None:
        for option, value in (("end_activity", end_activities), ("gap", gap), ("grace", grace)):
            if value:
                raise ParameterError(f"{option} is set but period is not; also set period", field="period")
        return None
    return Period(name, tuple(end_activities or ()), gap, grace or "0d")


_READING_OPTIONS = {
    "case": _reading_option(
        str | None, None, "Case column (in XES: trace attribute). Default: by its usual names.", "COLUMN"
    ),
    "activity": _reading_option(
        list[str] | None,
        None,
        "Activity column; repeatable for activities made of several columns. Default: by its usual names.",
        "COLUMN",
    ),
    "timestamp": _reading_option(str | None, None, "Timestamp column. Default: by its usual names.", "COLUMN"),
    "timestamp_format": _reading_option(
        str | None, None, "Timestamp format, such as '%d.%m.%Y %H:%M'. Default: ISO 8601.", "FORMAT"
    ),
    "order": _reading_choice(
        str | None,
        None,
        "Order of the events of a case. Default: file for XES, time for tables; tables without a timestamp need file.",
        Order,
    ),
    "ties": _reading_option(
        str | None,
        None,
        "Order of simultaneous events of a case: file, activity (by name; default for databases) or a column.",
        "ORDER",
    ),
    "on_missing": _reading_choice(
        str,
        "fail",
        "How to handle events without case, activity or required timestamp, and cases without unit.",
        OnMissing,
    ),
    "duplicate_cases": _reading_choice(str, "fail", "How to handle XES traces with the same name.", DuplicateCases),
    "lifecycle": _reading_choice(
        str, "all", "Which events are read, by the lifecycle column (in XES: lifecycle:transition).", Lifecycle
    ),
    "where": _reading_option(
        list[str] | None,
        None,
        "Read only events with this value in this column; repeatable: several values of one column are "
        "alternatives. In XES, case:NAME is a trace attribute.",
        "COLUMN=VALUE",
    ),
    "duplicate_events": _reading_choice(
        str, "keep", "How to handle events of a case with the same activity and timestamp.", DuplicateEvents
    ),
    "format": _reading_choice(
        str | None, None, "Format of the log. Default: by the file extension; required for standard input.", Format
    ),
    "sheet": _reading_option(str | None, None, "Sheet of an Excel workbook. Default: the only one.", "NAME"),
    "delimiter": _reading_option(
        str | None, None, "Delimiter of CSV files, or tab. Default: detected from the header.", "CHARACTER"
    ),
    "quote": _reading_option(
        str | None, None, "Quote character of CSV files, or none. Default: from the header.", "CHARACTER"
    ),
    "encoding": _reading_option(
        str | None, None, "Encoding of CSV files. Default: from the byte order mark, else UTF-8.", "NAME"
    ),
    "abstraction": _reading_option(
        str,
        "full",
        "Rule applied to every trace before counting, such as 'first | prefix:8'; see: travas docs abstractions.",
        "RULE",
    ),
    "unit": _unit_option(
        "Column (in XES: trace attribute) that identifies the person. Default: protect one case.", "COLUMN"
    ),
    "max_cases": _unit_option("Maximum number of cases counted per person, 1 to 1000; independent of the log.", "M"),
    "period": _period_option("Count only cases closed in this period: 2026-02, 2026-Q1, 2026-W07, 2026 …", "PERIOD"),
    "end_activity": (
        panel_option(
            list[str] | None, "Period", "With --period: the first such activity closes a case; repeatable.", "NAME"
        ),
        None,
    ),
    "gap": _period_option(
        "With --period: close a case after this long without events, such as 30d, instead of by an end activity.",
        "LENGTH",
    ),
    "grace": _period_option(
        "With --period: how long after the end of a period all its events are present. Default: 0d.", "LENGTH"
    ),
    "table": _reading_option(str | None, None, "Database: the table of events, such as public.events.", "NAME"),
    "query": _reading_option(
        str | None, None, "Database: a SELECT that returns the events, instead of a table.", "SQL"
    ),
}


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the `reading` parameter of a command with the options of a reading."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        options = {name: values.pop(name) for name in _READING_OPTIONS}
        options["activities"] = tuple(options.pop("activity") or ())
        options["period"] = _period(*(options.pop(name) for name in ("period", "end_activity", "gap", "grace")))
        options["where"] = parse_where(options["where"] or ())
        options["max_cases"] = typed_whole_number(options["max_cases"], "max_cases")
        return {"reading": Reading(**options)}

    return with_options(command, "reading", _READING_OPTIONS, collect)
