"""Faults in every phase of a release, through each front end: a process that imports travas once and forks for each run.

    python front_end_faults.py kill FRONT_END DIRECTORY RUNS        kill -9 at lines of travas, spread over the whole run
    python front_end_faults.py terminate FRONT_END DIRECTORY RUNS   SIGTERM at such lines
    python front_end_faults.py interrupt FRONT_END DIRECTORY RUNS   Ctrl-C at such lines, and more of it at once after
    python front_end_faults.py full FRONT_END DIRECTORY RUNS        no file may grow beyond some size

Each prints one JSON object: how often a run ended in which way. With 3 runs, the lines are one while the log is read, one
while the release is written, and one while it is published. It is a script because a test process has threads, which do
not fork well.
"""

import json
import os
import resource
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import front_ends as contract

import travas.cli.main
from travas import Ledger, verify
from travas.outputs.atomic import Reservation
from travas.outputs.write import ReservedRelease
from travas.sources import engine

Work = Callable[[], None]

FULL = 60_000
"""In steps up to this size of a file: the ledger does not fit, then the release does not, then both fit."""
UNSEEN = ("kill", "terminate")
"""Faults that may end a process before it can say anything."""
_START = 20  # by then the command line has made itself ready for Ctrl-C
SOURCE = str(Path(travas.__file__).parent)


def on_the_command_line(case: contract.Case, _: Any) -> str:
    sys.argv = ["travas", *contract.words_of(case)]
    travas.cli.main.main()
    return ""


FRONT_ENDS = contract.FRONT_ENDS | {"cli": on_the_command_line}


def at_line(number: int, fault: Work, work: Work) -> Work:
    """Does the work, and the fault before line number `number` of travas in the main thread."""
    left = number

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        if event == "line":
            left -= 1
            if left == -1:
                fault()
        return trace

    def traced() -> None:
        sys.settrace(trace)
        work()

    return traced


_STAGES = (engine.read, ReservedRelease.write, Reservation.publish)


def lines_of(work: Work) -> tuple[int, list[int]]:
    """How many lines of travas the work has, and how many before each stage. A pipe, because the work does not come back."""
    counted = 0
    stages: list[int] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal counted
        if event == "call" and any(frame.f_code is stage.__code__ for stage in _STAGES):
            stages.append(counted + 3)
        counted += event == "line"
        return trace if frame.f_code.co_filename.startswith(SOURCE) else None

    reading, writing = os.pipe()
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.settrace(trace)
        try:
            work()
        finally:
            os.write(writing, json.dumps([counted, stages]).encode())
            os._exit(0)
    os.wait()
    lines, before = json.loads(os.read(reading, 1000))
    return lines, before


def ended(work: Work) -> tuple[int, str]:
    """The exit code of a process that does the work, and what it said on standard error."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as said:
            words = said.read()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), words
    os.dup2(writing, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    code = 99
    try:
        work()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    except KeyboardInterrupt:
        code = 130
    finally:
        os._exit(code)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def terminate() -> None:
    signal.raise_signal(signal.SIGTERM)


def interrupt() -> None:
    """Once here, and some more from another thread while the first one is handled."""

    def more() -> None:
        for _ in range(10):
            time.sleep(0.0005)
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=more, daemon=True).start()
    signal.raise_signal(signal.SIGINT)


def small_files(size: int, work: Work) -> Work:
    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        work()

    return limited


def state(case: contract.Case) -> str:
    """What is on the disk, after the checks that hold whatever happened."""
    charged = case.charges
    assert charged in (0, 1)
    guarantee = Path(f"{case.output}.guarantee.json")
    if case.output.exists():
        assert charged, "released without a charge"
        assert guarantee.exists(), "released without a guarantee"
        stated = json.loads(guarantee.read_text())["release"]["sha256"]
        assert stated == sha256(case.output.read_bytes()).hexdigest(), "next to the guarantee of another release"
        return "released"
    return "charged" if charged else "not charged"


def restarted(case: contract.Case, front_end: str) -> None:
    """The same request again works, as a user would repeat it, and nothing is left of the run before."""
    if case.output.exists():
        return
    for end in (".guarantee.json", ".README.txt"):
        Path(f"{case.output}{end}").unlink(missing_ok=True)
    before = case.charges
    if case.output.with_name(f".{case.output.name}.ready").exists():  # complete: the next run finishes it
        before -= 1
    code, words = ended(lambda: _no_words(FRONT_ENDS[front_end](case, None)))
    assert code == 0 and case.charges == before + 1, (code, words)
    assert verify(f"{case.output}.guarantee.json", case.output).digest_checked
    assert not [path.name for path in case.output.parent.iterdir() if path.name.endswith((".partial", ".lock"))]


def _no_words(said: str) -> None:
    if said:
        os.write(2, said.encode())
        raise SystemExit(4 if "is not refunded" in said else 2)


def main(fault: str, front_end: str, directory: Path, runs: int) -> Counter[str]:
    def case_in(name: str) -> contract.Case:
        folder = directory / name
        folder.mkdir()
        (folder / "log.csv").write_text((directory / "log.csv").read_text())
        Ledger(folder / "book.db").create_budget("hospital", epsilon=3, delta="1e-5")
        return contract.Case(folder / "log.csv", folder / "release.json", folder / "book.db")

    def work(case: contract.Case) -> None:
        _no_words(FRONT_ENDS[front_end](case, None))

    counted = case_in("counted")
    lines, stages = lines_of(lambda: work(counted))
    assert len(stages) == len(_STAGES), stages
    found: Counter[str] = Counter(lines=lines)
    for number in range(runs):
        case = case_in(str(number))
        line = stages[number] if runs == len(_STAGES) else _START + (lines - _START) * number // runs
        faulty = {
            "kill": at_line(line, kill, lambda case=case: work(case)),  # type: ignore[misc]
            "terminate": at_line(line, terminate, lambda case=case: work(case)),  # type: ignore[misc]
            "interrupt": at_line(line, interrupt, lambda case=case: work(case)),  # type: ignore[misc]
            "full": small_files(FULL * number // (runs - 1), lambda case=case: work(case)),  # type: ignore[misc]
        }[fault]
        code, words = ended(faulty)
        now = state(case)
        found[f"{now} {code}"] += 1
        if fault not in UNSEEN:
            # Python itself says what it ignored: before the charge, or in a finaliser.
            is_pythons = code == 130 and now == "not charged" and front_end != "cli"
            is_pythons = is_pythons or words.startswith("Exception ignored in: ")
            assert code in (0, 2, 4, 130), (number, line, code, words)
            assert is_pythons or len(words.splitlines()) == (code != 0), (number, line, code, words)
            is_told = now == "charged" or "the release is complete" in words
            assert ("is not refunded" in words) == is_told, (number, line, now, code, words)
        if found[f"{now} {code}"] == 1:
            restarted(case, front_end)
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))))
