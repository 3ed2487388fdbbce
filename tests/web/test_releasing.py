"""A release of a draft from the click to the archive, without a browser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from web_drafts import Draft

import travas
from travas.errors import ChargedError
from travas.web import releasing
from travas.web.archive_list import listed
from travas.web.jobs import Job
from travas.web.recipe import Recipe
from travas.web.steps.looks import FORECAST, look


def start_at_once(self: Job) -> None:
    """Run the task of a job here, as its process would."""
    self.charging = True
    self.result = self.task(*self.arguments, lambda *_: None)
    self.done = True
    self._ended_event.set()


def released(draft: Draft) -> Any:
    draft.write_log()
    page = draft.page()
    asyncio.run(releasing.start_release(page))
    draft.session.settle()
    return page


@pytest.fixture
def draft(tmp_path: Path) -> Iterator[Draft]:
    made = Draft(tmp_path)
    yield made
    made.archive.close()


def test_a_sign_off_that_is_typed_before_the_release_has_a_line(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Job, "start", start_at_once)
    draft.session.steps.signed_off_by = "Dr. Officer"
    look(draft.session, FORECAST)
    released(draft)
    assert draft.session.released is not None and draft.session.error == ""
    record = draft.archive.get(draft.session.released.id)
    assert record is not None and record.ledger == str(draft.ledger.path.resolve())
    assert record.recipe.looked_at == (FORECAST,)
    lines = [(line.kind, line.name, line.detail) for line in draft.archive.activity.read()[1:]]
    assert lines == [("charge", "Bob", "ε = 2, δ = 1e-3"), ("sign-off", "Bob", "Dr. Officer")]


def test_the_comparison_reads_the_log_as_the_release_did(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Job, "start", start_at_once)
    draft.session.reading = travas.Reading(ties="activity")
    released(draft)
    draft.session.reading = attrs.evolve(draft.session.reading, ties="file")
    assert draft.session.released is not None and draft.session.released.reading is not None
    assert draft.session.released.reading.ties == "activity"


@pytest.mark.parametrize("change", [{"log": Path("other.csv")}, {"dataset": ""}, {"recipe": Recipe(epsilon="9")}])
def test_a_draft_that_another_tab_changes_before_the_start_is_not_released(
    change: dict[str, Any], draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(_: object) -> None:
        for name, value in change.items():
            setattr(draft.session, name, value)

    monkeypatch.setattr(releasing, "account_before", changed)
    page = draft.page()
    asyncio.run(releasing.start_release(page))
    assert page.refused == ["the draft was changed in another tab in the meantime; check it, then release it again"]
    assert draft.session.job is None and not draft.archive.records()


@pytest.mark.parametrize("completed", [False, True])
def test_a_release_whose_process_died_after_it_was_written_is_pointed_out(
    completed: bool, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(self: Job) -> None:
        start_at_once(self)
        ended = ChargedError("the process ended unexpectedly", account=self.account, completed=completed)
        self.result, self.error = None, ended

    monkeypatch.setattr(Job, "start", die)
    released(draft)
    assert f"; the charge to {draft.session.dataset!r} stands" in draft.session.error
    assert draft.session.error.endswith("open it under Releases") and draft.session.error.count("is complete") == 1
    assert [release.state for release in listed(draft.archive, draft.ledger)] == ["released"]


def test_without_a_free_process_nothing_is_charged_and_nothing_is_left(
    draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("travas.web.jobs._spawned.Process.start", full)
    released(draft)
    assert draft.session.job is None and draft.session.error.startswith("no process can be started")
    end = time.monotonic() + 30
    while draft.archive.records() and time.monotonic() < end:
        time.sleep(0.02)
    assert not draft.ledger.history() and not draft.archive.records()
