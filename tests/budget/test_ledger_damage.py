"""A ledger is whole or refused: bit flips, lost records, and the migration of version 1."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest

from conftest import Run
from travas import BudgetError, Ledger, LedgerError, ParameterError, mechanism
from travas.budget.ledger_file import open_ledger
from travas.budget.ledger_schema import APPLICATION, UNUSED, VERSION
from travas.budget.records import Record

ONE = mechanism("optimal", 1, "1e-6")

VERSION_1 = """
CREATE TABLE identity (key BLOB NOT NULL);
CREATE TABLE budget (dataset TEXT PRIMARY KEY, time TEXT NOT NULL,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL, composition TEXT NOT NULL);
CREATE TABLE charge (number INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, time TEXT NOT NULL,
    mechanism TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, unit TEXT NOT NULL,
    max_cases INTEGER NOT NULL, minimum_cases INTEGER, standing TEXT NOT NULL, software TEXT NOT NULL);
CREATE INDEX charge_dataset ON charge (dataset);
CREATE TRIGGER charge_delete BEFORE DELETE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
INSERT INTO identity VALUES (x'00112233445566778899aabbccddeeff');
INSERT INTO budget VALUES ('hospital', '2025-01-01T00:00:00+00:00', '3', '1/100000', 'basic');
"""
OLD_LOG = "log:" + "0123456789abcdef" * 2


def old_ledger(path: Path, names: Iterable[str], damage: str = "") -> Path:
    """A ledger as version 1 made it."""
    connection = sqlite3.connect(path)
    connection.executescript(VERSION_1)
    for name in names:
        connection.execute(
            "INSERT INTO charge VALUES (NULL, ?, '2025-01-02T00:00:00+00:00', 'optimal', '1', '1/1000000', 'case', 1, 1, "
            "'verified', 'travas 0.1.0')",
            (name,),
        )
    connection.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1; {damage}")
    connection.close()
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Every kind of record, with and without names."""
    book = Ledger(tmp_path / "small.db")
    book.create_budget("hospital", epsilon=20, delta="1e-4")
    book.create_account("clinic")
    for _ in range(3):
        book.charge("hospital", "/data/hospital.csv", ONE, "case_id")
    book.charge(None, "/data/clinic.csv", ONE, "visit")
    book.charge("clinic", "/data/clinic.csv", ONE, "visit")
    return book.path


def check_flips(path: Path, bits: Iterable[int]) -> tuple[int, int]:
    """Flip each bit by itself. How many flips were refused, and how many changed nothing."""
    with open_ledger(path) as opened:
        truth = opened.book
    whole = path.read_bytes()
    refused = unchanged = 0
    with path.open("r+b", buffering=0) as file:
        for bit in bits:
            place, flipped = bit // 8, whole[bit // 8] ^ (1 << bit % 8)
            os.pwrite(file.fileno(), bytes([flipped]), place)
            try:
                with open_ledger(path) as opened:
                    assert opened.book == truth, f"bit {bit} changed what the ledger says"
                unchanged += 1
            except LedgerError as error:
                assert len(str(error).splitlines()) == 1
                refused += 1
            os.pwrite(file.fileno(), whole[place : place + 1], place)
    assert path.read_bytes() == whole  # nothing was written to a damaged ledger
    return refused, unchanged


def test_a_flipped_bit_is_refused_or_changes_nothing(small: Path) -> None:
    """A sample; the records are in the second page, the schema in the first."""
    size = 8 * small.stat().st_size
    refused, unchanged = check_flips(small, range(0, size, 211))
    assert refused > 50 and unchanged > 50


@pytest.mark.slow
def test_every_flipped_bit_is_refused_or_changes_nothing(small: Path) -> None:
    check_flips(small, range(8 * small.stat().st_size))


def tamper(path: Path, damage: str) -> None:
    """Run a statement without the triggers that would forbid it."""
    connection = sqlite3.connect(path)
    triggers = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid"
    ).fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.executescript("; ".join([damage, *(sql for _, sql in triggers)]))
    connection.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM record WHERE number = (SELECT max(number) FROM record)",
        "DELETE FROM record WHERE number = 3",
        "DELETE FROM record",
        'UPDATE record SET content = replace(content, \'"epsilon":"1"\', \'"epsilon":"0"\')',
        "UPDATE record SET digest = zeroblob(32) WHERE number = 2",
        "UPDATE head SET number = number - 1",
        "UPDATE head SET digest = zeroblob(32), number = number + 1",
        "INSERT INTO head SELECT * FROM head",
        "DELETE FROM head",
        "CREATE TABLE more (x)",
    ],
)
def test_a_changed_record_is_detected(damage: str, small: Path, travas: Run) -> None:
    tamper(small, "SELECT 1")
    Ledger(small)  # it is the damage that is detected, not the absence of triggers for a moment
    tamper(small, damage)
    with pytest.raises(LedgerError, match="is damaged; restore it from a backup"):
        Ledger(small)
    ran = travas("budget", "show", "--ledger", small)
    assert ran.code == 2 and ran.out == "" and len(ran.err.splitlines()) == 1


def test_a_new_field_needs_a_new_version() -> None:
    """A program that does not know a field must say that it is too old, not that the ledger is damaged."""
    fields = {
        "Created": "time dataset",
        "Limited": "time dataset epsilon delta composition",
        "Charged": "time dataset location mechanism epsilon delta unit max_cases case minimum_cases standing software "
        "person_table period reason signed_off_by reference description",
        "Assigned": "time old location dataset",
        "Respelled": "time location now",
    }
    known = {kind.__name__: " ".join(field.name for field in dataclasses.fields(kind)) for kind in get_args(Record)}
    assert {7: fields} == {VERSION: known}, "set another VERSION, migrate this one, and update this test"


def test_no_flipped_bit_makes_one_version_another() -> None:
    for one, other in combinations((1, 2, 4, VERSION), 2):
        assert (one ^ other).bit_count() > 1
    assert {*range(1, VERSION + 1)} == {1, 2, 4, VERSION, *UNUSED}


def test_version_1_is_migrated_with_all_its_lines(tmp_path: Path) -> None:
    book = Ledger(old_ledger(tmp_path / "old.db", ["hospital", "free", OLD_LOG, "hospital"]))
    assert [(account.label, account.name, len(account.entries)) for account in book.accounts()] == [
        ("free", "free", 1), ("hospital", "hospital", 2), (OLD_LOG, None, 1),
    ]  # fmt: skip
    assert [entry.number for entry in book.history()] == [1, 2, 3, 4]
    assert {entry.case for entry in book.history()} == {None}
    assert b"\x00\x11\x22\x33\x44\x55\x66" not in book.path.read_bytes()  # the key of the old digests
    connection = sqlite3.connect(book.path)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    connection.close()
    assert len(book.charge("hospital", None, ONE, "case_id").entries) == 3
    with pytest.raises(BudgetError):
        book.charge("hospital", None, ONE, "case_id")
    assert check_flips(book.path, range(0, 8 * book.path.stat().st_size, 1009))[0] > 5


def test_accounts_that_version_1_derived_from_content_can_be_assigned(tmp_path: Path, travas: Run) -> None:
    path = old_ledger(tmp_path / "old.db", ["hospital", OLD_LOG, OLD_LOG])
    common = ("--ledger", path)
    assert OLD_LOG in travas("budget", "show", *common).out
    assert travas("budget", "assign", OLD_LOG, "hospitl", *common).code == 2
    assert travas("budget", "assign", OLD_LOG, "hospital", *common).code == 0
    (account,) = Ledger(path).accounts()
    assert (
        account.name == "hospital" and len(account.entries) == 3 and account.left is not None and account.left[0] == 0
    )
    assert travas("budget", "assign", OLD_LOG, "hospital", *common).code == 2
    with pytest.raises(ParameterError, match="reserved"):
        Ledger(path).create_account("log:new")


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TRIGGER charge_delete; DELETE FROM charge WHERE number = 1",
        "DROP TRIGGER charge_delete; DELETE FROM charge WHERE number = 2",
        "UPDATE charge SET epsilon = '1e9' WHERE number = 1",
        "UPDATE charge SET standing = 'verifiee' WHERE number = 1",
        "UPDATE charge SET max_cases = 0 WHERE number = 1",
        "UPDATE budget SET delta = '1/0'",
        "UPDATE budget SET epsilon = '0'",
        "DROP TABLE budget",
    ],
)
def test_a_damaged_ledger_of_version_1_is_not_migrated(damage: str, tmp_path: Path) -> None:
    path = old_ledger(tmp_path / "old.db", ["hospital", "hospital"], damage)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_migration_that_fails_leaves_the_old_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = old_ledger(tmp_path / "old.db", ["hospital"])
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError

    monkeypatch.setattr("travas.budget.ledger_schema.OpenLedger.append", fail)
    with pytest.raises(LedgerError):
        Ledger(path)
    assert path.read_bytes() == before
    monkeypatch.undo()
    assert len(Ledger(path).history()) == 1
