"""What the doctor found about the log, with one-click fixes. Confidential: it has read values of the original log.

A fix sets how the log is read, and nothing that decides about privacy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
from nicegui import ui

from ...errors import OutputError, TravasError
from ...sources.doctor.diagnosis import PROPOSED, LogDiagnosis, Observation
from ...sources.reading import DEFAULT_READING, Reading
from ...web import tasks
from ..failures import in_words
from ..field_labels import where_to_change
from ..jobs import Job
from ..parts import confidential, heading, note, working_button
from ..preview import preview
from ..sessions import Session
from .looks import FINDINGS, look

if TYPE_CHECKING:
    from ..page import Page

_TOPICS = {
    "format": "format", "sheet": "sheet", "encoding": "encoding", "delimiter": "delimiter", "quote": "quotes", "case": "case",
    "activity": "activity", "timestamp": "time", "timestamp_format": "time", "order": "time", "lifecycle": "lifecycle",
    "duplicate_cases": "case",
}  # fmt: skip
"""The topic of the finding that a fix belongs to."""

_NAMES = {
    "format": "the format", "sheet": "the sheet", "encoding": "the encoding", "delimiter": "the delimiter",
    "quote": "the quote character", "case": "the case column", "activity": "the activity", "timestamp": "the time column",
    "timestamp_format": "the time format", "order": "the order of events", "lifecycle": "the events that are read",
    "duplicate_cases": "traces with the same name",
}  # fmt: skip
_FORM = ("format", "sheet", "encoding", "delimiter", "quote")
"""Settings with which the file has other columns."""

_LEFT_OUT = ("size", "persons")
"""Numbers of cases and persons: nothing that is chosen on the next steps may depend on them."""

_SECONDS_BETWEEN = 0.25


@dataclass(frozen=True)
class Fix:
    """A setting of the reading that the doctor proposes."""

    name: str
    value: Any

    @property
    def words(self) -> str:
        """What a click does."""
        shown = " and ".join(self.value) if isinstance(self.value, tuple) else self.value
        return f"Set {_NAMES[self.name]} to {'tab' if shown == chr(9) else shown}"


def fixes(diagnosis: LogDiagnosis, reading: Reading) -> tuple[Fix, ...]:
    """Return what the doctor proposes and the reading does not have yet; all options of what is left open."""
    open_settings = {choice.name: choice.options for choice in diagnosis.choices}
    proposals = []
    for name in PROPOSED:
        proposed = getattr(diagnosis.reading, name)
        if name in open_settings:
            values: tuple[Any, ...] = tuple(value for value, _ in open_settings[name])
            if getattr(reading, name) not in values:
                proposals += [Fix(name, value) for value in values]
        elif proposed not in (getattr(DEFAULT_READING, name), getattr(reading, name)):
            proposals.append(Fix(name, proposed))
    return tuple(proposals)


def findings_of(diagnosis: LogDiagnosis) -> Iterator[Observation]:
    """Yield what is shown on the page, with the field that it is about."""
    for each in diagnosis.findings:
        if each.topic not in _LEFT_OUT:
            yield replace(each, text=each.text + where_to_change([each.field]))


def show_findings(page: Page) -> None:
    """Let the doctor examine the log, once, and show what it found when it is done."""
    session = page.session
    state = session.steps
    if state.examination is None:
        assert session.log is not None
        state.examination = Job(tasks.examine, session.log, session.name)
        state.examination.start()
    job = state.examination

    @ui.refreshable
    def shown() -> None:
        if not job.done:
            ui.label("The log is being examined; you can continue.").props("role=status")
            ui.button("Stop the examination", on_click=job.kill).props("no-caps flat dense")
        elif state.diagnosis is None:
            note(state.unexamined)
        else:
            _show(page, state.diagnosis)

    def settle() -> None:
        if job.done:
            watch.deactivate()
            _keep(session, job)
            shown.refresh()

    if job.done:
        _keep(session, job)
    shown()
    if not job.done:
        watch = ui.timer(_SECONDS_BETWEEN, settle)


def _keep(session: Session, job: Job) -> None:
    state = session.steps
    if state.diagnosis is not None:
        return
    if job.error is not None:
        state.unexamined = "The log was not examined" + ("." if job.cancelled else f": {in_words(job.error)}")
        return
    try:
        look(session, FINDINGS)
    except OutputError as error:
        state.unexamined = f"What the doctor found is not shown, because that cannot be recorded: {error}"
    else:
        state.diagnosis = job.result


def _show(page: Page, diagnosis: LogDiagnosis) -> None:
    left = list(fixes(diagnosis, page.session.reading))
    with confidential():
        heading("What the doctor found")
        with ui.element("ul").classes("findings"):
            for each in findings_of(diagnosis):
                here = [fix for fix in left if _TOPICS[fix.name] == each.topic and each.level != "fact"]
                left = [fix for fix in left if fix not in here]
                _finding(page, each, here)
            for fix in left:
                _finding(page, Observation(_TOPICS[fix.name], "proposed", "choice"), [fix])
        note("Fixes set how the log is read, and nothing that decides about privacy.")


def _finding(page: Page, observation: Observation, here: list[Fix]) -> None:
    with ui.element("li").classes(f"finding-{observation.level}"):
        mark = "" if observation.level == "fact" else f" ({observation.level})"
        ui.label(f"{observation.topic}{mark}: {observation.text}")
        for fix in here:
            working_button(fix.words, partial(apply, page, fix), "no-caps outline dense")


async def apply(page: Page, fix: Fix) -> None:
    """Set what a fix proposes. With another form of the file its columns are read again."""
    session = page.session
    assert session.log is not None
    try:
        reading = attrs.evolve(session.reading, **{fix.name: fix.value})
        if fix.name in _FORM:
            result = await preview(session.log, session.name, reading)
            session.preview = result
            recognised = result.reading()
            reading = attrs.evolve(
                reading, case=recognised.case, activity=recognised.activity, timestamp=recognised.timestamp
            )
    except TravasError as error:
        page.refuse(in_words(error))
        return
    session.reading = reading
    page.go("log")
