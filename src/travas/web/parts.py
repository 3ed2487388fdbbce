"""Small things that several steps of the page are made of. Text is always escaped here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from ..errors import CONFIDENTIAL_HEADING
from ..plots.svg import escape


def title(words: str) -> None:
    """The heading of a step; it takes the focus when the step is entered."""
    ui.html(f'<h2 id="step-title" tabindex="-1">{escape(words)}</h2>', sanitize=False)


def note(words: str) -> None:
    ui.label(words).classes("note")


def confidential() -> Any:
    """A box for what must not leave this screen: marked in words, not by colour alone."""
    box = ui.column().classes("confidential w-full").props('role=region aria-label="confidential"')
    with box:
        ui.label(CONFIDENTIAL_HEADING).classes("mark")
    return box


_FIELDS = {
    "--timestamp-format": "the format of timestamps (Columns, More)",
    "--on-missing drop": "'drop' for events without case, activity or time (Columns, More)",
    "--duplicate-cases": "for traces of one name (Columns, More)",
    "--delimiter": "the delimiter (Columns, More)",
    "--quote": "the quote (Columns, More)",
    "--encoding": "the encoding (Columns, More)",
    "--max-length": "the longest variant (Protection)",
    "--prune": "what noisy counts must exceed (Protection)",
    "--unit COLUMN": "the unit (Protection)",
    "--max-cases": "their number (Protection)",
    "--ladder RULE": "the ladder (Protection)",
}
"""Where the page has what the command line's words speak of."""


def on_page(words: str) -> str:
    """The words of the library, with the page's fields for the command line's options."""
    for option, field in _FIELDS.items():
        words = words.replace(option, field)
    return words


def refusal(words: str) -> None:
    """One clear line about what is wrong."""
    ui.label(on_page(words)).classes("refusal").props("role=alert")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[int] = frozenset()) -> None:
    """A plain table; columns of `numbers` are set to the right."""

    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=number' if place in numbers else ''}>{escape(words)}</{tag}>"
            for place, words in enumerate(texts)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    ui.html(
        f'<div class="scroll" tabindex="0"><table><thead><tr>{cells("th", head)}</tr></thead><tbody>{body}</tbody></table></div>',
        sanitize=False,
    ).classes("w-full")


def picture(svg: str, label: str) -> Any:
    """A drawing in a frame that scrolls, also by keyboard."""
    return ui.html(svg, sanitize=False).classes("scroll picture").props(f'tabindex=0 role=group aria-label="{label}"')


def onward(words: str, go: Callable[[], Any]) -> Any:
    """The button that leads on."""
    return ui.button(words, on_click=go).props("unelevated no-caps color=primary")
