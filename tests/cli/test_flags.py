"""An error names the option of the command line that it is about, if the command has one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run


def test_an_existing_output_names_the_option_that_replaces_it(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    output = tmp_path / "release.csv"
    output.write_text("mine")
    ran = travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", output)
    assert ran.code == 2 and "already exists" in ran.err and "(option --force)" in ran.err
    assert output.read_text() == "mine"


def test_a_command_without_the_option_does_not_name_it(tmp_path: Path, travas: Run) -> None:
    demo = tmp_path / "demo"
    demo.mkdir()
    (demo / "demo-variants.xes.gz").write_text("mine")
    ran = travas("demo", "-o", demo)
    assert ran.code == 2 and "already exists" in ran.err and "--force" not in ran.err


def test_the_option_of_a_field_is_named(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    output = tmp_path / "release.csv"
    ran = travas("anonymize", small_csv, "--epsilon", "1e400", "--delta", "1e-6", "-o", output)
    assert ran.code == 2 and "epsilon is 1e400:" in ran.err and "(option --epsilon)" in ran.err
    ran = travas(
        "anonymize", small_csv, "--epsilon", 5, "--delta", "1e-2", "-o", output, "--mechanism", "utravas-published"
    )
    assert ran.code == 2 and "(option --guarantee)" in ran.err


def test_set_and_flags_and_a_project_mean_the_same(
    small_csv: Path, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "travas.toml").write_text("[mechanism]\nminimum_cases = 5\n[privacy]\nepsilon = 1\ndelta = 1e-6\n")
    monkeypatch.chdir(tmp_path)
    made = []
    for number, words in enumerate(
        [
            ("--epsilon", 1, "--delta", "1e-6", "--minimum-cases", 5),
            ("--set", "epsilon=1", "--set", "delta=1e-6", "--set", "minimum-cases = 5"),
            ("--project", tmp_path / "travas.toml"),
        ]
    ):
        output = tmp_path / f"{number}.json.guarantee.json"
        ran = travas("anonymize", small_csv, *words, "-o", output.name.removesuffix(".guarantee.json"))
        assert (ran.code, ran.err) == (0, "")
        made.append(json.loads(Path(output.name).read_text())["description"])
    assert made[0] == made[1] == made[2] and made[0]["minimum_cases"] == 5
    for words in (("--set", "minimum_case=5"), ("--set", "epsilon"), ("--set", "folder=x"), ("--unit", "")):
        ran = travas("anonymize", small_csv, *words, "-o", "none.json")
        assert ran.code == 2 and len(ran.err.splitlines()) == 1


def test_help_all_shows_what_help_leaves_out(travas: Run) -> None:
    assert "--minimum-cases" not in travas("anonymize", "--help").out
    ran = travas("anonymize", "--help-all")
    assert ran.code == 0 and "--minimum-cases" in ran.out
