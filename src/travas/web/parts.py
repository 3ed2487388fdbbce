"""Components shared by several steps of the page. HTML comes from templates, which escape all text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from nicegui import ui

from ..errors import CONFIDENTIAL_HEADING, TravasError
from ..plots.html import part
from .failures import in_words

if TYPE_CHECKING:
    from .page import Page

Ready = TypeVar("Ready")

PRIMARY = "unelevated no-caps color=primary"
"""How the button to the next step looks."""


def html(macro: str, *values: Any, tag: str = "div") -> ui.html:
    """Show a macro of templates/parts.html, which escapes its values."""
    return ui.html(str(part(__package__, "parts.html", macro, *values)), sanitize=False, tag=tag)


def title(words: str) -> None:
    """Show the heading of a step, which is focused when the step is opened."""
    html("title", words)


def heading(words: str) -> None:
    """Show the heading of a part of a screen."""
    html("heading", words)


def when_ready(page: Page, work: Callable[[], Awaitable[Ready]], show: Callable[[Ready], Any]) -> None:
    """Show what takes a moment to look up, such as in the ledger, when it is there."""
    box = ui.column().classes("w-full gap")
    with box:
        ui.label("Loading …").props("role=status")

    async def look_up() -> None:
        try:
            result = await work()
            if not box.is_deleted:
                box.clear()
                with box:
                    show(result)
        except (TravasError, OSError) as error:
            if not box.is_deleted:
                box.clear()
            page.refuse(in_words(error))

    ui.timer(0.01, look_up, once=True)


def typed_text(value: Any) -> str:
    """Return what was typed, without lone surrogates: a browser can send them, but they cannot be stored or shown."""
    return str(value or "").encode(errors="replace").decode()


def clock(time: str) -> str:
    """Return a time in UTC as it is read most easily, without its zone, which the heading of its column says.

    >>> clock("2026-05-01T10:00:00+00:00")
    '2026-05-01 10:00:00'
    """
    return time[:19].replace("T", " ")


def note(words: str) -> None:
    ui.label(words).classes("note")


def confidential() -> Any:
    """Return a box for confidential content, marked by text as well as colour."""
    box = ui.column().classes("confidential w-full").props('role=region aria-label="confidential"')
    with box:
        ui.label(CONFIDENTIAL_HEADING).classes("mark")
    return box


def refusal(words: str) -> None:
    """Show an error message."""
    ui.label(words).classes("refusal").props("role=alert")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[int] = frozenset()) -> None:
    """Show a plain table; columns in `numbers` are right-aligned."""
    html("table", head, rows, numbers).classes("w-full")


def picture(svg: str, label: str) -> Any:
    """Show a figure in a frame that scrolls, also by keyboard."""
    return ui.html(svg, sanitize=False).classes("scroll picture").props(f'tabindex=0 role=group aria-label="{label}"')


def onward(words: str, go: Callable[[], Any]) -> ui.button:
    """Return the button to the next step."""
    return ui.button(words, on_click=go).props(PRIMARY)


def working_button(words: str, work: Callable[[], Awaitable[Any]], look: str = "no-caps outline") -> ui.button:
    """Return a button for work that takes a moment: from the click to the end it shows a spinner and takes no other click."""

    async def run() -> None:
        button.props("loading")
        try:
            await work()
        finally:
            if not button.is_deleted:
                button.props(remove="loading")

    button = ui.button(words, on_click=run).props(look)
    return button
