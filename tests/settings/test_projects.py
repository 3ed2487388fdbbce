"""Release projects on the command line: travas.toml, `travas doctor -o` and `travas release`."""

import json
import shlex
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from projects import Start
from travas import Ledger, ParameterError
from travas.settings.project import Project
from travas.settings.series import with_period
from travas.settings.table import SECTIONS, SETTINGS

SIGNED = {"epsilon": "1", "delta": "1e-6"}


def test_a_project_from_init_to_two_months_at_the_price_of_one(travas: Run, start: Start, folder: Path) -> None:
    ran = start(recipients="Group A", about="Visits.", signed_off_by="A. Officer", policy="default")
    assert (ran.code, ran.err) == (0, "") and "travas release" in ran.out
    for month in ("2026-01", "2026-02"):
        ran = travas("release", "--period", month)
        assert (ran.code, ran.err) == (0, "")
        made = folder / "releases" / month
        files = {path.name for path in made.iterdir()}
        assert files == {"release.json", "release.json.guarantee.json", "report.html", "release.json.README.txt"}
        assert json.loads((made / "release.json").read_text())["variants"] == [["in", "visit", "out"]]
        readme = (made / "release.json.README.txt").read_text()
        assert "Visits." in readme and "Group A" in readme and f"end of the period {month}" in readme
        report = (made / "report.html").read_text()
        assert "Decided on 3 May." in report and "default policy of travas" in report and "A. Officer" in report
        words = shlex.split(readme.strip().splitlines()[-1].partition("travas ")[2])
        assert travas(words[0], *(made / name for name in words[1:])).code == 0
    account = travas("budget", "show", "clinic", "--json")
    assert json.loads(account.out)["datasets"][0]["spent"] == {"epsilon": "1", "delta": "1e-6"}


def test_rules_about_activities_that_are_not_there_are_reported(travas: Run, start: Start, folder: Path) -> None:
    start(mechanism="synthesis", end_activity=("out", "gnoe"), before=("in < vist",))
    ran = travas("release", "--period", "2026-01", "--json")
    assert ran.code == 0 and "'vist' have no effect" in json.loads(ran.out)["notes"][-1]
    assert "'vist' have no effect" in (folder / "releases" / "2026-01" / "release.json.README.txt").read_text()
    assert "the activity 'vist'; check the spelling" in ran.err
    assert "end_activity: no event that was read has the activity 'gnoe'" in ran.err
    ran = travas("doctor", "clinic.csv", "--end-activity", "gnoe")
    assert "no event that was read has the activity 'gnoe'" in ran.out


def test_the_cases_of_a_period_are_not_called_those_of_the_log(travas: Run, start: Start) -> None:
    start(mechanism="map")
    made = json.loads(travas("release", "--period", "2026-01", "--json").out)
    assert "cases of 2026-01" in made["content"][0]


def test_a_second_run_is_refused_and_says_where_the_first_is(travas: Run, start: Start, folder: Path) -> None:
    start()
    assert travas("release", "--period", "2026-01", "--quiet").code == 0
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 2 and str(Path("releases") / "2026-01") in ran.err
    assert len(Ledger.default().history()) == 1


def test_a_refused_release_leaves_no_folder(travas: Run, start: Start, folder: Path) -> None:
    start()
    for change in ("epsilon=3", "log=nothing.csv", "stated_cases=0", "output=report.html", "mechanism=nothing"):
        assert travas("release", "--period", "2026-01", "--set", change).code in (2, 3)
        assert not list(folder.glob("releases/*")) and not Ledger.default().history()


@pytest.mark.parametrize("step", ["settings.series.write_report", "cli.output.show_outcome"])
def test_a_failure_after_the_charge_says_so(
    step: str, travas: Run, start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"travas.{step}", fail)
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 4 and "the charge to 'clinic' is not refunded" in ran.err
    assert (folder / "releases" / "2026-01" / "release.json").exists()


def test_a_saved_draft_is_the_same_when_it_is_opened(tmp_path: Path) -> None:
    """Nothing is needed to be complete; every setting survives, with quotes, control characters and umlauts."""
    everything = Project(home=tmp_path).with_values({each.name: each.example for each in SETTINGS})
    odd = {"log": 'a "b"\\c.csv', "end_activity": ("x\x7f\n", "Übergabe"), "epsilon": "1e-3", "max_cases": 3}
    for project in (Project(home=tmp_path), everything, Project(home=tmp_path).with_values(odd)):
        project.save(tmp_path / "travas.toml", "replace")
        assert Project.load(tmp_path / "travas.toml") == project
        assert list(tomllib.loads(project.text())) == list(SECTIONS)
    uncommented = "\n".join(
        line.removeprefix("# ") if " = " in line else line for line in Project().text().splitlines()
    )
    shown = tomllib.loads(uncommented)
    assert {name for each in shown.values() for name in each} == {
        each.name for each in SETTINGS if each.use == "common"
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[privcy]\nepsilon = 1", "did you mean 'privacy'?"),
        ("[privacy]\nepsilon = true", "must be text or a number"),
        ("[period]\ngap = '30d'\n[log]\nlog = 'clinic.csv'", "epsilon is not set"),
        ("", "log is not set"),
    ],
)
def test_a_wrong_or_incomplete_project_is_refused(travas: Run, folder: Path, text: str, message: str) -> None:
    (folder / "travas.toml").write_text(text)
    ran = travas("release")
    assert ran.code == 2 and message in ran.err and len(ran.err.splitlines()) == 1


def test_a_draft_has_no_password(tmp_path: Path, travas: Run, folder: Path) -> None:
    with pytest.raises(ParameterError):
        Project().with_values({"log": "postgresql://me:secret@host/db"}).save(tmp_path / "travas.toml")
    ran = travas("doctor", "postgresql://me:hidden@host/db", "-o", "travas.toml", "--table", "events")
    assert ran.code == 2 and "hidden" not in ran.err and not (folder / "travas.toml").exists()


def test_values_of_a_page_open_no_files(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("a\n")
    stated = {"mechanism": "map", "epsilon": "1", "delta": "1e-6"}
    page = Project(home=tmp_path, references="refuse")
    assert page.with_values(stated | {"alphabet": ("a",)}).mechanism().describe()["alphabet"] == ["a"]
    for change in ({"alphabet": "names.txt"}, {"mechanism": "os:path"}):
        with pytest.raises(ParameterError):
            page.with_values(stated | change).mechanism()
    with pytest.raises(ParameterError):
        page.with_values({"abstraction": "only:names.txt"}).reading()


def test_without_a_period_it_is_the_last_whose_grace_period_has_passed() -> None:
    def last(every: str, day: str) -> str:
        project = Project().with_values({"every": every, "gap": "30d", "grace": "7d"})
        now = datetime.fromisoformat(day).replace(tzinfo=UTC)
        period = with_period(project, now).reading().period
        assert period is not None and period.earliest_release <= now
        return period.name

    assert last("month", "2026-03-07") == "2026-01"
    assert last("month", "2026-03-08") == "2026-02"
    assert last("quarter", "2026-04-08") == "2026-Q1"
    assert last("year", "2026-12-31") == "2025"
    assert last("week", "2026-01-12") == "2026-W01"
    assert last("day", "2026-01-12") == "2026-01-04"


def test_a_project_without_periods_releases_the_whole_log(travas: Run, folder: Path) -> None:
    stated = ("--reason", "x", "--set", "output=release.csv", "--frequencies", "noisy")
    ran = travas("doctor", "clinic.csv", "-o", "travas.toml", *stated)
    assert ran.code == 0 and not tomllib.loads((folder / "travas.toml").read_text())["period"]
    for setting in ("every=month", "grace=7d", "period=2026-01"):  # every month the whole log: all of these add up
        ran = travas("release", "--set", setting)
        assert ran.code == 2 and "end_activity" in ran.err and not (folder / "releases").exists()
        ran = travas("doctor", "clinic.csv", "-o", "no.toml", "--set", setting)
        assert ran.code == 2 and "end_activity" in ran.err and not (folder / "no.toml").exists()
    assert travas("release").code == 0
    facts = json.loads((folder / "releases" / "whole-log" / "release.csv.guarantee.json").read_text())["release"]
    assert facts["frequencies"] == "noisy"
    assert travas("release").code == 2


def test_a_project_that_has_periods_is_not_released_as_a_whole_log_by_accident(travas: Run, start: Start) -> None:
    start()
    ran = travas("anonymize", "--project", "travas.toml")
    assert ran.code == 2 and "(option --period)" in ran.err
    assert travas("anonymize", "--project", "travas.toml", "--period", "2026-01").code == 0


# ------------------------------------------------------------------------------------------------------------ doctor


def test_a_project_has_what_the_doctor_proposes_and_what_is_stated_wins(
    travas: Run, start: Start, folder: Path
) -> None:
    text = (folder / "clinic.csv").read_text().replace(",", ";").replace("activity", "step")
    (folder / "clinic.csv").write_text(text.replace("case_id", "visit no"))
    ran = start("--json", case="visit no", activity="step")
    assert ran.code == 0 and json.loads(ran.out)["confidential"]
    reading = tomllib.loads((folder / "travas.toml").read_text())["reading"]
    assert reading["case"] == "visit no" and reading["activity"] == ["step"]
    assert travas("release", "--period", "2026-01", "--quiet").code == 0


def test_init_asks_five_questions_where_nothing_is_stated(
    travas: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    answers = {"dataset": "clinic", "end_activity": "out; gone", "unit": "patient", "max_cases": "3", "epsilon": "2"}
    refused = {"unit": ["case"], "max_cases": ["drei", "", "0"], "epsilon": ["eins", "-1"]}

    def prompt(text: str, default: str, show_default: bool) -> str:
        if refused.get(text):
            return refused[text].pop()
        asked.append(text)
        return answers.get(text, default)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.prompt", prompt)
    ran = travas("init", "clinic.csv")
    assert ran.code == 0 and not any(refused.values())
    assert "travas budget create clinic --epsilon 8 --delta 4e-6" in ran.out
    assert travas("init", "clinic.csv").code == 2  # it exists: nothing is asked
    written = tomllib.loads((folder / "travas.toml").read_text())
    assert asked == ["dataset", "unit", "max_cases", "epsilon", "end_activity", "reason"]
    assert written["period"]["end_activity"] == ["out", "gone"] and written["account"] == {"dataset": "clinic"}
    assert written["reading"]["max_cases"] == 3 and written["privacy"]["epsilon"] == "2"
    assert travas("init", "clinic.csv", "--force", "--set", "epsilon=1").code == 0 and len(asked) == 6


def test_paths_of_a_project_in_another_folder_are_those_that_were_typed(travas: Run, folder: Path) -> None:
    (folder / "sub").mkdir()
    assert travas("doctor", "clinic.csv", "-o", "sub/travas.toml", "--ledger", "book.db", "--folder", "out").code == 0
    written = tomllib.loads((folder / "sub" / "travas.toml").read_text())
    assert written["log"]["log"] == "../clinic.csv" and written["account"]["ledger"] == "../book.db"
    assert travas("release", "sub/travas.toml").code == 0
    assert (folder / "book.db").exists() and (folder / "out" / "whole-log" / "report.html").exists()
    ran = travas("anonymize", "clinic.csv", "--project", "sub/travas.toml", "--ledger", "other.db", "-o", "here.csv")
    assert ran.code == 0 and (folder / "other.db").exists() and (folder / "here.csv").exists()
