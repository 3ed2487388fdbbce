"""A process that imports travas once and forks: every run of a release then costs milliseconds, and can be killed.

    python faults.py crash DIRECTORY RUNS SEED    kill -9 at random lines and at random times
    python faults.py race DIRECTORY PROCESSES COMPOSITION
    python faults.py full DIRECTORY               no file may grow beyond some size
    python faults.py rights DIRECTORY             a ledger, then a directory, without permission to write

Each prints one JSON object. It is a script and not a fixture because a test process has threads, which do not fork well.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import travas
import travas.outputs.write
from travas.budget.account import Entry
from travas.budget.accounting import Spending
from travas.mechanisms import mechanism

LOG: Any = {(f"step {n}", "end"): 50 + n for n in range(40)}
NOBODY = 65534


def release(ledger: Path, out: Path) -> None:
    """What is under test: open or make the ledger, charge, draw, write."""
    book = travas.Ledger(ledger)
    with suppress(travas.ParameterError):  # another process was faster
        book.create_account("data")
    travas.anonymize(LOG, epsilon="0.5", delta="1e-6", ledger=book, dataset="data").write(out)


def forked(work: Callable[[], None]) -> int:
    """The process that does it. Its exit code: 0 done, 3 refused by the budget, 2 by an error of ours, 1 by anything else."""
    if child := os.fork():
        return child
    code = 1
    try:
        work()
        code = 0
    except travas.BudgetError:
        code = 3
    except travas.TravasError as error:
        code = 2 if len(str(error).splitlines()) == 1 else 1
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(code)


def wait(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at_line(number: int, work: Callable[[], None]) -> Callable[[], None]:
    """Dies, without a chance to clean up, before line number `number` of travas."""
    left = number

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if "travas" not in frame.f_code.co_filename:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    def traced() -> None:
        sys.settrace(trace)
        work()

    return traced


def lines_of(work: Callable[[], None]) -> int:
    counted = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal counted
        counted += event == "line"
        return trace if "travas" in frame.f_code.co_filename else None

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return counted


def charges(ledger: Path) -> int:
    """How many the ledger holds. It must be whole, or not be there."""
    if not ledger.exists():
        return 0
    connection = sqlite3.connect(ledger)  # SQLite first rolls back what a dead process left half-done
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return len(travas.Ledger(ledger).history())


def crash(directory: Path, runs: int, seed: int) -> Counter[str]:
    dice = random.Random(seed)
    old, first = directory / "old.db", directory / "first.json"
    started = time.perf_counter()
    wait(forked(lambda: release(old, first)))
    seconds = time.perf_counter() - started
    lines = lines_of(lambda: release(directory / "count.db", directory / "count.json"))
    found: Counter[str] = Counter(lines=lines)
    for run in range(runs):
        ledger = old if run % 4 < 2 else directory / f"new-{run}.db"  # half of them make the ledger first
        out = directory / f"{run}.json"
        before = charges(ledger)

        def work(ledger: Path = ledger, out: Path = out) -> None:
            release(ledger, out)

        if run % 2:
            wait(forked(killed_at_line(dice.randrange(lines), work)))
        else:
            child = forked(work)
            time.sleep(dice.random() * 1.2 * seconds)
            os.kill(child, signal.SIGKILL)
            wait(child)
        charged, there = charges(ledger) - before, out.exists()
        assert charged in (0, 1)
        assert charged or not there, f"run {run}: released but not charged"
        book = travas.Ledger(ledger)  # and it goes on working
        with suppress(travas.ParameterError):
            book.create_account("data")
        book.charge(Entry.of("data", None, mechanism("optimal", 1, "1e-6"), "case"))
        found["released" if there else "charged, not released" if charged else "not charged"] += 1
    return found


def released(directory: Path) -> int:
    return len([path for path in directory.glob("*.json") if "guarantee" not in path.name])


def race(directory: Path, processes: int, composition: Any) -> Counter[str]:
    ledger = directory / "ledger.db"
    affordable = processes
    if composition != "none":  # else all create the ledger at once as well
        budget = (
            travas.Ledger(ledger).create_budget("data", epsilon="3.6", delta="0.01", composition=composition).budget
        )
        assert budget is not None
        spending = Spending("optimal", Fraction(1, 2), Fraction(1, 10**6))
        affordable = max(n for n in range(processes) if budget.allows([spending] * n))
    starting, start = os.pipe()

    def contend(out: Path) -> None:
        os.close(start)
        os.read(starting, 1)  # all wait here until the parent lets go
        release(ledger, out)

    children = [forked(lambda out=directory / f"{n}.json": contend(out)) for n in range(processes)]  # type: ignore[misc]
    os.close(start)
    codes = Counter(str(wait(child)) for child in children)
    return codes + Counter(affordable=affordable, charged=charges(ledger), released=released(directory))


def full(directory: Path) -> Counter[str]:
    """Releases until the ledger can no longer grow, then some without room for the journal."""
    ledger = directory / "ledger.db"
    travas.Ledger(ledger).create_account("data")
    found: Counter[str] = Counter()

    def limited(out: Path, size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        travas.anonymize(LOG, epsilon="0.5", delta="1e-6", ledger=travas.Ledger(ledger), dataset="data")
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        out.touch()

    size = ledger.stat().st_size + 4096  # one page more: the journal of a charge needs that much
    for run in range(80):
        out, limit = directory / f"{run}.json", size if run < 76 else 600
        found[str(wait(forked(lambda out=out, limit=limit: limited(out, limit))))] += 1  # type: ignore[misc]
        assert charges(ledger) == len(list(directory.glob("*.json")))
    wait(forked(lambda: limited(directory / "never.json", 600)))
    return found + Counter(charged=charges(ledger))


def rights(directory: Path) -> Counter[str]:
    """As a user other than root, who needs no permissions."""
    found: Counter[str] = Counter()
    directory.chmod(0o777)
    os.environ["XDG_DATA_HOME"] = str(directory)  # where a policy is looked for; root's home is closed to others

    def as_nobody(work: Callable[[], None]) -> int:
        def dropped() -> None:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            work()

        return wait(forked(dropped))

    with tempfile.TemporaryDirectory() as scratch:  # modules that are imported late cannot be read by everybody
        release(Path(scratch) / "ledger.db", Path(scratch) / "warm.json")
    ledger = directory / "ledger.db"
    assert as_nobody(lambda: release(ledger, directory / "first.json")) == 0
    ledger.chmod(0o444)
    found[f"read-only file {as_nobody(lambda: release(ledger, directory / 'second.json'))}"] += 1
    ledger.chmod(0o000)
    found[f"no rights {as_nobody(lambda: release(ledger, directory / 'third.json'))}"] += 1
    ledger.chmod(0o600)
    directory.chmod(0o555)
    found[f"read-only directory {as_nobody(lambda: release(ledger, Path('/tmp') / 'never.json'))}"] += 1
    found[f"no ledger to be made {as_nobody(lambda: release(directory / 'new.db', Path('/tmp') / 'never.json'))}"] += 1
    directory.chmod(0o777)
    return found + Counter(charged=charges(ledger), released=released(directory))


if __name__ == "__main__":
    fault, directory, *rest = sys.argv[1:]
    folder = Path(directory)
    if fault == "crash":
        counts = crash(folder, int(rest[0]), int(rest[1]))
    elif fault == "race":
        counts = race(folder, int(rest[0]), rest[1])
    else:
        counts = full(folder) if fault == "full" else rights(folder)
    print(json.dumps(counts))
