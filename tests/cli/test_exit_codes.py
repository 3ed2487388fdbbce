import errno
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from conftest import Run
from travas import Ledger
from travas.cli import main as command_line

LOG = "case_id,activity,timestamp\n" + "".join(f"{case},a,2020-01-01\n" for case in range(100))


def fail(error: BaseException) -> Callable[..., None]:
    def fails(*_: object, **__: object) -> None:
        raise error

    return fails


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("anonymize", MemoryError()),
        ("synthesize", KeyError("CANARY")),
        ("map", OSError(errno.EIO, "Input/output error")),
    ],
)
def test_a_summary_that_fails_says_that_the_release_is_complete_and_charged(
    command: str, error: Exception, small_csv: Path, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("travas.cli.output.release_table", fail(error))
    book, out = tmp_path / "book.db", tmp_path / "out.json"
    ran = travas(command, small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", out, "--ledger", book)
    assert ran.code == 4 and len(ran.err.splitlines()) == 1 and "CANARY" not in ran.err
    assert "the release is complete" in ran.err and "the charge to" in ran.err and "is not refunded" in ran.err
    assert out.is_file() and len(Ledger(book).history()) == 1


class Panic(BaseException):
    """What Polars raises for its own bugs."""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 2),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 2),
        (KeyboardInterrupt(), 130),
        (KeyError("CANARY"), 1),
        (Panic("CANARY"), 1),
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


def test_the_traceback_of_a_bug_is_confidential(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "app", fail(KeyError("CANARY")))
    monkeypatch.setattr("sys.argv", ["travas", "--debug", "demo"])
    with pytest.raises(SystemExit) as stop:
        command_line.main()
    said = capsys.readouterr().err
    assert stop.value.code == 1 and "CANARY" in said and said.startswith("CONFIDENTIAL")


DRIVER = """
import pkgutil, signal, sys
from travas.cli.main import main

module, name = sys.argv.pop(1).split(":")
number = int(sys.argv.pop(1))
module = pkgutil.resolve_name(module)
before = getattr(module, name)

def interrupted(*arguments, **options):
    signal.raise_signal(number)
    return before(*arguments, **options)

setattr(module, name, interrupted)
main()
"""


READ, CHARGE, DRAW = "travas.pipeline:read", "travas.budget.ledger.Ledger:charge", "travas.trusted.tables.Noise:draw"


@pytest.mark.parametrize(
    ("function", "charged", "number", "in_background"),
    [(READ, False, signal.SIGTERM, True), (CHARGE, True, signal.SIGINT, False), (DRAW, True, signal.SIGTERM, True)],
)
def test_an_interrupt_says_whether_there_is_a_charge_and_leaves_nothing(
    function: str, charged: bool, number: signal.Signals, in_background: bool, tmp_path: Path
) -> None:
    """By Ctrl-C or SIGTERM; also if a shell has started the program in the background, where SIGINT is ignored."""
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "out").mkdir()
    Ledger(tmp_path / "book.db").create_account("ward")
    command: list[str | Path] = [
        sys.executable, "-c", DRIVER, function, str(int(number)), "anonymize", "log.csv", "--epsilon", "1",
        "--delta", "1e-2", "-o", "out/out.csv", "--ledger", "book.db", "--dataset", "ward",
    ]  # fmt: skip
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN) if in_background else None
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=ignore)
    assert ran.returncode == 130 and len(ran.stderr.splitlines()) == 1 and ran.stdout == ""
    assert ("'ward' is not refunded" in ran.stderr) == charged == bool(Ledger(tmp_path / "book.db").history())
    assert not list((tmp_path / "out").iterdir())
