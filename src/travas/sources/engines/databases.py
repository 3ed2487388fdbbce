"""Databases, through Ibis: variants and counts are computed in the database, over a read-only connection.

Messages show only the scheme of a URL, because the rest may contain a password, and no messages of the database,
because they may quote a cell.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from ...errors import LogError, MissingExtraError, ParameterError, TravasError
from ...model.traces import Codes
from ...model.variants import Variants
from ..log_location import database_of
from ..reading import Reading, released_columns
from ..table_location import Catalogue, TableLocation
from .clocks import duckdb_clock, has_zone, plain_clock
from .interruptible_work import interruptible
from .queries import check_query, query_types
from .variants_expression import COUNT, Query

if TYPE_CHECKING:
    import polars as pl

    from .totals_expression import RemoteTotals

_POSTGRES = ("postgresql", "postgres")
SCHEMES = (*_POSTGRES, "duckdb", "bigquery", "snowflake", "trino")
_DEFAULT_SCHEMAS = {"postgres": "public", "duckdb": "main"}


@dataclass(frozen=True)
class Database:
    """A database that Ibis can query, by URL, or an Ibis table. Only the variants and their counts are transferred."""

    scheme: str

    def variants(self, source: Any, reading: Reading) -> Variants:
        """Return the variants of a table (`reading.table`), of a query (`reading.query`), or of an Ibis table."""
        try:
            import ibis
        except ImportError:
            raise MissingExtraError("reading a database", "sql") from None
        if isinstance(source, ibis.Table):
            return self._of(source, reading, f"{source.get_backend().name} table")
        if not isinstance(source, str):
            raise LogError(f"a {type(source).__name__} of Ibis is not an event log; pass an Ibis table")
        self._check_named(reading)
        if reading.query is not None:
            check_query(reading.query, "postgres" if self.scheme in _POSTGRES else self.scheme)
        where = f"{self.scheme} {'query' if reading.table is None else f'table {reading.table!r}'}"
        with ExitStack() as connection:
            backend = connection.enter_context(self._connected(source))
            remedy = f"check {'its name' if reading.query is None else 'the names in it'} and your permissions"
            with _plain_words(f"{where}: cannot be opened", remedy):
                if reading.query is not None:
                    table = _of_query(backend, reading.query)
                else:
                    schema, _, name = str(reading.table).rpartition(".")
                    table = backend.table(name, database=schema or None)
            variants = self._of(table, reading, where)
            if variants.totals is not None:  # questions need the connection
                weakref.finalize(cast("RemoteTotals", variants.totals).ask, connection.pop_all().close)
            return variants

    def location(self, source: str, reading: Reading) -> TableLocation | None:
        """Return where a table is; the database says what its name refers to.

        None for a query, and if the URL must not be recorded.
        """
        self._check_named(reading)
        if (table := reading.table) is None or (database := database_of(source)) is None:
            return None
        try:
            import ibis  # noqa: F401
        except ImportError:
            raise MissingExtraError("reading a database", "sql") from None
        remedy = "check its name and your permissions"
        with (
            self._connected(source) as backend,
            _plain_words(f"{self.scheme} table {table!r}: cannot be opened", remedy),
        ):
            catalogue = Catalogue(
                getattr(backend, "current_catalog", None) or "",
                getattr(backend, "current_database", None) or "",
                _DEFAULT_SCHEMAS.get(backend.name, ""),
                ignores_case=backend.name in ("duckdb", "trino"),
                skips_schema=backend.name == "duckdb",
            )
        return catalogue.locate(database, *reversed(table.rsplit(".", 2)))

    def _check_named(self, reading: Reading) -> None:
        if reading.table is None and reading.query is None:
            raise ParameterError(f"{self.scheme}: neither table nor query is set; set one of them", field="table")

    def _of(self, table: Any, reading: Reading, where: str) -> Variants:
        import polars as pl

        backend = table.get_backend()
        if backend.name not in SCHEMES:
            raise LogError(f"{where}: unsupported backend; for Spark pass the DataFrame, otherwise export the log")
        clock = duckdb_clock if backend.name == "duckdb" else plain_clock
        query = Query(table, reading, where, as_bytes=as_bytes_in(backend.name), clock=clock)
        answers = _totals(query, where, backend) if query.reading.details else None
        with _plain_words(f"{where}: the query failed", "try a query of your own, or export the log"):
            counted = pl.DataFrame(pl.from_arrow(_answer(backend, query.variants())))
        totals: dict[str, Any] = {name: int(counted[name].sum()) for name in query.sums}
        totals |= {name: counted[name].min() for name in query.firsts}
        counted = counted.filter(pl.col(query.parts[0]).list.len() > 0)
        variants = coded(counted, query, query.notes(totals, counted.height))
        return variants if answers is None else replace(variants, totals=answers)

    @contextmanager
    def _connected(self, url: str) -> Iterator[Any]:
        import ibis

        hint = "check the URL, the password, and that the server is running"
        if self.scheme in _POSTGRES:
            hint += " (PGPASSWORD, or a service file)"
        elif self.scheme == "duckdb":
            hint = "check that no other program has it open, and that it was not written by a newer DuckDB"
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
    """Return the engine for a URL scheme."""
    if scheme not in SCHEMES:
        supported = "://, ".join(SCHEMES)
        raise LogError(f"{scheme}://: unsupported URL scheme; supported: {supported}://")
    return Database(scheme)


def coded(counted: pl.DataFrame, query: Query, notes: tuple[str, ...]) -> Variants:
    """Convert arrays of text and their counts to variants."""
    import numpy as np
    import polars as pl

    from ..tabular.tables import keys_of

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


def _totals(query: Query, where: str, backend: Any) -> RemoteTotals:
    """Return the answers of a database; a trial without rows shows that it can answer."""
    from .details_expression import details_of
    from .totals_expression import RemoteTotals

    def ask(expression: Any) -> list[dict[str, Any]]:
        with _plain_words(f"{where}: the query failed", "try a query of your own, or export the log"):
            rows: list[dict[str, Any]] = _answer(backend, expression).to_pylist()
        return rows

    table = details_of(query)
    is_zoned = has_zone(query.events[query.columns.timestamp])
    RemoteTotals(query, table.limit(0), ask, is_zoned).try_out()
    return RemoteTotals(query, table, ask, is_zoned)


def _answer(backend: Any, expression: Any) -> Any:
    cancel = getattr(backend.con, "interrupt", None)  # DuckDB ignores interrupts; psycopg cancels
    return expression.to_pyarrow() if cancel is None else interruptible(expression.to_pyarrow, cancel)


@contextmanager
def _plain_words(what: str, remedy: str) -> Iterator[None]:
    """Replace database errors with their type (UndefinedTable, InsufficientPrivilege, ...), without the message."""
    try:
        yield
    except TravasError:
        raise
    except ImportError:
        raise MissingExtraError("reading this database", "sql") from None
    except Exception as error:
        raise LogError(f"{what} ({type(error).__name__}); {remedy}") from None


def _duckdb_file(url: str) -> Path:
    """Return the file of `duckdb:///file.db`: relative to the root, otherwise to the working directory."""
    text = unquote(url.partition("://")[2].partition("?")[0])
    path = next((path for path in (Path(text), Path(text.lstrip("/"))) if path.is_file()), None)
    if path is None:
        raise LogError(
            f"{text}: no such DuckDB file, neither from the root nor from the working directory; check the path"
        )
    with path.open("rb") as file:
        if file.read(12)[8:] != b"DUCK":
            raise LogError(f"{path}: not a DuckDB file; for a CSV or Parquet file, pass its path without duckdb:")
    return path


def _postgres(url: str) -> Any:
    """Connect with libpq, which supports service and password files; a connection of Ibis could write."""
    import ibis
    import psycopg

    connection = psycopg.connect(url, application_name="travas")
    connection.read_only = True  # every transaction is READ ONLY
    return ibis.postgres.from_connection(connection)


def _of_query(backend: Any, query: str) -> Any:
    import ibis

    kinds = query_types(backend, query)
    if kinds is None:
        return backend.sql(query)
    parsed = {name: backend.compiler.type_mapper.from_string(kind) for name, kind in kinds.items()}
    return backend.sql(query, schema=ibis.schema(parsed))


def as_bytes_in(backend: str) -> Callable[[Any], Any]:
    """Return the function that converts text to UTF-8 bytes; text would be compared by the collation of the column."""
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
