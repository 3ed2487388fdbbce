"""Kill -9 at random lines and times while archive and ledger work together: `archive_faults.py DIRECTORY RUNS SEED`.

Prints one JSON object. It forks, as faults.py does, because a test process has threads.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from faults import forked, killed_at_line, lines_of, wait

import travas
from travas.budget.account import Approval
from travas.outputs.guarantee_file import guarantee_path
from travas.outputs.write import write_hospital_log
from travas.web import tasks
from travas.web.archive import RELEASE, Archive, Signature, now
from travas.web.archive_list import listed, reconcile
from travas.web.recipe import Recipe
from travas.web.releasing import reopened

RECIPE = Recipe(epsilon="0.5", delta="1e-3")


def signature() -> Signature:
    return Signature("Ada", "user", now())


def release(directory: Path) -> str:
    """What the server and its job do: make the folder, charge, draw and write."""
    archive = Archive(directory / "archive")
    asked = archive.begin(signature(), "data", "log.csv", RECIPE, "a reason", directory / "ledger.db")
    output, approval = archive.folder(asked.id) / RELEASE, Approval("a reason", reference=asked.id)
    log = directory / "log.csv"
    tasks.draw(
        log, "log.csv", travas.Reading(), RECIPE, directory / "ledger.db", "data", "copy", output,
        lambda *_: None, approval,
    )  # fmt: skip
    archive.activity.append("charge", name="Ada", release=asked.id)
    return asked.id


def change(directory: Path) -> None:
    """Sign off the newest release, and delete the oldest one."""
    archive = Archive(directory / "archive")
    there = [record.id for record in archive.records() if archive.has_release(record.id)]
    archive.sign_off(there[0], signature(), "Ada")
    if len(there) > 2:
        archive.delete(there[-1], signature())


def check(directory: Path) -> Counter[str]:
    """Every charge has a release that opens and verifies, or a statement."""
    archive, ledger = Archive(directory / "archive"), travas.Ledger(directory / "ledger.db")
    reconcile(archive, ledger)
    charges = {entry.approval.reference for entry in ledger.history()}
    found = listed(archive, ledger)
    assert {release.id for release in found} == charges
    for release in found:
        if release.state == "released":
            assert release.record is not None
            assert reopened(archive, ledger, release.record).release.guarantee.epsilon == Fraction("0.5")
            path = archive.folder(release.id) / RELEASE
            assert path.stat().st_mode & 0o077 == 0 and guarantee_path(path).stat().st_mode & 0o077 == 0
        else:
            assert release.state in ("not finished", "deleted")
    return Counter(release.state for release in found)


def in_a_fork(directory: Path, work: Callable[[Path], Any]) -> Any:
    """What the work returns. This process itself must not read a log, since the threads of its reader do not survive a fork."""
    answer = directory / "answer.json"
    code = wait(forked(lambda: [answer.write_text(json.dumps(work(directory)))].clear()))
    assert code == 0, f"{work.__name__} failed"
    return json.loads(answer.read_text())


def prepare(directory: Path) -> None:
    write_hospital_log(directory / "log.csv")
    travas.Ledger(directory / "ledger.db").create_account("data")


def count(directory: Path) -> list[int]:
    """The numbers of lines of a release and of a change."""
    return [lines_of(lambda work=work: [work(directory)].clear()) for work in (release, change)]  # type: ignore[misc]


def main(directory: Path, runs: int, seed: int) -> None:
    os.umask(0o077)
    dice = random.Random(seed)
    in_a_fork(directory, prepare)
    started = time.perf_counter()
    in_a_fork(directory, release)
    seconds = time.perf_counter() - started
    lines = dict(zip((release, change), in_a_fork(directory, count), strict=True))
    for run in range(runs):
        work = change if run % 5 == 4 else release

        def victim(work: Callable[[Path], Any] = work) -> None:
            work(directory)

        late = 1 - dice.random() ** 2  # the charge and the writing come last
        if run % 2:
            wait(forked(killed_at_line(int(lines[work] * late), victim)))
        else:
            child = forked(victim)
            time.sleep(late * 1.1 * seconds)
            os.kill(child, signal.SIGKILL)
            wait(child)
        if run % 10 == 9:
            in_a_fork(directory, check)
    print(json.dumps(in_a_fork(directory, check) | {"runs": runs}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
