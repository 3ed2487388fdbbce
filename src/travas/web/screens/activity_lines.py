"""The activity log: who did what."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..activity import ActivityLine
from ..frame import link
from ..parts import clock, note, table, title, when_ready

if TYPE_CHECKING:
    from ..page import Page

_ROWS = 200


def draw(page: Page) -> None:
    log = page.services.archive.activity
    title("Activity log")
    note(
        "Who looked at confidential views, and what was charged, cancelled, downloaded, signed off and deleted. "
        "It contains no values of a log."
    )
    when_ready(page, lambda: asyncio.to_thread(log.read), _show)
    link(page, "Back to the releases", "/releases")


def _show(lines: list[ActivityLine]) -> None:
    if not lines:
        note("Nothing has been recorded yet.")
        return
    rows = [
        [clock(line.time), line.user, line.name or "–", line.kind, line.dataset, line.release, line.detail]
        for line in reversed(lines[-_ROWS:])
    ]
    table(["Time (UTC)", "User", "Name", "What", "Data set", "Release", "Detail"], rows)
    if len(lines) > _ROWS:
        note(f"The last {_ROWS} of {len(lines):,} lines; activity.jsonl in the archive has them all.")
