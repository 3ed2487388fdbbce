"""Confidential looks: each has a line in the activity log, and those that can decide about parameters are in the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from travas.errors import OutputError
from travas.outputs.write import write_hospital_log
from travas.sources.reading import Reading
from travas.web.activity import ActivityLog
from travas.web.browsers import Browser
from travas.web.preview import Preview
from travas.web.result import result_compare
from travas.web.sessions import Session
from travas.web.steps import findings, show_forecast
from travas.web.steps.looks import COMPARISON, FINDINGS, FORECAST, VALUES, look

SHOWN = Preview("table", ("case_id", "activity"), ("case_id", "activity"), (), "case_id", "activity", None)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    owner = Browser("id", tmp_path, ActivityLog(tmp_path / "activity.jsonl"), name="Ada")
    log = write_hospital_log(tmp_path / "log.csv")
    return Session("id", tmp_path, owner, log=log, name="patients.csv", reading=SHOWN.reading())


def lines(session: Session) -> list[tuple[str, str]]:
    return [(line.name, line.detail) for line in session.owner.activity.read()]


@pytest.mark.parametrize("view", [FORECAST, COMPARISON, VALUES, FINDINGS])
def test_every_look_has_a_line_with_the_name_of_the_log(session: Session, view: str) -> None:
    look(session, view)
    session.owner.name, session.recipe = "Bob", replace(session.recipe, delta="1e-5")
    look(session, view)
    assert lines(session) == [("Ada", f"{view}: patients.csv"), ("Bob", f"{view}: patients.csv")]
    assert session.recipe.looked_at == ((view,) if view in (FORECAST, COMPARISON) else ())


def test_the_report_remembers_a_look_when_the_same_log_is_opened_again(session: Session) -> None:
    look(session, FORECAST)
    assert session.log is not None
    session.take(session.log, "patients.csv", SHOWN)
    assert session.recipe.looked_at == (FORECAST,)


@pytest.mark.parametrize("view", [FORECAST, VALUES])
def test_a_look_that_cannot_be_recorded_is_refused_each_time(session: Session, view: str) -> None:
    session.owner.activity.path.mkdir()
    for _ in range(2):
        with pytest.raises(OutputError, match="the activity log cannot be written"):
            look(session, view)
    assert session.recipe.looked_at == ()
    session.owner.activity.path.rmdir()
    look(session, view)
    assert lines(session) == [("Ada", f"{view}: patients.csv")]


def page_of(session: Session) -> Any:
    refused: list[str] = []
    settings = SimpleNamespace()
    return SimpleNamespace(session=session, settings=settings, refuse=refused.append, refused=refused)


def test_the_log_is_read_for_a_forecast_only_if_that_is_recorded(session: Session) -> None:
    session.owner.activity.path.mkdir()
    page = page_of(session)
    for _ in range(2):
        show_forecast.start(page)
    assert session.job is None and len(page.refused) == 2 and "cannot be recorded" in page.refused[1]


def test_findings_are_kept_back_until_they_are_recorded(session: Session) -> None:
    session.owner.activity.path.mkdir()
    job: Any = SimpleNamespace(result="diagnosis", cancelled=False, error=None)
    for _ in range(2):
        findings._keep(session, job)
        assert session.steps.diagnosis is None and "cannot be recorded" in session.steps.unexamined
    session.owner.activity.path.rmdir()
    findings._keep(session, job)
    findings._keep(session, job)
    assert session.steps.diagnosis == job.result and lines(session) == [("Ada", f"{FINDINGS}: patients.csv")]


def test_a_comparison_is_in_the_report_of_the_next_release(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads the log as the release did, whatever columns are chosen now."""
    started = MagicMock(side_effect=InterruptedError)
    monkeypatch.setattr(result_compare, "Job", started)
    monkeypatch.setattr(result_compare, "ui", MagicMock())
    released: Any = SimpleNamespace(reading=Reading(case="number"), id="abc", release="release")
    with pytest.raises(InterruptedError):
        result_compare._compare(page_of(session), released, MagicMock(), MagicMock()).send(None)
    assert session.recipe.looked_at == (COMPARISON,)
    assert [line.release for line in session.owner.activity.read()] == ["abc"]
    assert Reading(case="number") in started.call_args.args and session.reading not in started.call_args.args
