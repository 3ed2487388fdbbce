"""Kill -9 at random lines and times while archive and ledger work together: `web_faults.py DIRECTORY RUNS SEED`.

Prints one JSON object. It forks, as front_end_faults.py does, because a test process has threads.
"""

import json
import os
import random
import signal
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from front_end_faults import at_line, ended, kill, lines_of

import travas
from travas.budget.account import now
from travas.outputs.guarantee_file import guarantee_path
from travas.outputs.write import write_hospital_log
from travas.settings.project import Project
from travas.verification.opened import open_release
from travas.web.release import make
from travas.web.releases import RELEASE, Archive, Decision, finish

VALUES = {"mechanism": "optimal", "epsilon": "0.5", "delta": "1e-3", "dataset": "data"}


def release(directory: Path) -> None:
    """What the server and its job do: make the folder, charge, draw, write and finish."""
    archive, ledger = Archive(directory / "archive"), directory / "ledger.db"
    project = Project(references="refuse").with_values(VALUES | {"ledger": str(ledger)})
    record = archive.begin(project, "log.csv", ledger)
    log = str(directory / "log.csv")
    make(project, log, "copy", record, archive.folder(record.id), lambda words, share: None)
    archive.ended(record.id)


def change(directory: Path) -> None:
    """Approve the newest release, and delete the oldest one."""
    archive = Archive(directory / "archive")
    there = [record for record in archive.records() if record.state == "released"]
    if there:
        record = archive.decide(there[0].id, Decision("approved", "Ada", now()))
        finish(archive.folder(record.id), record)
    if len(there) > 2:
        archive.delete(there[-1].id)


def check(directory: Path) -> Counter[str]:
    """Every charge has a record: with a release that opens and a zip that can be completed, or with a statement."""
    archive, ledger = Archive(directory / "archive"), travas.Ledger(directory / "ledger.db")
    archive.tidy(ledger)
    charges = {entry.approval.reference for entry in ledger.history()}
    records = archive.records()
    assert {record.id for record in records} == charges
    for record in records:
        if record.state == "released":
            folder = archive.folder(record.id)
            path = folder / RELEASE
            assert open_release(path).guarantee.epsilon == Fraction("0.5")
            assert path.stat().st_mode & 0o077 == 0 and guarantee_path(path).stat().st_mode & 0o077 == 0
            finish(folder, record)
            with zipfile.ZipFile(folder / record.bundle) as packed:
                report = packed.read("report.html").decode()
            assert ("Nobody has signed it off" in report) is not bool(record.decisions)
        else:
            assert record.state in ("not finished", "deleted")
    return Counter(record.state for record in records)


def in_a_fork(directory: Path, work: Callable[[Path], Any]) -> Any:
    """What the work returns. This process itself must not read a log, since the threads of its reader do not survive a fork."""
    answer = directory / "answer.json"
    code, said = ended(lambda: [answer.write_text(json.dumps(work(directory)))].clear())
    assert code == 0, f"{work.__name__} failed: {said}"
    return json.loads(answer.read_text())


def prepare(directory: Path) -> None:
    write_hospital_log(directory / "log.csv")
    travas.Ledger(directory / "ledger.db").create_account("data")


def late(seconds: float, work: Callable[[], None]) -> Callable[[], None]:
    """The work, ended by the system after a time: as kill -9, nothing of the process runs any more."""

    def timed() -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        work()

    return timed


def main(directory: Path, runs: int, seed: int) -> None:
    os.umask(0o077)
    dice = random.Random(seed)
    in_a_fork(directory, prepare)
    started = time.perf_counter()
    in_a_fork(directory, release)
    seconds = time.perf_counter() - started
    works = {work: partial(work, directory) for work in (release, change)}
    lines = {work: lines_of(works[work])[0] for work in works}
    for run in range(runs):
        work = change if run % 5 == 4 else release
        share = 1 - dice.random() ** 2  # the charge and the writing come last
        ended(
            at_line(int(lines[work] * share), kill, works[work])
            if run % 2
            else late(share * 1.1 * seconds, works[work])
        )
        if run % 10 == 9:
            in_a_fork(directory, check)
    print(json.dumps(in_a_fork(directory, check) | {"runs": runs}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
