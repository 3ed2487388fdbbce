"""Home: budgets, recent releases, and where everything starts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nicegui import ui

from ...budget.account import Account
from ..archive_list import ListedRelease, listed
from ..frame import link
from ..gauges import gauge
from ..parts import heading, note, onward, title, when_ready
from .releases import release_table

if TYPE_CHECKING:
    from ..page import Page

_RECENT, _GAUGES = 5, 6

PROTECTED = (
    "Protected: whether one case, or one person if you choose so, is in the log at all, to the degree that ε and δ state, "
    "against anyone who has the release, whatever else they know. Not protected: what is true of many cases, the names of the "
    "activities that are released, and anything that you hand out besides the release."
)
"""One sentence on what is, and one on what is not protected."""


def draw(page: Page) -> None:
    title("Home")
    with ui.row().classes("items-center"):
        onward("Start a release", lambda: page.visit("/new"))
        ui.button("Check a file I was sent", on_click=lambda: page.visit("/check")).props("no-caps outline")
    ui.label(PROTECTED).classes("words")
    drafts = [draft for draft in page.browser.drafts.values() if draft.log is not None and not draft.viewed]
    if drafts:
        heading("Open drafts in this browser")
        with ui.element("ul"):
            for draft in drafts:
                with ui.element("li"):
                    link(page, draft.name, page.location_of(draft).path)
    when_ready(page, lambda: asyncio.to_thread(_look_up, page), lambda result: _show(page, *result))


def _look_up(page: Page) -> tuple[list[Account], list[ListedRelease]]:
    return page.ledger.accounts(), listed(page.services.archive, page.ledger)


def _show(page: Page, accounts: list[Account], releases: list[ListedRelease]) -> None:
    heading("Budgets")
    for account in accounts[:_GAUGES]:
        ui.label(account.label).classes("mark-name")
        gauge(account)
    if not accounts:
        note("No data set yet: the first release creates one.")
    elif len(accounts) > _GAUGES:
        link(page, f"All {len(accounts):,} data sets", "/budgets")
    heading("Recent releases")
    release_table(page, releases[:_RECENT])
    if len(releases) > _RECENT:
        link(page, f"All {len(releases):,} releases", "/releases")
