"""What is released: variants, a synthetic log or a process map, each with its own options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args
from zoneinfo import available_timezones

from nicegui import ui

from ...log.options import Resolution
from ...mechanisms.process_map import PARTS
from ...releases.release import Kind
from ..parts import note
from ..steps import kind_pictures
from .abstraction_chips import AbstractionChips
from .cards import Card, Cards
from .protect_whom import offered_columns

if TYPE_CHECKING:
    from ..page import Page

_CARDS = (
    Card(
        "variants",
        "Variants",
        "Real paths of the log and how often they occur.",
        kind_pictures.VARIANTS,
        "show paths that many cases share, each with an estimate and a 95 % interval",
        "show rare paths, times or attributes",
    ),
    Card(
        "synthetic log",
        "Synthetic log",
        "A generated log that behaves like the original in every tool.",
        kind_pictures.SYNTHETIC,
        "have full traces, times and case attributes, also of logs in which most cases differ",
        "say anything about a single trace: most of them are generated",
    ),
    Card(
        "process map",
        "Process map",
        "Which activity follows which, and in how many cases.",
        kind_pictures.MAP,
        "have the most exact numbers, with intervals; durations, rework and throughput if you want them",
        "show traces, or what happens several steps later",
    ),
)

_PARTS = {
    "durations": "Durations: how long a step takes",
    "rework": "Rework: in how many cases an activity is repeated",
    "throughput": "Throughput: how long a case takes",
}


def kind(page: Page, changed: Callable[[], Any]) -> None:
    """Show the cards of the kinds, and the options of the chosen one. `changed` is called when something was chosen."""
    session = page.session

    def take(value: str) -> None:
        session.recipe = session.recipe.with_kind(cast(Kind, value))
        page.refuse("")
        details.refresh()
        changed()

    Cards("What is released", "kind", _CARDS, session.recipe.kind, take)

    @ui.refreshable
    def details() -> None:
        if session.recipe.kind == "synthetic log":
            _synthetic(page, changed)
        elif session.recipe.kind == "process map":
            _map(page, changed)

    details()
    _abstraction(page, changed)


def _abstraction(page: Page, changed: Callable[[], Any]) -> None:
    session = page.session

    def take(text: str) -> None:
        session.recipe = replace(session.recipe, abstraction=text)
        page.refuse(session.refused())
        changed()

    with ui.expansion("Generalise traces before counting", value=bool(session.recipe.abstraction)) as part:
        note("Generalised traces are shared by more cases, so more of them can be released. It costs no privacy.")
        AbstractionChips(session.recipe.abstraction, take)
    part.classes("w-full")


def _synthetic(page: Page, changed: Callable[[], Any]) -> None:
    """Times, which are released by default, and case attributes."""
    session = page.session
    given = dict(session.recipe.options)

    def take(option: str, value: str | tuple[str, ...] | None) -> None:
        session.recipe = session.recipe.with_option(option, value or None)
        page.refuse(session.refused())
        changed()

    def with_times(wanted: bool) -> None:
        for option in ("zone", "resolution"):
            session.recipe = session.recipe.with_option(option, None)
        take("times", None if wanted else "none")
        when.refresh()

    times = ui.checkbox("Times, if the log has a time column", value="times" not in given)
    times.on_value_change(lambda event: with_times(bool(event.value)))

    @ui.refreshable
    def when() -> None:
        said = dict(session.recipe.options)
        if "times" in said:
            return
        with ui.element("div").classes("fields"):
            zones = {"": "UTC"} | {name: name for name in sorted(available_timezones())}
            zone = ui.select(zones, value=said.get("zone", ""), label="Time zone of weeks and hours", with_input=True)
            zone.on_value_change(lambda event: take("zone", event.value))
            steps = {"": "second"} | {name: name for name in get_args(Resolution) if name != "second"}
            resolution = ui.select(steps, value=said.get("resolution", ""), label="Times are rounded to")
            resolution.on_value_change(lambda event: take("resolution", event.value))

    when()
    _attributes(page, take)


def _attributes(page: Page, take: Callable[[str, tuple[str, ...] | None], None]) -> None:
    """Case attributes: names of columns; numbers need edges that do not come from the log."""
    session = page.session
    given = dict(session.recipe.options)
    names = [name for name in offered_columns(session) if name != session.recipe.unit]
    stated = cast(tuple[str, ...], given.get("attributes", ()))
    edges: dict[str, str] = dict(text.rpartition("=")[::2] for text in stated if "=" in text)
    attributes = [name for name in (*(text for text in stated if "=" not in text), *edges) if name in names]

    def set_edges(name: str, text: str | None) -> None:
        edges[name] = (text or "").strip()
        send()

    def send() -> None:
        given = {name: edges.get(name, "") for name in attributes}
        take("attributes", tuple(f"{name}={edge}" if edge or "=" in name else name for name, edge in given.items()))

    def select(selected: list[str]) -> None:
        attributes[:] = selected
        send()
        numbers.refresh()

    field = ui.select(names, value=list(attributes), multiple=True, label="Case attributes to release (optional)")
    field.classes("w-full").props("use-chips").on_value_change(lambda event: select(list(event.value or ())))

    @ui.refreshable
    def numbers() -> None:
        for name in attributes:
            label = f"{name}: edges of its ranges, if it is a number, such as 20, 40, 60"
            edge = ui.input(label, value=edges.get(name, "")).classes("w-full").props("debounce=300 maxlength=500")
            edge.on_value_change(lambda event, name=name: set_edges(name, event.value))
        if attributes:
            note("Choose attributes and edges without looking at the log. Every attribute takes a share of ε and δ.")

    numbers()


def _map(page: Page, changed: Callable[[], Any]) -> None:
    """The parts of a map beyond its counts."""
    session = page.session

    def take(part: str, wanted: bool) -> None:
        given = {*cast(tuple[str, ...], dict(session.recipe.options).get("parts", ()))}
        parts = given | {part} if wanted else given - {part}
        session.recipe = session.recipe.with_option("parts", tuple(name for name in PARTS if name in parts) or None)
        changed()

    selected = cast(tuple[str, ...], dict(session.recipe.options).get("parts", ()))
    with ui.element("div").props('role=group aria-label="What the map also shows"'):
        note("The map also shows, each for a share of ε and δ:")
        for part in PARTS:
            box = ui.checkbox(_PARTS[part], value=part in selected)
            box.on_value_change(lambda event, part=part: take(part, bool(event.value)))
