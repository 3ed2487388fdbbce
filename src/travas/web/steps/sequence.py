"""The steps of a new release in order. A new step is a new line here, and a new `StepName`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..sessions import Session
from ..steps import choose_columns, choose_log, confirm, protect, show_forecast, show_result
from .state import StepName

if TYPE_CHECKING:
    from ..page import Page


@dataclass(frozen=True)
class PageStep:
    """One step: its draw function, and whether the draft is ready for it."""

    draw: Callable[[Page], None]
    ready: Callable[[Session], bool]


def _has_log(session: Session) -> bool:
    return session.log is not None


STEPS: dict[StepName, PageStep] = {
    "log": PageStep(choose_log.draw, lambda session: True),
    "columns": PageStep(choose_columns.draw, _has_log),
    "protect": PageStep(protect.draw, _has_log),
    "forecast": PageStep(show_forecast.draw, _has_log),
    "confirm": PageStep(confirm.draw, _has_log),
    "result": PageStep(show_result.draw, lambda session: session.released is not None),
}


def step_of(address: str) -> StepName | None:
    """Return the step that a part of an address names; None if there is no such step."""
    return next((name for name in STEPS if name == address), None)
