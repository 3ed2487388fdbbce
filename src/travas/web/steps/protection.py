"""Step 3: what protects whom. The unit, and the mechanism with its public options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from ...dossier_texts import about
from ...mechanisms import MECHANISMS
from ..parts import note, onward, title
from ..recipe import OFFERED

if TYPE_CHECKING:
    from ..page import Page

_OPTIONS = {
    "minimum_cases": "Never release a variant of fewer cases (at no cost in privacy)",
    "splits": "Number of runs (empty: from ε and δ alone)",
    "max_length": "Activities of the longest variant (needed; not to be read from the log)",
    "prune": "Noisy counts must exceed (needed; not to be read from the log)",
}


def draw(page: Page) -> None:
    title("What protects whom")
    unit()
    mechanism(page)
    onward("Continue", lambda: page.go(3))


def unit() -> None:
    """The privacy unit. Another unit, an abstraction or a ladder is another component beside this one."""
    ui.html("<h3>Unit: one case</h3>", sanitize=False)
    note(
        "Adding or removing one case, with everything that happened in it, changes next to nothing of what can be "
        "concluded. A person with several cases is protected less: k cases cost k times the ε. Whoever else appears in "
        "the events, such as staff, is not protected."
    )
    note(
        "Not hidden: what many cases have in common, and the names of activities. Read the names before you hand anything out."
    )


def mechanism(page: Page) -> None:
    session = page.session
    ui.html("<h3>Mechanism</h3>", sanitize=False)

    def take(name: str) -> None:
        session.recipe = session.recipe.with_mechanism(name)
        details.refresh()

    ui.select({name: name for name in OFFERED}, value=session.recipe.mechanism, label="Mechanism").on_value_change(
        lambda event: take(event.value)
    ).classes("w-full")

    @ui.refreshable
    def details() -> None:
        chosen = MECHANISMS[session.recipe.mechanism]
        note(about(session.recipe.mechanism).capitalize() + ".")
        for option in chosen.options:
            if option in _OPTIONS:
                _number(page, option)
        if "alphabet" in chosen.options:
            note("The names of all activities of the log are taken as public.")

    details()


def _number(page: Page, option: str) -> None:
    session = page.session
    value = dict(session.recipe.options).get(option)
    field = ui.input(
        _OPTIONS[option],
        value="" if value is None else str(value),
        validation={"a whole number, or nothing": _is_whole_or_nothing},
    )

    def take(text: str) -> None:
        if _is_whole_or_nothing(text):
            number = int(text) if text and text.strip() else None
            session.recipe = session.recipe.with_option(option, number)

    field.classes("w-full").props("inputmode=numeric").on_value_change(lambda event: take(event.value))


def _is_whole_or_nothing(text: str) -> bool:
    text = (text or "").strip()
    return not text or (text.isascii() and text.isdecimal() and len(text) < 10)
