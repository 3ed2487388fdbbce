"""Release projects on the command line: travas.toml and travas release."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from projects import Start
from travas import Ledger, ParameterError, Times
from travas.project.project_file import Project, template
from travas.project.project_options import OPTIONS, SECTIONS
from travas.project.project_release import project_period
from travas.releases.release import released_times


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
    assert "It contains a synthetic log: traces generated from noisy measurements" in readme


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
    varied = Project.load(path, {"bins": ()}).mechanism(unit).describe()
    assert [attribute["name"] for attribute in varied["attributes"]] == ["ward", "sex"]
    bare = {name: value for name, value in Project.load(path, {}).values.items() if name not in DETAILS}
    assert released_times(Project(bare, folder).mechanism(unit)) == Times()
    without = Project({**bare, "without": "times"}, folder).mechanism(unit)
    assert without.describe()["times"] is None


DETAILS = {option.name: option.example for option in OPTIONS if option.section == "synthesis"}


@pytest.mark.parametrize("name", DETAILS)
def test_times_and_attributes_of_another_mechanism_are_refused(travas: Run, start: Start, name: str) -> None:
    start(f"--{name}", DETAILS[name])
    ran = travas("release", "--period", "2026-01")
    why = "optimal has no option shares" if name == "shares" else f"{name} is set but mechanism is 'optimal'"
    assert ran.code == 2 and why in ran.err and ran.err.endswith(f" (option --{name})\n")


@pytest.mark.parametrize(
    ("flags", "described"),
    [
        (
            ("--mechanism", "prefix-tree", "--max-length", 4, "--prune", 8, "--alphabet", "names.txt"),
            {"max_length": 4, "prune": 8, "alphabet": ["in", "out", "visit"]},
        ),
        (("--mechanism", "utravas", "--splits", 2), {"splits": 2}),
        (("--mechanism", "map", "--parts", "throughput", "--parts", "rework"), {"parts": ["rework", "throughput"]}),
    ],
)
def test_every_mechanism_can_be_released_with_its_options(
    flags: tuple[object, ...], described: dict[str, object], travas: Run, start: Start, folder: Path
) -> None:
    (folder / "names.txt").write_text("in\nvisit\nout\n")
    assert start(*flags).code == 0
    ran = travas("release", "--period", "2026-01")
    assert (ran.code, ran.err) == (0, "")
    stated = json.loads((folder / "releases" / "2026-01" / "release.json.guarantee.json").read_text())["description"]
    assert stated["mechanism"] == flags[1] and {name: stated[name] for name in described} == described


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


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--stated-cases", "many"), "stated_cases is 'many': it must be a whole number"),
        (("--stated-cases", "0"), "stated_cases is 0: it must be a whole number of at least 1"),
        (("--mechanism", "map", "--file", "report.html"), "report.html"),
    ],
)
def test_what_the_report_cannot_be_made_of_is_refused_before_the_charge(
    flags: tuple[str, ...], message: str, travas: Run, start: Start, folder: Path
) -> None:
    start()
    charged = len(Ledger.default().history())
    ran = travas("release", "--period", "2026-01", *flags)
    assert ran.code == 2 and message in ran.err and "the charge" not in ran.err
    assert len(Ledger.default().history()) == charged and not (folder / "releases" / "2026-01").exists()


def test_a_folder_without_a_release_is_not_called_one(travas: Run, start: Start, folder: Path) -> None:
    start()
    (folder / "releases" / "2026-01").mkdir(parents=True)  # left by a run that was killed
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 2 and "contains no complete release" in ran.err and "its charge may stand" in ran.err


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


@pytest.mark.parametrize("option", ["--text", "--reason", "--signed-off-by", "--recipients", "--file"])
def test_text_that_cannot_be_written_costs_nothing(
    option: str, travas: Run, start: Start, folder: Path, book: Ledger
) -> None:
    start()
    ran = travas("release", "--period", "2026-01", option, "broken \udcff.json")
    assert ran.code == 2 and "not valid UTF-8" in ran.err
    assert not book.account("clinic").entries and not list((folder / "releases").glob("*/*"))


def test_a_weak_release_says_so(travas: Run, start: Start) -> None:
    start()
    ran = travas("release", "--period", "2026-01", "--stated-cases", "100000000")
    assert ran.code == 0 and "warning" in ran.out


def test_a_summary_that_fails_says_that_the_release_is_complete_and_charged(
    travas: Run, start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()

    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("travas.cli.release_command._show", fail)
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 4 and "the release is complete" in ran.err and "the charge to 'clinic' stands" in ran.err
    assert (folder / "releases" / "2026-01" / "report.html").exists()


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
    assert str(project.mechanism(unit).epsilon) == "1/10"
    (folder / "travas.toml").write_text("[privacy]\nshare = '1/4'\n[policy]\npolicy = 'default'\n")
    project = Project.load(folder / "travas.toml", {})
    made = project.mechanism(unit)
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
    assert ran.code == 0 and not tomllib.loads((folder / "travas.toml").read_text())["period"]
    assert travas("release").code == 0
    assert (folder / "releases" / "whole-log" / "release.csv").exists()
    assert travas("release").code == 2


@pytest.mark.parametrize("setting", ["every", "grace"])
def test_periods_without_a_rule_that_closes_cases_are_refused(setting: str, travas: Run, folder: Path) -> None:
    """The whole log would be released every month, and all of these releases add up."""
    value = {"every": "month", "grace": "7d"}[setting]
    assert travas("init", "clinic.csv", "--reason", "x", f"--{setting}", value).code == 2
    assert not (folder / "travas.toml").exists()
    assert travas("init", "clinic.csv", "--reason", "x").code == 0
    file = folder / "travas.toml"
    file.write_text(file.read_text().replace(f"# {setting} = ", f"{setting} = "))
    ran = travas("release")
    assert ran.code == 2 and "end_activity" in ran.err and not (folder / "releases").exists()
    with pytest.raises(ParameterError) as refused:
        project_period(Project.load(folder / "travas.toml", {}), None)
    assert refused.value.field == "end_activity"


def test_lifecycle_and_selected_rows_are_part_of_a_project(folder: Path) -> None:
    (folder / "travas.toml").write_text("[reading]\nlifecycle = 'complete'\nwhere = ['ward=A']\n")
    reading = Project.load(folder / "travas.toml", {}).reading(None)
    assert reading.lifecycle == "complete" and reading.where == (("ward", "A"),)


def test_a_plan_says_what_it_would_keep(travas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    words = ("budget", "plan", "--releases", "12", "--epsilon", "1", "--delta", "1e-6")
    plan = json.loads(travas(*words, "--json").out)
    assert (plan["basic"]["cases_for_50_percent"], plan["periods"]["cases_for_50_percent"]) == (158, 14)
    assert (plan["basic"]["cases_for_95_percent"], plan["periods"]["cases_for_95_percent"]) == (186, 16)
    assert plan["periods"]["epsilon"] == "1" and "releases of periods" in plan["recommendation"]
    text = travas(*words).out
    assert "needs 158 cases (above 50 %), 186 cases (above 95 %)" in text and "needs 14 cases" in text
    one = json.loads(travas("budget", "plan", "--releases", "1", "--epsilon", "1", "--delta", "1e-6", "--json").out)
    assert one["basic"] == one["periods"]


def test_projects_say_for_which_program(travas: Run, start: Start, folder: Path) -> None:
    assert start("--profile", "pm4py").code == 0
    assert travas("release", "--period", "2026-01").code == 2
    assert not list(folder.rglob("release.json*"))
    toml = (folder / "travas.toml").read_text().replace("release.json", "release.csv")
    (folder / "travas.toml").write_text(toml)
    ran = travas("release", "--period", "2026-01")
    assert (ran.code, ran.err) == (0, "")
    stated = json.loads((folder / "releases" / "2026-01" / "release.csv.guarantee.json").read_text())["release"]
    assert stated["profile"] == "pm4py"
