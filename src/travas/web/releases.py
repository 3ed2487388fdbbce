"""The archive: a folder for each release, with what was asked for, its files and the decisions about it.

A folder is made before its release is charged, and the charge in the ledger refers to it. So after a crash at any time every
charge leads to a folder: with the release, or, if it could not be finished, with what was asked for.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import attrs
from cattrs import Converter
from filelock import FileLock, Timeout

from ..budget.account import Account, now
from ..budget.ledger import Ledger
from ..errors import OutputError, TravasError, one_of
from ..outputs.atomic import atomic_output, is_interrupted, is_reserved, reserved
from ..outputs.guarantee_file import guarantee_path
from ..outputs.private import private_folder
from ..outputs.readme_file import readme_path, release_files
from ..releases.release import Kind, Release, kind_of
from ..settings.project import Project
from ..settings.series import about_release
from .jobs import JobWatch

RELEASE = "release.json"
"""What the pipeline writes into a folder."""

VIEW, PICTURE = "view.json", "map.svg"
"""What the screens show of a release, and its map as a small picture, if Graphviz is installed."""

_RECORD, _REPORT, _MAP, _FILES_LOCK = "record.json", "report.html", "map.html", ".files.lock"
_LOCK = ".lock"
_LOGGER = logging.getLogger("travas")

Verdict = Literal["approved", "rejected"]

State = Literal["released", "running", "not finished", "deleted"]

STATEMENTS: Mapping[State, str] = {
    "released": "",
    "running": "Charged; it is being finished.",
    "not finished": "Charged, not finished. The charge is not refunded, because noise may have been drawn.",
    "deleted": "Deleted. The charge is not refunded.",
}
"""What is said about a charge; only a release that is `released` can be opened."""


@attrs.frozen
class Decision:
    """Whether a release may be handed out: who has decided it, when, for whom and why."""

    verdict: Verdict = attrs.field(validator=one_of(Verdict))
    name: str
    time: str
    recipients: str = ""
    comment: str = ""

    def __str__(self) -> str:
        recipients = f" for {self.recipients}" if self.recipients else ""
        comment = f": {self.comment}" if self.comment else ""
        return f"{self.verdict}{recipients} by {self.name}, {self.time[:10]}{comment}"


@attrs.frozen
class Record:
    """What was asked for, and what was decided about it.

    Attributes:
        id: The name of its folder, to which the charge refers.
        asked: When it was asked for (UTC).
        dataset: The data set that is charged.
        kind: The kind of release.
        title: The name of the log, as it was shown.
        settings: The values of the project.
        ledger: The path of the ledger that is charged.
        looked_at: What was looked at of the original log before the settings were chosen, in words.
        decisions: What was decided about it; the last one holds.
        deleted: When its files were deleted; empty if they were not.
        state: What became of it, at the moment.
    """

    id: str
    asked: str
    dataset: str
    kind: Kind
    title: str
    settings: dict[str, Any]
    ledger: str
    looked_at: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    deleted: str = ""
    state: State = attrs.field(default="not finished", eq=False)

    @property
    def decision(self) -> Decision | None:
        """The decision that holds."""
        return self.decisions[-1] if self.decisions else None

    @property
    def project(self) -> Project:
        """The project that it was made from."""
        return Project(references="refuse").with_values(self.settings)

    @property
    def stem(self) -> str:
        """What its files are called: data set, kind and date."""
        words = re.sub(r"\W+", "-", f"{self.dataset} {self.kind}").strip("-_")
        return f"{words[:80].lower()}-{self.asked[:10]}"

    @property
    def bundle(self) -> str:
        """The name of the zip."""
        return f"{self.stem}.zip"


class Archive:
    """A folder that only its owner can enter, with a folder for each release."""

    def __init__(self, path: Path) -> None:
        self.path = private_folder(path)
        self._locks: dict[str, FileLock] = {}

    def begin(self, project: Project, title: str, ledger: Path, looked_at: tuple[str, ...] = ()) -> Record:
        """Make the folder of a release that is about to be charged. Until it has `ended`, this server works on it."""
        values = {name: value for name, value in project.values.items() if name != "log"}  # only its title is kept
        dataset, kind, charged = project.required("dataset"), kind_of(project.mechanism()), str(ledger.resolve())
        made = Record(secrets.token_hex(8), now(), dataset, kind, title, values, charged, looked_at)
        try:
            self.folder(made.id).mkdir(mode=0o700)
            self._locks[made.id] = lock = FileLock(self.folder(made.id) / _LOCK, thread_local=False)
            lock.acquire(timeout=0)
            self._write(made)
        except OSError:
            self.forget(made.id)
            raise
        return made

    def folder(self, release: str) -> Path:
        """The folder of a release."""
        return self.path / release

    def get(self, release: str) -> Record | None:
        """The record of a release; None if there is none. One that cannot be read is skipped, with a line in the log."""
        record = _read(self.folder(release))
        return attrs.evolve(record, state=self._state(record)) if record and record.id == release else None

    def records(self) -> list[Record]:
        """All records, the newest first, whether charged or not."""
        found = filter(None, (self.get(path.name) for path in self.path.iterdir() if path.is_dir()))
        return sorted(found, key=lambda record: record.asked, reverse=True)

    def decide(self, release: str, decision: Decision) -> Record:
        """Record a decision. Report and zip are removed until they are written again with it."""
        with self._changing(release) as record:
            for name in (_REPORT, record.bundle):
                (self.folder(release) / name).unlink(missing_ok=True)
            decided = attrs.evolve(record, decisions=(*record.decisions, decision))
            self._write(decided)
            return decided

    def delete(self, release: str) -> None:
        """Delete the files of a release. That it was asked for and charged stays."""
        with self._changing(release) as record:
            self._write(attrs.evolve(record, deleted=now()))
            self._clear(release)

    def ended(self, release: str) -> None:
        """End the work of this server on a release."""
        if lock := self._locks.pop(release, None):
            lock.release()

    def forget(self, release: str) -> None:
        """Remove the folder of a release that was not charged."""
        self.ended(release)
        shutil.rmtree(self.folder(release), ignore_errors=True)

    def is_running(self, release: str) -> bool:
        """Whether a server works on a release, or a process that has survived its server."""
        lock = self.folder(release) / _LOCK
        if is_reserved(self.folder(release) / RELEASE):
            return True
        if not lock.exists():
            return False
        with suppress(Timeout, OSError), FileLock(lock, timeout=0):
            return False
        return True

    def tidy(self, ledger: Ledger) -> None:
        """Complete or remove what a killed server has left: half-published files, deleted files, what was not charged."""
        charged = {entry.approval.reference for entry in ledger.history()}
        for record in self.records():
            if record.deleted:
                self._clear(record.id)
                continue
            is_ours = record.ledger == str(ledger.path.resolve()) and record.id not in charged
            if record.state == "not finished" and not self._publish(record) and is_ours:
                self.forget(record.id)

    def _state(self, record: Record) -> State:
        if record.deleted:
            return "deleted"
        path = self.folder(record.id) / RELEASE
        if path.is_file() and guarantee_path(path).is_file():
            return "released"
        return "running" if self.is_running(record.id) else "not finished"

    def _publish(self, record: Record) -> bool:
        """Give complete files their names if a run was killed while it did so; return whether it was."""
        files = release_files(self.folder(record.id) / RELEASE, record.kind)
        if not is_interrupted(files):
            return False
        with suppress(OutputError), reserved(files, "replace"):
            pass
        return True

    def _clear(self, release: str) -> None:
        for path in self.folder(release).iterdir():
            if path.name != _RECORD:
                with suppress(OSError):
                    path.unlink()

    @contextmanager
    def _changing(self, release: str) -> Iterator[Record]:
        with FileLock(self.folder(release) / _FILES_LOCK):  # `finish` writes what was decided before
            record = self.get(release)
            if record is None or record.state != "released":
                raise TravasError("there is no such release in the archive; it may have been deleted")
            yield record

    def _write(self, record: Record) -> None:
        content = _converter.unstructure(record)
        del content["state"]
        with atomic_output(self.folder(record.id) / _RECORD, "replace") as partial:
            partial.write_text(json.dumps(content, indent=1), encoding="utf-8")


_converter = Converter(forbid_extra_keys=True, detailed_validation=False)


def _read(folder: Path) -> Record | None:
    try:
        return _converter.structure(json.loads((folder / _RECORD).read_text(encoding="utf-8")), Record)
    except FileNotFoundError:
        return None
    except Exception as error:  # cattrs raises many kinds
        _LOGGER.warning("%s: skipped, its record cannot be read (%s)", folder, type(error).__name__)
        return None


def account_of(record: Record) -> Account | None:
    """The account that a release was charged to, as it is now; None if its ledger does not have the charge."""
    accounts = Ledger(Path(record.ledger)).accounts() if Path(record.ledger).is_file() else []
    return next((one for one in accounts if any(e.approval.reference == record.id for e in one.entries)), None)


# ------------------------------------------------------------------------------------------- in a process of its own


def finish(folder: Path, record: Record, watch: JobWatch = lambda words, share: None) -> None:
    """Write what is handed over and shown, from the release that the pipeline has published. The zip is the last file.

    What is there is left, so this also completes what a killed process has begun.
    """
    from ..outputs.map_files import map_page
    from ..plots.map_graph import release_graph
    from ..plots.map_picture import picture_or_reason
    from ..report.view import view_of
    from ..verification.opened import open_release

    watch("writing the files to hand over", 0.0)
    with FileLock(folder / _FILES_LOCK):
        record = _read(folder) or record  # with the newest decision
        if record.deleted or (folder / record.bundle).is_file():
            return
        release = open_release(folder / RELEASE)
        data, report = _write_data(folder, record, release), folder / _REPORT
        _write_missing(folder / VIEW, lambda: json.dumps(view_of(release)))
        _write_missing(folder / _MAP, lambda: map_page(release))
        _write_missing(folder / PICTURE, lambda: picture_or_reason(release_graph(release))[0])
        if not report.is_file():
            _write_report(report, record, release, data[-1])
        with atomic_output(folder / record.bundle, "replace") as partial, zipfile.ZipFile(partial, "w") as bundle:
            for path in (*data, folder / _MAP, report):
                name = "README.txt" if path == readme_path(data[-1]) else path.name
                bundle.write(path, name, zipfile.ZIP_DEFLATED)


def _write_missing(path: Path, content: Callable[[], str]) -> None:
    """Write a file unless it is there, or there is nothing to write."""
    if not path.is_file() and (text := content()):
        with atomic_output(path, "replace") as partial:
            partial.write_text(text, encoding="utf-8", newline="\n")


def _write_data(folder: Path, record: Record, release: Release) -> list[Path]:
    """Write the data in the formats of its kind; return the files for the zip: a README, and at last the release."""
    from ..outputs.write import write_release

    project, suffixes = record.project, _SUFFIXES[record.kind]
    about = (f"{_MAP}: its map, for browsers.", *about_release(project, project.reading().period, _REPORT))
    targets = [folder / f"{record.stem}{suffix}" for suffix in suffixes]
    for target in targets:
        if not target.is_file():
            write_release(release, target, "replace", about=about)
    files = [path for target in targets for path in release_files(target, record.kind)]
    return [path for path in files if path not in map(readme_path, targets[:-1])]


_SUFFIXES: Mapping[Kind, tuple[str, ...]] = {
    "variants": (".json", ".xes.gz"), "synthetic log": (".xes.gz",), "process map": (".csv", ".json")
}  # fmt: skip
"""The data in the zip: what tools read, and what has all numbers. The last one is what README and report are about."""


def _write_report(path: Path, record: Record, release: Release, data: Path) -> None:
    from ..budget.policy import Policy
    from ..report.report_file import write_report

    project, decision = record.project, record.decision
    approved = f"{decision.name}, {decision.time[:10]}" if decision and decision.verdict == "approved" else ""
    write_report(
        guarantee_path(data), data, path, reason=project.stated("reason"), existing="replace", made=release,
        account=account_of(record), stated_cases=project.stated_cases,
        policy=Policy.applying(project.policy()), signed_off_by=approved or project.stated("signed_off_by"),
        decisions=tuple(map(str, record.decisions)), looked_at=record.looked_at,
    )  # fmt: skip
