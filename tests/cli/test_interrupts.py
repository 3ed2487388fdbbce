"""Ctrl-C while the program is being imported; from there on: tests/contract/front_end_faults.py."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from projects import Start
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
import os, pkgutil, signal, sys
from travas.cli.signals import handled

module, name = sys.argv.pop(1).split(":")
module = pkgutil.resolve_name(module)
before = getattr(module, name)

def terminated(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT if "release" in sys.argv else signal.SIGTERM)
    return before(*arguments, **options)

setattr(module, name, terminated)
with handled():
    from travas.cli.main import main
    main()
"""


def terminated_in(function: str, place: Path, *words: object, in_background: bool = False) -> tuple[int, str]:
    """Exit code and standard error of a command that gets a signal where it calls a function."""
    command = [sys.executable, "-c", LATE, function, *map(str, words)]
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN) if in_background else None
    ran = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, preexec_fn=ignore)
    return ran.returncode, ran.stderr


CHARGED = "travas: interrupted; the charge to 'ward' stands"
COMPLETE = "travas: the release is complete, but what follows it failed: interrupted; the charge to"


@pytest.mark.parametrize("in_background", [False, True])
@pytest.mark.parametrize(
    ("function", "said"), [("travas.pipeline:read", "travas: interrupted\n"), ("travas.pipeline:_drawn", CHARGED)]
)
def test_termination_says_whether_there_is_a_charge_and_leaves_nothing(
    function: str, said: str, in_background: bool, tmp_path: Path
) -> None:
    """Also if a shell has started it in the background, where Ctrl-C is ignored."""
    code, words = terminated_in(function, tmp_path, *_command("anonymize", tmp_path), in_background=in_background)
    assert code == 143 and words.startswith(said) and len(words.splitlines()) == 1
    history = Ledger(tmp_path / "book.db").history()
    assert not list((tmp_path / "out").iterdir()) and len(history) == (said == CHARGED)


def test_what_follows_a_release_can_be_terminated(tmp_path: Path) -> None:
    words = _command("map", tmp_path)
    code, said = terminated_in("travas.cli.map_command:_write_model", tmp_path, *words)
    assert code == 143 and said.startswith(COMPLETE) and len(said.splitlines()) == 1
    assert (tmp_path / "out" / "out.csv.guarantee.json").exists()


def test_the_report_of_a_project_can_be_interrupted(start: Start, folder: Path) -> None:
    start()
    code, said = terminated_in("travas.project.project_release:write_report", folder, "release", "--period", "2026-01")
    assert code == 130 and said.startswith(COMPLETE) and len(said.splitlines()) == 1


def test_ctrl_c_is_ignored_in_the_background(start: Start, folder: Path) -> None:
    start()
    words = ("travas.pipeline:read", folder, "release", "--period", "2026-01")
    assert terminated_in(*words, in_background=True) == (0, "")


LAST = """
import atexit, os, signal
from travas.cli.signals import handled

with handled():
    atexit.register(os.kill, os.getpid(), int(os.environ["SIGNAL"]))
    raise SystemExit(3)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_python_ends_does_not_replace_the_exit_code(number: signal.Signals) -> None:
    ran = subprocess.run([sys.executable, "-c", LAST], env=os.environ | {"SIGNAL": str(int(number))}, check=False)
    assert ran.returncode == 3


def _command(name: str, place: Path) -> list[object]:
    (place / "log.csv").write_text("case_id,activity,timestamp\n" + "1,a,2020-01-01\n" * 100)
    Ledger(place / "book.db").create_account("ward")
    (place / "out").mkdir()
    return [
        name, place / "log.csv", "--epsilon", "1", "--delta", "1e-2", "-o", place / "out" / "out.csv",
        "--ledger", place / "book.db", "--dataset", "ward",
    ]  # fmt: skip


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
