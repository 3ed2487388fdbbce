"""The steps of a new release in order. A new step is a new line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..sessions import Session
from . import choose_columns, choose_log, confirm, protect, show_forecast, show_result

if TYPE_CHECKING:
    from ..page import Page


@dataclass(frozen=True)
class PageStep:
    """One step: its name, its draw function, and whether the draft is ready for it."""

    name: str
    draw: Callable[[Page], None]
    ready: Callable[[Session], bool]

    @property
    def slug(self) -> str:
        """Its part of the address."""
        return self.name.lower()


def _has_log(session: Session) -> bool:
    return session.log is not None


STEPS = (
    PageStep("Log", choose_log.draw, lambda session: True),
    PageStep("Columns", choose_columns.draw, _has_log),
    PageStep("Protect", protect.draw, _has_log),
    PageStep("Forecast", show_forecast.draw, _has_log),
    PageStep("Confirm", confirm.draw, _has_log),
    PageStep("Result", show_result.draw, lambda session: session.released is not None),
)


def number_of(slug: str) -> int | None:
    """Return the number of a step, from 0; None if there is no such step."""
    return next((number for number, step in enumerate(STEPS) if step.slug == slug), None)
