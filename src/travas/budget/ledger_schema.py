"""The tables of a ledger, and a connection to them: a chain of records that only grows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .book import Book
from .records import START, Record, chained_digest, encode, is_chain

if TYPE_CHECKING:
    import sqlite3

APPLICATION = 0x74726176  # "trav", in the file's header
VERSION = 7
UNUSED = (3, 5, 6)
"""Never written, so that one flipped bit does not turn one version into another."""

_APPEND_ONLY = "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
SCHEMA = (
    "CREATE TABLE record (number INTEGER PRIMARY KEY, content TEXT NOT NULL, digest BLOB NOT NULL)",
    "CREATE TABLE head (number INTEGER NOT NULL, digest BLOB NOT NULL)",
    f"CREATE TRIGGER record_update BEFORE UPDATE ON record {_APPEND_ONLY}",
    f"CREATE TRIGGER record_delete BEFORE DELETE ON record {_APPEND_ONLY}",
    f"CREATE TRIGGER head_update BEFORE UPDATE ON head WHEN NEW.number <= OLD.number {_APPEND_ONLY}",
    f"CREATE TRIGGER head_delete BEFORE DELETE ON head {_APPEND_ONLY}",
)
"""Since version 2. The head has the number and digest of the last record, so that a loss of the last records is detected."""


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the schema of an empty ledger, within a transaction."""
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO head VALUES (0, ?)", (START,))
    connection.execute(f"PRAGMA user_version = {VERSION}")


@dataclass
class OpenLedger:
    """A connection to a ledger, and its content when it was read."""

    connection: sqlite3.Connection
    head: tuple[int, bytes] = (0, START)
    book: Book = field(default_factory=Book)

    def read(self) -> None:
        """Read all records. Raises ValueError if they are not a complete chain."""
        heads = self.connection.execute("SELECT number, digest FROM head").fetchall()
        lines = self.connection.execute("SELECT number, content, digest FROM record ORDER BY number").fetchall()
        if len(heads) != 1 or not is_chain(lines, heads[0]):
            raise ValueError("not a chain")
        self.head = heads[0]
        self.book = Book.of(content for _, content, _ in lines)

    @contextmanager
    def locked(self) -> Iterator[Book]:
        """Run an exclusive transaction; it is on the disk, directory included, when it ends."""
        self.connection.execute("BEGIN IMMEDIATE")
        if self.connection.execute("SELECT number, digest FROM head").fetchall() != [self.head]:
            self.read()
        yield self.book
        self.connection.execute("COMMIT")

    def append(self, *records: Record) -> None:
        """Append records to the chain, within `locked`."""
        number, digest = self.head
        for record in records:
            number, content = number + 1, encode(record)
            digest = chained_digest(digest, number, content)
            self.connection.execute("INSERT INTO record VALUES (?, ?, ?)", (number, content, digest))
        self.connection.execute("UPDATE head SET number = ?, digest = ?", (number, digest))
        self.head, self.book = (number, digest), self.book.plus(*records)
