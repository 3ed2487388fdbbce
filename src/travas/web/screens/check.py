"""Check a file: verify a release and its guarantee that were received. Nothing of them is kept."""

from __future__ import annotations

import re
import secrets
import shutil
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ...errors import TravasError
from ..access import KEY_HEADER, STORED_KEY
from ..checking import LIMITS, Checked, check_files
from ..jobs import Job
from ..parts import note, refusal, table, title, typed_text
from ..transfers import MOST_CHECKED

if TYPE_CHECKING:
    from ..page import Page

_STORED = re.compile(r"[0-9a-f]{8}(\.[a-z0-9]{1,12}){0,3}", re.ASCII)
"""The names under which files to check are stored."""

_SEND = f"""
async (event) => {{
  const sent = [];
  for (const file of [...event.target.files].slice(0, {MOST_CHECKED + 1})) {{
    const address = "/verify?number=NUMBER&name=" + encodeURIComponent(file.name);
    const headers = {{"{KEY_HEADER}": localStorage.getItem("{STORED_KEY}")}};
    const answer = await fetch(address, {{method: "POST", headers, body: file}});
    sent.push([answer.ok, answer.ok ? await answer.text() : "", file.name.slice(0, 200)]);
  }}
  event.target.value = "";
  emit(sent);
}}
"""


def draw(page: Page) -> None:
    title("Check a file")
    note(
        "Drop a release and its guarantee file here, both at once. The noise tables are rebuilt and verified in exact "
        "arithmetic, as by travas verify; the files are deleted right afterwards. A guarantee file can also be checked alone."
    )
    number = secrets.token_hex(8)
    folder = page.browser.folder / f"check-{number}"
    folder.mkdir(mode=0o700)
    with ui.element("label").classes("drop"):
        ui.label("Release and guarantee (choose both, or drop them here)")
        field = ui.element("input").props("type=file multiple")
    result = ui.column().classes("w-full")

    async def check(event: Any) -> None:
        result.clear()
        with result:
            ui.label("Verifying …").props("role=status")
        try:
            job = Job(check_files, folder, _names(event.args), limits=LIMITS)
            job.start()
            checked = await job.wait()
        except TravasError as error:
            checked = str(error)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        if not result.is_deleted:
            result.clear()
            with result:
                _show(checked)

    field.on("change", check, js_handler=_SEND.replace("NUMBER", number))


def _names(sent: Any) -> tuple[tuple[str, str], ...]:
    """The stored name and the known name of each file; TravasError if one was not received."""
    if not isinstance(sent, list) or not sent:
        raise TravasError("no file was received; choose the release and its guarantee")
    if len(sent) > MOST_CHECKED:
        raise TravasError(f"at most {MOST_CHECKED} files are checked at once: a release and its guarantee")
    if not all(ok for ok, _, _ in sent):
        raise TravasError("a file is too large or could not be received")
    if not all(_STORED.fullmatch(str(stored)) for _, stored, _ in sent):  # it comes from the browser
        raise TravasError("a file was not stored here; choose the release and its guarantee again")
    return tuple((str(stored), typed_text(known)) for _, stored, known in sent)


def _show(checked: Checked | str) -> None:
    if isinstance(checked, str):
        refusal(f"Not verified: {checked}")
        return
    verdict = "The guarantee is verified, and the release is the one that it is about." if checked.has_release else (
        "The guarantee is verified. Without the release it is not known which file it is about."
    )  # fmt: skip
    ui.label(verdict).classes("words good").props("role=status")
    table(["What", "Verified"], checked.facts)
    for words in checked.notes:
        note(words)
