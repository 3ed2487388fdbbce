"""Step 4: ε and δ, what they mean, and the keep-probability curve that moves with them. No data are needed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from nicegui import ui

from ...model import explain
from ..curve import DELTAS, EPSILONS, View, nearest, view
from ..parts import note, on_page, onward, picture, title

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

    async def typed(name: str, text: str) -> None:
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
        await redraw()

    def slid(name: str, place: int) -> None:
        stops = EPSILONS if name == "epsilon" else DELTAS
        if name not in moving:
            fields[name].value = stops[int(place)]

    moving: set[str] = set()
    asked = 0
    for name, stops, label in (("epsilon", EPSILONS, "ε"), ("delta", DELTAS, "δ")):
        value = session.recipe.epsilon if name == "epsilon" else session.recipe.delta
        with ui.row().classes("w-full items-center no-wrap"):
            fields[name] = ui.input(label, value=value).style("width: 7rem").props(f'aria-label="{name}"')
            sliders[name] = ui.slider(min=0, max=len(stops) - 1, step=1, value=nearest(stops, value))
            sliders[name].props(f'aria-label="{name}, smaller protects more"').classes("w-full")
        fields[name].on_value_change(lambda event, name=name: typed(name, event.value))
        sliders[name].on_value_change(lambda event, name=name: slid(name, event.value))

    cases = ui.input("Number of cases, as you state it (optional)", value=session.recipe.stated_cases)
    cases.style("width: 26rem; max-width: 100%")

    async def stated(text: str) -> None:
        session.recipe = replace(session.recipe, stated_cases=(text or "").strip())
        await redraw()

    cases.on_value_change(lambda event: stated(event.value))
    weak = ui.label().classes("refusal").props("role=status")
    meaning_epsilon = ui.label().classes("words")
    meaning_delta = ui.label().classes("words")
    meaning_curve = ui.label().classes("note")
    drawing = picture("", "keep-probability curve").classes("fit")

    async def redraw() -> None:
        nonlocal asked
        asked += 1
        mine, recipe = asked, session.recipe
        sliders["epsilon"].props["aria-valuetext"] = recipe.epsilon
        sliders["delta"].props["aria-valuetext"] = recipe.delta
        found = await asyncio.to_thread(view, recipe)
        if mine != asked or drawing.is_deleted:
            return  # somebody moved on
        why = found.why or session.refused()
        go_on.set_enabled(not why)
        drawing.content = "" if why else found.picture
        weak.text = "" if why else " ".join(found.weak)
        weak.set_visibility(bool(weak.text))
        meaning_epsilon.text, meaning_delta.text, meaning_curve.text = (on_page(why), "", "") if why else _words(found)

    go_on = onward("Continue", lambda: page.go(4))
    ui.timer(0.01, redraw, once=True)


def _words(found: View) -> tuple[str, str, str]:
    """What ε, δ and the curve mean, for the unit that is protected."""
    chosen = found.mechanism
    assert chosen is not None
    about = "What is kept depends on more than the number of cases, or the curve is too long to draw."
    if chosen.kind == "synthetic log":
        about = f"Noise: {'; '.join(chosen.noise_in_words())}."
    if found.points:
        half = next(cases for cases, share in found.points if share >= 0.5)
        sure, noun = found.points[-1][0], chosen.noun
        about = (
            f"A variant of {half:,} {noun} is released with a probability above 50 %; with {sure:,} or more it is always "
            "released."
        )
    if found.points and found.rung:
        about = f"On a ladder it depends on the rung; here: {found.rung}. {about}"
    about_epsilon, about_delta = explain.meaning(
        chosen.epsilon, chosen.delta, chosen.unit.name, explain.released_by(chosen)
    )
    return (
        f"ε: {about_epsilon}",
        f"δ: {about_delta}",
        about,
    )
