"""Databases: one SELECT of the columns that are read, over a read-only connection, as Arrow batches for the table engine.

SQLite is read by Python, DuckDB by its own Arrow interface; PostgreSQL and all others by ADBC (docs/reading.md, lemma 9).
Messages show no URL, because it may contain a password, and no message of a database, because it may quote a cell.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs
import polars as pl

from ..errors import LogError, ParameterError, plain_words
from ..log.log import Log
from .columns import Columns
from .events import table_variants
from .files import database_file, unopened, url_scheme
from .reading import DEFAULT_READING, Reading

if TYPE_CHECKING:
    import pyarrow as pa

Rows = tuple[list[tuple[str, Any]], Iterable[pl.DataFrame]]
"""The columns of a SELECT, with their types in Arrow if they have any, and its rows in parts."""

WantedColumns = Literal["read", "all"]

_POSTGRES = ("postgresql", "postgres")
_SQLITE = "sqlite"
_READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
"""What is executed first in PostgreSQL. A transaction is open already, and ends with the connection."""

_TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('information_schema', 'pg_catalog')"
)
_SQLITE_TABLES = "SELECT 'main', name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'"
_BATCH = 100_000
_plain_words = partial(plain_words, extra="sql")


def read_database(source: str | Path, reading: Reading) -> Log:
    """Return the variants of a table (`reading.table`), of a query (`reading.query`), or of the only table."""
    reading = without_row_order(reading, "a database")
    frame, where, present = database_table(source, reading, "read")
    with _plain_words(f"{where}: cannot be read", "convert the columns in a query, or export the log"):
        return table_variants(frame.lazy(), reading, where, height=frame.height, present=present)


def without_row_order(reading: Reading, what: str) -> Reading:
    """Return the reading of rows that have no order: by time, then by a column or the name of the activity."""
    for name, remedy in (("order", "use 'time'"), ("ties", "use 'activity' or a column")):
        if getattr(reading, name) == "file":
            raise ParameterError(f"{name} is 'file' but the rows of {what} have no order; {remedy}", field=name)
    return attrs.evolve(reading, order="time", ties=reading.ties or "activity")


def database_table(source: str | Path, reading: Reading, columns: WantedColumns) -> tuple[pl.DataFrame, str, list[str]]:
    """Return columns of a table or query, its name in messages, and the names of all its columns."""
    where = database_name(source, reading)
    with closing(_connect(source)) as connection:
        remedy = "use one SELECT, and check the names in it" if reading.query else "check its name"
        with _plain_words(
            f"{where}: cannot be opened", f"{remedy} and your permissions", "query" if reading.query else ""
        ):
            query = (reading.query or "").strip().rstrip(";")
            table = f"(\n{query}\n) AS travas" if reading.query else _table(connection, reading)
            fields = connection.columns(table)
        present, types = [name for name, _ in fields], dict(fields)
        if len(types) < len(present):
            raise LogError(f"{where}: two columns have the same name; name the columns in the query")
        read = Columns.of(reading, present, where) if columns == "read" else None
        selected = ", ".join(
            f"{_value(connection.scheme, name, types[name], read)} AS {_quoted(connection.scheme, name)}"
            for name in (present if read is None else read.names)
        )
        with _plain_words(f"{where}: the query failed", "try a query of your own, or export the log"):
            return connection.frame(f"SELECT {selected} FROM {table}"), where, present


def database_name(source: str | Path, reading: Reading) -> str:
    """Return the name of a table in messages: never the URL, which may contain a password."""
    file = database_file(source)
    base = url_scheme(str(source)) if file is None else str(file)
    return f"{base} {'query' if reading.query else f'table {reading.table!r}' if reading.table else 'table'}"


def tables_of(source: str | Path) -> dict[str, list[str]]:
    """Return the names of the columns of every table and view, by its name."""
    with closing(_connect(source)) as connection:
        hint = "check your permissions, or set table or query"
        with _plain_words(f"{database_name(source, DEFAULT_READING)}: cannot be listed", hint):
            return {
                ".".join(table): [name for name, _ in connection.columns(_name(connection, table))]
                for table in _tables(connection)
            }


@dataclass(frozen=True)
class _Connection:
    """A read-only connection, in one transaction."""

    scheme: str
    run: Callable[[str], Rows]
    close: Callable[[], object]

    def columns(self, table: str) -> list[tuple[str, Any]]:
        """Return the names of the columns of a table, and their types."""
        return self.run(f"SELECT * FROM {table} WHERE 1 = 0")[0]

    def frame(self, sql: str) -> pl.DataFrame:
        """Return the rows of one SELECT."""
        return pl.concat([*self.run(sql)[1]])


def _sqlite(path: Path) -> _Connection:
    """Open a SQLite file by Python's own library. Its columns have no types: every value is read as its text."""
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    for statement in ("PRAGMA temp_store = MEMORY", "BEGIN"):
        connection.execute(statement)

    def run(sql: str) -> Rows:
        cursor = connection.execute(sql)
        schema = dict.fromkeys((name for name, *_ in cursor.description), pl.String)
        parts = chain([[]], iter(lambda: cursor.fetchmany(_BATCH), []))
        return (
            [(name, None) for name, *_ in cursor.description],
            (pl.DataFrame(rows, schema, orient="row") for rows in parts),
        )

    return _Connection(_SQLITE, run, connection.close)


def _duckdb(path: Path) -> _Connection:
    """Open a DuckDB file. It writes no parts of the log: if memory is short, the query fails."""
    import duckdb

    connection = duckdb.connect(path, read_only=True, config={"temp_directory": ""})

    def run(sql: str) -> Rows:
        [statement] = connection.extract_statements(sql)
        return _arrow(lambda: connection.sql(statement).to_arrow_table(_BATCH), connection.interrupt)

    return _Connection("duckdb", run, connection.close)


def _adbc(scheme: str, uri: str) -> _Connection:
    """Open a connection by the ADBC driver of a URL scheme."""
    if scheme in _POSTGRES:
        from adbc_driver_postgresql.dbapi import connect
    else:
        from adbc_driver_manager.dbapi import connect
    connection = connect(uri)
    cursor = connection.cursor()
    if scheme in _POSTGRES:
        cursor.execute(_READ_ONLY)

    def run(sql: str) -> Rows:
        def rows() -> pa.Table:
            cursor.execute(sql)
            return cursor.fetch_arrow_table()

        return _arrow(rows, cursor.adbc_cancel)

    return _Connection(scheme, run, connection.close)


def _arrow(fetch: Callable[[], pa.Table], cancel: Callable[[], object]) -> Rows:
    """Return the rows of a query, which an interrupt cancels: its thread does not notice one."""

    def frame(batch: Any) -> pl.DataFrame:
        batch.validate(full=True)  # Polars takes text for valid UTF-8
        return pl.DataFrame(pl.from_arrow(batch))

    with ThreadPoolExecutor(1) as thread:
        rows = thread.submit(fetch)
        try:
            while not wait([rows], timeout=0.2).done:
                pass
        except KeyboardInterrupt:
            while not wait([rows], timeout=0.2).done:  # it may not have begun yet
                cancel()
            raise
    table = rows.result()
    return [(field.name, field) for field in table.schema], map(
        frame, [table.schema.empty_table(), *table.to_batches()]
    )


def _connect(source: str | Path) -> _Connection:
    if (file := database_file(source)) is not None:
        opened = _opener_of(file)
        hint = "check that no other program has it open, and that it was not written by a newer version"
        with _plain_words(f"{file}: cannot be opened", hint):
            return opened(file)
    scheme = str(url_scheme(str(source)))
    hint = "check the URL, the password (PGPASSWORD, or a service file), that the server runs, and its ADBC driver"
    with _plain_words(f"{scheme}: cannot connect", hint):
        return _adbc(scheme, str(source))


def _opener_of(path: Path) -> Callable[[Path], _Connection]:
    """Return how a file is opened: which database wrote it is in its first bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise unopened(path, error) from None
    if head[8:12] == b"DUCK":
        return _duckdb
    if head == b"SQLite format 3\0":
        return _sqlite
    raise LogError(f"{path}: not a DuckDB or SQLite file; set format if it is another kind of log", field="format")


def _table(connection: _Connection, reading: Reading) -> str:
    """Return the quoted name of the table: as set, or the only one."""
    if reading.table is not None:
        return _name(connection, reading.table.split("."))
    tables = _tables(connection)
    if len(tables) != 1:
        names = ", ".join(repr(".".join(table)) for table in tables[:10]) or "none that you may read"
        what = f"the database has {len(tables)} tables and table is not set; set table or query: {names}"
        raise ParameterError(what, field="table")
    return _name(connection, tables[0])


def _tables(connection: _Connection) -> list[tuple[str, str]]:
    """Return schema and name of every table and view."""
    return sorted(connection.frame(_SQLITE_TABLES if connection.scheme == _SQLITE else _TABLES).rows())


def _name(connection: _Connection, parts: Sequence[str]) -> str:
    return ".".join(_quoted(connection.scheme, part) for part in parts)


def _quoted(scheme: str, name: str) -> str:
    mark = "`" if scheme == "bigquery" else '"'
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def _value(scheme: str, column: str, field: pa.Field | None, columns: Columns | None) -> str:
    """Return the expression of a column, by its type in the schema alone (docs/reading.md, lemma 9)."""
    name = _quoted(scheme, column)
    if field is None:
        return f"coalesce(CAST({name} AS TEXT), '')"
    from pyarrow import types

    kind = field.type
    if types.is_timestamp(kind) or types.is_date(kind):
        if scheme not in _POSTGRES:
            return name
        # infinite and far times have no place in Arrow
        return (
            f"CASE WHEN {name} > '9999-12-31' THEN '9999-12-31' WHEN {name} < '0001-01-01' THEN '0001-01-01' "
            f"ELSE {name} END"
        )
    plain = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_dictionary)
    if any(is_plain(kind) for is_plain in (*plain, types.is_string, types.is_large_string, types.is_string_view)):
        return name
    is_numeric = (field.metadata or {}).get(b"POSTGRESQL:type") == b"numeric"
    if is_numeric and columns is not None and column in _numbers(columns):
        return f"CAST({name} AS double precision)"
    return f"CAST({name} AS varchar)"


def _numbers(columns: Columns) -> Sequence[str | None]:
    """The columns that are compared or measured as numbers."""
    numbers = (column.name for column in columns.details.columns if column.values == "number")
    return (columns.timestamp, columns.ties, *numbers)
