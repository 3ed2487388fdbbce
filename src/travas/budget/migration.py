"""Migration of older ledgers.

Version 1 had a table for each kind of record and no digests. Versions 2, 4 and 7 have the same tables: charges may have
periods and approvals since version 4, and descriptions since version 7, and earlier programs must not misread a later file.
There were no other versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParameterError
from .book import Book, entry_of
from .ledger_schema import VERSION, OpenLedger, create_schema
from .records import Charged, Limited, Record

if TYPE_CHECKING:
    import sqlite3


def migrate(connection: sqlite3.Connection) -> None:
    """Convert the records in one transaction; a crash leaves the old version."""
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version in (2, 4):
        OpenLedger(connection).read()  # a damaged ledger is not written to
        connection.execute(f"PRAGMA user_version = {VERSION}")
    elif version == 1:  # otherwise another process has migrated it
        try:
            records = _records(connection)
        except ParameterError as error:
            raise ValueError(str(error)) from None
        for table in ("identity", "budget", "charge"):
            connection.execute(f"DROP TABLE {table}")
        create_schema(connection)
        OpenLedger(connection).append(*records)
    connection.execute("COMMIT")


def _records(connection: sqlite3.Connection) -> list[Record]:
    """Read the records of version 1. Raises ValueError or TypeError if one is damaged or missing."""
    budgets: list[Record] = [
        Limited(time, dataset, epsilon, delta, composition)
        for time, dataset, epsilon, delta, composition in connection.execute(
            "SELECT time, dataset, epsilon, delta, composition FROM budget ORDER BY rowid"
        )
    ]
    for account in Book(tuple(budgets)).accounts():  # checks their values
        if account.budget is None:
            raise ValueError("a budget is damaged")
    charges: list[Record] = []
    for number, *values in connection.execute(
        "SELECT number, time, dataset, mechanism, epsilon, delta, unit, max_cases, minimum_cases, standing, software "
        "FROM charge ORDER BY number"
    ):
        time, dataset, mechanism, epsilon, delta, unit, max_cases, minimum_cases, standing, software = values
        charge = Charged(
            time, dataset, None, mechanism, epsilon, delta, unit, max_cases, None, minimum_cases, standing, software
        )
        entry_of(number, charge, dataset, None)  # checks its values
        charges.append(charge)
        if number != len(charges):
            raise ValueError("a line is missing")
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'charge'").fetchone() or (0,)
    if last != (len(charges),):
        raise ValueError("the last lines are missing")
    return budgets + charges
