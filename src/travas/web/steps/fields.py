"""Fields of the steps whose text the library reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ...errors import ParameterError
from ...trusted.numbers import typed_whole_number
from ..parts import typed_text
from ..recipe import Recipe

if TYPE_CHECKING:
    from ..page import Page


def typed(page: Page, label: str, hint: str, value: str, changed: Callable[[str], Recipe]) -> ui.input:
    """Show a field. If the library refuses its text, the reason is shown above, in one line."""
    session = page.session

    def take(text: str | None) -> None:
        session.recipe = changed(typed_text(text).strip())
        page.refuse(session.refused())

    field = ui.input(label, value=value, placeholder=hint).classes("w-full").props("debounce=300 maxlength=500")
    field.on_value_change(lambda event: take(event.value))
    return field


def number(page: Page, label: str, option: str, changed: Callable[[], Any]) -> None:
    """Show a field for a whole number, an option of the mechanism. `changed` is called after a change."""
    session = page.session
    value = dict(session.recipe.options).get(option)
    shown = "" if value is None else str(value)

    def whole_or_nothing(text: str | None) -> int | None:
        return typed_whole_number(typed_text(text).strip() or None, option)

    def why(text: str | None) -> str | None:
        try:
            whole_or_nothing(text)
        except ParameterError:
            return "a whole number, or nothing"
        return None

    def take(text: str | None) -> None:
        if why(text) is None:
            session.recipe = session.recipe.with_option(option, whole_or_nothing(text))
            changed()

    field = ui.input(label, value=shown, validation=why)

    field.classes("w-full").props("inputmode=numeric").on_value_change(lambda event: take(event.value))


def lines(page: Page, label: str, option: str, changed: Callable[[], Any]) -> None:
    """Show a field for names, one per line, an option of the mechanism. `changed` is called after a change."""
    session = page.session

    def take(text: str | None) -> None:
        session.recipe = session.recipe.with_option(option, typed_text(text).strip() or None)
        changed()

    field = ui.textarea(label, value=str(dict(session.recipe.options).get(option, "")))
    field.classes("w-full").props("debounce=300 maxlength=100000").on_value_change(lambda event: take(event.value))
