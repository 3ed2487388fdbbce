"""Step 3: what protects whom. The unit, how coarse a trace is counted, and the mechanism with its public options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ...mechanisms import MECHANISMS
from ...mechanisms.ladder import DEFAULT_RUNGS
from ...model.explain import SYNTHETIC
from ...privacy.guarantee import MAX_CASES
from ...report.texts import about
from ..parts import note, onward, title
from ..recipe import OFFERED
from ..sessions import Session

if TYPE_CHECKING:
    from ..page import Page

_ONE_CASE = "one case"

_NUMBERS = {
    "minimum_cases": "Never release a variant of fewer cases (persons, where they are counted), at no cost in privacy",
    "splits": "Number of runs (empty: from ε and δ alone)",
    "max_length": "Activities of the longest variant (needed; not to be read from the log)",
    "prune": "Noisy counts must exceed (needed; not to be read from the log)",
}
_TEXTS = {
    "rungs": ("Rungs, from fine to coarse, with commas between them", "default"),
    "shares": ("Shares of ε and δ, one for each rung, or adaptive", "1/2, 1/4, 1/4"),
}
_NEEDED_ALPHABET = (
    "Activities, one per line (needed; a public list, not read from the log)",
    "A tree can release any sequence of these activities. Without a public list no guarantee is established.",
)
_OPTIONAL_ALPHABET = (
    "Activities, one per line (optional; a public list, not read from the log)",
    "With a public list, no part of the budget is spent on finding the activities.",
)
_STEPS = (
    "Public rules on one trace, with | between them: full (as it is), fold (an activity that follows itself counts once), "
    "loops (so does a block), first (first occurrences in order), prefix:n, suffix:n (the first, the last n activities), "
    "set (which activities occur). Rules that are in a file (only, without, group) are for the command line."
)


def draw(page: Page) -> None:
    title("What protects whom")
    unit(page)
    abstraction(page)
    mechanism(page)

    def carry_on() -> None:
        why = page.session.refused()
        if why:
            page.refuse(why)
        else:
            page.go(3)

    onward("Continue", carry_on)


def _offered(session: Session) -> list[str]:
    """Columns that can tell whose a case is; one that was chosen for another log is still shown."""
    assert session.preview is not None
    reading = session.reading
    taken = {reading.case} | ({*reading.activities, reading.timestamp} if session.preview.kind == "table" else set())
    chosen = [session.recipe.unit] if session.recipe.unit else []
    return list(dict.fromkeys([*(name for name in session.preview.case_columns if name not in taken), *chosen]))


def unit(page: Page) -> None:
    """The privacy unit: one case, or all cases that have one value in a column."""
    session = page.session
    ui.html("<h3>Unit: whom it protects</h3>", sanitize=False)

    def take(name: str) -> None:
        session.recipe = replace(session.recipe, unit=name)
        page.refuse("")
        meaning.refresh()

    names = {"": _ONE_CASE} | {name: f"one {name}" for name in _offered(session)}
    chosen = ui.select(names, value=session.recipe.unit, label="Unit").classes("w-full")
    chosen.on_value_change(lambda event: take(event.value or ""))

    @ui.refreshable
    def meaning() -> None:
        name = session.recipe.unit
        if not name:
            note(
                "Adding or removing one case, with everything that happened in it, changes next to nothing of what can be "
                "concluded. A person with several cases is protected less: k cases cost k times the ε. Whoever else appears "
                "in the events, such as staff, is not protected."
            )
            return
        label = f"Maximum number of cases per {name} (1 to {MAX_CASES})"
        _typed(page, label, "", session.recipe.max_cases, lambda text: replace(session.recipe, max_cases=text))
        note(
            f"Adding or removing all cases of one {name}, however many they are, changes next to nothing of what can be "
            "concluded. Fix the number without looking at the log: a larger one keeps more of the log and divides ε and δ "
            f"more finely; 1 to 5 is usual. Whoever has several values in the column {name} is protected less."
        )

    meaning()
    note(
        "Not hidden: what many cases have in common, and the names of activities. Read the names before you hand anything out."
    )


def abstraction(page: Page) -> None:
    """How much coarser a trace is made before it is counted."""
    session = page.session
    ui.html("<h3>Abstraction: what of a trace is counted</h3>", sanitize=False)
    _typed(
        page,
        "Abstraction (empty: the trace as it is)",
        "first | prefix:8",
        session.recipe.abstraction,
        lambda text: replace(session.recipe, abstraction=text),
    )
    note(f"Coarser traces are shared by more cases, so more of them can be released. {_STEPS}")


def mechanism(page: Page) -> None:
    session = page.session
    ui.html("<h3>Mechanism</h3>", sanitize=False)

    def take(name: str) -> None:
        session.recipe = session.recipe.with_mechanism(name)
        page.refuse("")
        details.refresh()

    ui.select(
        {name: name for names in OFFERED.values() for name in names}, value=session.recipe.mechanism, label="Mechanism"
    ).on_value_change(lambda event: take(event.value)).classes("w-full")

    @ui.refreshable
    def details() -> None:
        chosen, given = MECHANISMS[session.recipe.mechanism], dict(session.recipe.options)
        sentence = about(session.recipe.mechanism)
        note(sentence[:1].upper() + sentence[1:] + ".")
        for option in chosen.options():
            if option in _NUMBERS:
                _number(page, option)
            elif option in _TEXTS:
                label, hint = _TEXTS[option]

                def changed(text: str, option: str = option) -> Any:
                    return session.recipe.with_option(option, text or None)

                _typed(page, label, hint, str(given.get(option, "")), changed)
        if chosen.generalises:
            rungs = ", ".join(DEFAULT_RUNGS)
            note(
                f"A rung is an abstraction. Empty or default: {rungs}, all of the budget for the first that is good enough "
                "by a noisy test. Rungs of your own are walked one after the other, with equal shares unless you set shares."
            )
        if chosen.kind == "synthetic log":
            note(SYNTHETIC)
            _alphabet(page, str(given.get("alphabet", "")), *_OPTIONAL_ALPHABET)
        elif chosen.invents_variants:
            _alphabet(page, str(given.get("alphabet", "")), *_NEEDED_ALPHABET)

    details()


def _typed(page: Page, label: str, hint: str, value: str, changed: Callable[[str], Any]) -> None:
    """A field whose text the library reads: what it has to say against it stands above, in one line."""
    session = page.session

    def take(text: str | None) -> None:
        session.recipe = changed((text or "").strip())
        page.refuse(session.refused())

    field = ui.input(label, value=value, placeholder=hint).classes("w-full").props("debounce=300 maxlength=500")
    field.on_value_change(lambda event: take(event.value))


def _alphabet(page: Page, value: str, label: str, about: str) -> None:
    """The public list of activities, one per line."""
    session = page.session

    def changed(text: str | None) -> None:
        session.recipe = session.recipe.with_option("alphabet", (text or "").strip() or None)

    field = ui.textarea(label, value=value)
    field.classes("w-full").props("debounce=300 maxlength=100000").on_value_change(lambda event: changed(event.value))
    note(about)


def _number(page: Page, option: str) -> None:
    session = page.session
    value = dict(session.recipe.options).get(option)
    field = ui.input(
        _NUMBERS[option],
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
