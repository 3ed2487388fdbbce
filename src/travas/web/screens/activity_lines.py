"""The activity log: who did what, and its export."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nicegui import ui

from ..activity import ActivityLine
from ..frame import link
from ..parts import clock, note, refusal, table, title, when_ready

if TYPE_CHECKING:
    from ..page import Page

_ROWS = 200


def draw(page: Page) -> None:
    log = page.services.archive.activity
    title("Activity log")
    note(
        "Who looked at confidential views, and what was charged, cancelled, downloaded, signed off and deleted. "
        "It is only appended to, and contains no values of a log."
    )
    when_ready(page, lambda: asyncio.to_thread(log.read), lambda result: _show(page, *result))
    link(page, "Back to the releases", "/releases")


def _show(page: Page, lines: list[ActivityLine], intact: bool) -> None:
    if not intact:
        refusal("a line of the activity log was changed, removed or damaged after it was written")
    if not lines:
        note("Nothing has been recorded yet.")
        return
    ui.button("Export the activity log", on_click=lambda: _export(page)).props("no-caps outline")
    rows = [
        [clock(line.time), line.user, line.name or "–", line.kind, line.dataset, line.release, line.detail]
        for line in reversed(lines[-_ROWS:])
    ]
    table(["Time (UTC)", "User", "Name", "What", "Data set", "Release", "Detail"], rows)
    if len(lines) > _ROWS:
        note(f"The last {_ROWS} of {len(lines):,} lines; the export has them all.")


def _export(page: Page) -> None:
    path = page.services.archive.activity.path
    page.client.download(f"/download/{page.tickets.issue(path)}/{path.name}")
