"""The archive of releases and its list, without a browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import travas
from travas.budget.account import Approval, Entry
from travas.errors import OutputError, TravasError
from travas.outputs.write import write_hospital_log
from travas.web import tasks
from travas.web.archive import RELEASE, Archive, ArchivedRelease, Signature
from travas.web.archive_list import STATEMENTS, listed, reconcile
from travas.web.recipe import Recipe
from travas.web.releasing import reopened
from travas.web.typed_period import TypedPeriod

ADA = Signature("Ada", "user", "2026-05-01T10:00:00+00:00")
RECIPES = (
    Recipe(epsilon="2", delta="1e-3"),
    Recipe("ladder", "2", "1e-3", options=(("rungs", "full, prefix:2"),)),
    Recipe("synthesis", "2", "1e-3"),
    Recipe("map", "2", "1e-3"),
)


def quiet(_: str, __: float) -> None:
    pass


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    made = Archive(tmp_path / "archive")
    yield made
    made.close()


@pytest.fixture
def ledger(tmp_path: Path) -> travas.Ledger:
    made = travas.Ledger(tmp_path / "ledger.db")
    made.create_account("data")
    return made


def begun(archive: Archive, recipe: Recipe = RECIPES[0]) -> ArchivedRelease:
    return archive.begin(ADA, "data", "log.csv", recipe, "a reason", archive.path.parent / "ledger.db")


def charged(ledger: travas.Ledger, asked: ArchivedRelease) -> None:
    ledger.charge(
        Entry.of("data", None, asked.recipe.build(), "case_id", approval=Approval("a reason", reference=asked.id))
    )


def drawn(archive: Archive, ledger: travas.Ledger, asked: ArchivedRelease, tmp_path: Path) -> tasks.Drawn:
    log = write_hospital_log(tmp_path / "log.csv")
    output, approval = archive.folder(asked.id) / RELEASE, Approval("a reason", reference=asked.id)
    reading = asked.recipe.reading(travas.Reading())
    return tasks.draw(log, "log.csv", reading, asked.recipe, ledger.path, "data", "copy", output, quiet, approval)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.mechanism)
def test_a_release_opens_again_as_it_was(
    archive: Archive, ledger: travas.Ledger, tmp_path: Path, recipe: Recipe
) -> None:
    asked = begun(archive, recipe)
    made = drawn(archive, ledger, asked, tmp_path)
    again = reopened(Archive(archive.path), ledger, asked)
    again.release.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (archive.folder(asked.id) / RELEASE).read_bytes()
    assert again.release.mechanism == made.release.mechanism
    assert again.account == made.account and again.recipe == recipe and again.reason == "a reason"
    assert again.kept == "" and again.notes == ()  # what was confidential is not kept
    assert travas.verify(tmp_path / "again.json.guarantee.json", tmp_path / "again.json").digest_checked


def test_a_record_survives_with_all_settings(archive: Archive) -> None:
    period = TypedPeriod("2026-01-01", "2026-02-01", "discharge", "", "3")
    options = (("alphabet", "a\nb"), ("max_length", 5), ("without", ("times", "attributes")))
    asked = begun(archive, Recipe("prefix-tree", "1/3", "1e-9", options, "patient", "2", "first", "900", period))
    signed = archive.sign_off(asked.id, ADA, "Ada")
    assert archive.get(asked.id) == signed == replace(asked, sign_offs=(ADA,))
    assert archive.get("../archive") is None and archive.get("") is None and archive.get("0" * 16) is None


def test_only_the_owner_can_enter(archive: Archive, tmp_path: Path) -> None:
    asked = begun(archive)
    assert archive.path.stat().st_mode & 0o777 == archive.folder(asked.id).stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(archive.path)
    with pytest.raises(
        OutputError, match="not a directory owned by you; remove it, or use another directory"
    ) as linked:
        Archive(tmp_path / "link")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be used as the archive .*; use another directory") as refused:
        Archive(tmp_path / "file" / "archive")
    assert linked.value.field == refused.value.field == "archive"  # by which the command line names its option


def test_every_charge_is_listed_with_what_became_of_it(archive: Archive, ledger: travas.Ledger, tmp_path: Path) -> None:
    released, lost, uncharged = begun(archive), begun(archive), begun(archive)
    drawn(archive, ledger, released, tmp_path)
    charged(ledger, lost)
    charged(ledger, replace(lost, id="elsewhere"))
    ledger.charge(Entry.of("data", None, lost.recipe.build(), "case_id"))  # of another program: not listed
    states = {release.id: release.state for release in listed(archive, ledger)}
    assert states == {released.id: "released", lost.id: "being finished", "elsewhere": "not here"}
    for asked in (released, lost, uncharged):
        archive.ended(asked.id)
    states = {release.id: release.state for release in listed(archive, ledger)}
    assert states == {released.id: "released", lost.id: "not finished", "elsewhere": "not here"}
    assert "could not be finished" in STATEMENTS[states[lost.id]] and "charge stands" in STATEMENTS[states[lost.id]]
    assert ledger.history()[-2].as_json()["reference"] == "elsewhere"


def test_a_release_in_the_work_of_another_server_is_being_finished(archive: Archive, ledger: travas.Ledger) -> None:
    asked = begun(archive)
    charged(ledger, asked)
    other = Archive(archive.path)
    assert [release.state for release in listed(other, ledger)] == ["being finished"]
    archive.ended(asked.id)
    assert [release.state for release in listed(other, ledger)] == ["not finished"]


def test_a_deleted_release_leaves_a_statement(archive: Archive, ledger: travas.Ledger, tmp_path: Path) -> None:
    asked = begun(archive)
    drawn(archive, ledger, asked, tmp_path)
    archive.ended(asked.id)
    archive.delete(asked.id, ADA)
    assert [release.state for release in listed(archive, ledger)] == ["deleted"]
    assert {path.name for path in archive.folder(asked.id).iterdir()} == {"record.json", ".lock"}
    with pytest.raises(TravasError, match="no such release"):
        archive.sign_off(asked.id, ADA, "Ada")


def test_a_sign_off_ends_reports_without_it(archive: Archive) -> None:
    asked = begun(archive)
    report = archive.folder(asked.id) / "release.json.report.html"
    report.touch()
    archive.sign_off(asked.id, ADA, "Ada")
    assert not report.exists()


def test_the_next_start_removes_what_was_never_charged(archive: Archive, ledger: travas.Ledger) -> None:
    old = Signature("Ada", "user", "2020-01-01T00:00:00+00:00")
    left = archive.begin(old, "data", "log.csv", RECIPES[0], "", ledger.path)
    working = archive.begin(old, "data", "log.csv", RECIPES[0], "", ledger.path)
    recent, lost = begun(archive), begun(archive)
    recent_time = replace(recent, asked=replace(ADA, time="9999-01-01T00:00:00+00:00"))
    archive._write(recent_time)
    charged(ledger, lost)
    for asked in (left, recent, lost):
        archive.ended(asked.id)
    for _ in range(2):
        reconcile(Archive(archive.path), ledger)
    assert {record.id for record in archive.records()} == {working.id, recent.id, lost.id}


def test_a_damaged_record_is_not_a_release(archive: Archive, ledger: travas.Ledger) -> None:
    asked = begun(archive)
    charged(ledger, asked)
    (archive.folder(asked.id) / "record.json").write_text("{")
    assert [(release.id, release.state) for release in listed(archive, ledger)] == [(asked.id, "not here")]


def test_a_full_or_read_only_archive_charges_nothing(archive: Archive) -> None:
    if os.getuid() == 0:
        archive.path.rmdir()
    else:
        archive.path.chmod(0o500)
    with pytest.raises(OutputError, match="nothing was charged"):
        begun(archive)
