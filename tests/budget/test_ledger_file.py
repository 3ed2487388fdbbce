"""The file of a ledger: who may read it, what is refused, and where it is."""

import sqlite3
import stat
from contextlib import suppress
from pathlib import Path

import pytest
from small_charges import HALF, LOG, charge

from conftest import Run
from travas import BudgetError, Ledger, ParameterError, anonymize
from travas.budget import ledger, ledger_file
from travas.budget.ledger import default_path
from travas.budget.ledger_file import open_ledger
from travas.errors import LedgerError


def test_only_its_owner_may_read_it(book: Ledger) -> None:
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    assert list(book.path.parent.iterdir()) == [book.path]


def test_order_is_that_of_the_lines_whatever_the_clock_says(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    book.create_budget("x", epsilon=1, delta="1e-5")
    for moment in ("2031-01-01T00:00:00+00:00", "1999-01-01T00:00:00+00:00"):
        monkeypatch.setattr(ledger, "now", lambda moment=moment: moment)
        charge(book, "x", HALF)
    assert [entry.time[:4] for entry in book.history()] == ["2031", "1999"]
    assert [entry.number for entry in book.history()] == [1, 2]
    with pytest.raises(BudgetError):
        charge(book, "x", HALF)


def fill(book: Ledger) -> None:
    """Hundreds of charges at once."""
    book.create_account("x")
    charge(book, "x", HALF)
    with open_ledger(book.path) as opened, opened.locked():
        for _ in range(500):
            opened.append(opened.records[-1])


def refused(path: Path, travas: Run, small_csv: Path) -> str:
    """What the command line says; nothing is released and the file stays as it is."""
    before = path.read_bytes() if path.is_file() else None
    out = small_csv.parent / "out.json"
    ran = travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", out, "--ledger", path)
    assert ran.code == 2 and not out.exists() and ran.out == ""
    assert len(ran.err.splitlines()) == 1 and "Traceback" not in ran.err
    assert before is None or path.read_bytes() == before
    with pytest.raises(LedgerError):
        Ledger(path)
    return ran.err


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"case_id,activity\n1,a\n", b"SQLite format 3\0" + b"x" * 8000])
def test_a_file_that_is_not_a_ledger_is_refused_and_unchanged(
    content: bytes, tmp_path: Path, travas: Run, small_csv: Path
) -> None:
    (tmp_path / "notes.db").write_bytes(content)
    assert "not a ledger" in refused(tmp_path / "notes.db", travas, small_csv)


@pytest.mark.parametrize(
    "path", ["/dev/null", "/dev/full", "/proc/ledger.db", "/", "/no/such/directory/ledger.db", "nul\0.db"]
)
def test_impossible_places(path: str, travas: Run, small_csv: Path) -> None:
    refused(Path(path), travas, small_csv)


def test_a_truncated_ledger_is_refused(book: Ledger, tmp_path: Path, travas: Run, small_csv: Path) -> None:
    fill(book)
    whole = book.path.read_bytes()
    for length in (0, 1, 100, 4095, 4096, len(whole) // 2, len(whole) - 4096):
        path = tmp_path / f"{length}.db"
        path.write_bytes(whole[:length])
        refused(path, travas, small_csv)
    path.write_bytes(whole[:-1])  # SQLite reads a missing last byte as 0, which it may have been
    with suppress(LedgerError):
        assert Ledger(path).history() == book.history()


def test_a_ledger_in_use_is_waited_for_and_then_an_error(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    book.create_account("x")
    monkeypatch.setattr(ledger_file, "BUSY_SECONDS", 0.2)
    other = sqlite3.connect(book.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="another process"):
        anonymize(LOG, epsilon=1, delta="1e-6", ledger=book, dataset="x")
    other.execute("ROLLBACK")
    other.close()
    anonymize(LOG, epsilon=1, delta="1e-6", ledger=book, dataset="x")
    assert len(book.history()) == 1


def test_a_missing_ledger_is_an_error_instead_of_a_new_one(book: Ledger) -> None:
    book.create_budget("x", epsilon=1, delta="1e-6")
    book.path.unlink()
    with pytest.raises(LedgerError, match="is missing"):
        anonymize(LOG, epsilon=9, delta="1e-6", ledger=book, dataset="x")
    assert not book.path.exists()


def test_the_default_location_of_the_ledger(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, travas: Run, small_csv: Path
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_path() == tmp_path / "data" / "travas" / "ledger.db"
    anonymize(LOG, epsilon=1, delta="1e-6")
    assert not default_path().exists()  # nor does Python, unless it is asked to
    assert travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / "a.json").code == 0
    assert len(Ledger.default().history()) == 1
    assert stat.S_IMODE(default_path().parent.stat().st_mode) == 0o700
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".local" / "share" / "travas" / "ledger.db"
    monkeypatch.setenv("TRAVAS_LEDGER", "mine.db")
    assert default_path() == Path("mine.db")
    monkeypatch.setenv("TRAVAS_LEDGER", "/proc/no/mine.db")
    with pytest.raises(LedgerError, match="use another ledger"):
        Ledger.default()


def test_python_uses_the_ledger_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, book: Ledger, small_csv: Path
) -> None:
    anonymize(small_csv, epsilon=1, delta="1e-6")
    assert book.history() == []
    monkeypatch.setenv("TRAVAS_LEDGER", str(book.path))
    anonymize(small_csv, epsilon=1, delta="1e-6")
    assert len(book.history()) == 1
    with pytest.raises(ParameterError, match="a log that is not a file only by name"):
        anonymize(LOG, epsilon=1, delta="1e-6")
