"""An error names the option of the command line that it is about, if the command has one."""

from __future__ import annotations

from pathlib import Path

from conftest import Run


def test_an_existing_output_names_the_option_that_replaces_it(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    output = tmp_path / "release.csv"
    output.write_text("mine")
    ran = travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", output)
    assert ran.code == 2 and "exists already" in ran.err and "(option --force)" in ran.err
    assert output.read_text() == "mine"


def test_a_command_without_the_option_does_not_name_it(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    demo = tmp_path / "demo"
    demo.mkdir()
    (demo / "demo-variants.xes.gz").write_text("mine")
    charges = tmp_path / "charges.csv"
    charges.write_text("mine")
    assert travas("budget", "create", "ward", "--epsilon", 1, "--delta", "1e-6").code == 0
    for ran in (travas("demo", "-o", demo), travas("budget", "export", "-o", charges)):
        assert ran.code == 2 and "exists already" in ran.err and "--force" not in ran.err


def test_a_field_that_is_named_otherwise_is_translated(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    output = tmp_path / "release.csv"
    ran = travas("anonymize", small_csv, "--epsilon", "1e400", "--delta", "1e-6", "-o", output)
    assert ran.code == 2 and "epsilon is 1e400:" in ran.err and "(option --epsilon)" in ran.err
    ran = travas(
        "anonymize", small_csv, "--epsilon", 5, "--delta", "1e-2", "-o", output, "--mechanism", "utravas-published"
    )
    assert ran.code == 2 and "(option --accept-no-guarantee)" in ran.err
