"""The activity log: who looked at what is confidential, and what was charged, cancelled, downloaded, signed off or deleted.

It contains no values of the log: only identifiers, names of data sets and names of files.
"""

from __future__ import annotations

import json
import os
import pwd
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..budget.account import now
from ..errors import OutputError

if TYPE_CHECKING:
    from .sessions import Session

ActivityKind = Literal[
    "confidential view", "charge", "not finished", "cancellation", "download", "sign-off", "deletion"
]  # fmt: skip
"""What is recorded."""


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
        """Append a line; OutputError if that is not possible. The detail says what exactly, without values of the log."""
        made = ActivityLine(now(), os_user(), name, kind, dataset, release, detail)
        self._write(f"{json.dumps(asdict(made))}\n")
        return made

    def check(self) -> None:
        """Raise OutputError if the file cannot be opened for another line."""
        self._write("")

    def read(self) -> list[ActivityLine]:
        """Return all lines in order; what is no line is left out."""
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace") if self.path.exists() else ""
        except OSError as error:
            raise OutputError(f"{self.path}: the activity log cannot be read ({error.strerror})") from None
        lines = []
        for line in text.splitlines():
            with suppress(ValueError, TypeError):
                lines.append(ActivityLine(**json.loads(line)))
        return lines

    def _write(self, text: str) -> None:
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise OutputError(f"{self.path}: the activity log cannot be written ({error.strerror})") from None


def record(session: Session, kind: ActivityKind, detail: str = "", release: str = "") -> None:
    """Record what was done on a draft; raises OutputError if the activity log cannot be written."""
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
