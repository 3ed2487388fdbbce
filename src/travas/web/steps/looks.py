"""Confidential views of the original log that the user opens: they are recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..activity import record

if TYPE_CHECKING:
    from ..sessions import Session

FORECAST = "a forecast that has read the original log"
VALUES = "the values of the first rows"
FINDINGS = "the doctor's findings"
COMPARISON = "a comparison of an earlier release with the original log"

_IN_REPORT = (FORECAST, COMPARISON)
"""What can decide about parameters: the report of every later release of the draft says so."""


def look(session: Session, view: str, release: str = "") -> None:
    """Record that a confidential view is opened. Call it each time, before anything of it is shown."""
    record(session, "confidential view", f"{view}: {session.name}", release)
    if view in _IN_REPORT and view not in session.recipe.looked_at:
        session.recipe = replace(session.recipe, looked_at=(*session.recipe.looked_at, view))
