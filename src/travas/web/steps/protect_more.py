"""What few releases need: the mechanism of variants with its public options, a list of activities, and a period."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from nicegui import ui

from ...explain import summary
from ...mechanisms import MECHANISMS
from ...mechanisms.ladder import generalises
from ...mechanisms.registry import options_of
from ...settings.project import OFFERED
from ..parts import heading, note, typed_text
from .fields import lines, number, typed

if TYPE_CHECKING:
    from ..page import Page

RUNGS = ("full", "fold", "loops", "first", "prefix:16", "prefix:12", "prefix:8", "prefix:4", "prefix:2", "set")
"""The rules that a ladder of one's own is made of, from fine to coarse."""

_NUMBERS = {
    "minimum_cases": "Never release a variant of fewer cases (persons, where they are counted), at no cost in privacy",
    "splits": "Number of runs (empty: from ε and δ alone)",
    "max_length": "Activities of the longest variant (required; must not be read from the log)",
    "prune": "Noisy counts must exceed (required; must not be read from the log)",
}
_ALPHABET = {
    True: (
        "Activities, one per line (required; a public list, not read from the log)",
        "A tree can release any sequence of these activities. Without a public list no guarantee is established.",
    ),
    False: (
        "Activities, one per line (optional; a public list, not read from the log)",
        "With a public list, no part of the budget is spent on finding the activities.",
    ),
}


def more(page: Page, changed: Callable[[], Any]) -> None:
    """Show the options that few releases need. `changed` is called when the mechanism was changed."""
    session = page.session
    part = ui.expansion("More: mechanism, public lists, a period", value=session.recipe.mechanism not in _USUAL)
    with part.classes("w-full"):

        def take(name: str) -> None:
            session.recipe = session.recipe.with_mechanism(name)
            page.refuse("")
            options.refresh()
            changed()

        offered = OFFERED[session.recipe.kind]
        if len(offered) > 1:
            select = ui.select(list(offered), value=session.recipe.mechanism, label="Mechanism").classes("w-full")
            select.on_value_change(lambda event: take(event.value))

        @ui.refreshable
        def options() -> None:
            _options(page, changed)

        options()
        _period(page)


_USUAL = tuple(names[0] for names in OFFERED.values())


def _options(page: Page, changed: Callable[[], Any]) -> None:
    session = page.session
    mechanism = MECHANISMS[session.recipe.mechanism]
    about = summary(mechanism)
    note(f"{about[:1].upper()}{about[1:]}.")
    for option in options_of(mechanism):
        if option in _NUMBERS:
            number(page, _NUMBERS[option], option, changed)
    if generalises(mechanism):
        _rungs(page, changed)
    if "alphabet" in options_of(mechanism):
        label, words = _ALPHABET[session.recipe.kind == "variants"]
        lines(page, label, "alphabet", changed)
        note(words)


def _rungs(page: Page, changed: Callable[[], Any]) -> None:
    """The rungs of a ladder: the default, or some rules with equal shares."""
    session = page.session
    given = str(dict(session.recipe.options).get("rungs", ""))

    def take(selected: list[str]) -> None:
        rungs = ",".join(rung for rung in RUNGS if rung in selected)
        session.recipe = session.recipe.with_option("rungs", rungs or None)
        page.refuse(session.refused())
        changed()

    present = given.split(",") if given else []
    field = ui.select(list(RUNGS), value=present, multiple=True, label="Rungs (none: the default ladder)")
    field.classes("w-full").props("use-chips").on_value_change(lambda event: take(list(event.value or ())))
    note(
        "A rung is a rule on one trace. By default the whole budget is spent on the first rung that passes a noisy test. "
        "Rungs that you choose are used from fine to coarse, each with an equal share."
    )


def _period(page: Page) -> None:
    """Only cases that are closed in a period, each up to its closing."""
    session = page.session

    def field(label: str, name: str, kind: str = "") -> None:
        shown = typed(
            page, label, "", cast(str, getattr(session.recipe.period, name)),
            lambda text: replace(session.recipe, period=replace(session.recipe.period, **{name: text})),
        )  # fmt: skip
        if kind:
            shown.props(f"type={kind} stack-label")

    heading("Only cases closed in a period (optional)")
    with ui.element("div").classes("fields"):
        field("First day of the period", "first", "date")
        field("First day after the period", "last", "date")
        field("Days without an event that close a case", "gap_days")
        field("Days until all events have arrived", "grace_days")

    def take(text: str | None) -> None:
        period = replace(session.recipe.period, end_activity=typed_text(text).strip())
        session.recipe = replace(session.recipe, period=period)
        page.refuse(session.refused())

    ends = ui.textarea("Or activities that close a case, one per line", value=session.recipe.period.end_activity)
    ends.classes("w-full").props("debounce=300 maxlength=10000").on_value_change(lambda event: take(event.value))
    note(
        "A case is counted in the period in which it is closed, and in no other. Releases of different periods share ε."
    )
