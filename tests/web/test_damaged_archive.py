"""An archive that was changed from outside: a damaged record harms neither others nor anything outside the archive."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from web_drafts import ADA, Draft

import travas
from travas.errors import TravasError
from travas.outputs.atomic import reserved
from travas.outputs.target_locks import is_reserved
from travas.web.archive import RELEASE, Archive
from travas.web.archive_list import listed, reconcile
from travas.web.releasing import reopened

OLD = "2020-01-01T00:00:00+00:00"

DAMAGE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "time": lambda record: record["asked"].update(time=None),
    "epsilon": lambda record: record["recipe"].update(epsilon=5),
    "period": lambda record: record["recipe"].update(period=[]),
    "recipe": lambda record: record.update(recipe="x"),
    "options": lambda record: record["recipe"].update(options=[["rungs", {"a": 1}]]),
    "reason": lambda record: record.update(reason="half a character: \ud83d"),
    "sign-off": lambda record: record.update(sign_offs=[{"name": "A", "user": "u", "time": 5}]),
    "id": lambda record: record.update(id="../victim"),
}


@pytest.fixture
def draft(tmp_path: Path) -> Iterator[Draft]:
    made = Draft(tmp_path)
    yield made
    made.archive.close()


def change(draft: Draft, release: str, damage: Callable[[dict[str, Any]], Any]) -> None:
    path = draft.archive.folder(release) / "record.json"
    record = json.loads(path.read_text())
    damage(record)
    path.write_text(json.dumps(record))


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_record_is_stated_and_harms_no_other(draft: Draft, what: str) -> None:
    good, bad = draft.begin(), draft.begin()
    for asked in (good, bad):
        draft.charge(asked)
    draft.archive.close()
    change(draft, bad.id, DAMAGE[what])
    reconcile(draft.archive, draft.ledger)
    states = {release.id: release.state for release in listed(draft.archive, draft.ledger)}
    assert states == {good.id: "not finished", bad.id: "not here"}


def test_a_deep_record_and_a_lock_that_cannot_be_opened_stop_no_start(draft: Draft) -> None:
    deep, locked = draft.begin(), draft.begin()
    draft.charge(locked)
    draft.archive.close()
    (draft.archive.folder(deep.id) / "record.json").write_text("[" * 100_000)
    (draft.archive.folder(locked.id) / ".lock").unlink()
    (draft.archive.folder(locked.id) / ".lock").mkdir()
    reconcile(draft.archive, draft.ledger)
    assert [release.state for release in listed(draft.archive, draft.ledger)] == ["not finished"]


def test_a_record_cannot_name_a_folder_outside_the_archive(draft: Draft, tmp_path: Path) -> None:
    asked = draft.begin()
    draft.archive.close()
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "precious").touch()
    change(
        draft,
        asked.id,
        lambda record: record.update(id=str(tmp_path / "victim"), asked=record["asked"] | {"time": OLD}),
    )
    reconcile(draft.archive, draft.ledger)
    assert (tmp_path / "victim" / "precious").exists() and draft.archive.get(asked.id) is None


def test_an_archive_that_was_removed_leaves_a_statement_for_each_charge(draft: Draft) -> None:
    asked = draft.begin()
    draft.charge(asked)
    draft.archive.close()
    draft.archive.path.rename(draft.archive.path.with_name("moved"))
    assert [release.state for release in listed(draft.archive, draft.ledger)] == ["not here"]
    with pytest.raises(TravasError, match="nothing was charged"):
        draft.begin()


def test_another_ledger_removes_nothing(draft: Draft, tmp_path: Path) -> None:
    asked = draft.begin()
    draft.charge(asked)
    draft.archive.close()
    change(draft, asked.id, lambda record: record["asked"].update(time=OLD))
    other = travas.Ledger(tmp_path / "other.db")
    other.create_account("data")
    reconcile(draft.archive, other)
    assert [release.state for release in listed(draft.archive, draft.ledger)] == ["not finished"]


def test_a_release_whose_server_was_killed_is_being_finished(draft: Draft) -> None:
    """Its process has reserved the file, and goes on."""
    asked = draft.begin()
    draft.charge(asked)
    draft.archive.close()
    target = draft.archive.folder(asked.id) / RELEASE
    with reserved([target], "fail"):
        assert is_reserved(target)
        assert [release.state for release in listed(Archive(draft.archive.path), draft.ledger)] == ["being finished"]
    assert not is_reserved(target)
    assert [release.state for release in listed(Archive(draft.archive.path), draft.ledger)] == ["not finished"]


def test_what_was_left_of_a_deleted_release_is_removed_at_the_next_start(draft: Draft) -> None:
    asked = draft.begin()
    draft.draw(asked)
    draft.archive.ended(asked.id)
    draft.archive.delete(asked.id, ADA)
    (draft.archive.folder(asked.id) / "release.csv").touch()  # the server was killed, or another one wrote it
    reconcile(draft.archive, draft.ledger)
    assert {path.name for path in draft.archive.folder(asked.id).iterdir()} == {"record.json", ".lock"}


def test_a_damaged_release_is_one_line_and_can_be_deleted(draft: Draft) -> None:
    asked = draft.begin()
    draft.draw(asked)
    draft.archive.ended(asked.id)
    (draft.archive.folder(asked.id) / "release.json.guarantee.json").write_text("{")
    with pytest.raises(TravasError):
        reopened(draft.archive, draft.ledger, asked)
    draft.archive.delete(asked.id, ADA)
    assert [release.state for release in listed(draft.archive, draft.ledger)] == ["deleted"]


def test_what_is_not_recorded_is_neither_signed_off_nor_deleted(draft: Draft) -> None:
    asked = draft.begin()
    draft.draw(asked)
    draft.archive.activity.path.mkdir()
    for act in (lambda: draft.archive.sign_off(asked.id, ADA, "Bob"), lambda: draft.archive.delete(asked.id, ADA)):
        with pytest.raises(TravasError, match="the activity log cannot be written"):
            act()
    assert draft.archive.get(asked.id) == asked and draft.archive.has_release(asked.id)
    draft.archive.activity.path.rmdir()
    draft.archive.sign_off(asked.id, ADA, "Bob")
    draft.archive.delete(asked.id, ADA)
    lines = [(line.kind, line.name, line.dataset, line.detail) for line in draft.archive.activity.read()[0]]
    assert lines == [("sign-off", "Bob", "data", "Ada"), ("deletion", "Ada", "data", "")]


def test_a_sign_off_that_was_not_recorded_gets_its_line_at_the_next_start(draft: Draft) -> None:
    asked = draft.begin(sign_offs=(ADA,))
    draft.charge(asked)
    draft.archive.record("charge", asked, "Bob", "")
    draft.archive.close()
    for _ in range(2):
        reconcile(draft.archive, draft.ledger)
    lines = [(line.kind, line.release, line.detail) for line in draft.archive.activity.read()[0]]
    assert lines == [("charge", asked.id, ""), ("sign-off", asked.id, "Ada")]
