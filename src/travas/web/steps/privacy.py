"""Step 4: ε and δ, what they mean, and the keep-probability curve that moves with them. No data are needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nicegui import ui

from ... import words
from ...errors import ParameterError
from ...privacy import exact_delta, exact_epsilon
from ..curve import DELTAS, EPSILONS, curve, nearest, points, refusal
from ..parts import note, onward, picture, title

if TYPE_CHECKING:
    from ..page import Page


def draw(page: Page) -> None:
    session = page.session
    title("How much privacy: ε and δ")
    note(
        "Choose them before you look at the log: choosing by what comes out is a use of the log that no guarantee covers."
    )
    fields: dict[str, ui.input] = {}
    sliders: dict[str, ui.slider] = {}

    def typed(name: str, text: str) -> None:
        number = (text or "").strip()
        session.recipe = (
            replace(session.recipe, epsilon=number) if name == "epsilon" else replace(session.recipe, delta=number)
        )
        stops = EPSILONS if name == "epsilon" else DELTAS
        place = nearest(stops, session.recipe.epsilon if name == "epsilon" else session.recipe.delta)
        if sliders[name].value != place:
            moving.add(name)
            sliders[name].value = place
            moving.discard(name)
        redraw()

    def slid(name: str, place: int) -> None:
        stops = EPSILONS if name == "epsilon" else DELTAS
        if name not in moving:
            fields[name].value = stops[int(place)]

    moving: set[str] = set()
    for name, stops, label in (("epsilon", EPSILONS, "ε"), ("delta", DELTAS, "δ")):
        value = session.recipe.epsilon if name == "epsilon" else session.recipe.delta
        with ui.row().classes("w-full items-center no-wrap"):
            fields[name] = ui.input(label, value=value).style("width: 7rem").props(f'aria-label="{name}"')
            sliders[name] = ui.slider(min=0, max=len(stops) - 1, step=1, value=nearest(stops, value))
            sliders[name].props(f'aria-label="{name}, smaller protects more"').classes("w-full")
        fields[name].on_value_change(lambda event, name=name: typed(name, event.value))
        sliders[name].on_value_change(lambda event, name=name: slid(name, event.value))

    meaning_epsilon = ui.label().classes("words")
    meaning_delta = ui.label().classes("words")
    meaning_curve = ui.label().classes("note")
    drawing = picture("", "keep-probability curve").classes("fit")

    def redraw() -> None:
        recipe = session.recipe
        sliders["epsilon"].props["aria-valuetext"] = recipe.epsilon
        sliders["delta"].props["aria-valuetext"] = recipe.delta
        why = refusal(recipe)
        go_on.set_enabled(not why)
        if why:
            meaning_epsilon.text, meaning_delta.text, meaning_curve.text = why, "", ""
            drawing.content = ""
            return
        epsilon, delta = exact_epsilon(recipe.epsilon), exact_delta(recipe.delta)
        found = _points(page)
        meaning_epsilon.text = "ε: " + words.of_epsilon(epsilon, delta, "case")
        meaning_delta.text = "δ: " + words.of_delta(delta, "case", "variants of the log" if found else "any sequence")
        drawing.content = curve(recipe) if found else ""
        if found:
            half = next(cases for cases, share in found if share >= 0.5)
            meaning_curve.text = (
                f"A variant of {half:,} cases is released with even odds, one of {found[-1][0]:,} or more surely."
            )
        else:
            meaning_curve.text = (
                "What is kept depends on more than the number of cases, or the curve is too long to draw."
            )

    go_on = onward("Continue", lambda: page.go(4))
    redraw()


def _points(page: Page) -> tuple[tuple[int, float], ...]:
    try:
        return points(page.session.recipe)
    except ParameterError:
        return ()
