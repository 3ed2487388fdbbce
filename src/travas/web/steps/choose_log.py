"""Step 1: choose a log. It is streamed to the disk of the server, or lies in a folder that was allowed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nicegui import ui

from ...outputs.example import write_hospital_log
from ..access import KEY_HEADER, STORED_KEY
from ..parts import note, onward, title
from ..preview import SUFFIXES
from ..transfers import folder_logs, open_log

if TYPE_CHECKING:
    from ..page import Page

_HEADERS = f"(files) => [{{name: '{KEY_HEADER}', value: localStorage.getItem('{STORED_KEY}')}}]"


def draw(page: Page) -> None:
    session = page.session
    title("Choose an event log")
    if session.log is not None:
        with ui.row().classes("items-center"):
            ui.label(f"Open: {session.name}")
            onward("Continue", lambda: page.go(1))
    uploader = ui.element("q-uploader").props("auto-upload flat bordered send-raw no-thumbnails method=POST")
    uploader.props["label"] = "Drop a file here, or press +"
    uploader.props[":url"] = f"(files) => '/upload?draft={session.id}&name=' + encodeURIComponent(files[0].name)"
    uploader.props[":headers"] = _HEADERS
    uploader.props["max-file-size"] = page.settings.upload_limit
    uploader.on("rejected", lambda: page.refuse("the file is over the limit of what may be uploaded"), args=[])
    uploader.on("failed", lambda: None, args=[])
    note(
        f"{', '.join(SUFFIXES)}. The file goes to the machine that runs travas and nowhere else, into a folder that only you can "
        "read; it is deleted some minutes after you close this page."
    )
    logs = folder_logs(page.settings)
    if logs:
        ui.html("<h3>Or a file on this machine</h3>", sanitize=False)
        chosen = ui.select(list(logs), label="File", with_input=True).classes("w-full")

        async def open_chosen() -> None:
            path = folder_logs(page.settings).get(chosen.value or "")
            if path is None:
                page.refuse("no file is selected, or it no longer exists; select a file")
            else:
                await open_log(session, path, path.name, page.settings)

        ui.button("Open", on_click=open_chosen).props("no-caps outline")

    async def example() -> None:
        path = session.folder / "hospital.csv"
        await asyncio.to_thread(write_hospital_log, path)
        await open_log(session, path, "hospital.csv (example)", page.settings)

    ui.button("Try it with a made-up hospital log", on_click=example).props("no-caps flat")
