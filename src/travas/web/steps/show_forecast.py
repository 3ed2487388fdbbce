"""Step 4: what a release can do. Without data first; a forecast that reads the log is behind one gate and recorded."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ...errors import OutputError, ParameterError
from ...evaluation.forecast import LOOKING
from ...evaluation.kinds import EPSILONS, Coverage
from ...releases.release import KINDS
from ...web import tasks
from ..jobs import Job
from ..outlook import OutlookView, outlook
from ..parts import confidential, heading, html, note, onward, refusal, table, title, typed_text
from ..sessions import Session
from .looks import FORECAST, look

if TYPE_CHECKING:
    from ..page import Page


def draw(page: Page) -> None:
    """Show the step."""
    title("Forecast")
    note("This forecast uses ε, δ and the number of cases that you state. It does not read the log.")
    _public(page)


# ------------------------------------------------------------------------------------------------------ without data


def _public(page: Page) -> None:
    session = page.session
    field = ui.input("Number of cases, as you state it (optional)", value=session.recipe.stated_cases)
    field.classes("narrow").props("inputmode=numeric debounce=300 maxlength=9")
    box = ui.column().classes("w-full")
    with box:
        ui.label("Loading …").props("role=status")
    rest = ui.column().classes("w-full")  # drawn when it is known where it belongs, so that nothing moves
    asked = 0

    async def show() -> None:
        nonlocal asked
        asked += 1
        mine = asked
        result = await asyncio.to_thread(outlook, session.recipe)
        if mine == asked and not box.is_deleted:
            box.clear()
            with box:
                _outlook(result, session)
        if mine == 1 and not rest.is_deleted:
            with rest:
                _gate(page)
                onward("Continue", lambda: page.go("confirm"))

    async def stated(text: str | None) -> None:
        session.recipe = replace(session.recipe, stated_cases=typed_text(text).strip())
        await show()

    field.on_value_change(lambda event: stated(event.value))
    ui.timer(0.01, show, once=True)


def _outlook(view: OutlookView, session: Session) -> None:
    if view.why:
        refusal(view.why)
        return
    for sentence in view.weak:
        ui.label(sentence).classes("refusal").props("role=status")
    rows = []
    for kind, facts in view.facts:
        mark = " (chosen)" if kind == session.recipe.kind else ""
        rows += [[kind + mark if index == 0 else "", fact] for index, fact in enumerate(facts)]
    table(["Kind of release", f"What it can do at ε = {session.recipe.epsilon}, δ = {session.recipe.delta}"], rows)
    heading("Recommendation")
    for sentence in view.advice:
        ui.label(sentence).classes("words")


# ----------------------------------------------------------------------------------------------------- with the log


def _gate(page: Page) -> None:
    """The forecast that reads the log: only after one explicit click, and recorded."""
    session = page.session
    coverage = session.steps.coverage
    if coverage is not None and coverage.delta == session.recipe.delta and coverage.reading == _reading(session):
        _heatmap(coverage)
        return
    heading("A look at the original log")
    note(LOOKING)
    ui.button(
        "Read the log for a forecast: confidential, and recorded in the report", on_click=lambda: start(page)
    ).props("no-caps outline")


def _reading(session: Session) -> Any:
    """How the forecast reads the log: without an abstraction, so that the kinds can be compared."""
    try:
        return replace(session.recipe.with_kind("synthetic log"), abstraction="").reading(session.reading)
    except ParameterError:
        return None


def start(page: Page) -> None:
    """Read the log in a separate process, and record it."""
    session = page.session
    assert session.log is not None
    reading = _reading(session)
    if reading is None:
        page.refuse(session.refused())
        return

    def keep(coverage: Coverage) -> None:
        session.steps.coverage = coverage

    try:
        look(session, FORECAST)
    except OutputError as error:
        page.refuse(f"the log is not read for a forecast, because that cannot be recorded: {error}")
        return
    delta = session.recipe.delta
    session.start(Job(tasks.forecast, session.log, session.name, reading, delta), keep)


def _heatmap(coverage: Coverage) -> None:
    """The share of cases that each kind covers at each ε, as a table whose cells are coloured."""
    rows = [
        (f"{kind} (steps)" if kind == "process map" else kind, [coverage.share(kind, epsilon) for epsilon in EPSILONS])
        for kind in KINDS
    ]
    with confidential():
        heading("Share of cases covered")
        html("heatmap", coverage.delta, EPSILONS, rows).classes("w-full")
        note(
            "Covered: the share of cases whose whole trace is in the release; of a process map, the share of steps whose pair is "
            "in the map. Means of runs with seeded noise: nothing was released or charged."
        )
        note(LOOKING)
