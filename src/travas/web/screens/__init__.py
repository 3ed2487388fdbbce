"""The screens of the frame other than a new release: home, releases, budgets and checking a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..screens import activity_lines, budgets, check, home, missing, releases

if TYPE_CHECKING:
    from ..page import Page

SCREENS: dict[str, Callable[[Page], Any]] = {
    "home": home.draw,
    "releases": releases.draw,
    "activity": activity_lines.draw,
    "budgets": budgets.draw,
    "check": check.draw,
    "missing": missing.draw,
}
"""The draw function of each screen, by the first part of its address."""
