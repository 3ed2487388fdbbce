"""User queries: one read-only statement, checked before it runs and never inserted into other SQL text.

Whether a query mixes cases cannot be checked: it may count all of them (`HAVING count(*) >= 100`). The guarantee
therefore states that a query was used, and assumes that it works case by case: docs/reading.md, lemma 9.
"""

from __future__ import annotations

import logging
from typing import Any

from ...errors import LogError, MissingExtraError, ParameterError


def check_query(query: str, dialect: str) -> None:
    """Raise ParameterError unless a query is one read-only statement.

    Args:
        query: The text of the query.
        dialect: The name of its dialect in sqlglot.
    """
    try:
        import sqlglot
        from sqlglot import expressions as sql
    except ImportError:
        raise MissingExtraError("reading a query", "sql") from None
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # its warnings would quote the query
    try:
        parsed = sqlglot.parse(query, read=dialect)
    except sqlglot.errors.SqlglotError:
        raise ParameterError(
            "query cannot be parsed; check its syntax, or use table with a view", field="query"
        ) from None
    statements = [statement for statement in parsed if statement and not isinstance(statement, sql.Semicolon)]
    writes = (sql.DML, sql.DDL, sql.Drop, sql.Alter, sql.Command, sql.Copy, sql.Into, sql.Set, sql.Transaction)
    if (
        len(statements) != 1
        or not isinstance(statements[0], sql.Query)
        or any(node is not statements[0] and isinstance(node, writes) for node in statements[0].walk())
    ):
        raise ParameterError(
            "query must be one read-only SELECT statement; change it, or use table with a view", field="query"
        )
    if len(parsed) > 1:  # an empty statement or a comment, which Ibis cannot compile
        raise ParameterError(
            "query has text after the statement; remove everything from the semicolon on", field="query"
        )


def query_types(backend: Any, query: str) -> dict[str, str] | None:
    """Return the column types of a query by name, from the database, without running it.

    Args:
        backend: A connected backend of Ibis.
        query: A checked query.

    Returns:
        The type names of the database, or None if Ibis determines them.
    """
    if backend.name == "postgres":
        return _postgres_columns(backend.con, query)
    if backend.name == "duckdb":
        return _duckdb_columns(backend.con, query)
    return None


def _postgres_columns(connection: Any, query: str) -> dict[str, str]:
    """Prepare and describe the statement without running it; the protocol allows only one statement."""
    from psycopg import errors, pq

    server = connection.pgconn
    for answer in (server.prepare(b"", query.encode(connection.info.encoding)), server.describe_prepared(b"")):
        if answer.status != pq.ExecStatus.COMMAND_OK:
            raise errors.error_from_result(answer)
    names = [answer.fname(index).decode(connection.info.encoding) for index in range(answer.nfields)]
    kinds = [connection.adapters.types.get(answer.ftype(index)) for index in range(answer.nfields)]
    return _by_name(names, [kind.name if kind else "unknown" for kind in kinds])


def _duckdb_columns(connection: Any, query: str) -> dict[str, str]:
    import duckdb

    statements = connection.extract_statements(query)
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise ParameterError(
            "query must be one read-only SELECT statement; change it, or use table with a view", field="query"
        )
    relation = connection.sql(query)  # bound, not run
    return _by_name(relation.columns, [str(kind) for kind in relation.types])


def _by_name(names: list[str], kinds: list[str]) -> dict[str, str]:
    if len(set(names)) < len(names):
        raise LogError("query: two columns have the same name; name the columns in the query")
    return dict(zip(names, kinds, strict=True))
