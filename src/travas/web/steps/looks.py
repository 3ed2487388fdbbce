"""Confidential views of the original log that the user opens: they are recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..activity import record

if TYPE_CHECKING:
    from ..page import Page

FORECAST = "a forecast that has read the original log"
VALUES = "the values of the first rows"
FINDINGS = "the doctor's findings"

_IN_REPORT = (FORECAST,)
"""What can decide about parameters: the report says so."""


def look(page: Page, view: str) -> None:
    """Record that a confidential view is opened, the first time that it is. Call it before anything of it is shown.

    Args:
        page: The page.
        view: What is opened.

    Raises:
        OutputError: It cannot be recorded, so it must not be opened.
    """
    session = page.session
    if view in session.steps.opened:
        return
    record(session, "confidential view", view)
    session.steps.opened = (*session.steps.opened, view)
    if view in _IN_REPORT:
        session.recipe = replace(session.recipe, looked_at=(*session.recipe.looked_at, view))
