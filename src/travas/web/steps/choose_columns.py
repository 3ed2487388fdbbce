"""Step 2: which columns are the case, the activity and the time. Recognised, and shown on the first rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from nicegui import ui

from ...errors import LogError, ParameterError
from ...sources.columns import DuplicateCases, OnMissing, Order, Reading
from ..parts import confidential, note, onward, table, title
from ..preview import Preview, preview

if TYPE_CHECKING:
    from ..page import Page

_NONE = "(none: the order of the file)"
_SHOWN = 30


def draw(page: Page) -> None:
    session, found = page.session, page.session.preview
    assert found is not None
    reading = session.reading
    title("Columns")
    note("A case is what is protected, and a variant is its activities in their order. Check what was recognised.")
    with ui.element("div").classes("fields"):
        cases, names = list(dict.fromkeys(found.case_columns)), list(dict.fromkeys(found.columns))
        case = ui.select(cases, value=reading.case if reading.case in cases else None, label="Case")
        chosen = [name for name in reading.activities if name in names]
        activities = ui.select(names, value=chosen, multiple=True, label="Activity")
        value = reading.timestamp if reading.timestamp in names else None
        if value is None and (found.kind != "table" or reading.order == "file"):
            value = _NONE  # in a table, the order of the rows must be chosen
        timestamp = ui.select([_NONE, *names], value=value, label="Timestamp, for the order of events")
    with confidential():
        ui.label(f"First rows of {session.name}")
        head = [_with_role(name, reading, found.kind) for name in found.columns[:_SHOWN]]
        table(head, [[cell[:80] for cell in row[:_SHOWN]] for row in found.rows])
    with ui.expansion("More: order, ties, missing values, format").classes("w-full"):
        with ui.element("div").classes("fields"):
            more = _more(reading)
        if found.kind == "table":
            ui.button("Read the columns again", on_click=lambda: _again(page, more)).props("no-caps outline")

    def carry_on() -> None:
        try:
            made = _reading(found, case.value, activities.value, timestamp.value, more)
        except ParameterError as error:
            page.refuse(str(error))
            return
        if not made.activities:
            page.refuse("no column for the activity is chosen: choose one, or several that together are the activity")
        elif made.case is None and made.duplicate_cases != "separate":
            page.refuse("no column for the case is chosen: choose the one that says which events belong together")
        elif timestamp.value is None and made.order != "file":
            page.refuse(
                "no timestamp is chosen: choose a column, or the order of the file if every case is in order there"
            )
        else:
            session.read_as(made)
            page.go(2)

    onward("Continue", carry_on)


def _reading(
    found: Preview, case: str | None, activities: list[str] | None, timestamp: str | None, more: _More
) -> Reading:
    time = None if timestamp == _NONE else timestamp
    order: Order | None = "file" if timestamp == _NONE and found.kind == "table" else None
    values = {name: value() for name, value in more.items()}
    return Reading(
        case=case or None,
        activities=tuple(activities or ()),
        timestamp=time,
        timestamp_format=values["timestamp_format"],
        order=values["order"] or order,
        ties=values["ties"] or "file",
        on_missing=values["on_missing"],
        duplicate_cases=values["duplicate_cases"],
        delimiter=values["delimiter"],
        quote=values["quote"],
        encoding=values["encoding"],
    )


async def _again(page: Page, more: _More) -> None:
    """With another delimiter, quote or encoding the columns are others."""
    session = page.session
    assert session.log is not None
    try:
        form = Reading(delimiter=more["delimiter"](), quote=more["quote"](), encoding=more["encoding"]())
        found = await preview(session.log, session.name, page.settings.decompressed_limit, form)
    except (ParameterError, LogError) as error:
        page.refuse(str(error))
        return
    session.preview = found
    session.read_as(replace(found.reading(), delimiter=form.delimiter, quote=form.quote, encoding=form.encoding))
    page.go(1)


def _with_role(name: str, reading: Reading, kind: str) -> str:
    roles = {
        "case": (reading.case,) if kind == "table" else (),
        "activity": reading.activities,
        "time": (reading.timestamp,),
    }
    found = [role for role, columns in roles.items() if name in columns]
    return f"{name} ({', '.join(found)})" if found else name


_More = dict[str, Callable[[], Any]]
"""The rarely used fields, as functions that return the input, or None."""


def _more(reading: Reading) -> _More:
    def choice(label: str, kind: Any, value: str | None, none: dict[str, str]) -> Callable[[], Any]:
        field = ui.select(none | {name: name for name in get_args(kind)}, value=value or "", label=label)
        return lambda: field.value or None

    def typed(label: str, value: str | None, hint: str) -> Callable[[], Any]:
        field = ui.input(label, value=value or "", placeholder=hint)
        return lambda: field.value or None

    itself = {"": "default: file for XES, time for tables"}
    return {
        "order": choice("Order of events", Order, reading.order, itself),
        "ties": typed("Ties: file, activity, or a column", reading.ties, "file"),
        "timestamp_format": typed("Format of timestamps", reading.timestamp_format, "%d.%m.%Y %H:%M"),
        "on_missing": choice("Events without case, activity or time", OnMissing, reading.on_missing, {}),
        "duplicate_cases": choice("Traces of one name (XES)", DuplicateCases, reading.duplicate_cases, {}),
        "delimiter": typed("Delimiter (CSV)", reading.delimiter, "detected by default"),
        "quote": typed("Quote (CSV)", reading.quote, "detected by default"),
        "encoding": typed("Encoding (CSV)", reading.encoding, "detected by default"),
    }
