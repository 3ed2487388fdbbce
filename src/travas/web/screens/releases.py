"""Releases: the archive, one release of it, sign-off and deletion."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nicegui import ui

from ...errors import TravasError
from ...trusted.numbers import as_text
from ..activity import os_user
from ..archive import ArchivedRelease, Signature, now
from ..archive_list import STATEMENTS, ListedRelease, listed
from ..frame import link
from ..parts import clock, note, refusal, title, when_ready, working_button
from ..releasing import reopened
from ..sessions import FinishedRelease
from ..steps import show_result

if TYPE_CHECKING:
    from ..page import Page


def draw(page: Page) -> None:
    """Show the list, or the release of the address."""
    if page.location.item:
        _draw_release(page)
        return
    title("Releases")
    note(
        "Every release that was paid for stays here until you delete it, in a folder that only you can read: "
        f"{page.services.archive.path}"
    )
    when_ready(
        page,
        lambda: asyncio.to_thread(listed, page.services.archive, page.ledger),
        lambda listed: release_table(page, listed),
    )
    link(page, "Activity log", "/activity")


def release_table(page: Page, releases: list[ListedRelease]) -> None:
    """Show releases with their standing and sign-off, and a statement for every charge without a release."""
    if not releases:
        note("No release yet.")
        return
    with ui.element("div").classes("scroll").props('tabindex=0 role=group aria-label="releases"'), ui.element("table"):
        with ui.element("thead"), ui.element("tr"):
            for words in ("Time (UTC)", "Data set", "What", "ε, δ", "Standing", "Signed off by", "Release"):
                with ui.element("th").props("scope=col"):
                    ui.label(words)
        with ui.element("tbody"):
            for release in releases:
                with ui.element("tr"):
                    _row(page, release)


def _row(page: Page, release: ListedRelease) -> None:
    asked, entry = release.record, release.entry
    what, cost, signed = "", "", ""
    if asked is not None:
        what, signed = asked.recipe.kind, asked.signed_off_by
        cost = f"{asked.recipe.epsilon}, {asked.recipe.delta}"
    if entry is not None:
        what, cost = (
            what or entry.spending.mechanism,
            f"{as_text(entry.spending.epsilon)}, {as_text(entry.spending.delta)}",
        )
    standing = "charge not in this ledger" if entry is None else str(entry.standing)
    for words in (clock(release.time), release.dataset or "–", what, cost, standing, signed or "not signed off"):
        with ui.element("td"):
            ui.label(words)
    with ui.element("td"):
        if release.state == "released":
            link(page, "Open", f"/releases/{release.id}").props["aria-label"] = (
                f"Open the release of {clock(release.time)}"
            )
        else:
            ui.label(STATEMENTS[release.state])


def _draw_release(page: Page) -> None:
    archive = page.services.archive
    asked = archive.get(page.location.item)
    if asked is None or asked.deleted is not None or not archive.has_release(asked.id):
        title("There is no such release")
        note("It was deleted, was not finished, or was never in this archive. The list of releases says which.")
        link(page, "Releases", "/releases")
        return

    async def opened() -> FinishedRelease | TravasError:
        try:
            return await asyncio.to_thread(reopened, archive, page.ledger, asked)
        except TravasError as error:
            return error

    def show(released: FinishedRelease | TravasError) -> None:
        if isinstance(released, TravasError):
            title("This release cannot be opened")
            refusal(f"{released}; the charge stands")
            _delete(page, asked)
            return
        session = page.view_release(released, asked.dataset)
        show_result.draw(page)
        _sign_off(page, archive.get(session.viewed) or asked)
        _delete(page, asked)

    when_ready(page, opened, show)


def _sign_off(page: Page, asked: ArchivedRelease) -> None:
    for signature in asked.sign_offs:
        note(f"Signed off by {signature} (user {signature.user}).")
    with ui.expansion("Sign off this release" if not asked.sign_offs else "Sign off once more").classes("w-full"):
        name = ui.input("Name of the person who signs off", value=page.browser.name).classes("w-full")

        async def sign() -> None:
            typed = (name.value or "").strip()
            if not typed or len(typed) > 200 or not typed.isprintable():
                page.refuse("enter the name of the person who signs off, with 1 to 200 characters")
                return
            signature = Signature(typed, os_user(), now())
            try:
                await asyncio.to_thread(page.services.archive.sign_off, asked.id, signature, page.browser.name)
            except TravasError as error:
                page.refuse(f"not signed off: {error}")
                return
            page.visit(page.location.path)

        note(
            "The name, the date and your user on this machine are kept with the release; the report has name and date."
        )
        working_button("Sign off", sign)


def _delete(page: Page, asked: ArchivedRelease) -> None:
    async def delete() -> None:
        signature = Signature(page.browser.name, os_user(), now())
        try:
            await asyncio.to_thread(page.services.archive.delete, asked.id, signature)
        except TravasError as error:
            page.refuse(f"not deleted: {error}")
            return
        page.visit("/releases")

    with ui.expansion("Delete this release").classes("w-full"):
        note("Its files are deleted and cannot be recovered. The charge stands.")
        working_button("Delete it", delete).classes("danger")
