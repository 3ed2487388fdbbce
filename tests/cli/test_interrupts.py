"""Ctrl-C while the program is being imported; from there on: tests/contract/front_end_faults.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from travas import Ledger
from travas.cli import signals

DRIVER = """
import os, runpy, signal, sys
left = int(sys.argv.pop(1))
is_module = sys.argv.pop(1) == "module"

def profile(frame, event, argument):
    global left
    if event == "call" and signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        left -= 1
        if left == 0:
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)

sys.setprofile(profile)
if is_module:
    runpy.run_module("travas", run_name="__main__")
else:
    from travas.__main__ import main
    sys.exit(main())
"""


@pytest.mark.parametrize("entry", ["module", "script"])
@pytest.mark.parametrize("moment", [1, 1_000, 10_000])
def test_an_interrupt_while_importing_is_one_line(moment: int, entry: str, tmp_path: Path) -> None:
    """At a call of a Python function, deterministically. Before, it was a traceback."""
    words = [
        "anonymize",
        "log.csv",
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
        "-o",
        "out.csv",
        "--ledger",
        "book.db",
    ]
    (tmp_path / "log.csv").write_text("case_id,activity,timestamp\n" + "1,a,2020-01-01\n" * 100)
    command = [sys.executable, "-c", DRIVER, str(moment), entry, *words]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr, ran.stdout) == (130, "travas: interrupted\n", "")
    assert not list(tmp_path.glob("*out*"))


LATE = """
import os, signal, sys
import travas.pipeline as pipeline
from travas.cli.signals import handled

moment = sys.argv.pop(1)
drawn, read = pipeline._drawn, pipeline.read

def terminated(*arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    return (drawn if moment == "drawing" else read)(*arguments)

setattr(pipeline, "_drawn" if moment == "drawing" else "read", terminated)
with handled():
    from travas.cli.main import main
    main()
"""


@pytest.mark.parametrize(
    ("moment", "said"),
    [("reading", "travas: interrupted\n"), ("drawing", "travas: interrupted; the charge to 'ward' stands")],
)
def test_termination_says_whether_there_is_a_charge_and_leaves_nothing(moment: str, said: str, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("case_id,activity,timestamp\n" + "1,a,2020-01-01\n" * 100)
    book = Ledger(tmp_path / "book.db")
    book.create_account("ward")
    (tmp_path / "out").mkdir()
    words = [
        "anonymize", log, "--epsilon", "1", "--delta", "1e-2", "-o", tmp_path / "out" / "out.csv",
        "--ledger", tmp_path / "book.db", "--dataset", "ward",
    ]  # fmt: skip
    command = [sys.executable, "-c", LATE, moment, *map(str, words)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 143 and ran.stderr.startswith(said) and len(ran.stderr.splitlines()) == 1
    assert not list((tmp_path / "out").iterdir()) and len(book.history()) == (moment == "drawing")


def test_importing_the_package_has_no_side_effects() -> None:
    """Neither a handler nor heavy modules: so the entry point can install its handler first."""
    script = (
        "import signal, sys; import travas; "
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler; "
        "print(*(name for name in sys.modules if name.startswith('travas')))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["travas"]


def test_the_entry_points_are_one() -> None:
    import tomllib

    root = Path(__file__).resolve().parents[2]
    assert tomllib.loads((root / "pyproject.toml").read_text())["project"]["scripts"] == {
        "travas": "travas.__main__:main"
    }


def test_a_second_interrupt_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "_raised_at", float("-inf"))
    monkeypatch.setattr(signals, "_is_finished", False)
    with pytest.raises(KeyboardInterrupt):
        signals._interrupt(2, None)
    signals._interrupt(2, None)
    monkeypatch.setattr(signals, "_raised_at", float("-inf"))
    signals.finish()
    signals._interrupt(2, None)
