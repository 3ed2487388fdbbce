"""Home: where everything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..parts import onward, title

if TYPE_CHECKING:
    from ..page import Page


def draw(page: Page) -> None:
    title("Home")
    onward("Start a release", lambda: page.visit("/new"))
