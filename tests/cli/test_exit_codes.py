from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Run
from travas import Ledger
from travas.cli import main as command_line

LOG = "case_id,activity,timestamp\n" + "".join(f"{case},a,2020-01-01\n" for case in range(100))


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "log.csv").write_text(LOG)
    program = (
        f"{sys.executable} -m travas anonymize log.csv --order file --epsilon 1 --delta 1e-6 -o out.csv --ledger l.db"
    )
    return subprocess.run(
        ["bash", "-c", f"{program} {command}"], cwd=folder, capture_output=True, text=True, check=False
    )  # fmt: skip


def test_a_closed_standard_output_is_not_a_refusal(tmp_path: Path) -> None:
    ran = shell(">&-", tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "out.csv.guarantee.json").exists()


@pytest.mark.parametrize("options", ["", "--json"])
def test_a_full_standard_output_is_not_a_refusal(options: str, tmp_path: Path) -> None:
    ran = shell(f"{options} > /dev/full", tmp_path)
    assert ran.returncode == 6 and len(ran.stderr.splitlines()) == 1
    assert "the result could not be printed (No space left on device); the release is complete" in ran.stderr
    assert f"the charge to '{(tmp_path / 'log.csv').resolve()}' stands" in ran.stderr
    assert (tmp_path / "out.csv.guarantee.json").exists()


@pytest.mark.parametrize("options", ["", "--json"])
def test_a_closed_pipe_after_the_charge_is_reported_with_the_charge(options: str, tmp_path: Path) -> None:
    ran = shell(f"{options} | true; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert ran.returncode == 141 and len(ran.stderr.splitlines()) == 1
    assert "(Broken pipe); the release is complete, and the charge to '" in ran.stderr
    assert (tmp_path / "out.csv.guarantee.json").exists()


def test_a_full_standard_error_changes_no_exit_code(tmp_path: Path) -> None:
    piped = "-o - --output-format csv --guarantee-file g.json > piped.csv 2> /dev/full"
    assert shell(piped, tmp_path).returncode == 6 and (tmp_path / "g.json").exists()
    assert shell("2> /dev/full", tmp_path).returncode == 0
    assert shell("2> /dev/full", tmp_path).returncode == 2  # the output exists
    refused = shell("--json > /dev/full", tmp_path)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1


def fail(error: BaseException) -> Callable[..., None]:
    def fails(*_: object, **__: object) -> None:
        raise error

    return fails


@pytest.mark.parametrize("error", [MemoryError(), KeyError("CANARY"), OSError(errno.EIO, "Input/output error")])
@pytest.mark.parametrize("command", ["anonymize", "synthesize", "map"])
def test_a_summary_that_fails_says_that_the_release_is_complete_and_charged(
    command: str, error: Exception, small_csv: Path, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("travas.model.variants.summary", fail(error))
    book, out = tmp_path / "book.db", tmp_path / "out.json"
    ran = travas(command, small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", out, "--ledger", book)
    assert ran.code == 4 and len(ran.err.splitlines()) == 1 and "CANARY" not in ran.err
    assert "the release is complete" in ran.err and "the charge to" in ran.err and "stands" in ran.err
    assert out.is_file() and len(Ledger(book).history()) == 1


class Panic(BaseException):
    """What Polars raises for its own bugs."""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 5),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 5),
        (KeyboardInterrupt(), 130),
        (KeyError("CANARY"), 70),
        (Panic("CANARY"), 70),
    ],
)
def test_memory_interrupts_and_bugs_are_one_line(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "app", fail(error))
    with pytest.raises(SystemExit) as stop:
        command_line.main()
    assert stop.value.code == code
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1 and "nothing was written" not in said and "CANARY" not in said
    assert ("report it, without the log" in said) == (code == 70)


def test_the_traceback_of_a_bug_is_confidential(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "app", fail(KeyError("CANARY")))
    monkeypatch.setenv("TRAVAS_DEBUG", "1")
    with pytest.raises(SystemExit) as stop:
        command_line.main()
    said = capsys.readouterr().err
    assert stop.value.code == 70 and "CANARY" in said and said.startswith("CONFIDENTIAL")
