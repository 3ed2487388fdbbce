from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import travas.cli.main

LOG = "case_id,activity,timestamp\n" + "".join(f"{case},a,2020-01-01\n" for case in range(100))


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "log.csv").write_text(LOG)
    program = (
        f"{sys.executable} -m travas anonymize log.csv --order file --epsilon 1 --delta 1e-6 -o out.csv --ledger l.db"
    )
    return subprocess.run(
        f"{program} {command}", shell=True, cwd=folder, capture_output=True, text=True, check=False
    )  # fmt: skip


def test_a_closed_standard_output_is_no_refusal(tmp_path: Path) -> None:
    ran = shell(">&-", tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "out.csv.guarantee.json").exists()


def test_a_full_standard_output_is_no_refusal(tmp_path: Path) -> None:
    ran = shell("> /dev/full", tmp_path)
    assert ran.returncode == 6 and "could not be printed" in ran.stderr and len(ran.stderr.splitlines()) == 1
    assert (tmp_path / "out.csv.guarantee.json").exists()


@pytest.mark.parametrize(("error", "code"), [(MemoryError(), 5), (KeyboardInterrupt(), 130)])
def test_memory_and_interrupts_are_one_line(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(**_: object) -> None:
        raise error

    monkeypatch.setattr(travas.cli.main, "app", fails)
    with pytest.raises(SystemExit) as stop:
        travas.cli.main.main()
    assert stop.value.code == code
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1 and "nothing was written" not in said
