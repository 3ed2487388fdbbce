"""An activity log that cannot be written: what was paid for is kept, and the page says what was not recorded."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from web_drafts import Draft

import travas
from travas.errors import OutputError, TravasError
from travas.web import releasing, tasks
from travas.web.archive import Archive, ArchivedRelease
from travas.web.archive_list import listed
from travas.web.failures import OneLine, in_words
from travas.web.gauges import spent_share
from travas.web.jobs import Job


class UnrecordedDraft(Draft):
    """A draft with a release that has just ended, and an activity log that cannot be written."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked = self.begin()
        self.archive.activity.path.mkdir()

    def end(self, job: Job) -> None:
        """The job has ended, and the page polls it."""
        job.done = True
        job._ended_event.set()
        self.session.job = job
        self.session.finish = partial(releasing._keep, self.session, self.archive, self.asked, travas.Reading())
        self.session.ended = partial(releasing._ended, self.session, self.ledger, self.archive, self.asked)
        self.session.settle()


@pytest.fixture
def draft(tmp_path: Path) -> Iterator[UnrecordedDraft]:
    made = UnrecordedDraft(tmp_path)
    yield made
    made.archive.close()


def test_a_charged_release_is_kept(draft: UnrecordedDraft) -> None:
    job = Job(tasks.draw)
    job.charging, job.result = True, draft.draw(draft.asked)
    draft.end(job)
    session = draft.session
    assert session.released is not None and session.step == "result" and session.job is None
    assert session.error.startswith("the release is kept, but ")
    assert [release.state for release in listed(draft.archive, draft.ledger)] == ["released"]


def test_a_charge_without_a_release_is_stated(draft: UnrecordedDraft) -> None:
    draft.charge(draft.asked)
    job = Job(tasks.draw)
    job.charging, job.error = True, TravasError("the process ended; the charge stands")
    draft.end(job)
    assert draft.session.error.startswith("the process ended; the charge stands; the ledger has the charge, but")
    assert [release.state for release in listed(draft.archive, draft.ledger)] == ["not finished"]


def test_a_ledger_that_cannot_be_read_removes_nothing(draft: UnrecordedDraft) -> None:
    job = Job(tasks.draw)
    job.charging, job.result = True, draft.draw(draft.asked)
    kept = draft.ledger.path.read_bytes()
    draft.ledger.path.write_bytes(b"damaged")
    draft.end(job)
    assert draft.session.released is not None and "whether it was charged is not known" in draft.session.error
    draft.ledger.path.write_bytes(kept)
    assert [release.state for release in listed(draft.archive, draft.ledger)] == ["released"]


def test_a_cancelled_release_says_that_nothing_was_charged(draft: UnrecordedDraft) -> None:
    job = Job(tasks.draw)
    job.cancelled, job.error = True, TravasError("cancelled")
    draft.end(job)
    assert "nothing was charged; not recorded in the activity log" in draft.session.error
    assert draft.session.released is None and not draft.ledger.history()


def test_a_folder_of_a_release_that_could_not_be_begun_is_removed(
    draft: UnrecordedDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Archive, record: ArchivedRelease) -> None:
        raise OutputError("record.json: no space left")

    monkeypatch.setattr(Archive, "_write", full)
    before = set(draft.archive.path.iterdir())
    with pytest.raises(OutputError, match="record.json: no space left; nothing was charged"):
        draft.begin()
    assert set(draft.archive.path.iterdir()) == before


def test_an_unexpected_error_is_one_line_without_its_message(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("test_unrecorded")
    log.addFilter(OneLine())
    try:
        spent_share(None)  # type: ignore[arg-type]
    except AttributeError as error:
        log.exception(error)
    (record,) = caplog.records
    assert record.exc_info is None and "NoneType" not in record.getMessage()
    assert record.getMessage().startswith("travas: web/gauges.py, line ") and "AttributeError" in record.getMessage()
    assert in_words(ValueError("a patient")) == (
        "something is wrong in travas (ValueError); please report it, without the log"
    )
    assert "No space left" in in_words(OSError(28, "No space left on device", "/tmp/patient"))
    assert "patient" not in in_words(OSError(28, "No space left on device", "/tmp/patient"))


def test_the_terminal_does_not_show_a_confidential_message(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("test_unrecorded")
    log.addFilter(OneLine())
    for error in (travas.LogError("'Jane' in row 7", confidential=True), travas.LogError("log.csv: has no header")):
        log.error("failed", exc_info=error)
    assert [record.getMessage() for record in caplog.records] == [
        "travas: LogError, whose message is confidential",
        "travas: log.csv: has no header",
    ]
