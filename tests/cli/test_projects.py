"""Release projects on the command line: travas init, travas release, and the recipes of docs/automation.md."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import Ran, Run
from travas import Ledger
from travas.project.init_questions import QUESTIONS, answered
from travas.project.project_file import Project, template
from travas.project.project_options import OPTIONS, SECTIONS
from travas.project.project_release import project_period

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ledger_path: Path) -> Path:
    """A folder with a log of two months, and a budget for one release."""
    rows = ["case_id,activity,timestamp"]
    for case in range(120):
        month = 1 + case % 2
        rows += [f"c{case},{name},2026-0{month}-0{day} 08:00:00" for day, name in enumerate(("in", "visit", "out"), 1)]
        rows += [f"c{case},visit,2026-03-05 08:00:00"]  # all of them return
    (tmp_path / "clinic.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    Ledger(ledger_path).create_budget("clinic", epsilon=1, delta="1e-6")
    return tmp_path


Start = Callable[..., Ran]


@pytest.fixture
def start(travas: Run, folder: Path) -> Start:
    def start(*flags: object) -> Ran:
        words = ("--end-activity", "out", "--grace", "7d", "--reason", "Decided on 3 May.", "--file", "release.json")
        return travas("init", "clinic.csv", *words, *flags)

    return start


def test_a_project_from_init_to_two_months_at_the_price_of_one(travas: Run, start: Start, folder: Path) -> None:
    ran = start("--recipients", "Group A", "--text", "Visits.", "--signed-off-by", "A. Officer")
    assert (ran.code, ran.err) == (0, "") and "travas release" in ran.out
    for month in ("2026-01", "2026-02"):
        ran = travas("release", "--period", month)
        assert (ran.code, ran.err) == (0, "")
        made = folder / "releases" / month
        files = {path.name for path in made.iterdir()}
        assert files == {"release.json", "release.json.guarantee.json", "report.html", "release.json.README.txt"}
        assert json.loads((made / "release.json").read_text())["variants"] == [["in", "visit", "out"]]
        readme = (made / "release.json.README.txt").read_text()
        assert "Visits." in readme and "Group A" in readme and "ε = 1, δ = 1e-6, verified" in readme
        assert f"the end of the period {month}, the log held every event dated before" in readme
        report = (made / "report.html").read_text()
        assert "Decided on 3 May." in report and "default policy of travas" in report and "A. Officer" in report
        words = shlex.split(readme.strip().splitlines()[-1].partition("travas ")[2])
        assert travas(words[0], *(made / name for name in words[1:])).code == 0
    account = travas("budget", "show", "clinic", "--json")
    assert json.loads(account.out)["datasets"][0]["spent"] == {"epsilon": "1", "delta": "1e-6"}


def test_the_readme_of_a_synthetic_log_says_that_it_is_one(travas: Run, start: Start, folder: Path) -> None:
    start("--mechanism", "synthesis")
    ran = travas("release", "--period", "2026-01")
    assert (ran.code, ran.err) == (0, "")
    readme = (folder / "releases" / "2026-01" / "release.json.README.txt").read_text()
    assert "It is a synthetic log: traces generated from noisy measurements" in readme


def test_times_and_attributes_of_a_synthetic_log_are_part_of_a_project(
    travas: Run, start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ("--attribute", "ward", "--bins", "age=0,40,80", "--zone", "Europe/Berlin", "--resolution", "minute")
    start("--mechanism", "synthesis", *flags, "--shares", "times=0.2,attributes=0.2")
    log = folder / "clinic.csv"
    head, *rows = log.read_text().splitlines()
    log.write_text("\n".join([head + ",ward,age", *(f"{row},A,{30 + 20 * (n % 3)}" for n, row in enumerate(rows))]))
    ran = travas("release", "--period", "2026-01")
    assert (ran.code, ran.err) == (0, "") and "'ward'" not in ran.out
    stated = json.loads((folder / "releases" / "2026-01" / "release.json.guarantee.json").read_text())["description"]
    assert stated["times"] == {"zone": "Europe/Berlin", "resolution": "minute", "weekend": [5, 6]}
    assert stated["attributes"] == [{"name": "ward", "bins": []}, {"name": "age", "bins": ["0", "40", "80"]}]
    assert stated["shares"] == {"times": "0.2", "attributes": "0.2"}
    path = folder / "travas.toml"
    unit = Project.load(path, {}).reading(None).privacy_unit
    monkeypatch.setenv("TRAVAS_ATTRIBUTE", "ward; sex")
    varied = Project.load(path, {"bins": ()}).mechanism(unit, None).describe()
    assert [attribute["name"] for attribute in varied["attributes"]] == ["ward", "sex"]
    bare = {name: value for name, value in Project.load(path, {}).values.items() if name not in DETAILS}
    assert Project(bare, folder).mechanism(unit, None).describe()["times"]["needed"] == "if recorded"
    without = Project({**bare, "without": "times"}, folder).mechanism(unit, None)
    assert "times" not in without.describe()


DETAILS = {option.name: option.example for option in OPTIONS if option.section == "synthesis"}


@pytest.mark.parametrize("name", DETAILS)
def test_times_and_attributes_of_another_mechanism_are_refused(travas: Run, start: Start, name: str) -> None:
    start(f"--{name}", DETAILS[name])
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 2 and f"{name} is set but mechanism is 'optimal'; set mechanism to 'synthesis'" in ran.err


def test_a_second_run_is_refused_and_says_where_the_first_is(travas: Run, start: Start, folder: Path) -> None:
    start()
    assert travas("release", "--period", "2026-01", "--quiet").code == 0
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 2
    assert str(folder / "releases" / "2026-01") in ran.err and "was released before" in ran.err
    assert len(Ledger(Path(os.environ["XDG_DATA_HOME"]) / "travas" / "ledger.db").history()) == 1


def test_a_refused_release_leaves_no_folder(travas: Run, start: Start, folder: Path) -> None:
    start()
    for flags, message in ((("--epsilon", "3"), "nothing was released"), (("--log", "nothing.csv"), "nothing.csv")):
        ran = travas("release", "--period", "2026-01", *flags)
        assert ran.code in (2, 3) and message in ran.err
        assert not list((folder / "releases").iterdir())


def test_a_folder_without_a_release_is_not_called_one(travas: Run, start: Start, folder: Path) -> None:
    start()
    (folder / "releases" / "2026-01").mkdir(parents=True)  # left by a run that was killed
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 2 and "contains no complete release" in ran.err and "its charge may stand" in ran.err


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


def test_the_policy_of_the_organisation_holds_in_a_project(travas: Run, start: Start, folder: Path) -> None:
    policy = Path(os.environ["XDG_DATA_HOME"]) / "travas" / "policy.toml"
    policy.write_text('[rules.epsilon_per_release]\nat_most = "1/2"\nbecause = "it was agreed"\n')
    start("--epsilon", "1")
    assert Project.load(folder / "travas.toml", {}).text("policy") is None
    for flags in ((), ("--policy", "default")):
        ran = travas("release", "--period", "2026-01", *flags)
        assert ran.code == 2 and "at most 0.5, because it was agreed" in ran.err


def test_variables_name_the_same_files_as_for_other_commands(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "project").mkdir()
    start("--project", "project/travas.toml")
    monkeypatch.setenv("TRAVAS_LEDGER", "own.db")
    assert Project.load(folder / "project" / "travas.toml", {}).text("ledger") == str(folder / "own.db")


def test_a_failure_after_the_charge_says_so(
    travas: Run, start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("travas.project.project_release.write_report", fail)
    ran = travas("release", "--period", "2026-01", "--json")
    assert ran.code == 4 and "the charge to 'clinic' stands" in ran.err
    assert json.loads(ran.out)["error"]["charged"] is True
    assert (folder / "releases" / "2026-01" / "release.json").exists()


def test_flags_come_before_variables_before_the_file(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start("--epsilon", "1/2")
    path = folder / "travas.toml"
    assert Project.load(path, {}).text("epsilon") == "1/2"
    monkeypatch.setenv("TRAVAS_EPSILON", "1/4")
    monkeypatch.setenv("TRAVAS_END_ACTIVITY", "out; gone")
    project = Project.load(path, {})
    assert project.text("epsilon") == "1/4" and project.items("end_activity") == ("out", "gone")
    assert Project.load(path, {"epsilon": "1/8"}).text("epsilon") == "1/8"


def test_every_option_is_a_key_a_flag_and_a_variable(travas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    text = travas("release", "--help").out
    assert "Exit codes: 0 success" in text
    for option in OPTIONS:
        assert re.search(rf"{option.flag}\s", text) and f"{option.variable}." in text
        assert option.section in SECTIONS
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)


def test_the_template_is_complete_and_commented() -> None:
    text = template({"log": 'a "b"\\c.csv', "end_activity": ("x", "y"), "epsilon": "1e-3"})
    read = tomllib.loads(text)
    assert read["source"] == {"log": 'a "b"\\c.csv'} and read["period"] == {"end_activity": ["x", "y"]}
    everything = tomllib.loads(re.sub(r"(?m)^# (\w+ = )", r"\1", text))
    assert {name for section in everything.values() for name in section} == {option.name for option in OPTIONS}
    assert all(f"# {option.about}" in text for option in OPTIONS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[privcy]\nepsilon = 1", "the key 'privcy' is unknown; did you mean 'privacy'?"),
        ("[privacy]\nepsilonn = 1", "[privacy]: the key 'epsilonn' is unknown; did you mean 'epsilon'?"),
        ("[period]\nend_activity = 3", "it must be a list of text"),
        ("[privacy]\nepsilon = true", "it must be text or a number"),
        ("[source]\nlog = 'postgresql://me:secret@host/db'", "secrets come from the environment only"),
        ("[source", "not a TOML file"),
    ],
)
def test_a_wrong_project_is_refused(travas: Run, folder: Path, text: str, message: str) -> None:
    (folder / "travas.toml").write_text(text)
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 2 and message in ran.err and "secret@" not in ran.err


def test_a_project_without_what_it_needs_names_key_variable_and_flag(travas: Run, folder: Path) -> None:
    (folder / "travas.toml").write_text("[period]\ngap = '30d'\n")
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 2 and "epsilon is not set; set epsilon in [privacy], TRAVAS_EPSILON or --epsilon" in ran.err
    (folder / "travas.toml").write_text("")
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 2 and "set end_activity or gap in [period]" in ran.err


def test_one_item_of_a_list_may_be_text(folder: Path) -> None:
    (folder / "travas.toml").write_text("[reading]\nactivity = 'step'\n")
    assert Project.load(folder / "travas.toml", {}).reading(None).activities == ("step",)


def test_decimal_numbers_stay_exact_and_a_share_of_the_policy_is_computed(folder: Path) -> None:
    (folder / "travas.toml").write_text("[privacy]\nepsilon = 0.1\ndelta = 1e-6\n")
    project = Project.load(folder / "travas.toml", {})
    unit = project.reading(None).privacy_unit
    assert str(project.mechanism(unit, None).epsilon) == "1/10"
    (folder / "travas.toml").write_text("[privacy]\nshare = '1/4'\n[policy]\npolicy = 'default'\n")
    project = Project.load(folder / "travas.toml", {})
    made = project.mechanism(unit, project.policy())
    assert (str(made.epsilon), str(made.delta)) == ("1/2", "1/400000")


def test_without_a_period_it_is_the_last_whose_grace_period_has_passed(folder: Path) -> None:
    def last(every: str, day: str) -> str:
        (folder / "travas.toml").write_text(f"[period]\nevery = '{every}'\ngap = '30d'\ngrace = '7d'\n")
        now = datetime.fromisoformat(day).replace(tzinfo=UTC)
        period = project_period(Project.load(folder / "travas.toml", {}), None, now)
        assert period is not None and period.earliest_release <= now
        return period.name

    assert last("month", "2026-03-07") == "2026-01"
    assert last("month", "2026-03-08") == "2026-02"
    assert last("quarter", "2026-04-08") == "2026-Q1"
    assert last("year", "2026-12-31") == "2025"
    assert last("week", "2026-01-12") == "2026-W01"
    assert last("day", "2026-01-12") == "2026-01-04"


def test_a_project_without_periods_releases_the_whole_log(travas: Run, folder: Path) -> None:
    ran = travas("init", "clinic.csv", "--reason", "x", "--file", "release.csv")
    assert ran.code == 0 and "every release is about all cases" in ran.out
    assert travas("release").code == 0
    assert (folder / "releases" / "whole-log" / "release.csv").exists()
    assert travas("release").code == 2


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
    replies = {"Column that": "patient", "Most cases": "3", "Activities that": "out; gone"}

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


def test_lifecycle_and_selected_rows_are_part_of_a_project(folder: Path) -> None:
    (folder / "travas.toml").write_text("[reading]\nlifecycle = 'complete'\nwhere = ['ward=A']\n")
    reading = Project.load(folder / "travas.toml", {}).reading(None)
    assert reading.lifecycle == "complete" and reading.where == (("ward", "A"),)


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


def test_errors_are_one_object_with_stable_keys(travas: Run, start: Start) -> None:
    start()
    ran = travas("release", "--period", "2026-01", "--epsilon", "3", "--json")
    keys = {"code", "kind", "message", "field", "charged", "confidential"}
    error = json.loads(ran.out)["error"]
    assert set(error) == keys and error["code"] == ran.code == 3 and error["kind"] == "BudgetError"
    assert error["message"] in ran.err and error["charged"] is False
    page = (ROOT / "docs" / "automation.md").read_text()
    assert all(f"| `{key}` |" in page for key in keys)
    error = json.loads(travas("release", "--period", "x", "--json").out)["error"]
    assert error["field"] == "period"
    error = json.loads(travas("release", "--no-such-option", "--json").out)["error"]
    assert error["code"] == 2 and "--no-such-option" in error["message"]
    ran = travas("release", "--period", "2026-01", "--json")
    assert json.loads(ran.out)["period"] == "2026-01" and ran.err == ""


def test_quiet_prints_nothing_but_errors(travas: Run, start: Start) -> None:
    assert start("--quiet").out == ""
    ran = travas("release", "--period", "2026-01", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    ran = travas("release", "--period", "2026-01", "--quiet")
    assert ran.code == 2 and ran.out == "" and len(ran.err.splitlines()) == 1
    assert "Released" in travas("release", "--period", "2026-02").out


def test_there_are_no_colours_outside_a_terminal(start: Start, folder: Path) -> None:
    start()
    ran = subprocess.run(
        [sys.executable, "-m", "travas", "release", "--period", "2026-01"], capture_output=True, text=True, check=True
    )
    assert "Released" in ran.stdout and "\x1b" not in ran.stdout + ran.stderr


def recipes() -> dict[str, str]:
    """The code blocks of the recipes, by their headings."""
    page = (ROOT / "docs" / "automation.md").read_text().partition("## Recipes")[2]
    return dict(re.findall(r"### ([^\n]+)\n\n(?:<!--[^\n]*\n)?```\w+\n(.*?)```", page, flags=re.DOTALL))


def command_of(block: str) -> list[str]:
    """The words of the one travas command of a recipe, with the template of Airflow filled in."""
    [line] = re.findall(
        r"travas release[^\n\"]*", block.replace("{{ data_interval_start.strftime('%Y-%m') }}", "2026-01")
    )
    return shlex.split(line)[1:]


@pytest.mark.parametrize("name", ["cron", "systemd timer", "Airflow", "GitHub Actions"])
def test_the_command_of_a_recipe_runs(
    name: str, travas: Run, start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start("--every", "month")
    monkeypatch.setattr("travas.project.project_release.datetime", _March)
    ran = travas(*command_of(recipes()[name]))
    assert (ran.code, ran.err) == (0, "")
    month = "2026-01" if name == "Airflow" else "2026-02"
    assert (folder / "releases" / month / "report.html").exists()
    if "--quiet" in command_of(recipes()[name]):
        assert ran.out == ""
    else:
        assert json.loads(ran.out)["period"] == month


class _March(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> _March:
        return cls(2026, 3, 10, tzinfo=tz)


def test_the_python_recipe_runs(start: Start, folder: Path) -> None:
    start()
    scripts = folder / "bin"
    scripts.mkdir()
    script = scripts / "travas"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m travas "$@"\n')
    script.chmod(0o755)
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    for expected in (str(folder / "releases" / "2026-02" / "release.json"), "2 "):
        ran = subprocess.run(
            [sys.executable, "-c", recipes()["Python"]], capture_output=True, text=True, check=True, env=environment
        )
        assert ran.stdout.startswith(expected)


# ------------------------------------------------------------------------------------------------------------- plans


def test_a_plan_says_what_it_would_keep(travas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    words = ("budget", "plan", "--releases", "12", "--epsilon", "1", "--delta", "1e-6")
    plan = json.loads(travas(*words, "--json").out)
    assert (plan["basic"]["cases_for_50_percent"], plan["periods"]["cases_for_50_percent"]) == (158, 14)
    assert (plan["basic"]["cases_for_95_percent"], plan["periods"]["cases_for_95_percent"]) == (186, 16)
    assert plan["periods"]["epsilon"] == "1" and "releases of periods" in plan["recommendation"]
    text = travas(*words).out
    assert "keeps from 158 cases on (50 %), 186 cases on (95 %)" in text and "keeps from 14 cases on" in text
    one = json.loads(travas("budget", "plan", "--releases", "1", "--epsilon", "1", "--delta", "1e-6", "--json").out)
    assert one["basic"] == one["periods"]


def test_projects_say_for_which_program_and_whether_with_timestamps(travas: Run, start: Start, folder: Path) -> None:
    assert start("--profile", "excel", "--timestamps", "none").code == 0
    toml = (folder / "travas.toml").read_text().replace("release.json", "release.csv")
    (folder / "travas.toml").write_text(toml)
    refused = travas("release", "--period", "2026-01", "--profile", "pm4py")
    assert refused.code == 2 and "pm4py needs timestamps" in refused.err and not (folder / "releases").exists()
    ran = travas("release", "--period", "2026-01")
    assert (ran.code, ran.err) == (0, "")
    released = folder / "releases" / "2026-01" / "release.csv"
    assert "time:timestamp" not in released.read_text(encoding="utf-16")
    stated = json.loads(Path(f"{released}.guarantee.json").read_text())["release"]
    assert (stated["profile"], stated["timestamps"]) == ("excel", "none")
