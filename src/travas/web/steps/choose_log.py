"""Step 1: choose a log. It is streamed to the disk of the server, or lies in a folder that was allowed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nicegui import ui

from ...outputs.write import write_hospital_log
from ..parts import heading, note, onward, title, working_button
from ..transfers import folder_logs, open_log
from .drop_zone import DropZone
from .findings import show_findings

if TYPE_CHECKING:
    from ..page import Page


def draw(page: Page) -> None:
    """Show the step."""
    session = page.session
    title("Choose an event log")
    if session.log is not None:
        with ui.row().classes("items-center"):
            ui.label(f"Open: {session.name}")
            onward("Continue", lambda: page.go("columns"))
    address = f"/upload?draft={session.id}"
    zone = DropZone("Drop an event log here, or choose a file", address, page.settings.upload_limit, page.refuse)
    zone.classes("w-full")
    note(
        "The file goes to the machine that runs travas and nowhere else, into a folder that only you can read; it is deleted "
        "some minutes after you close this page."
    )
    _files(page)

    async def example() -> None:
        path = session.folder / "hospital.csv"
        await asyncio.to_thread(write_hospital_log, path)
        await open_log(session, path, "hospital.csv (example)", page.settings)

    working_button("Try it with a made-up hospital log", example, "no-caps flat")
    if session.log is not None:
        show_findings(page)


def _files(page: Page) -> None:
    """The logs of the allowed folders."""
    logs = folder_logs(page.settings)
    if not logs:
        return
    heading("Or a file on this machine")
    select = ui.select(list(logs), label="File", with_input=True).classes("w-full")

    async def open_chosen() -> None:
        path = folder_logs(page.settings).get(select.value or "")
        if path is None:
            page.refuse("no file is selected, or it no longer exists; select a file")
        else:
            await open_log(page.session, path, path.name, page.settings)

    working_button("Open", open_chosen)
