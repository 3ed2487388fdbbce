"""The fields of the page by the Python name of the parameter that they set, so that a message can name the field."""

from __future__ import annotations

from collections.abc import Iterable

READING = {
    "order": "Order of events",
    "ties": "Ties: file, activity, or a column",
    "timestamp_format": "Format of timestamps",
    "on_missing": "Events without case, activity or time",
    "lifecycle": "Events that are read (lifecycle)",
    "duplicate_events": "Duplicate events",
    "duplicate_cases": "Traces with the same name (XES)",
    "delimiter": "Delimiter (CSV)",
    "quote": "Quote (CSV)",
    "encoding": "Encoding (CSV)",
}
"""The labels of the fields under More on the step Columns."""

_PROTECT = ("max_length", "prune", "unit", "max_cases")


def where_to_change(parameters: Iterable[str]) -> str:
    """Return the end of a message about parameters: where the first one that the page has is changed.

    >>> where_to_change(["times", "on_missing"])
    ' (“Events without case, activity or time”, step Columns, More)'
    >>> where_to_change(["times"])
    ''
    """
    for name in parameters:
        if name in READING:
            return f" (“{READING[name]}”, step Columns, More)"
        if name in _PROTECT:
            return " (step Protect)"
    return ""
