"""More releases at once than an account affords: `ledger_faults.py DIRECTORY PROCESSES COMPOSITION`.

In processes that are forked from one that has imported travas. It prints one JSON object.
"""

import json
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import travas
from travas.budget.accounting import Spending

LOG: Any = {(f"step {n}", "end"): 50 + n for n in range(40)}


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
        spending = Spending.of(travas.Optimal("1/2", "1e-6"))
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


if __name__ == "__main__":
    print(json.dumps(race(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
