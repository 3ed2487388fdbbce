"""Whom a release protects: one case, or a person with all cases up to a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ...trusted.guarantee import MAX_CASES
from ..parts import note, typed_text
from ..sessions import Session
from .cards import Card, Cards
from .fields import typed

if TYPE_CHECKING:
    from ..page import Page

_CARDS = (
    Card(
        "case",
        "One case",
        "Adding or removing one case, with everything that happened in it, changes almost nothing about what can be concluded.",
        cannot="fully protect a person with several cases: k cases cost k times the ε",
    ),
    Card(
        "person",
        "One person",
        "All cases of one person together are protected, however many they are. A column must identify the person of every case.",
        cannot="count every case of a person with very many: only a number that you choose",
    ),
)


def whom(page: Page, changed: Callable[[], Any]) -> None:
    """Show the cards, and for a person the column and the number of cases that count. `changed` is called after a change."""
    session = page.session

    def take(value: str) -> None:
        if value == "case":
            session.recipe = replace(session.recipe, whom="case", unit="")
        else:
            session.recipe = replace(session.recipe, whom="person")
        page.refuse("")
        details.refresh()
        changed()

    Cards("Whom it protects", "whom", _CARDS, session.recipe.protected, take)

    @ui.refreshable
    def details() -> None:
        if session.recipe.protected == "person":
            _person(page, changed)

    details()
    note(
        "Not hidden: what many cases have in common, and the names of activities. Anyone else who appears in the events, such "
        "as staff, is not protected. Read the names before you hand anything out."
    )


def offered_columns(session: Session) -> list[str]:
    """Columns of cases that have no role; a unit that was chosen for another log is still shown."""
    assert session.preview is not None
    reading = session.reading
    taken = {reading.case} | ({*reading.activity, reading.timestamp} if session.preview.kind == "table" else set())
    selected = [session.recipe.unit] if session.recipe.unit else []
    return list(dict.fromkeys([*(name for name in session.preview.case_columns if name not in taken), *selected]))


def _person(page: Page, changed: Callable[[], Any]) -> None:
    session = page.session

    def take(name: str | None) -> None:
        session.recipe = replace(session.recipe, unit=typed_text(name))
        page.refuse("")
        changed()

    with ui.element("div").classes("fields"):
        is_table = session.preview is not None and session.preview.kind == "table"
        unit = ui.select(
            offered_columns(session), value=session.recipe.unit or None, label="Column that identifies the person",
            with_input=not is_table, new_value_mode=None if is_table else "add-unique",  # the first traces may lack it
        )  # fmt: skip
        unit.on_value_change(lambda event: take(event.value))
        most = typed(
            page, f"Maximum number of cases per person (1 to {MAX_CASES})", "", session.recipe.max_cases,
            lambda text: replace(session.recipe, max_cases=text),
        )  # fmt: skip
        most.on_value_change(changed)
    note(
        "Choose the number without looking at the log: a larger one keeps more of the log and divides ε and δ more finely; "
        "1 to 5 is usual. A person with several values in the column is protected less."
    )
