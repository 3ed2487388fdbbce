"""A ledger is whole or refused: bit flips, lost and changed records, torn files."""

import os
import random
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from conftest import Run
from travas import Ledger, PrivacyUnit
from travas.budget.account import Entry
from travas.budget.ledger_file import open_ledger
from travas.errors import LedgerError
from travas.mechanisms import mechanism

ONE = mechanism("optimal", 1, "1e-6")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Every kind of record, with and without names."""
    book = Ledger(tmp_path / "small.db")
    book.create_budget("hospital", epsilon=20, delta="1e-4")
    book.name_unit("hospital", "patient")
    book.create_account("clinic")
    persons = mechanism("optimal", 1, "1e-6", unit=PrivacyUnit("Patient", 3))
    for _ in range(3):
        book.charge(Entry.of("hospital", "/data/hospital.csv", persons, "case_id"))
    book.charge(Entry.of(None, "/data/clinic.csv", ONE, "visit"))
    book.charge(Entry.of("clinic", "/data/clinic.csv", ONE, "visit"))
    return book.path


def check_flips(path: Path, bits: Iterable[int]) -> tuple[int, int]:
    """Flip each bit by itself. How many flips were refused, and how many changed nothing."""
    with open_ledger(path) as opened:
        truth = opened.records
    whole = path.read_bytes()
    refused = unchanged = 0
    with path.open("r+b", buffering=0) as file:
        for bit in bits:
            place, flipped = bit // 8, whole[bit // 8] ^ (1 << bit % 8)
            os.pwrite(file.fileno(), bytes([flipped]), place)
            try:
                with open_ledger(path) as opened:
                    assert opened.records == truth, f"bit {bit} changed what the ledger says"
                unchanged += 1
            except LedgerError as error:
                assert len(str(error).splitlines()) == 1
                refused += 1
            os.pwrite(file.fileno(), whole[place : place + 1], place)
    assert path.read_bytes() == whole  # nothing was written to a damaged ledger
    return refused, unchanged


def test_a_flipped_bit_is_refused_or_changes_nothing(small: Path) -> None:
    """A sample of the 4,000 flips of the slow test."""
    bits = random.Random(31).sample(range(8 * small.stat().st_size), 4000)
    refused, unchanged = check_flips(small, bits[:400])
    assert refused > 50 and unchanged > 50


@pytest.mark.slow
def test_every_flipped_bit_of_the_header_and_the_records_is_refused_or_changes_nothing(small: Path) -> None:
    whole = small.read_bytes()
    check_flips(small, range(8 * 112))
    check_flips(small, (8 * place + bit for place in range(len(whole)) if whole[place] for bit in (0, 5)))


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM record WHERE number = 3",
        "DELETE FROM record WHERE number = 1",
        'UPDATE record SET content = replace(content, \'"epsilon":"1"\', \'"epsilon":"0"\')',
        "UPDATE record SET digest = zeroblob(32) WHERE number = 2",
        "UPDATE record SET number = number + 10 WHERE number = (SELECT max(number) FROM record)",
        "INSERT INTO record SELECT number + 100, content, digest FROM record LIMIT 1",
        "CREATE TABLE more (x)",
        "PRAGMA user_version = 2",
    ],
)
def test_a_changed_record_is_detected(damage: str, small: Path, travas: Run) -> None:
    connection = sqlite3.connect(small)
    connection.executescript(damage)
    connection.close()
    with pytest.raises(LedgerError):
        Ledger(small)
    ran = travas("budget", "show", "--ledger", small)
    assert ran.code == 2 and ran.out == "" and len(ran.err.splitlines()) == 1
