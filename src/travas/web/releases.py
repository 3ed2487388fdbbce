"""The archive: one folder for each release, made before the charge, with what was asked for and what was made of it.

The charge in the ledger refers to the folder, so after a crash at any time every charge leads to one: with the release or,
if it could not be finished, with what was asked for. What was not charged leaves nothing.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import attrs
from filelock import FileLock, Timeout

from ..budget.ledger import Ledger
from ..outputs.atomic import atomic_output, is_reserved
from ..outputs.guarantee_file import guarantee_path

RELEASE = "release.json"
_RECORD = "record.json"

State = Literal["released", "running", "not finished", "deleted"]


@attrs.frozen
class Decision:
    """Who has approved or rejected a release, for whom, and why."""

    name: str
    verdict: str
    time: str
    audience: str = ""
    comment: str = ""


@attrs.frozen
class Record:
    """What the archive knows of a release besides its files. `title` is the name of the log as the page shows it."""

    id: str
    asked: str
    dataset: str
    kind: str
    title: str
    settings: Mapping[str, Any]
    ledger: str
    looked_at: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    deleted: str = ""
    state: State = attrs.field(default="not finished", eq=False)


class Archive:
    """A folder that only its owner can enter."""

    def __init__(self, path: Path) -> None:
        from .drafts import private_folder

        self.path = private_folder(path)
        self._locks: dict[str, FileLock] = {}

    def begin(
        self,
        settings: Mapping[str, Any],
        title: str,
        dataset: str,
        kind: str,
        ledger: Path,
        looked_at: tuple[str, ...] = (),
    ) -> Record:
        """Make the folder of a release that is about to be charged."""
        asked = datetime.now(UTC).isoformat(timespec="seconds")
        made = Record(
            secrets.token_hex(8), asked, dataset, kind, title, dict(settings), str(ledger.resolve()), looked_at
        )
        self.folder(made.id).mkdir(mode=0o700)
        self._locks[made.id] = lock = FileLock(self.folder(made.id) / ".lock")
        lock.acquire(timeout=0)
        self._write(made)
        return made

    def folder(self, release: str) -> Path:
        """The folder of a release."""
        return self.path / release

    def get(self, release: str) -> Record | None:
        """The record of a release; None if there is none."""
        if not release.isalnum():
            return None
        try:
            content = json.loads((self.folder(release) / _RECORD).read_text(encoding="utf-8"))
            content["decisions"] = tuple(Decision(**each) for each in content["decisions"])
            content["looked_at"] = tuple(content["looked_at"])
            record = Record(**content)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return attrs.evolve(record, state=self._state(record))

    def records(self) -> list[Record]:
        """All records, the newest first."""
        found = (self.get(each.name) for each in self.path.iterdir() if each.is_dir())
        return sorted((each for each in found if each is not None), key=lambda each: each.asked, reverse=True)

    def ended(self, release: str) -> None:
        """End the work of this server on a release."""
        if lock := self._locks.pop(release, None):
            lock.release()

    def forget(self, release: str) -> None:
        """Remove the folder of a release that was not charged."""
        self.ended(release)
        shutil.rmtree(self.folder(release), ignore_errors=True)

    def is_running(self, release: str) -> bool:
        """Whether a server, or a process that has survived it, works on a release."""
        if release in self._locks or is_reserved(self.folder(release) / RELEASE):
            return True
        try:
            with FileLock(self.folder(release) / ".lock", timeout=0):
                return False
        except Timeout:
            return True

    def tidy(self, ledger: Ledger) -> None:
        """Remove what a killed server has left of releases that were not charged."""
        charged = {entry.approval.reference for entry in ledger.history()}
        for record in self.records():
            if record.id not in charged and record.ledger == str(ledger.path.resolve()) and record.state != "running":
                self.forget(record.id)

    def _state(self, record: Record) -> State:
        if record.deleted:
            return "deleted"
        path = self.folder(record.id) / RELEASE
        if path.is_file() and guarantee_path(path).is_file():
            return "released"
        return "running" if self.is_running(record.id) else "not finished"

    def _write(self, record: Record) -> None:
        content = attrs.asdict(record)
        del content["state"]
        with atomic_output(self.folder(record.id) / _RECORD, "replace") as partial:
            partial.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")


def finish(folder: Path, record: Record) -> None:
    """Write what belongs to a complete release: data file, map page and report. Runs in the process of the job."""
