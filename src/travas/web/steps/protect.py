"""Step 3: whom the release protects, what is released, and how strongly it protects."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nicegui import ui

from ..curve import view
from ..parts import PRIMARY, title, working_button
from .protect_kind import kind
from .protect_more import more
from .protect_strength import StrengthPanel
from .protect_whom import whom

if TYPE_CHECKING:
    from ..page import Page


def draw(page: Page) -> None:
    """Show the step."""
    session = page.session
    title("Protect")
    shown = session.recipe.kind

    def changed() -> None:
        nonlocal shown
        if session.recipe.kind != shown:
            shown = session.recipe.kind
            rare.refresh()
        strength.soon()

    whom(page, changed)
    kind(page, changed)

    @ui.refreshable
    def rare() -> None:
        more(page, changed)

    rare()
    strength = StrengthPanel(page)

    async def carry_on() -> None:
        why = session.refused() or (await asyncio.to_thread(view, session.recipe)).why
        if why:
            page.refuse(why)
        else:
            page.go("forecast")

    working_button("Continue", carry_on, PRIMARY)
