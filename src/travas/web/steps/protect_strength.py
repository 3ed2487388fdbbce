"""How strong a release protects: presets in words, exact ε and δ, and what they mean. No data are needed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from nicegui import ui

from ... import explain
from ...plots.charts import guess_chart
from ...releases.release import count_noun
from ..curve import DELTAS, EPSILONS, View, nearest, view
from ..parts import note, picture
from .cards import Card, Cards

if TYPE_CHECKING:
    from ..page import Page

PRESETS = {"strong": ("0.5", "1e-8"), "balanced": ("1", "1e-6"), "weaker": ("2", "1e-5")}
_WORDS = {
    "strong": ("Strong", "For sensitive data that many will see. Less of the log is released."),
    "balanced": ("Balanced", "Defensible for most data; the usual choice."),
    "weaker": ("Weaker", "For data that few will see, under a contract. More of the log is released."),
}
_STOPS = {"epsilon": EPSILONS, "delta": DELTAS}


def _cards() -> list[Card]:
    cards = []
    for name, (epsilon, delta) in PRESETS.items():
        title, text = _WORDS[name]
        text += f" {explain.of_attacker(Fraction(epsilon), Fraction(delta))}"
        cards.append(Card(name, f"{title}: ε = {epsilon}, δ = {delta}", text))
    return cards


class StrengthPanel:
    """The presets, the exact fields with their sliders, and the words and pictures that follow them."""

    def __init__(self, page: Page) -> None:
        self._session = page.session
        self._asked = 0
        self._moving: set[str] = set()
        self._fields: dict[str, ui.input] = {}
        self._sliders: dict[str, ui.slider] = {}
        self._presets = Cards("How strongly it protects", "strength", _cards(), self._preset(), self._take_preset)
        for name, label in (("epsilon", "ε"), ("delta", "δ")):
            self._number(name, label)
        note(
            "Choose them before you look at the log: choosing them by the result is a use of the log that no guarantee covers."
        )
        self._weak = ui.label().classes("refusal").props("role=status")
        self._epsilon, self._delta = ui.label().classes("words"), ui.label().classes("words")
        self._guess = picture("", "an attacker's best guess").classes("fit")
        self._curve_words = ui.label().classes("note")
        self._curve = picture("", "keep-probability curve").classes("fit hover-labels")
        self._place = ui.element("div")
        self.soon()

    def soon(self) -> None:
        """Show what the present recipe means, when the other changes are on the page."""
        with self._place:
            ui.timer(0.01, self.redraw, once=True)

    async def redraw(self) -> None:
        """Show what the present recipe means."""
        self._asked += 1
        mine, recipe = self._asked, self._session.recipe
        for name, value in (("epsilon", recipe.epsilon), ("delta", recipe.delta)):
            self._sliders[name].props["aria-valuetext"] = value
        shown = await asyncio.to_thread(view, recipe)
        if mine != self._asked or self._curve.is_deleted:
            return  # a newer change is being drawn
        why = shown.why or self._session.refused()
        self._show(shown, why)

    def _show(self, shown: View, why: str) -> None:
        self._weak.text = "" if why else " ".join(shown.weak)
        self._weak.set_visibility(bool(self._weak.text))
        words = (why, "", "") if why else words_of(shown)
        self._epsilon.text, self._delta.text, self._curve_words.text = words
        self._curve.content = "" if why else shown.picture
        self._curve.set_visibility(bool(self._curve.content))
        self._guess.content = "" if why else _guess(shown)
        self._guess.set_visibility(bool(self._guess.content))

    def _value(self, name: str) -> str:
        return self._session.recipe.epsilon if name == "epsilon" else self._session.recipe.delta

    def _preset(self) -> str:
        recipe = self._session.recipe
        return next((name for name, pair in PRESETS.items() if pair == (recipe.epsilon, recipe.delta)), "")

    def _take_preset(self, name: str) -> None:
        epsilon, delta = PRESETS[name]
        self._fields["epsilon"].value, self._fields["delta"].value = epsilon, delta

    def _number(self, name: str, label: str) -> None:
        value, stops = self._value(name), _STOPS[name]
        with ui.row().classes("w-full items-center no-wrap"):
            field = ui.input(label, value=value).style("width: 7rem").props(f'aria-label="{name}"')
            slider = ui.slider(min=0, max=len(stops) - 1, step=1, value=nearest(stops, value)).classes("w-full")
            slider.props(f'aria-label="{name}, smaller protects more"')
        field.on_value_change(lambda event: self._typed(name, event.value))
        slider.on_value_change(lambda event: self._slid(name, event.value))
        self._fields[name], self._sliders[name] = field, slider

    async def _typed(self, name: str, text: str) -> None:
        number = (text or "").strip()
        recipe = self._session.recipe
        self._session.recipe = replace(recipe, epsilon=number) if name == "epsilon" else replace(recipe, delta=number)
        stop = nearest(_STOPS[name], number)
        if self._sliders[name].value != stop:
            self._moving.add(name)
            self._sliders[name].value = stop
            self._moving.discard(name)
        self._presets.mark(self._preset())
        await self.redraw()

    def _slid(self, name: str, stop: int) -> None:
        if name not in self._moving:
            self._fields[name].value = _STOPS[name][int(stop)]


def _guess(shown: View) -> str:
    mechanism = shown.mechanism
    assert mechanism is not None
    parameters = mechanism.epsilon, mechanism.delta
    return guess_chart(explain.best_guess(*parameters), explain.of_attacker(*parameters))


def words_of(shown: View) -> tuple[str, str, str]:
    """Return what ε, δ and the curve mean, for the unit that is protected."""
    mechanism = shown.mechanism
    assert mechanism is not None
    about = "What is kept depends on more than the number of cases, or the curve is too long to draw."
    if mechanism.kind != "variants":
        about = "How exact it is depends on the number of cases: the next step says what to expect."
    if shown.points and shown.half is not None:
        about = f"At this ε and δ {explain.of_curve(shown.half, shown.points[-1][0], count_noun(mechanism))}."
    if shown.points and shown.rung:
        about = f"On a ladder it depends on the rung; here: {shown.rung}. {about}"
    released = explain.released_by(mechanism)
    about_epsilon, about_delta = explain.meaning(mechanism.epsilon, mechanism.delta, mechanism.unit.noun, released)
    return f"ε: {about_epsilon}", f"δ: {about_delta}", about
