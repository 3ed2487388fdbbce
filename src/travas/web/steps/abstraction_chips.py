"""What of a trace is counted: chips for the public rules, and a made-up trace that shows what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from ...log.abstraction import FULL, Abstraction
from ...plots.chevrons import chevrons
from ..parts import note, picture

EXAMPLE = ("register", "triage", "test", "test", "treat", "test", "treat", "release")
"""Made up: it shows what a rule does, and comes from no log."""

RULES = {
    "fold": "Fold repetitions: an activity that follows itself counts once",
    "loops": "Fold loops: a block that follows itself counts once",
    "first": "First occurrences only, in their order",
    "prefix": "Only the first activities",
    "suffix": "Only the last activities",
    "set": "Only which activities occur",
}
_LENGTHS = (2, 3, 4, 6, 8, 12, 16, 24)
_DEFAULT_LENGTH = 4


class AbstractionChips:
    """The chips of one abstraction, in the order in which they were chosen."""

    def __init__(self, text: str, changed: Callable[[str], Any]) -> None:
        self._steps = [part.strip() for part in text.split("|")] if text else []
        self._changed = changed
        self._shown()

    @ui.refreshable_method
    def _shown(self) -> None:
        with ui.element("div").classes("chips").props('role=group aria-label="Rules on one trace"'):
            for name, words in RULES.items():
                self._chip(name, words)
        for index, step in enumerate(self._steps):
            if ":" in step:
                self._length(index, *step.split(":"))
        trace = (Abstraction.parse(" | ".join(self._steps), files="refuse") if self._steps else FULL)(EXAMPLE)
        note("A made-up trace, and what is counted of it:")
        picture(chevrons(EXAMPLE), "example trace")
        picture(chevrons(trace), "what is counted of it")

    def _chip(self, name: str, words: str) -> None:
        index = next((index for index, step in enumerate(self._steps) if step.partition(":")[0] == name), None)
        order = "" if index is None or len(self._steps) < 2 else f"{index + 1}. "
        chip = ui.element("button").classes("chip").props("type=button")
        chip.props["aria-pressed"] = "false" if index is None else "true"
        with chip:
            ui.label(f"{order}{words}")
        chip.on("click", lambda: self._toggle(name), args=[])

    def _toggle(self, name: str) -> None:
        kept = [step for step in self._steps if step.partition(":")[0] != name]
        if len(kept) == len(self._steps):
            kept.append(f"{name}:{_DEFAULT_LENGTH}" if name in ("prefix", "suffix") else name)
        self._take(kept)

    def _length(self, index: int, name: str, length: str) -> None:
        label = f"How many of the {'first' if name == 'prefix' else 'last'} activities"
        options = sorted({*_LENGTHS, int(length)})
        select = ui.select(options, value=int(length), label=label).classes("narrow")
        select.on_value_change(
            lambda event: self._take([*self._steps[:index], f"{name}:{event.value}", *self._steps[index + 1 :]])
        )

    def _take(self, steps: list[str]) -> None:
        self._steps = steps
        self._shown.refresh()
        self._changed(" | ".join(steps))
