"""The fields of the page by the Python name of the parameter that they set, so that a message can name the field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from ..settings.table import SETTINGS
from .recipe import Recipe

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

_PROTECT = {
    *(field.name for field in fields(Recipe)),
    *(each.name for each in SETTINGS if each.section in ("mechanism", "period")),
}
_STEPS = dict.fromkeys(_PROTECT, "Protect") | {
    **dict.fromkeys(("case", "activity", "timestamp"), "Columns"),
    "stated_cases": "Forecast",
    **dict.fromkeys(("dataset", "reason", "signed_off_by"), "Confirm"),
}


def where_to_change(parameters: Iterable[str]) -> str:
    """Return the end of a message about parameters: where the first one that the page has is changed.

    >>> where_to_change(["times", "on_missing"])
    ' (“Events without case, activity or time”, step Columns, More)'
    >>> where_to_change(["times"]), where_to_change(["sheet"])
    (' (step Protect)', '')
    """
    names = list(parameters)
    labels = [f" (“{READING[name]}”, step Columns, More)" for name in names if name in READING]
    return next(iter(labels + [f" (step {_STEPS[name]})" for name in names if name in _STEPS]), "")
