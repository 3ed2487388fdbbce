"""Step 5: look at the log if you must, see what it costs, give the reason, release."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ...errors import ParameterError
from ...release import Release
from .. import tasks
from ..budget import charge, refund, show_budget, spent_on
from ..curve import refusal
from ..jobs import Job
from ..parts import note, onward, private, table, title
from ..recipe import Recipe
from ..sessions import Released, Session

if TYPE_CHECKING:
    from ..page import Page

RESULT = 5


def draw(page: Page) -> None:
    session, recipe = page.session, page.session.recipe
    title("Release")
    options = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in recipe.options)
    table(
        ["what", "chosen"],
        [
            ["log", session.name],
            ["activity", ", ".join(session.reading.activities)],
            ["protects", "one case more or less"],
            ["mechanism", recipe.mechanism + (f" ({options})" if options else "")],
            ["ε, δ", f"{recipe.epsilon}, {recipe.delta}"],
        ],
    )
    why = refusal(recipe)
    if why:
        page.session.error = why
        note(why)
        return
    show_budget(session)
    diagnosis(page)
    reason = ui.textarea("Why these parameters (for the report)", value=session.reason).classes("w-full")
    reason.on_value_change(lambda event: setattr(session, "reason", event.value or ""))
    again = " again, at the price of another " if session.released is not None else " for "
    onward(f"Release{again}ε = {recipe.epsilon}, δ = {recipe.delta}", lambda: start(page))


def diagnosis(page: Page) -> None:
    """What share would be kept: on demand only, and marked, for it is computed from the true log."""
    session = page.session
    found = session.diagnosis
    if found is None:
        ui.button("Look at the true log: what share would be kept? (private)", on_click=lambda: look(page)).props(
            "no-caps outline"
        )
        return
    with private():
        summary = found.summary
        ui.label(
            f"{summary.cases:,} cases, {summary.variants:,} variants, {summary.activities:,} activities, "
            f"{summary.events:,} events; the longest trace has {summary.longest_trace:,}"
        )
        chosen = session.recipe.build()
        if chosen.surely_kept() is None:
            ui.label(f"What {chosen.name} keeps is not known beforehand.")
        else:
            cases, variants = found.kept(lambda size: float(chosen.keep_probability(size) or 0))
            ui.label(f"Expected to be kept: {variants:.1%} of the variants, {cases:.1%} of the cases").classes("words")
        for remark in found.notes:
            ui.label(remark)
        note("If you change ε or δ because of what you see here, that choice is not covered by the guarantee.")


def look(page: Page) -> None:
    session, limit = page.session, page.settings.decompressed_limit
    assert session.log is not None

    def keep(found: Any) -> None:
        session.diagnosis = found

    session.start(Job(tasks.diagnose, session.log, session.name, session.reading, limit), keep)


async def start(page: Page) -> None:
    """The charge first: from here on the noise may be drawn, whatever happens to the run."""
    session, recipe = page.session, page.session.recipe
    assert session.log is not None
    try:
        chosen = recipe.build()
        await asyncio.to_thread(chosen.guarantee)
    except ParameterError as error:
        page.refuse(str(error))
        return
    history = spent_on(session)
    charge(session)
    arguments = (session.log, session.name, session.reading, recipe, page.settings.decompressed_limit)
    keep = partial(_keep, session, recipe, Release(chosen, (), ()), session.reason, history)

    def failed(job: Job) -> None:
        if job.words != tasks.DRAWING:  # said before the first draw, and nothing that was said is lost
            refund(session)

    session.start(Job(tasks.draw, *arguments), keep, failed)


def _keep(session: Session, recipe: Recipe, empty: Release, reason: str, history: tuple[Any, ...], drawn: Any) -> None:
    release = replace(empty, variants=drawn.variants, noisy=drawn.noisy, columns=drawn.columns)
    folder = session.folder / f"release-{len(session.spent)}"
    folder.mkdir(mode=0o700)
    session.released = Released(release, recipe, folder, reason, history, drawn.kept, drawn.notes)
    session.step = RESULT
