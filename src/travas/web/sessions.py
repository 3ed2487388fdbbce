"""The work of one tab: a draft of a release on the server, which survives a reload and is separate for each tab."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..budget.account import Account
from ..errors import ParameterError, TravasError, extended
from ..pipeline import LogOrigin
from ..releases.release import Release
from ..sources.files import location_of
from ..sources.reading import Reading
from .failures import in_words
from .jobs import Job
from .preview import Preview
from .recipe import Recipe
from .steps.state import StepName, StepsState

if TYPE_CHECKING:
    from .browsers import Browser


@dataclass(frozen=True)
class FinishedRelease:
    """A release of this session: the public thing, its files' folder, and the reason given. `kept` is confidential.

    `reading` is how the log was read for it; None if the release was opened from the archive, where no log is.
    """

    release: Release
    recipe: Recipe
    folder: Path
    reason: str
    account: Account
    kept: str
    notes: tuple[str, ...]
    id: str = ""  # in the archive
    reading: Reading | None = None


@dataclass(eq=False)
class Session:
    """One draft: what one tab works on. It lives in memory and in one owner-only folder, and is deleted with both.

    Its `id` is in the address of the tab. A second tab with the same address shows the same draft.
    """

    id: str
    folder: Path
    owner: Browser
    viewed: str = ""  # the identifier of a release in the archive, if that is all it shows
    seen: float = field(default_factory=time.monotonic)
    step: StepName = "log"
    log: Path | None = None
    name: str = ""
    preview: Preview | None = None
    reading: Reading = field(default_factory=Reading)
    recipe: Recipe = field(default_factory=Recipe)
    reason: str = ""
    steps: StepsState = field(default_factory=StepsState)
    released: FinishedRelease | None = None
    dataset: str = ""
    job: Job | None = None
    finish: Callable[[Any], None] = field(default=lambda _: None, repr=False)
    ended: Callable[[Job], str] = field(default=lambda _: "", repr=False)
    error: str = ""
    version: int = 0  # rises with every change that all open pages must show
    files: dict[str, Job] = field(default_factory=dict)

    def touch(self) -> None:
        self.seen = time.monotonic()

    def take(self, log: Path, name: str, preview: Preview) -> None:
        """Open another log, and forget all that was known of the last one. TravasError while a release is charged.

        What was looked at stays in the recipe: the same log may be opened again.
        """
        self.settle()
        if not self.stop():
            raise TravasError("a release is charged and being written: wait until it is done, then open another log")
        if self.log is not None and self.log != log and self.log.parent == self.folder:
            self.log.unlink(missing_ok=True)
        self.log, self.name, self.preview, self.reading = log, name, preview, preview.reading()
        self.steps.close()
        self.steps = StepsState()
        self.released, self.error, self.step, self.dataset = None, "", "log", ""
        self.version += 1

    @property
    def is_empty(self) -> bool:
        """Whether nothing was begun."""
        return self.log is None and self.job is None and self.released is None

    @property
    def origin(self) -> LogOrigin:
        """An upload is a copy whose location says nothing, so the ledger needs a name for it."""
        return "copy" if self.log is None or self.log.parent == self.folder else "original"

    @property
    def location(self) -> str | None:
        """Where the log is, if it is not an upload."""
        return location_of(self.log) if self.origin == "original" else None

    def refused(self) -> str:
        """Return why the recipe is inconsistent with the reading of this log; empty if it is consistent."""
        try:
            self.recipe.check(self.reading)
        except ParameterError as error:
            return in_words(error)
        unit, preview = self.recipe.unit, self.preview
        if unit and preview is not None and preview.kind == "table" and unit not in preview.case_columns:
            return f"unit is {unit!r}, but this log has no such column; select the unit (step Protect)"
        return ""

    def start(self, job: Job, finish: Callable[[Any], None], ended: Callable[[Job], str] = lambda _: "") -> None:
        """Start long work; its result is passed to `finish` when a page or the sweeper polls it.

        While other work runs nothing is begun: a second click, or one in another tab, must not end a release.
        `ended` is called before that, and also if the work failed or was cancelled; what it returns is shown as an error.
        """
        self.settle()
        if self.job is not None:
            return
        self.job, self.finish, self.ended, self.error = job, finish, ended, ""
        job.start()
        self.version += 1

    def settle(self) -> None:
        """Process the result of finished work."""
        job = self.job
        if job is None or not job.done:
            return
        self.job = None
        more = self.ended(job)
        if job.error is not None:
            self.error = extended(in_words(job.error), more and f"; {more}")
        else:
            self.error = more or self.error
        if job.error is None and not job.cancelled:
            self.finish(job.result)
        self.version += 1

    def stop(self) -> bool:
        """Cancel what runs, unless it is a release that is charged; whether nothing runs now."""
        if self.job is not None and self.job.cancel():
            job, self.job = self.job, None
            self.error = self.ended(job) or self.error
            self.version += 1
        return self.job is None

    @property
    def charging(self) -> bool:
        """Whether a release is charged and being written."""
        return self.job is not None and self.job.charging

    def close(self) -> None:
        """Cancel what runs and delete the files. A release that is charged is finished first, however long it takes."""
        try:
            self.steps.close()
            if not self.stop() and self.job is not None:
                self.job.join()
                self.settle()
            for job in self.files.values():
                job.kill()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
