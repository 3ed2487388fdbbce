import os
from pathlib import Path

import pytest

from travas.errors import OutputError
from travas.outputs.inputs import check_not_input

ROWS = "case,activity\n1,a\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "gl"
    folder.mkdir()
    for name in ("jan.csv", "feb.csv"):
        (folder / name).write_text(ROWS)
    return folder


@pytest.mark.parametrize("name", ["jan.csv", "march.csv"])
@pytest.mark.parametrize("pattern", ["gl/*.csv", "g*/*.csv", "**/*.csv", "gl/[a-z]*.csv"])
def test_an_output_that_a_glob_of_the_log_matches_is_refused(name: str, pattern: str, logs: Path) -> None:
    with pytest.raises(OutputError, match="would become part of the log"):
        check_not_input(logs / name, str(logs.parent / pattern))
    check_not_input(logs.parent / "out.csv", str(logs / "*.csv"))
    check_not_input(logs / "out.json", str(logs / "*.csv"))
    with pytest.raises(OutputError, match="would become part of the log"):
        check_not_input(logs / name.replace("jan", "new"), logs)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_the_log_under_another_name(link: object, logs: Path, tmp_path: Path) -> None:
    link(logs / "jan.csv", tmp_path / "same.csv")  # type: ignore[operator]
    with pytest.raises(OutputError, match="is the log itself"):
        check_not_input(tmp_path / "same.csv", logs / "jan.csv")


@pytest.mark.parametrize("name", ["out.csv.guarantee.json", "out.csv.README.txt"])
def test_the_files_next_to_a_release_must_not_be_inputs_either(name: str, tmp_path: Path) -> None:
    log = tmp_path / name
    log.write_text("{}")
    with pytest.raises(OutputError, match=f"{name}: is the log itself"):
        check_not_input(tmp_path / "out.csv", log)


def test_the_ledger_is_not_an_output(tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_text("x")
    with pytest.raises(OutputError, match="is the ledger"):
        check_not_input(tmp_path / "ledger.json", None, tmp_path / "ledger.json")
    check_not_input(tmp_path / "other.json", None, tmp_path / "ledger.json")


def test_a_link_in_a_glob_or_folder_leads_to_an_input(logs: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text(ROWS)
    (logs / "linked.csv").symlink_to(outside)
    for log in (logs, logs / "*.csv"):
        with pytest.raises(OutputError, match="is a file of the log"):
            check_not_input(outside, log)
        check_not_input(tmp_path / "out.csv", log)
