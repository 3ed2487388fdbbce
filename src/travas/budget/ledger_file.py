"""The ledger file: one table of records that only grows, linked by digests, in SQLite; checked whenever it is opened."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import LedgerError, TravasError

if TYPE_CHECKING:
    import sqlite3

VERSION = 1
SCHEMA = "CREATE TABLE record (number INTEGER PRIMARY KEY, content TEXT NOT NULL, digest BLOB NOT NULL)"
START = bytes(32)
"""The digest before the first record."""

BUSY_SECONDS = 60.0
_DAMAGED = "is damaged; restore it from a backup"
_FOREIGN = "is not a ledger of travas and was not changed; use another file"

Record = dict[str, Any]
"""One line of the ledger, as plain values: its `kind`, and what `Ledger` records."""


def chained_digest(previous: bytes, number: int, content: str) -> bytes:
    """Return the digest of a record, which depends on every record before it."""
    return hashlib.sha256(previous + number.to_bytes(8, "big") + content.encode()).digest()


@dataclass
class OpenLedger:
    """A connection to a ledger, and its records when they were read."""

    connection: sqlite3.Connection
    records: tuple[Record, ...] = ()
    digest: bytes = START

    def read(self) -> None:
        """Read all records. Raises ValueError if they are not a chain without gaps."""
        digest, records = START, []
        lines = self.connection.execute("SELECT number, content, digest FROM record ORDER BY number")
        for expected, (number, content, given) in enumerate(lines, start=1):
            digest = chained_digest(digest, expected, content)
            if (number, given) != (expected, digest):
                raise ValueError("not a chain")
            records.append(json.loads(content))
        self.records, self.digest = tuple(records), digest

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Run an exclusive transaction on the newest records; it is on the disk, directory included, when it ends."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.read()
        yield
        self.connection.execute("COMMIT")

    def append(self, record: Record) -> None:
        """Append a record to the chain, within `locked`. ASCII also represents paths that are not valid text."""
        number, content = len(self.records) + 1, json.dumps(record, separators=(",", ":"))
        self.digest = chained_digest(self.digest, number, content)
        self.connection.execute("INSERT INTO record VALUES (?, ?, ?)", (number, content, self.digest))
        self.records += (json.loads(content),)


@contextmanager
def open_ledger(path: Path, missing: Callable[[Path], None] | None = None) -> Iterator[OpenLedger]:
    """Open and check a ledger. SQLite errors become one line.

    `missing` is called if there is no file. A ledger that has disappeared is an error.
    """
    import sqlite3

    try:
        if missing is not None and not os.path.lexists(path):
            missing(path)
        if not path.is_file():
            raise LedgerError(
                f"{path}: {'is a directory' if path.is_dir() else 'is missing'}; use the file of a ledger"
            )
        connection = connect(path)
        try:
            yield _checked(path, connection)
        finally:
            connection.close()  # rolls back what was not committed
    except TravasError:
        raise
    except sqlite3.Error as error:
        raise _explain(path, getattr(error, "sqlite_errorname", "")) from None
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError):
        raise LedgerError(f"{path}: {_DAMAGED}") from None
    except OSError as error:
        raise LedgerError(f"{path}: cannot be opened ({error.strerror}); use another ledger") from None


def connect(path: Path) -> sqlite3.Connection:
    """Connect with durable writes, without creating a file."""
    import sqlite3

    address = path.absolute().as_uri() + "?mode=rw"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")
    return connection


def make_ledger(path: Path) -> None:
    """Create the file under another name and link it in one step, so that no ledger is incomplete or replaced."""
    import tempfile

    descriptor, name = tempfile.mkstemp(prefix=".ledger-", dir=path.parent)  # readable only by its owner
    os.close(descriptor)
    try:
        connection = connect(Path(name))
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA}; PRAGMA user_version = {VERSION}; COMMIT")
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
    connection.execute("BEGIN")  # no process may write between the queries
    schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if schema != [("table", "record", "record", SCHEMA)] or version != VERSION:
        raise LedgerError(f"{path}: {_FOREIGN}")
    if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
        raise ValueError("damaged pages")
    opened = OpenLedger(connection)
    opened.read()
    connection.execute("COMMIT")
    return opened


def _explain(path: Path, code: str) -> LedgerError:
    reasons = {
        "SQLITE_BUSY": f"has been locked by another process for {BUSY_SECONDS:.0f} seconds; try again",
        "SQLITE_READONLY": "is not writable; check your permissions, or use another ledger",
        "SQLITE_CANTOPEN": "cannot be opened, or its directory cannot be written to; check your permissions",
        **dict.fromkeys(("SQLITE_FULL", "SQLITE_IOERR"), "the disk is full or failing; free some space"),
        "SQLITE_NOTADB": _FOREIGN,
    }
    reason = next((text for prefix, text in reasons.items() if code.startswith(prefix)), None)
    return LedgerError(f"{path}: {reason or _DAMAGED}")
