"""The screen of an address that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import link
from ..parts import title

if TYPE_CHECKING:
    from ..page import Page


def draw(page: Page) -> None:
    title("There is no such screen")
    link(page, "Home", "/")
