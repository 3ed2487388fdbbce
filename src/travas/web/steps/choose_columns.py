"""Step 2: which columns are the case, the activity and the time. Recognised, and shown on the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from nicegui import ui

from ...errors import OutputError, ParameterError, TravasError
from ...sources.reading import Order, Reading
from ..failures import in_words
from ..parts import confidential, note, onward, title, working_button
from ..preview import Preview, preview
from .column_grid import MOST_COLUMNS, ColumnGrid
from .looks import VALUES, look
from .reading_fields import ReadingFields

if TYPE_CHECKING:
    from ..page import Page

_NONE = "(none: the order of the file)"


class _Columns:
    """The fields of the three roles, and the grid that follows them."""

    def __init__(self, page: Page, shown: Preview) -> None:
        self._page, self._preview = page, shown
        self._roles()
        self._rows()
        with ui.expansion("More: order, ties, missing values, format").classes("w-full"):
            self._more = ReadingFields(page.session.reading)
            if shown.kind == "table":
                working_button("Read the columns again", self._again)

    def _roles(self) -> None:
        reading, shown = self._page.session.reading, self._preview
        cases, names = list(dict.fromkeys(shown.case_columns)), list(dict.fromkeys(shown.columns))
        with ui.element("div").classes("fields"):
            value = reading.case if reading.case in cases else None
            self.case = ui.select(cases, value=value, label="Case").classes("role-case")
            activities = [name for name in reading.activity if name in names]
            self.activities = ui.select(names, value=activities, multiple=True, label="Activity").classes(
                "role-activity"
            )
            time = reading.timestamp if reading.timestamp in names else None
            if time is None and (shown.kind != "table" or reading.order == "file"):
                time = _NONE  # in a table, the order of the rows must be chosen
            label = "Timestamp, for the order of events"
            self.timestamp = ui.select([_NONE, *names], value=time, label=label).classes("role-time")
        for field in (self.case, self.activities, self.timestamp):
            field.on_value_change(self._follow)

    def _rows(self) -> None:
        """The first rows. Their values are sent to the browser when they are asked for: by the button, or by a click."""
        session = self._page.session
        state = session.steps

        def show() -> None:
            if state.shows_values:
                return
            try:
                look(session, VALUES)
            except OutputError as error:
                self._page.refuse(f"the values are not shown, because that cannot be recorded: {error}")
                return
            state.shows_values = True
            self._grid.show_values(self._shown())
            button.delete()

        with confidential():
            ui.label(f"First rows of {session.name}")
            with ui.element("div").classes("w-full").on("click", show, args=[]):
                self._grid = ColumnGrid(self._preview, self._shown(), state.shows_values)
            if len(self._preview.columns) > MOST_COLUMNS:
                note(f"The first {MOST_COLUMNS} of {len(self._preview.columns):,} columns.")
            button = ui.button("Show the values", on_click=show).props("no-caps outline")
            button.set_visibility(not state.shows_values)

    def _shown(self) -> Reading:
        """The chosen columns, for the grid."""
        timestamp = None if self.timestamp.value in (None, _NONE) else str(self.timestamp.value)
        return Reading(case=self.case.value or None, activity=tuple(self.activities.value or ()), timestamp=timestamp)

    def _follow(self) -> None:
        self._grid.follow(self._shown())

    def reading(self) -> Reading:
        """Return the reading that was chosen; raises ParameterError if it is invalid."""
        order: Order | None = "file" if self.timestamp.value == _NONE and self._preview.kind == "table" else None
        made = self._more.reading(self._shown(), order)
        if not made.activity:
            raise ParameterError(
                "no column for the activity is chosen: choose one, or several that together are the activity",
                field="activity",
            )
        if made.case is None and made.duplicate_cases != "separate":
            raise ParameterError(
                "no column for the case is chosen: choose the one that says which events belong together", field="case"
            )
        if self.timestamp.value is None and made.order != "file":
            raise ParameterError(
                "no timestamp is chosen: choose a column, or the order of the file if every case is in order there",
                field="timestamp",
            )
        return made

    async def _again(self) -> None:
        """Read the columns again: another delimiter, quote or encoding changes them."""
        page, session = self._page, self._page.session
        assert session.log is not None
        try:
            form = self._more.form()
            result = await preview(session.log, session.name, form)
        except TravasError as error:
            page.refuse(in_words(error))
            return
        session.preview = result
        session.reading = attrs.evolve(
            result.reading(), delimiter=form.delimiter, quote=form.quote, encoding=form.encoding
        )
        page.go("columns")


def draw(page: Page) -> None:
    """Show the step."""
    session, shown = page.session, page.session.preview
    assert shown is not None
    title("Columns")
    note("A case is what is protected, and a variant is its activities in their order. Check what was recognised.")
    columns = _Columns(page, shown)

    def carry_on() -> None:
        try:
            made = columns.reading()
        except ParameterError as error:
            page.refuse(in_words(error))
            return
        session.reading = made
        page.go("protect")

    onward("Continue", carry_on)
