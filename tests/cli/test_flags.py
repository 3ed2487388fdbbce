"""An error names the option of the command line that it is about, if the command has one."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Run
from projects import Start
from travas.project.project_file import Project
from travas.trusted.guarantee import ONE_CASE


def test_an_existing_output_names_the_option_that_replaces_it(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    output = tmp_path / "release.csv"
    output.write_text("mine")
    ran = travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", output)
    assert ran.code == 2 and "already exists" in ran.err and "(option --force)" in ran.err
    assert output.read_text() == "mine"


def test_a_command_without_the_option_does_not_name_it(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    demo = tmp_path / "demo"
    demo.mkdir()
    (demo / "demo-variants.xes.gz").write_text("mine")
    charges = tmp_path / "charges.csv"
    charges.write_text("mine")
    assert travas("budget", "create", "ward", "--epsilon", 1, "--delta", "1e-6").code == 0
    for ran in (travas("demo", "-o", demo), travas("budget", "export", "-o", charges)):
        assert ran.code == 2 and "already exists" in ran.err and "--force" not in ran.err


def test_a_field_that_is_named_otherwise_is_translated(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    output = tmp_path / "release.csv"
    ran = travas("anonymize", small_csv, "--epsilon", "1e400", "--delta", "1e-6", "-o", output)
    assert ran.code == 2 and "epsilon is 1e400:" in ran.err and "(option --epsilon)" in ran.err
    ran = travas(
        "anonymize", small_csv, "--epsilon", 5, "--delta", "1e-2", "-o", output, "--mechanism", "utravas-published"
    )
    assert ran.code == 2 and "(option --accept-no-guarantee)" in ran.err


def test_one_option_has_one_name_in_commands_and_projects(travas: Run, start: Start, folder: Path) -> None:
    start()
    log = folder / "clinic.csv"
    head, *rows = log.read_text().replace(",", "\t").splitlines()
    log.write_text("\n".join([head, *rows, *rows]))
    form = ("--delimiter", "tab", "--duplicate-events")
    events = {}
    for rule in ("keep", "drop"):
        ran = travas("inspect", log, *form, rule, "--json")
        assert (ran.code, ran.err) == (0, "")
        events[rule] = json.loads(ran.out)["events"]
    assert events["keep"] == 2 * events["drop"] == 2 * len(rows)
    for words in (("inspect", log), ("release", "--period", "2026-01")):
        ran = travas(*words, *form, "once")
        assert (
            ran.code == 2 and "duplicate_events is 'once'; use one of keep, drop (option --duplicate-events)" in ran.err
        )
    ran = travas("release", "--period", "2026-01", *form, "drop")
    assert (ran.code, ran.err) == (0, "")
    made = json.loads((folder / "releases" / "2026-01" / "release.json").read_text())
    assert made["variants"] == [["in", "visit", "out"]]


def test_an_option_that_a_project_names_otherwise_is_named_as_there(
    travas: Run, start: Start, folder: Path, tmp_path: Path
) -> None:
    start("--mechanism", "map", "--parts", "colours")
    ran = travas("release", "--period", "2026-01")
    assert ran.code == 2 and "parts contains 'colours'" in ran.err and ran.err.endswith("(option --parts)\n")
    cost = ("--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / "map.json")
    ran = travas("map", folder / "clinic.csv", *cost, "--with", "colours")
    assert ran.code == 2 and "parts contains 'colours'" in ran.err and ran.err.endswith("(option --with)\n")


def test_an_explicit_mechanism_is_not_replaced_by_a_ladder(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    out, words = tmp_path / "out.json", ("--epsilon", "1", "--delta", "1e-6", "--ladder", "default")
    ran = travas("anonymize", small_csv, *words, "--mechanism", "optimal", "-o", out)
    assert ran.code == 2 and "ladder is also set" in ran.err and not out.exists()
    assert travas("anonymize", small_csv, *words, "-o", out, "--quiet").code == 0
    project = tmp_path / "travas.toml"
    assert travas("init", small_csv, "--project", project, "--ladder", "default", "--no-questions").code == 0
    assert Project.load(project, {}).mechanism(ONE_CASE).name == "ladder"
