"""The rarely used fields of a reading: order, ties, missing values, lifecycle and the form of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import attrs
from nicegui import ui

from ...sources.reading import DuplicateCases, DuplicateEvents, Lifecycle, OnMissing, Order, Reading
from ..field_labels import READING
from ..parts import typed_text


class ReadingFields:
    """The fields, with what is set in a reading."""

    def __init__(self, reading: Reading) -> None:
        self._kept = reading
        itself = {"": "default: file for XES, time for tables"}
        with ui.element("div").classes("fields"):
            self._values: dict[str, Callable[[], Any]] = {
                "order": _choice("order", Order, reading.order, itself),
                "ties": _typed("ties", reading.ties, "file"),
                "timestamp_format": _typed("timestamp_format", reading.timestamp_format, "%d.%m.%Y %H:%M"),
                "on_missing": _choice("on_missing", OnMissing, reading.on_missing, {}),
                "lifecycle": _choice("lifecycle", Lifecycle, reading.lifecycle, {}),
                "duplicate_events": _choice("duplicate_events", DuplicateEvents, reading.duplicate_events, {}),
                "duplicate_cases": _choice("duplicate_cases", DuplicateCases, reading.duplicate_cases, {}),
                "delimiter": _typed("delimiter", reading.delimiter, "detected by default"),
                "quote": _typed("quote", reading.quote, "detected by default"),
                "encoding": _typed("encoding", reading.encoding, "detected by default"),
            }

    def form(self) -> Reading:
        """Return the form of the file alone."""
        return Reading(**{name: self._values[name]() for name in ("delimiter", "quote", "encoding")})

    def reading(self, columns: Reading, order: Order | None) -> Reading:
        """Return the reading of these columns with what was typed."""
        values = {name: value() for name, value in self._values.items()}
        values |= {"order": values["order"] or order, "ties": typed_text(values["ties"]) or "file"}
        return attrs.evolve(columns, format=self._kept.format, sheet=self._kept.sheet, **values)


def _choice(name: str, kind: Any, value: str | None, none: dict[str, str]) -> Callable[[], Any]:
    field = ui.select(none | {option: option for option in get_args(kind)}, value=value or "", label=READING[name])
    return lambda: field.value or None


def _typed(name: str, value: str | None, hint: str) -> Callable[[], Any]:
    field = ui.input(READING[name], value=value or "", placeholder=hint)
    return lambda: field.value or None
