"""The activity log: who looked at what is confidential, and what was charged, cancelled, downloaded, signed off or deleted.

It is a file of lines that is only appended to. Every line contains a digest of all lines before it, so a line that was
changed or removed later is noticed. It contains no values of the log: only identifiers, names of data sets and names of files.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..budget.ledger import now
from ..errors import OutputError

if TYPE_CHECKING:
    from .sessions import Session

ActivityKind = Literal[
    "confidential view", "charge", "not finished", "cancellation", "download", "sign-off", "deletion"
]  # fmt: skip
"""What is recorded."""

_START = ""


@dataclass(frozen=True)
class ActivityLine:
    """One line. `user` is the name in the operating system, `name` the one that was typed on the page."""

    time: str
    user: str
    name: str
    kind: ActivityKind
    dataset: str = ""
    release: str = ""
    detail: str = ""


@dataclass(frozen=True)
class ActivityLog:
    """The file of the activities, which only its owner can read."""

    path: Path

    def append(
        self, kind: ActivityKind, *, name: str, dataset: str = "", release: str = "", detail: str = ""
    ) -> ActivityLine:
        """Append a line; it is on the disk when this returns.

        Args:
            kind: What was done.
            name: The name that the user typed on the page.
            dataset: The name of the data set.
            release: The identifier of the release in the archive.
            detail: What exactly, without values of the log.

        Returns:
            The line.
        """
        made = ActivityLine(now(), os_user(), name, kind, dataset, release, detail)
        with self._locked() as stream:
            before = stream.read()
            text = before.decode(errors="replace")
            content = json.dumps(asdict(made), ensure_ascii=True, separators=(",", ":"))
            line = json.dumps({"activity": asdict(made), "digest": _link(_last_digest(text), content)})
            torn = "\n" if text and not text.endswith("\n") else ""
            data = f"{torn}{line}\n".encode()
            try:
                if stream.write(data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(stream.fileno())
            except OSError:
                os.ftruncate(stream.fileno(), len(before))  # no part of a line is left
                raise
        return made

    def check(self) -> None:
        """Raise OutputError if the file cannot be opened for another line."""
        with self._locked():
            pass

    def read(self) -> tuple[list[ActivityLine], bool]:
        """Return all lines in order, and whether they are complete: none was changed or removed later."""
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            text = ""
        except OSError as error:
            raise OutputError(f"{self.path}: the activity log cannot be read ({error.strerror})") from None
        lines, digest, intact = [], _START, True
        for line in text.splitlines():
            parsed = _parse(line)
            if parsed is None:
                intact = False
                continue
            activity, stated = parsed
            digest = _link(digest, json.dumps(asdict(activity), ensure_ascii=True, separators=(",", ":")))
            intact, digest = intact and digest == stated, stated
            lines.append(activity)
        return lines, intact

    @contextmanager
    def _locked(self) -> Iterator[FileIO]:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            with FileIO(descriptor, "r+") as stream:  # at the start of the file, and without a buffer
                fcntl.flock(stream, fcntl.LOCK_EX)
                yield stream
        except OSError as error:
            raise OutputError(f"{self.path}: the activity log cannot be written ({error.strerror})") from None


def record(session: Session, kind: ActivityKind, detail: str = "", release: str = "") -> None:
    """Record what was done on a draft; raises OutputError if the activity log cannot be written.

    Args:
        session: The draft.
        kind: What was done.
        detail: What exactly, such as the name of the view or of the file. Never a value of the log.
        release: The identifier of the release in the archive, if it is about one.
    """
    owner = session.owner
    owner.activity.append(kind, name=owner.name, dataset=session.dataset, release=release, detail=detail)


def unrecorded(session: Session, kind: ActivityKind, detail: str = "", release: str = "") -> str:
    """Record what has happened already, and return why that was not possible; empty if it was."""
    try:
        record(session, kind, detail, release)
    except OutputError as error:
        return str(error)
    return ""


def os_user() -> str:
    """Return the name of the user in the operating system, or the number of one without a name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name  # not from the environment, which anyone can set
    except KeyError:
        return str(os.getuid())


def _link(previous: str, content: str) -> str:
    return hashlib.sha256(f"{previous}\n{content}".encode()).hexdigest()


def _parse(line: str) -> tuple[ActivityLine, str] | None:
    """The activity and the digest of a line; None if it is damaged."""
    try:
        content = json.loads(line)
        activity, digest = content["activity"], content["digest"]
        for value in (*activity.values(), digest):
            value.encode()  # raises if it is not a text or has lone surrogates, which cannot be shown
        return ActivityLine(**activity), digest
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _last_digest(text: str) -> str:
    """The digest of the last line that is whole."""
    parsed = (_parse(line) for line in reversed(text.splitlines()))
    return next((whole[1] for whole in parsed if whole is not None), _START)
