"""Step 2: which columns are the case, the activity and the time. Recognised, and shown on the first rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ...errors import ParameterError
from ...logs.columns import DuplicateCases, OnMissing, Order, Reading
from ..parts import note, onward, private, table, title

if TYPE_CHECKING:
    from ..page import Page

_NONE = "(none: the order of the file)"


def draw(page: Page) -> None:
    session, preview = page.session, page.session.preview
    assert preview is not None
    reading = session.reading
    title("Columns")
    note(
        "A case is what is protected and what a variant is made of: its activities in their order. Check what was recognised."
    )
    with ui.element("div").classes("fields"):
        case = _select("Case", preview.case_columns, reading.case)
        activities = ui.select(list(preview.columns), value=list(reading.activities), multiple=True, label="Activity")
        times = [_NONE, *preview.columns]
        timestamp = ui.select(times, value=reading.timestamp or _NONE, label="Timestamp, for the order of events")
    with private():
        ui.label(f"First rows of {session.name}")
        marked = [_head(name, preview.case, reading, preview.kind) for name in preview.columns]
        table(marked, [[cell[:80] for cell in row] for row in preview.rows])
    with (
        ui.expansion("More: order, ties, missing values, format").classes("w-full"),
        ui.element("div").classes("fields"),
    ):
        more = _more(reading)

    def carry_on() -> None:
        chosen_time = None if timestamp.value == _NONE else timestamp.value
        order: Order | None = "file" if chosen_time is None and preview.kind == "table" else None
        try:
            made = Reading(
                case=case.value or None,
                activities=tuple(activities.value or ()),
                timestamp=chosen_time,
                order=more["order"]() or order,
                timestamp_format=more["timestamp_format"](),
                ties=more["ties"]() or "file",
                on_missing=more["on_missing"](),
                duplicate_cases=more["duplicate_cases"](),
                delimiter=more["delimiter"](),
                quote=more["quote"](),
                encoding=more["encoding"](),
            )
        except ParameterError as error:
            page.refuse(str(error))
            return
        if not made.activities:
            page.refuse(
                "no column for the activity is chosen: choose one, or several whose values together are the activity"
            )
        elif made.case is None:
            page.refuse("no column for the case is chosen: choose the one that says which events belong together")
        else:
            session.read_as(made)
            page.go(2)

    onward("Continue", carry_on)


def _select(label: str, names: tuple[str, ...], value: str | None) -> ui.select:
    return ui.select(list(names), value=value if value in names else None, label=label)


def _head(name: str, case: str | None, reading: Reading, kind: str) -> str:
    roles = [
        role
        for role, columns in (
            ("case", (reading.case,) if kind == "table" else ()),
            ("activity", reading.activities),
            ("time", (reading.timestamp,)),
        )
        if name in columns
    ]
    return f"{name} ({', '.join(roles)})" if roles else name


def _more(reading: Reading) -> dict[str, Callable[[], Any]]:
    """Rarely needed: each gives what was chosen, None where nothing was."""
    from typing import get_args

    def choice(label: str, kind: Any, value: str | None, none: str | None = None) -> Callable[[], Any]:
        names = {name: name for name in get_args(kind)}
        field = ui.select(({"": none} if none else {}) | names, value=value or "", label=label)
        return lambda: field.value or None

    def typed(label: str, value: str | None, hint: str) -> Callable[[], Any]:
        field = ui.input(label, value=value or "", placeholder=hint)
        return lambda: field.value or None

    return {
        "order": choice("Order of events", Order, reading.order, "by itself: file for XES, time for tables"),
        "ties": typed("Ties: file, activity, or a column", reading.ties, "file"),
        "timestamp_format": typed("Format of timestamps", reading.timestamp_format, "%d.%m.%Y %H:%M"),
        "on_missing": choice("Events without case, activity or time", OnMissing, reading.on_missing),
        "duplicate_cases": choice("Traces of one name (XES)", DuplicateCases, reading.duplicate_cases),
        "delimiter": typed("Delimiter (CSV)", reading.delimiter, "found by itself"),
        "quote": typed("Quote (CSV)", reading.quote, "found by itself"),
        "encoding": typed("Encoding (CSV)", reading.encoding, "found by itself"),
    }
