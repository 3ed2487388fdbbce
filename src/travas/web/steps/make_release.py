"""Step 5: optional diagnosis of the log, cost, reason and release."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ...model.abstraction import FULL
from ...privacy.guarantee import protects
from .. import tasks
from ..account_panel import show_budget
from ..activity import record
from ..curve import view
from ..jobs import Job
from ..parts import confidential, note, onward, refusal, table, title
from ..recipe import Recipe
from ..releasing import start_release

if TYPE_CHECKING:
    from ..page import Page

RESULT = 5


def draw(page: Page) -> None:
    session, recipe = page.session, page.session.recipe
    title("Release")
    found = view(recipe)
    why = found.why or session.refused()
    if why or found.mechanism is None:
        refusal(why)
        return
    options = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in recipe.options)
    table(
        ["what", "chosen"],
        [
            ["log", session.name],
            ["activity", ", ".join(session.reading.activities)],
            ["protects", protects(found.mechanism.unit)],
            ["traces", recipe.abstraction or "as they are"],
            ["mechanism", recipe.mechanism + (f" ({options})" if options else "")],
            ["ε, δ", f"{recipe.epsilon}, {recipe.delta}"],
        ],
    )
    fits = False

    def allowed(yes: bool) -> None:
        nonlocal fits
        fits = yes
        go.set_enabled(fits)

    show_budget(page, allowed)
    diagnosis(page)
    reason = ui.textarea("Why these parameters (for the report)", value=session.reason).classes("w-full")
    reason.on_value_change(lambda event: setattr(session, "reason", event.value or ""))
    again = " again, at the price of another " if session.released is not None else " for "
    go = onward(f"Release{again}ε = {recipe.epsilon}, δ = {recipe.delta}", lambda: start_release(page))
    go.set_enabled(fits)


def diagnosis(page: Page) -> None:
    """What share would be kept: on demand only, and marked, for it is computed from the original log."""
    session = page.session
    found = session.diagnosis
    if found is None or found.reading != session.recipe.reading(session.reading):
        ui.button(
            "Look at the original log: what share would be kept? (confidential)", on_click=lambda: look(page)
        ).props("no-caps outline")
        return
    with confidential():
        summary = found.summary
        unit = found.reading.privacy_unit
        counted = "cases" if unit.is_case else f"cases that count (at most {unit.max_cases} of a {unit.name})"
        ui.label(
            f"{summary.cases:,} {counted}, {summary.variants:,} variants, {summary.activities:,} activities, "
            f"{summary.events:,} events; the longest trace has {summary.longest_trace:,}"
        )
        expected = ui.label().classes("words")

        async def expect() -> None:
            expected.text = await asyncio.to_thread(_expected, found, session.recipe)

        ui.timer(0.01, expect, once=True)
        for remark in found.notes:
            ui.label(remark)
        note("If you change ε or δ because of what you see here, that choice is not covered by the guarantee.")


def _expected(found: tasks.Diagnosis, recipe: Recipe) -> str:
    chosen = recipe.build()
    curve, rung = chosen.keep_curve(), ""
    if curve is not None and curve.rungs:
        rung = " on the rung full; coarser rungs add cases"
    if curve is None or (curve.rungs and curve.rungs[0] != str(FULL)):
        return f"What {chosen.name} keeps is not known in advance."
    cases, variants = found.kept(lambda size: float(curve.probability(size)))
    unit = "" if chosen.noun == "cases" else f", counted by {chosen.unit.name}"
    return f"Expected to be kept: {variants:.1%} of the variants, {cases:.1%} of the cases{unit}{rung}"


def look(page: Page) -> None:
    session, limit = page.session, page.settings.decompressed_limit
    assert session.log is not None
    record(session, "confidential view", "size and shape of the original log")

    def keep(found: Any) -> None:
        session.diagnosis = found

    reading = session.recipe.reading(session.reading)
    session.start(Job(tasks.diagnose, session.log, session.name, reading, limit), keep)
