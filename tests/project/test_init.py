"""`travas init`: what it asks, takes over and writes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from conftest import Run
from travas.project.init_questions import QUESTIONS, answered
from travas.project.project_file import Project


def test_init_writes_no_password_and_the_log_of_its_argument(
    travas: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = travas("init", "postgresql://me:hidden@host/db", "--table", "events")
    assert ran.code == 2 and "contains a password" in ran.err and "hidden" not in ran.err
    assert not (folder / "travas.toml").exists()
    monkeypatch.setenv("TRAVAS_LOG", "postgresql://me:hidden@host/db")
    (folder / "project").mkdir()
    assert travas("init", "clinic.csv", "--project", "project/travas.toml").code == 0
    monkeypatch.delenv("TRAVAS_LOG")
    project = Project.load(folder / "project" / "travas.toml", {})
    assert "hidden" not in (folder / "project" / "travas.toml").read_text()
    assert Path(project.source).resolve() == (folder / "clinic.csv").resolve()


def test_the_questions_have_defaults_and_explanations(folder: Path) -> None:
    asked: list[str] = []

    def accept(explanation: str, question: str, default: str) -> str:
        assert explanation.endswith(".")
        asked.append(question)
        return default

    plain = answered("clinic.csv", {}, None)
    assert answered("clinic.csv", {}, accept) == plain
    assert len(asked) == len(QUESTIONS) - 1  # max_cases is asked only with a unit
    assert plain["dataset"] == "clinic" and plain["epsilon"] == "1"
    replies = {"Column that": "patient", "Maximum number": "3", "Activities that": "out; gone"}

    def reply(explanation: str, question: str, default: str) -> str:
        return next((answer for start, answer in replies.items() if question.startswith(start)), default)

    values = answered("clinic.csv", {"epsilon": "2"}, reply)
    assert values["unit"] == "patient" and values["max_cases"] == "3" and values["epsilon"] == "2"
    assert values["end_activity"] == ("out", "gone") and "gap" not in values


def test_init_takes_what_the_doctor_proposes_and_what_is_stated_wins(travas: Run, folder: Path) -> None:
    text = (
        (folder / "clinic.csv").read_text().replace(",", ";").replace("activity", "step").replace("case_id", "visit no")
    )
    (folder / "odd.csv").write_text(text)
    words = (
        "--dataset",
        "clinic",
        "--end-activity",
        "out",
        "--reason",
        "x",
        "--file",
        "release.json",
        "--case",
        "visit no",
    )
    ran = travas("init", "odd.csv", *words, "--activity", "step", "--json")
    assert ran.code == 0 and "confidential_findings" in json.loads(ran.out)
    reading = tomllib.loads((folder / "travas.toml").read_text())["reading"]
    assert reading["case"] == "visit no" and reading["activity"] == ["step"]
    assert travas("release", "--period", "2026-01", "--quiet").code == 0
    release = json.loads((folder / "releases" / "2026-01" / "release.json").read_text())
    assert release["variants"] == [["in", "visit", "out"]]


def test_init_asks_what_the_values_leave_open(travas: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"c{n},in,0{n}/02/2026 08:00" for n in range(1, 9)]
    (folder / "dates.csv").write_text("\n".join(["case_id,activity,timestamp", *rows, ""]))
    assert travas("init", "dates.csv", "--no-questions").code == 0
    assert "timestamp_format" not in tomllib.loads((folder / "travas.toml").read_text())["reading"]  # not guessed
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.prompt", lambda text, default, show_default: default)
    assert travas("init", "dates.csv", "--force").code == 0
    form = tomllib.loads((folder / "travas.toml").read_text())["reading"]["timestamp_format"]
    assert form in ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")
    other = "%m/%d/%Y %H:%M" if form.startswith("%d") else "%d/%m/%Y %H:%M"
    monkeypatch.setattr(
        "typer.prompt", lambda text, default, show_default: other if text == "timestamp_format" else default
    )
    assert travas("init", "dates.csv", "--force").code == 0
    assert tomllib.loads((folder / "travas.toml").read_text())["reading"]["timestamp_format"] == other


def test_init_without_the_doctor_does_not_open_the_log(travas: Run, folder: Path) -> None:
    ran = travas("init", "no such log.csv", "--no-doctor", "--project", "other.toml")
    assert ran.code == 0 and (folder / "other.toml").exists()


def test_init_asks_in_a_terminal(travas: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[str] = []

    def prompt(text: str, default: str, show_default: bool) -> str:
        questions.append(text)
        return "out" if text.startswith("Activities") else default

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.prompt", prompt)
    assert travas("init", "clinic.csv").code == 0
    assert len(questions) == len(QUESTIONS) - 2  # neither max_cases nor, after an activity, the gap
    assert tomllib.loads((folder / "travas.toml").read_text())["period"]["end_activity"] == ["out"]
    assert travas("init", "clinic.csv", "--no-questions").code == 2  # it exists
    assert travas("init", "clinic.csv", "--no-questions", "--force").code == 0


# ------------------------------------------------------------------------------------------------------- automation
