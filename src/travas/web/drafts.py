"""Drafts: the settings of a release that is not made yet, as a project, and the log that it is about.

Uploads are in a folder that only the owner can enter. It is deleted at the end, and after a crash at the next start.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

import attrs
from filelock import FileLock, Timeout

from ..errors import LogError, OutputError, ParameterError, TravasError
from ..settings.project import Project
from ..sources.doctor.diagnosis import LogDiagnosis, settings_of
from ..sources.files import DATABASE_SUFFIXES, SUFFIXES, suffix_of
from ..sources.reading import DEFAULT_READING, Reading
from .jobs import Job, JobWatch
from .workbench import known_as

LOG_SUFFIXES = tuple(suffix for suffix in SUFFIXES if suffix != ".json")
_FIRST_ROWS = 5

START = {"mechanism": "synthesis", "epsilon": "1", "delta": "1e-6"}
"""The settings of a new draft."""


@attrs.frozen
class Examined:
    """What the doctor found, the columns of the log, and the cells of its first rows. Confidential."""

    diagnosis: LogDiagnosis
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = attrs.field(repr=False)


@attrs.define(eq=False)
class Draft:
    """A release that is being prepared.

    `turn` counts what was released from it and the logs that it was about: a page of an earlier turn releases nothing.
    `applied` are the settings of the doctor that are in effect, and `undone` those that the owner has taken back.
    """

    id: str
    project: Project
    title: str = ""
    path: Path | None = None
    origin: Literal["copy", "original"] = "copy"
    turn: int = 1
    examined: Examined | None = None
    applied: dict[str, Any] = attrs.field(factory=dict)
    undone: set[str] = attrs.field(factory=set)
    job: str = ""
    error: TravasError | None = None
    looked_at: tuple[str, ...] = ()
    shows_values: bool = False
    released: list[str] = attrs.field(factory=list)

    def look(self, what: str) -> None:
        """Record that something confidential was looked at."""
        if what not in self.looked_at:
            self.looked_at = (*self.looked_at, what)


class Drafts:
    """All drafts of a running server, and the folder of their uploads."""

    def __init__(self, parent: Path | None = None) -> None:
        root = private_folder((parent or Path(tempfile.gettempdir())) / f"travas-web-{getattr(os, 'getuid', int)()}")
        for left in root.iterdir():
            _remove_abandoned(left)
        self.path, self._lock = _own_folder(root)
        self._drafts: dict[str, Draft] = {}

    def new(self, values: Mapping[str, Any] = START) -> Draft:
        """Return a new draft without a log."""
        draft = Draft(secrets.token_hex(8), Project(references="refuse").with_values(values))
        self._drafts[draft.id] = draft
        return draft

    def get(self, number: str) -> Draft | None:
        """The draft of an address."""
        return self._drafts.get(number)

    def of_release(self, release: str) -> Draft | None:
        """The draft that a release was made from, while this server runs: it still has the log."""
        return next((draft for draft in self._drafts.values() if release in draft.released), None)

    def keep_upload(self, draft: Draft, name: str, content: BinaryIO) -> None:
        """Copy an uploaded log into the folder of uploads; its name decides the format only."""
        suffix = suffix_of(Path(name), (*LOG_SUFFIXES, *DATABASE_SUFFIXES))
        if suffix is None:
            raise LogError(f"{name}: not a log by its name; use {', '.join(LOG_SUFFIXES)}", field="log")
        folder = self.path / draft.id
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        stored = folder / f"log{suffix}"
        with stored.open("xb") as out:
            shutil.copyfileobj(content, out, 1 << 20)
        if not stored.stat().st_size:
            raise LogError(f"{name}: the file is empty; check that it is the right file", field="log")
        self._set_log(draft, stored, name, "copy")

    def open_local(self, draft: Draft, path: str, folders: Sequence[Path]) -> None:
        """Use a file of one of the folders that may be opened."""
        found = Path(path).resolve()
        if not any(found.is_relative_to(folder) for folder in folders) or not found.exists():
            raise ParameterError(
                f"{path[:200]}: not in a folder that may be opened; start travas serve with --folder", field="log"
            )
        self._set_log(draft, found, found.name, "original")

    def _set_log(self, draft: Draft, path: Path, title: str, origin: Literal["copy", "original"]) -> None:
        for name in draft.applied:
            draft.project = draft.project.with_values({name: None})
        draft.path, draft.title, draft.origin = path, title, origin
        draft.examined, draft.applied, draft.undone, draft.error = None, {}, set(), None
        draft.turn += 1

    def close(self) -> None:
        """Delete all uploads."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


def examine(path: Path, title: str, reading: Reading, watch: JobWatch) -> Examined:
    """Let the doctor examine a log. Confidential. Runs in the process of a job."""
    from ..sources.doctor.examination import examined

    watch("examining the log", 0.0)
    with known_as({str(path): title}):
        diagnosis, table = examined(path, reading)
    findings = tuple(replace(each, text=each.text.replace(str(path), title)) for each in diagnosis.findings)
    diagnosis = replace(diagnosis, source=title, findings=findings)
    if table is None:
        return Examined(diagnosis, (), ())
    rows = tuple(tuple("" if cell is None else str(cell) for cell in row) for row in table.head(_FIRST_ROWS).rows())
    return Examined(diagnosis, tuple(table.columns), rows)


def apply_findings(draft: Draft, found: Examined) -> None:
    """Take over what the doctor proposes and the owner has neither set nor taken back. What is left open is asked for."""
    draft.examined = found
    is_open = {choice.name for choice in found.diagnosis.choices}
    for name, value in settings_of(found.diagnosis.reading):
        if name not in is_open and name not in draft.undone and name not in draft.project.values:
            with suppress(ParameterError):
                draft.project = draft.project.with_values({name: list(value) if isinstance(value, tuple) else value})
                draft.applied[name] = value


def reading_of(draft: Draft) -> Reading:
    """What is known of the reading; only the form of the file if the rest is incomplete."""
    try:
        return draft.project.reading()
    except ParameterError:
        return DEFAULT_READING


def start_job(draft: Draft, *arguments: Any, **options: Any) -> Job:
    """The job that examines the log of a draft."""

    def ended(job: Job) -> None:
        draft.error = job.error
        if job.error is None:
            apply_findings(draft, job.result)

    assert draft.path is not None
    return Job(examine, draft.path, draft.title, reading_of(draft), target=f"/release/{draft.id}", ended=ended)


# ---------------------------------------------------------------------------------------------------------- folders


def private_folder(path: Path) -> Path:
    """Make a folder that nobody else can enter, or check that it is one."""
    try:
        with suppress(FileExistsError):
            path.mkdir(mode=0o700, parents=True)
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != getattr(os, "getuid", lambda: status.st_uid)():
            raise OutputError(f"{path}: is not a folder of yours; remove it, or use another one", field="archive")
        path.chmod(0o700)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path}: cannot be used ({error.strerror}); use another folder", field="archive") from None
    return path


def _remove_abandoned(left: Path) -> None:
    """Delete what a server has left that does not run any more."""
    if left.is_symlink() or not left.is_dir():
        left.unlink(missing_ok=True)
        return
    with suppress(Timeout, OSError), FileLock(left / ".lock", timeout=0):
        shutil.rmtree(left, ignore_errors=True)


def _own_folder(root: Path) -> tuple[Path, FileLock]:
    """Make a folder and lock it. A server that starts at the same time may remove it before it is locked."""
    while True:
        path = Path(tempfile.mkdtemp(dir=root))
        lock = FileLock(path / ".lock")
        with suppress(Timeout, OSError):
            lock.acquire(timeout=0)
            if (path / ".lock").exists():
                return path, lock
            lock.release()
