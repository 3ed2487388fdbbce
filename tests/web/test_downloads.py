"""Files of a release that are written on demand: never after it was deleted, and with all its sign-offs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from web_drafts import ADA, Draft

import travas
from travas.errors import OutputError, TravasError
from travas.web import releasing, tasks, transfers
from travas.web.jobs import Job
from travas.web.result.handover import pack
from travas.web.sessions import Session


@pytest.fixture
def draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Draft]:
    made = Draft(tmp_path)
    asked = made.begin()
    releasing._keep(made.session, made.archive, asked, travas.Reading(), made.draw(asked))
    monkeypatch.setattr(transfers, "_once", at_once)
    yield made
    made.archive.close()


async def at_once(session: Session, path: Path, job: Job) -> None:
    """The same without a process."""
    if not path.exists():
        job.task(*job.arguments, lambda *_: None)


def prepared(draft: Draft, name: str) -> Path:
    return asyncio.run(transfers.prepare(draft.session, draft.archive, name))


def release_of(draft: Draft) -> str:
    assert draft.session.released is not None
    return draft.session.released.id


def test_an_older_tab_writes_nothing_of_a_deleted_release(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    release = release_of(draft)
    assert prepared(draft, "release.csv").exists()
    draft.archive.delete(release, ADA)
    monkeypatch.setattr(transfers, "_once", None)
    for name in ("release.csv", "release.json", "release.zip"):
        with pytest.raises(TravasError, match="this release was deleted"):
            prepared(draft, name)
    assert {path.name for path in draft.archive.folder(release).iterdir()} == {"record.json", ".lock"}


def test_a_release_deleted_during_a_download_stays_deleted(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    release = release_of(draft)

    def write(*arguments: Any) -> None:
        draft.archive.delete(release, ADA)
        tasks_write(*arguments)

    tasks_write = tasks.write
    monkeypatch.setattr(tasks, "write", write)
    with pytest.raises(TravasError, match="this release was deleted"):
        prepared(draft, "release.csv")
    assert {path.name for path in draft.archive.folder(release).iterdir()} == {"record.json", ".lock"}


def test_an_older_tab_writes_reports_with_every_sign_off(draft: Draft) -> None:
    draft.archive.sign_off(release_of(draft), ADA, "Bob")
    assert "Ada, 2026-05-01" in prepared(draft, "release.csv.report.html").read_text()


def test_a_report_without_a_sign_off_that_came_meanwhile_is_not_kept(
    draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = release_of(draft)
    tasks_report: Any = tasks.report

    def report(*arguments: Any, signed_off_by: str) -> None:
        if not signed_off_by:
            draft.archive.sign_off(release, ADA, "Bob")
        tasks_report(*arguments, signed_off_by)

    monkeypatch.setattr(tasks, "report", report)
    with pytest.raises(TravasError, match="signed off in the meantime; download it again"):
        prepared(draft, "release.zip")
    assert draft.archive.has_release(release)
    with ZipFile(prepared(draft, "release.zip")) as packed:
        assert "Ada, 2026-05-01" in packed.read("release.xes.gz.report.html").decode()


def test_a_file_whose_job_cannot_be_started_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Job) -> None:
        raise MemoryError

    monkeypatch.setattr(Job, "start", full)
    draft = Draft(tmp_path)
    for _ in range(2):
        with pytest.raises(MemoryError):
            asyncio.run(asyncio.wait_for(transfers._once(draft.session, tmp_path / "release.csv", Job(pack)), 1))
    draft.archive.close()


def test_zips_that_are_packed_at_once_are_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(range(256)) * 2000)

    def pack_once(_: int) -> bool:
        try:
            pack([file], tmp_path / "release.zip", lambda *_: None)
        except OutputError:  # another one packs it just now
            return False
        with ZipFile(tmp_path / "release.zip") as packed:
            return packed.testzip() is None and packed.read("file") == file.read_bytes()

    with ThreadPoolExecutor(8) as pool:
        assert any(pool.map(pack_once, range(16)))
    assert {path.name for path in tmp_path.iterdir()} == {"file", "release.zip"}
