"""Faults of a ledger, in processes that are forked from one that has imported travas.

    python ledger_faults.py race DIRECTORY PROCESSES COMPOSITION    more releases at once than an account affords
    python ledger_faults.py rights DIRECTORY                        a ledger, then a folder, that must not be written

Each prints one JSON object.
"""

import json
import os
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from front_end_faults import ended

import travas
from travas.budget.accounting import Spending

LOG: Any = {(f"step {n}", "end"): 50 + n for n in range(40)}
NOBODY = 65534


def release(ledger: Path, out: Path) -> None:
    """What is under test: open or make the ledger, charge, draw, write."""
    book = travas.Ledger(ledger)
    with suppress(travas.ParameterError):  # another process was faster
        book.create_account("data")
    travas.anonymize(LOG, epsilon="0.5", delta="1e-6", ledger=book, dataset="data").write(out)


def exit_code(work: Callable[[], None]) -> int:
    """0 done, 3 refused by the budget, 2 by an error of ours, 1 by anything else."""
    try:
        work()
    except travas.BudgetError:
        return 3
    except travas.TravasError as error:
        os.write(2, f"{error}\n".encode())
        return 2 if len(str(error).splitlines()) == 1 else 1
    except BaseException:
        return 1
    return 0


def charges(ledger: Path) -> int:
    """How many the ledger holds. It must be whole, or not be there."""
    if not ledger.exists():
        return 0
    connection = sqlite3.connect(ledger)  # SQLite first rolls back what a dead process left half-done
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return len(travas.Ledger(ledger).history())


def released(directory: Path) -> int:
    return len([path for path in directory.glob("*.json") if "guarantee" not in path.name])


def race(directory: Path, processes: int, composition: Any) -> Counter[str]:
    ledger, affordable = directory / "ledger.db", processes
    if composition != "none":  # else all create the ledger at once as well
        made = travas.Ledger(ledger).create_budget("data", epsilon="3.6", delta="0.01", composition=composition)
        spending = Spending("optimal", Fraction(1, 2), Fraction(1, 10**6))
        affordable = max(n for n in range(processes) if made.budget and made.budget.allows([spending] * n))
    starting, start = os.pipe()
    for number in range(processes):
        if os.fork() == 0:
            os.close(start)
            os.read(starting, 1)  # all wait here until the parent lets go
            os._exit(exit_code(lambda out=directory / f"{number}.json": release(ledger, out)))  # type: ignore[misc]
    os.close(start)
    codes = Counter(str(os.waitstatus_to_exitcode(os.wait()[1])) for _ in range(processes))
    return codes + Counter(affordable=affordable, charged=charges(ledger), released=released(directory))


def rights(directory: Path) -> Counter[str]:
    """As a user other than root, who needs no permissions."""
    directory.chmod(0o777)
    os.environ["XDG_DATA_HOME"] = str(directory)  # where a policy is looked for; root's home is closed to others

    def as_nobody(ledger: Path, name: str) -> int:
        def dropped() -> None:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            sys.exit(exit_code(lambda: release(ledger, directory / name)))

        return ended(dropped)[0]

    with tempfile.TemporaryDirectory() as scratch:  # modules that are imported late cannot be read by everybody
        release(Path(scratch) / "ledger.db", Path(scratch) / "warm.json")
    ledger = directory / "ledger.db"
    assert as_nobody(ledger, "first.json") == 0
    found: Counter[str] = Counter()
    for mode in (0o444, 0o000):
        ledger.chmod(mode)
        found[f"ledger of mode {mode:o}: {as_nobody(ledger, 'never.json')}"] += 1
    ledger.chmod(0o600)
    directory.chmod(0o555)
    for path in (ledger, directory / "new.db"):
        found[f"{path.name} in a closed folder: {as_nobody(path, 'never.json')}"] += 1
    directory.chmod(0o777)
    return found + Counter(charged=charges(ledger), released=released(directory))


if __name__ == "__main__":
    fault, place, *rest = sys.argv[1:]
    counts = race(Path(place), int(rest[0]), rest[1]) if fault == "race" else rights(Path(place))
    print(json.dumps(counts))
