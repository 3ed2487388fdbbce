"""The archive: every release that the web app made stays here until it is deleted, in folders of its owner.

A folder is made before the release is charged, and the charge in the ledger refers to it. So after a crash at any time
every charge leads to a folder: with the release, or, if it could not be finished, with what was asked for.
"""

from __future__ import annotations

import fcntl
import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from ..errors import OutputError, TravasError
from ..outputs.atomic import atomic_output, is_reserved
from ..outputs.guarantee_file import guarantee_path
from .activity import ActivityKind, ActivityLog
from .recipe import Recipe
from .result.handover import BUNDLE
from .storage import private_directory, try_lock
from .typed_period import TypedPeriod

RELEASE = "release.json"
_RECORD = "record.json"


@dataclass(frozen=True)
class Signature:
    """Who has signed off or deleted a release, and when: the typed name and the user in the operating system."""

    name: str
    user: str
    time: str

    def __str__(self) -> str:
        return f"{self.name}, {self.time[:10]}"


@dataclass(frozen=True)
class ArchivedRelease:
    """What the archive holds of a release besides its files.

    `log` is the name of the log, as shown to the user, and `ledger` the path of the ledger that it is charged to.
    """

    id: str
    asked: Signature
    dataset: str
    log: str
    recipe: Recipe
    reason: str
    ledger: str = ""
    sign_offs: tuple[Signature, ...] = ()
    deleted: Signature | None = None

    @property
    def signed_off_by(self) -> str:
        """Who has signed it off and when, for the report; empty if nobody has."""
        return "; ".join(map(str, self.sign_offs))

    def encode(self) -> str:
        """Return the record as JSON."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def decode(cls, text: str) -> ArchivedRelease:
        """Return the record of a file; raises ValueError, KeyError, TypeError or AttributeError if it is damaged."""
        fields: dict[str, Any] = json.loads(text)
        recipe = fields["recipe"]
        options = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in recipe["options"])
        parts = {"options": options, "period": TypedPeriod(**recipe["period"]), "looked_at": tuple(recipe["looked_at"])}
        fields |= {
            "asked": Signature(**fields["asked"]),
            "recipe": Recipe(**recipe | parts),
            "sign_offs": tuple(Signature(**one) for one in fields["sign_offs"]),
            "deleted": None if fields["deleted"] is None else Signature(**fields["deleted"]),
        }
        return cls(**fields)


class Archive:
    """A directory that only its owner can enter: one folder for each release, and the activity log."""

    def __init__(self, path: Path) -> None:
        try:
            private_directory(path, "use another directory for the archive")
        except OutputError as error:  # which is also an OSError
            error.field = "archive"
            raise
        except OSError as error:
            raise OutputError(
                f"{path}: cannot be used as the archive ({error.strerror}); use another directory", field="archive"
            ) from None
        self.path, self.activity = path, ActivityLog(path / "activity.jsonl")
        self._running: dict[str, IO[str] | None] = {}

    def begin(
        self,
        asked: Signature,
        dataset: str,
        log: str,
        recipe: Recipe,
        reason: str,
        ledger: Path,
        sign_offs: tuple[Signature, ...] = (),
    ) -> ArchivedRelease:
        """Make the folder of a release that is about to be charged."""
        made = ArchivedRelease(
            secrets.token_hex(8), asked, dataset, log, recipe, reason, str(ledger.resolve()), sign_offs
        )
        try:
            self.folder(made.id).mkdir(mode=0o700)
            self._running[made.id] = try_lock(self.folder(made.id))
            self._write(made)
        except OSError as error:
            self.forget(made.id)
            why = error if isinstance(error, OutputError) else f"{self.path}: cannot be written ({error.strerror})"
            raise OutputError(f"{why}; nothing was charged") from None
        return made

    def folder(self, release: str) -> Path:
        """The folder of a release."""
        return self.path / release

    def has_release(self, release: str) -> bool:
        """Whether the release is there with its guarantee. Both are published at once, the release last."""
        path = self.folder(release) / RELEASE
        return path.is_file() and guarantee_path(path).is_file()

    def get(self, release: str) -> ArchivedRelease | None:
        """The record of a release; None if there is none, or it is damaged."""
        if not release.isalnum():
            return None
        try:
            made = ArchivedRelease.decode((self.folder(release) / _RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return made if made.id == release else None

    def records(self) -> list[ArchivedRelease]:
        """Return all records, the newest first, whether charged or not."""
        try:
            names = [path.name for path in self.path.iterdir() if path.is_dir()]
        except FileNotFoundError:  # removed while the server runs: its charges are listed as not here
            return []
        except OSError as error:
            raise OutputError(f"{self.path}: the archive cannot be read ({error.strerror})") from None
        records = map(self.get, names)
        return sorted((one for one in records if one is not None), key=lambda one: one.asked.time, reverse=True)

    def sign_off(self, release: str, signature: Signature, name: str) -> ArchivedRelease:
        """Record a sign-off. Reports and zips that were written before it are removed: they do not contain it."""
        with self._changing(release) as record:
            self.record("sign-off", record, name, signature.name)
            signed = replace(record, sign_offs=(*record.sign_offs, signature))
            self.remove_reports(release)
            self._write(signed)
            return signed

    def remove_reports(self, release: str) -> None:
        """Remove the reports of a release, and the zip that contains one. They are written again when they are requested."""
        for report in (*self.folder(release).glob("*.report.html"), self.folder(release) / BUNDLE):
            report.unlink(missing_ok=True)

    def delete(self, release: str, signature: Signature) -> None:
        """Delete the files of a release. That it was charged, and who deleted it, stays."""
        with self._changing(release) as record:
            self.record("deletion", record, signature.name, "")
            self._write(replace(record, deleted=signature))
            self.clear(release)

    def clear(self, release: str) -> None:
        """Remove the files of a release that is deleted."""
        for path in self.folder(release).iterdir():
            if path.name not in (_RECORD, ".lock"):
                path.unlink(missing_ok=True)

    def record(self, kind: ActivityKind, record: ArchivedRelease, name: str, detail: str) -> None:
        """Append a line about a release to the activity log; `name` is the one that was typed on the page."""
        self.activity.append(kind, name=name, dataset=record.dataset, release=record.id, detail=detail)

    def ended(self, release: str) -> None:
        """End the work on a release."""
        lock = self._running.pop(release, None)
        if lock is not None:
            lock.close()

    def close(self) -> None:
        """End the work on all releases."""
        for release in list(self._running):
            self.ended(release)

    def is_running(self, release: str) -> bool:
        """Whether a server, or a process that it has left, works on the release."""
        if release in self._running:
            return True
        if is_reserved(self.folder(release) / RELEASE):  # by a process that has survived its server
            return True
        try:
            lock = try_lock(self.folder(release))
        except OSError:
            return False
        if lock is not None:
            lock.close()
        return lock is None

    def forget(self, release: str) -> None:
        """Remove the folder of a release that was not charged."""
        self.ended(release)
        shutil.rmtree(self.folder(release), ignore_errors=True)

    @contextmanager
    def _changing(self, release: str) -> Iterator[ArchivedRelease]:
        try:
            with (self.path / ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                record = self.get(release)
                if record is None or record.deleted is not None:
                    raise TravasError(f"{release[:40]}: there is no such release in the archive")
                yield record
        except OutputError:  # which is also an OSError
            raise
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be changed ({error.strerror})") from None

    def _write(self, record: ArchivedRelease) -> None:
        path = self.folder(record.id) / _RECORD
        with atomic_output(path, "replace") as partial:
            partial.write_text(record.encode(), encoding="utf-8")


def now() -> str:
    """Return the present time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
