"""Drafts: the settings of a release that is not made yet, as a project, and the log that it is about.

Uploads are in a folder that only the owner can enter. It is deleted at the end, and after a crash at the next start.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Literal

import attrs

from ..budget.account import check_name
from ..errors import LogError, ParameterError, TravasError
from ..outputs.private import working_folder
from ..settings.project import OFFERED, Project
from ..settings.table import SETTINGS
from ..sources.doctor.diagnosis import LogDiagnosis, Observation
from ..sources.files import DATABASE_SUFFIXES, SUFFIXES, database_file, suffix_of, url_scheme
from ..sources.reading import DEFAULT_READING, Reading
from .jobs import Job, JobWatch
from .workbench import known_as

LOG_SUFFIXES = (*(suffix for suffix in SUFFIXES if suffix != ".json"), *DATABASE_SUFFIXES)
COLUMNS = ("case", "activity", "timestamp")
_FIRST_ROWS = 5
_FORM = tuple(each.name for each in SETTINGS if each.section == "log")
"""Settings with which the log has other columns: it is examined again."""

_LEFT_OUT = ("size", "persons")
"""Numbers of cases and persons in the doctor's findings: no parameter may be chosen by them."""


@attrs.frozen
class Examined:
    """What the doctor found, the columns of the log and their roles by name, and the first rows. Confidential."""

    diagnosis: LogDiagnosis
    roles: Mapping[str, str | None]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = attrs.field(repr=False)

    @property
    def findings(self) -> tuple[Observation, ...]:
        """What may be shown, without numbers of cases and persons."""
        return tuple(each for each in self.diagnosis.findings if each.topic not in _LEFT_OUT)


@attrs.define(eq=False)
class Draft:
    """A release that is being prepared.

    `source` is the path or the URL of the log, and `title` its name as pages show it. `turn` counts what was released from
    the draft and the logs that it was about: a page of an earlier turn releases nothing. `applied` are the settings of the
    doctor that are in effect, and `undone` those that the owner has taken back. `errors` are about fields, `error` about the
    last job. `budget` is the ε of a new data set.
    """

    id: str
    project: Project
    source: str = ""
    title: str = ""
    origin: Literal["copy", "original"] = "copy"
    turn: int = 1
    examined: Examined | None = None
    applied: dict[str, str] = attrs.field(factory=dict)
    undone: set[str] = attrs.field(factory=set)
    examining: Job | None = None
    releasing: Job | None = None
    error: TravasError | None = None
    errors: dict[str, str] = attrs.field(factory=dict)
    budget: str = "4"
    looked_at: tuple[str, ...] = ()
    released: list[str] = attrs.field(factory=list)
    lock: asyncio.Lock = attrs.field(factory=asyncio.Lock, repr=False)

    def set_log(self, source: str, title: str, origin: Literal["copy", "original"]) -> None:
        """Prepare a release of another log: what the doctor has set for the one before is removed."""
        for name in self.applied:
            self.set(name, None)
        self.source, self.title, self.origin = source, title, origin
        self.examined, self.applied, self.undone, self.error = None, {}, set(), None
        self.looked_at, self.released, self.turn = (), [], self.turn + 1
        if "dataset" not in self.project.values:
            with suppress(ParameterError):
                self.set("dataset", check_name(title.removesuffix(suffix_of(Path(title), LOG_SUFFIXES) or "").strip()))

    def set(self, name: str, value: object) -> None:
        """Set a value, or remove it; raises ParameterError if the setting cannot have it."""
        self.project = self.project.with_values({name: value})

    def changed(self, name: str) -> None:
        """What the owner has set is not the doctor's any more. With another form of the file it is examined again."""
        self.applied.pop(name, None)
        if name in _FORM:
            self.examined = self.error = None

    @property
    def is_unread(self) -> bool:
        """Whether the doctor has still to examine the log."""
        return bool(self.source) and self.examined is None and self.error is None

    def take_back(self, name: str) -> None:
        """Undo what the doctor has set."""
        self.undone.add(name)
        self.set(name, None)
        self.changed(name)

    def column(self, role: str) -> str:
        """The column of a role: as set, or as recognised by its name; empty if it is open. Several are one per line."""
        found = self.examined
        if role in self.project.values:
            return "\n".join(self.project.items(role))
        return (found and found.roles.get(role)) or ""

    def open_choices(self) -> dict[str, Mapping[str, str]]:
        """What the values of the log leave open, and the owner has not chosen: the meaning of every value."""
        choices = self.examined.diagnosis.choices if self.examined else {}
        return {name: values for name, values in choices.items() if name not in self.project.values}

    def take_over(self, found: Examined) -> None:
        """Apply what the doctor proposes, but what the owner has set or taken back, and what is left open."""
        self.examined = found
        for name, value in found.diagnosis.settings.items():
            if name not in self.undone | set(self.project.values):
                with suppress(ParameterError):
                    self.set(name, value)
                    self.applied[name] = " and ".join(self.project.items(name))

    def examination(self) -> Job:
        """The job that lets the doctor examine the log."""

        def ended(job: Job) -> None:
            if job.arguments[0] == self.source:  # not replaced in the meantime
                self.error = job.error
                if job.result is not None:
                    self.take_over(job.result)

        with_form = {name: value for name, value in self.project.values.items() if name in _FORM}
        reading = DEFAULT_READING
        with suppress(ParameterError):
            reading = attrs.evolve(self.project, values=with_form).reading()
        return Job(examine, self.source, self.title, reading, target=f"/release/{self.id}", ended=ended)


class Drafts:
    """All drafts of a running server, and the folder of their uploads."""

    def __init__(self, parent: Path | None = None) -> None:
        root = (parent or Path(tempfile.gettempdir())) / f"travas-web-{getattr(os, 'getuid', int)()}"
        self.path, self._lock = working_folder(root)
        self._drafts: dict[str, Draft] = {}

    def new(self) -> Draft:
        """Return a new draft without a log: a synthetic log, ε = 1."""
        values = {"mechanism": OFFERED["synthetic log"][0], "epsilon": "1", "delta": "1e-6"}
        draft = Draft(secrets.token_hex(8), Project(references="refuse").with_values(values))
        self._drafts[draft.id] = draft
        return draft

    def get(self, number: str) -> Draft | None:
        """The draft of an address."""
        return self._drafts.get(number)

    @property
    def open(self) -> list[Draft]:
        """The drafts that have a log and were not released, the newest first."""
        return [draft for draft in reversed(self._drafts.values()) if draft.source and not draft.released]

    def of_release(self, release: str) -> Draft | None:
        """The draft that a release was made from, while this server runs: it still has the log."""
        return next((draft for draft in self._drafts.values() if release in draft.released), None)

    def keep_upload(self, draft: Draft, name: str, content: BinaryIO) -> None:
        """Copy an uploaded log into the folder of uploads, or open a project file; the name decides which."""
        if name.lower().endswith(".toml"):
            self._open_project(draft, name, content)
            return
        suffix = suffix_of(Path(name), LOG_SUFFIXES)
        if suffix is None:
            raise LogError(f"{name[:200]}: not a log by its name; use {', '.join(LOG_SUFFIXES)}", field="log")
        stored = self._folder(draft) / f"log{suffix}"
        with stored.open("xb") as out:
            shutil.copyfileobj(content, out, 1 << 20)
        draft.set_log(str(stored), name, "copy")

    def open_local(self, draft: Draft, text: str, folders: Sequence[Path]) -> None:
        """Use a file of one of the folders that may be opened, or the URL of a database server."""
        if url_scheme(text) is not None and database_file(text) is None:
            draft.set_log(text, text.partition("://")[2].rpartition("@")[2], "original")
            return
        path = (database_file(text) or Path(text)).resolve()
        if not path.exists() or not any(path.is_relative_to(folder) for folder in folders):
            raise ParameterError(f"{text[:200]}: not in a folder that travas serve may open (--folder)", field="log")
        draft.set_log(str(path), path.name, "original")

    def _folder(self, draft: Draft) -> Path:
        """A new folder for the upload of a draft."""
        shutil.rmtree(self.path / draft.id, ignore_errors=True)
        (self.path / draft.id).mkdir(mode=0o700)
        return self.path / draft.id

    def _open_project(self, draft: Draft, name: str, content: BinaryIO) -> None:
        """Take over the settings of a project file, without those that name files of this machine."""
        stored = self._folder(draft) / "travas.toml"
        stored.write_bytes(content.read(1 << 20))
        with known_as({str(stored): name}):
            values = Project.load(stored).values
        for key in NOT_HERE:
            if key in values:
                words = f"{key} is for travas release: the web app makes one release at a time, with a guarantee"
                raise ParameterError(f"{name[:200]}: {words}", field="log")
        kept = {key: value for key, value in values.items() if key not in (*FILES, "every")}
        draft.project = Project(references="refuse").with_values(kept)

    def close(self) -> None:
        """Delete all uploads."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


NOT_HERE = ("by", "segments", "guarantee", "reference_model")
"""Settings that the web app does not have: several releases at once, those without a guarantee, and files of models."""

FILES = tuple(each.name for each in SETTINGS if each.kind == "file")
"""Settings that name files: never those of a page or of a project that is opened here."""


def examine(source: str, title: str, reading: Reading, watch: JobWatch) -> Examined:
    """Let the doctor examine a log. Confidential. Runs in the process of a job."""
    from ..sources.columns import recognised
    from ..sources.doctor.examination import examined

    watch("examining the log", 0.0)
    with known_as({source: title}):
        diagnosis, table = examined(source, reading)
    findings = tuple(replace(each, text=each.text.replace(source, title)) for each in diagnosis.findings)
    diagnosis = replace(diagnosis, findings=findings)
    if table is None:
        problem = next(iter(diagnosis.problems), None)
        raise LogError(problem.text if problem else f"{title}: cannot be read as a log; check the file", field="log")
    roles = {role: recognised(role, table.columns) for role in COLUMNS}
    rows = tuple(tuple("" if cell is None else str(cell) for cell in row) for row in table.head(_FIRST_ROWS).rows())
    return Examined(diagnosis, roles, tuple(table.columns), rows)
