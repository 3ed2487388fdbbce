"""The tab Before and after: CONFIDENTIAL, behind one explicit step that is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from ...errors import OutputError, TravasError
from ..failures import in_words
from ..jobs import Job
from ..map_element import MapElement
from ..parts import confidential, heading, note, table
from ..sessions import FinishedRelease
from ..steps.looks import COMPARISON, look
from .comparison import BeforeAfter, both_graph, compare_release

if TYPE_CHECKING:
    from ..page import Page

_ROWS = 20


def draw_comparison(page: Page, released: FinishedRelease) -> None:
    """Show the step before the comparison; the comparison replaces it."""
    log = page.session.log
    with ui.column().classes("w-full") as box:
        if log is None:
            note("The original log is no longer available: open it in a new release to compare.")
            return
        note(
            "Reads the original log again. The result is confidential and cannot be exported, and this access is recorded."
        )
        button = ui.button("Compare with the original log").props("no-caps outline")
    button.on_click(lambda: _compare(page, released, box, button))


async def _compare(page: Page, released: FinishedRelease, box: ui.column, button: ui.button) -> None:
    session = page.session
    if session.log is None or released.reading is None:
        return
    try:
        look(session, COMPARISON, released.id)
    except OutputError as error:
        page.refuse(f"the original log is not compared, because that cannot be recorded: {error}")
        return
    button.disable()
    with box:
        status = ui.label("Comparing …").props("role=status")
    job = Job(compare_release, session.log, session.name, released.reading, released.release)
    job.start()
    try:
        compared: BeforeAfter = await job.wait()
    except TravasError as error:
        button.enable()
        status.set_text("")
        page.refuse(in_words(error))
        return
    box.clear()
    with box:
        show_comparison(released, compared)


def show_comparison(released: FinishedRelease, compared: BeforeAfter) -> None:
    """Show twin maps, differences and metrics. Confidential."""
    with confidential():
        ui.label(f"Kept: {released.kept}")
        for remark in (*released.notes, *compared.remarks):
            ui.label(remark)
        if compared.differences:
            MapElement(both_graph(compared))
        heading("Metrics")
        table(["Metric", "Value", "Meaning"], compared.metrics, frozenset({1}))
        heading("Largest differences")
        rows = [
            [row.before or "(start)", row.after or "(end)", *_numbers(row.original, row.released)]
            for row in compared.differences[:_ROWS]
        ]
        table(["Activity", "Followed by", "Original", "Release", "Difference"], rows, frozenset({2, 3, 4}))


def _numbers(original: float, released: float) -> tuple[str, str, str]:
    return f"{original:,.0f}", f"{released:,.0f}", f"{released - original:+,.0f}"
