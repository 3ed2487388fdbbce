"""The ledger file: an append-only SQLite database, checked completely whenever it is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import LedgerError, TravasError
from .ledger_schema import APPLICATION, SCHEMA, UNUSED, VERSION, OpenLedger, create_schema
from .migration import migrate

if TYPE_CHECKING:
    import sqlite3

BUSY_SECONDS = 60.0
_DAMAGED = "is damaged; restore it from a backup"


@contextmanager
def open_ledger(path: Path, missing: Callable[[Path], None] | None = None) -> Iterator[OpenLedger]:
    """Open and check a ledger. SQLite errors become one line.

    `missing` is called if there is no file. A ledger that has disappeared is an error.
    """
    import sqlite3

    if "\0" in str(path):
        raise LedgerError(f"{str(path)!r}: is not a valid path; use another ledger")
    try:
        if missing is not None and not os.path.lexists(path):
            missing(path)
        if path.is_dir():
            raise LedgerError(f"{path}: is a directory; set the file of a ledger, such as ledger.db in it")
        if not path.is_file():
            raise LedgerError(f"{path}: is missing, or is not a file; restore it, or use another ledger")
        connection = connect(path)
        try:
            yield _checked(path, connection)
        finally:
            connection.close()  # rolls back what was not committed
    except TravasError:
        raise
    except sqlite3.Error as error:
        raise _explain(path, getattr(error, "sqlite_errorname", "")) from None
    except (ValueError, TypeError, LookupError, OverflowError, MemoryError):
        raise LedgerError(f"{path}: {_DAMAGED}") from None
    except OSError as error:
        raise LedgerError(f"{path}: cannot be opened ({error.strerror}); use another ledger") from None


def connect(path: Path) -> sqlite3.Connection:
    """Connect with durable writes, without creating a file."""
    import sqlite3

    address = path.absolute().as_uri() + "?mode=rw"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def make_ledger(path: Path) -> None:
    """Create the file under another name and link it in one step, so that no ledger is incomplete or replaced."""
    import tempfile

    descriptor, name = tempfile.mkstemp(prefix=".ledger-", dir=path.parent)  # readable only by its owner
    os.close(descriptor)
    try:
        connection = connect(Path(name))
        try:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute("BEGIN IMMEDIATE")
            create_schema(connection)
            connection.execute("COMMIT")
        finally:
            connection.close()
        with suppress(FileExistsError):  # another process has created it
            os.link(name, path)
    finally:
        for left in (Path(name), Path(f"{name}-journal")):
            left.unlink(missing_ok=True)
    if os.name == "posix":
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _checked(path: Path, connection: sqlite3.Connection) -> OpenLedger:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION or version < 1:
        raise LedgerError(f"{path}: is not a ledger of travas and was not changed; use another file")
    if version > VERSION:
        raise LedgerError(f"{path}: is a ledger of version {version}; this travas reads up to {VERSION}; update travas")
    if version in UNUSED:
        raise ValueError("there is no such version")
    if version < VERSION:
        check_pages(path, connection, "integrity_check")
        migrate(connection)
    connection.execute("BEGIN")  # no process may write between the queries
    check_pages(path, connection, "quick_check")
    made = connection.execute("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid").fetchall()
    if made != [(statement,) for statement in SCHEMA]:
        raise ValueError("not the schema")
    opened = OpenLedger(connection)
    opened.read()
    connection.execute("COMMIT")
    return opened


def check_pages(path: Path, connection: sqlite3.Connection, check: str) -> None:
    """Raise ValueError if SQLite finds a damaged page, or the file is truncated."""
    (pages,), (size,) = (connection.execute(f"PRAGMA page_{what}").fetchone() for what in ("count", "size"))
    if path.stat().st_size < pages * size:  # SQLite reads a truncated page as zeros
        raise ValueError("cut short")
    if connection.execute(f"PRAGMA {check}(1)").fetchone() != ("ok",):
        raise ValueError("damaged pages")


def _explain(path: Path, code: str) -> LedgerError:
    reasons = {
        "SQLITE_BUSY": f"has been locked by another process for {BUSY_SECONDS:.0f} seconds; try again",
        "SQLITE_READONLY": "is not writable; check your permissions, or use another ledger",
        "SQLITE_CANTOPEN": "cannot be opened, or its directory cannot be written to; check your permissions",
        "SQLITE_FULL": "the disk is full; free some space",
        "SQLITE_IOERR": "the disk is full or failing; free some space, or use another ledger",
        "SQLITE_NOTADB": "is not a ledger of travas and was not changed; use another file",
    }
    reason = next((text for prefix, text in reasons.items() if code.startswith(prefix)), None)
    return LedgerError(f"{path}: {reason or _DAMAGED}")
