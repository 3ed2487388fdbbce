"""Cards to choose one from: native radio buttons, so that keyboard and screen readers work as everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nicegui import ui

from ..parts import html


@dataclass(frozen=True)
class Card:
    """One choice: its value, its name, what it means, and optionally a picture (our own SVG) and its limits."""

    value: str
    title: str
    text: str
    picture: str = ""
    can: str = ""
    cannot: str = ""


class Cards:
    """A group of cards, one of which is chosen."""

    def __init__(
        self, legend: str, name: str, cards: Sequence[Card], value: str, changed: Callable[[str], Any]
    ) -> None:
        self._inputs: dict[str, ui.element] = {}
        self._changed = changed
        with ui.element("fieldset").classes("cards"):
            html("legend", legend, tag="legend")
            for card in cards:
                self._draw(card, name)
        self.mark(value)

    def mark(self, value: str) -> None:
        """Show another card as chosen, without calling `changed`."""
        for each, field in self._inputs.items():
            field.props(add="checked" if each == value else None, remove=None if each == value else "checked")

    def _draw(self, card: Card, name: str) -> None:
        with ui.element("label").classes("choice"):
            field = ui.element("input").props(f"type=radio name={name}")
            field.props["value"] = card.value
            field.on("change", lambda: self._choose(card.value), args=[])
            title = ui.label(card.title).classes("choice-title")
            field.props["aria-labelledby"] = title.html_id
            if card.picture:
                ui.html(card.picture, sanitize=False).classes("choice-picture")
            with ui.element("div").classes("choice-text") as about:
                ui.label(card.text)
                for word, words in (("Can", card.can), ("Cannot", card.cannot)):
                    if words:
                        html("ability", word, words)
            field.props["aria-describedby"] = about.html_id
        self._inputs[card.value] = field

    def _choose(self, value: str) -> None:
        self.mark(value)
        self._changed(value)
