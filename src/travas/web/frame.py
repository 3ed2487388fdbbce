"""The frame around every screen: the rail of links, and the strip with data set, ε left and what is confidential."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from nicegui import ui

from ..budget.account import Account
from ..budget.ledger import Ledger
from ..errors import CONFIDENTIAL_STRIP, TravasError
from ..trusted.numbers import as_text
from .locations import RAIL
from .parts import typed_text
from .sessions import Session

if TYPE_CHECKING:
    from .page import Page

STORED_THEME, STORED_NAME = "travas-theme", "travas-name"
"""The names in the browser's `localStorage` of what the user set."""

THEMES: dict[str, bool | None] = {"system": None, "light": False, "dark": True}

_FOLLOW = "(event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); emit(); } }"


def link(page: Page, words: str, path: str) -> ui.element:
    """Show a link to a screen. It works without loading the page again, and opens in a new tab like any other."""
    anchor = ui.element("a").props(f'href="{path}"')
    with anchor:
        ui.label(words)
    anchor.on("click", lambda: page.visit(path), js_handler=_FOLLOW)
    return anchor


def rail(page: Page) -> None:
    """Show the links to the screens, with the present one marked."""
    with ui.element("nav").classes("rail").props('aria-label="screens"'), ui.element("ul"):
        for words, path in RAIL:
            with ui.element("li"):
                anchor = link(page, words, path)
                if page.location.rail == path:
                    anchor.props("aria-current=page")


class Strip:
    """The permanent line above the screen. Whether it says confidential is decided by what is on the screen (style.css)."""

    def __init__(self, page: Page) -> None:
        self._page, self._shown = page, ("", -1)
        with ui.element("div").classes("strip").props('role=region aria-label="status"'):
            self._dataset = ui.label()
            self._left = ui.label()
            ui.label("Public").classes("is-public")
            ui.label(CONFIDENTIAL_STRIP).classes("is-confidential")
            ui.space()
            name = ui.input("Your name", value=page.browser.name).props("dense borderless maxlength=200 debounce=400")
            name.on_value_change(lambda event: page.set_name(typed_text(event.value).strip()))
            theme = ui.select(list(THEMES), value=page.theme, label="Theme").props("dense options-dense borderless")
            theme.on_value_change(lambda event: self._set_theme(str(event.value)))
        self._dark = ui.dark_mode(THEMES[page.theme])
        self._say("", None)

    async def update(self, session: Session | None) -> None:
        """Show the data set of a draft and what is left of its budget, if they may have changed."""
        seen = ("", -1) if session is None else (session.dataset, session.version)
        if seen == self._shown:
            return
        self._shown = seen
        account = await asyncio.to_thread(_account, self._page.ledger, seen[0])
        if self._shown == seen and not self._dataset.is_deleted:
            self._say(seen[0], account)

    def look_again(self) -> None:
        """The account has changed: look it up at the next update."""
        self._shown = ("", -2)

    def _say(self, dataset: str, account: Account | None) -> None:
        self._dataset.text = f"Data set: {dataset or 'none chosen'}"
        self._left.text = f"ε left: {epsilon_left(account)}"

    def _set_theme(self, theme: str) -> None:
        self._page.theme = theme
        self._dark.value = THEMES[theme]
        self._page.client.run_javascript(f"localStorage.setItem('{STORED_THEME}', {json.dumps(theme)})")


def epsilon_left(account: Account | None) -> str:
    """Return what is left of the budget of an account, in a few characters."""
    if account is None:
        return "–"
    if account.budget is None:
        return "no budget"
    if account.left is None:
        return f"of {as_text(account.budget.epsilon)}, exactly composed"
    return f"{as_text(account.left[0])} of {as_text(account.budget.epsilon)}"


def _account(ledger: Ledger, dataset: str) -> Account | None:
    try:
        return ledger.account(dataset) if dataset else None
    except TravasError:
        return None
