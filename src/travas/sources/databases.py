"""Databases, through Ibis: the variants and their counts are computed there, over a connection that cannot write.

Of a URL nothing is ever shown but its scheme, as the rest may hold a password; nor are the database's own words,
which may quote a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..errors import LogError, MissingExtraError, ParameterError, TravasError
from ..model.variants import Codes, Variants
from .columns import Reading, released_columns
from .expression import COUNT, Query
from .interrupt import interruptible
from .queries import check_query, columns_of

if TYPE_CHECKING:
    import polars as pl

_POSTGRES = ("postgresql", "postgres")
SCHEMES = (*_POSTGRES, "duckdb", "bigquery", "snowflake", "trino")


@dataclass(frozen=True)
class Database:
    """A database that Ibis can ask, by URL, or a table of it: all variants travel, and nothing else."""

    scheme: str

    def variants(self, source: Any, reading: Reading) -> Variants:
        """The variants of a table (`reading.table`), of a query (`reading.query`), or of an Ibis table."""
        try:
            import ibis
        except ImportError:
            raise MissingExtraError("reading a database", "sql") from None
        if isinstance(source, ibis.Table):
            return self._of(source, reading, f"{source.get_backend().name} table")
        if not isinstance(source, str):
            raise LogError(f"a {type(source).__name__} of Ibis is not an event log: give a table of it")
        if reading.table is None and reading.query is None:
            raise ParameterError(f"a {self.scheme} database is not yet a log: give --table NAME or --query 'SELECT …'")
        if reading.query is not None:
            check_query(reading.query, "postgres" if self.scheme in _POSTGRES else self.scheme)
        where = f"{self.scheme} {'query' if reading.table is None else f'table {reading.table!r}'}"
        with self._connected(source) as backend:
            remedy = f"check {'its name' if reading.query is None else 'the names in it'} and your rights"
            with _plain_words(f"{where}: cannot be opened", remedy):
                if reading.query is not None:
                    table = _of_query(backend, reading.query)
                else:
                    schema, _, name = str(reading.table).rpartition(".")
                    table = backend.table(name, database=schema or None)
            return self._of(table, reading, where)

    def _of(self, table: Any, reading: Reading, where: str) -> Variants:
        import polars as pl

        backend = table.get_backend()
        if backend.name not in SCHEMES:
            raise LogError(f"{where}: not a database I know; for Spark give the DataFrame, else export the log")
        query = Query(table, reading, where, as_bytes=as_bytes_in(backend.name))
        with _plain_words(f"{where}: the query failed", "try it with a --query of your own, or export the log"):
            asked = query.variants()
            cancel = getattr(backend.con, "interrupt", None)  # DuckDB is deaf while it works; psycopg hears and cancels
            answer = asked.to_pyarrow() if cancel is None else interruptible(asked.to_pyarrow, cancel)
            counted = pl.DataFrame(pl.from_arrow(answer))
        found: dict[str, Any] = {name: int(counted[name].sum()) for name in query.sums}
        found |= {name: counted[name].min() for name in query.firsts}
        counted = counted.filter(pl.col(query.parts[0]).list.len() > 0)
        return coded(counted, query, query.notes(found, counted.height))

    @contextmanager
    def _connected(self, url: str) -> Iterator[Any]:
        import ibis

        hint = "check the URL, that the server is up, and the password"
        if self.scheme in _POSTGRES:
            hint += " (PGPASSWORD, or a service file)"
        elif self.scheme == "duckdb":
            hint = "does another program have it open, or a newer DuckDB made it?"
        with _plain_words(f"{self.scheme}: cannot connect", hint):
            if self.scheme in _POSTGRES:
                backend = _postgres(url)
            elif self.scheme == "duckdb":
                backend = ibis.duckdb.connect(_duckdb_file(url), read_only=True)
            else:
                backend = ibis.connect(url)
        try:
            yield backend
        finally:
            backend.disconnect()


def by_scheme(scheme: str) -> Database:
    """The databases of this scheme of URLs."""
    if scheme not in SCHEMES:
        known = "://, ".join(SCHEMES)
        raise LogError(f"{scheme}:// is not something I can read: give a file, or a database by {known}://")
    return Database(scheme)


def coded(counted: pl.DataFrame, query: Query, notes: tuple[str, ...]) -> Variants:
    """Arrays of texts and their counts, in memory."""
    import numpy as np
    import polars as pl

    from .tables import keys_of

    codes = Codes()
    names = pl.List(pl.Categorical(pl.Categories.random()))
    texts = counted.with_columns(pl.col(query.parts).cast(pl.List(pl.String)).cast(names))
    keys = keys_of(texts, query.parts, codes)
    counts = counted[COUNT].to_numpy().astype(np.int64)
    return Variants(
        list(codes),
        keys,
        counts,
        released_columns(query.columns.activities),
        notes,
        unit=query.reading.privacy_unit,
        counted=query.reading.counts_of,
        roles=query.columns.roles,
    )


@contextmanager
def _plain_words(what: str, remedy: str) -> Iterator[None]:
    """Errors of a database by their kind: UndefinedTable, InsufficientPrivilege, CatalogException, …"""
    try:
        yield
    except TravasError:
        raise
    except ImportError:
        raise MissingExtraError("reading this database", "sql") from None
    except Exception as error:
        raise LogError(f"{what} ({type(error).__name__}); {remedy}") from None


def _duckdb_file(url: str) -> Path:
    """`duckdb:///file.db`: a file from the root, or else from here."""
    text = unquote(url.partition("://")[2].partition("?")[0])
    path = next((path for path in (Path(text), Path(text.lstrip("/"))) if path.is_file()), None)
    if path is None:
        raise LogError(f"{text}: there is no such DuckDB file, neither from the root nor from here; check the path")
    with path.open("rb") as file:
        if file.read(12)[8:] != b"DUCK":
            raise LogError(f"{path}: not a DuckDB file; give one, or for a CSV or Parquet file its path alone")
    return path


def _postgres(url: str) -> Any:
    """By libpq itself, which knows service and password files; Ibis would not, and could write."""
    import ibis
    import psycopg

    connection = psycopg.connect(url, application_name="travas")
    connection.read_only = True  # every transaction begins with READ ONLY, and cannot leave it
    return ibis.postgres.from_connection(connection)


def _of_query(backend: Any, query: str) -> Any:
    import ibis

    kinds = columns_of(backend, query)
    if kinds is None:
        return backend.sql(query)
    parsed = {name: backend.compiler.type_mapper.from_string(kind) for name, kind in kinds.items()}
    return backend.sql(query, schema=ibis.schema(parsed))


def as_bytes_in(backend: str) -> Callable[[Any], Any]:
    """How text becomes the bytes of its UTF-8 there. As text it would be compared by the column's collation."""
    import ibis

    one = ibis.udf.scalar.builtin(signature=(("string",), "binary"))
    two = ibis.udf.scalar.builtin(signature=(("string", "string"), "binary"))

    @one
    def encode(text): ...  # type: ignore[no-untyped-def]

    @one
    def to_utf8(text): ...  # type: ignore[no-untyped-def]

    @two
    def convert_to(text, encoding): ...  # type: ignore[no-untyped-def]

    @two
    def to_binary(text, encoding): ...  # type: ignore[no-untyped-def]

    functions: dict[str, Callable[[Any], Any]] = {
        "duckdb": encode,
        "postgres": lambda text: convert_to(text, "UTF8"),
        "trino": to_utf8,
        "snowflake": lambda text: to_binary(text, "UTF-8"),
        "bigquery": lambda text: text.cast("binary"),
    }
    return functions[backend]
