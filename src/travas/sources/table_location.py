"""The location of a table: where its catalogue says that it is, however its name was spelled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableLocation:
    """Where a table is, for the ledger.

    Attributes:
        server: The database, or `spark:`.
        table: The schema and the name of the table, with the catalogue unless it is the current one.
        spellings: All names of the table, by which an earlier version of travas may have recorded it.
        ignores_case: Whether the database does; `table` and `spellings` are in lower case then.
    """

    server: str
    table: str
    spellings: frozenset[str]
    ignores_case: bool

    @property
    def text(self) -> str:
        """The location that the ledger records."""
        return f"{self.server} {self.table}"

    def is_spelled(self, location: str) -> bool:
        """Return whether a location is this table, in any spelling.

        Args:
            location: A location that the ledger has recorded.

        Returns:
            True if it is.
        """
        server, table = location[: len(self.server) + 1], location[len(self.server) + 1 :].replace("`", "")
        return server == f"{self.server} " and (table.lower() if self.ignores_case else table) in self.spellings


LogLocation = str | TableLocation
"""Where a log is: the real path of a file, folder or glob, or a table."""


@dataclass(frozen=True)
class Catalogue:
    """What names without a catalogue or a schema refer to in a session.

    Attributes:
        catalog: The current catalogue, or empty.
        schema: The current schema, or empty.
        default_schema: The schema that is current unless a session, role or server has chosen another one, or empty.
        ignores_case: Whether names that differ only in case are one name.
        skips_schema: Whether `catalog.table` is a table of the default schema.
    """

    catalog: str
    schema: str
    default_schema: str
    ignores_case: bool
    skips_schema: bool = False

    def locate(self, server: str, table: str, schema: str = "", catalog: str = "") -> TableLocation:
        """Return the location of a table, the same for all its names.

        Args:
            server: The database, or `spark:`.
            table: The name of the table.
            schema: Its schema; empty if it is not in the name.
            catalog: Its catalogue; empty if it is not in the name.

        Returns:
            The location.
        """
        current = self._folded(self.catalog)
        table, schema, catalog = map(self._folded, (table, schema, catalog))
        if self.skips_schema and not catalog and schema == current:
            schema = self._folded(self.default_schema)
        schema, catalog = schema or self._folded(self.schema), catalog or current
        full = f"{schema}.{table}" if schema else table
        if catalog != current:
            return TableLocation(server, f"{catalog}.{full}", frozenset({f"{catalog}.{full}"}), self.ignores_case)
        spellings = {full, f"{catalog}.{full}"}
        if schema in map(self._folded, (self.schema, self.default_schema)):
            spellings |= {table, f"{catalog}.{table}"} if self.skips_schema else {table}
        return TableLocation(server, full, frozenset(spellings), self.ignores_case)

    def _folded(self, name: str) -> str:
        return name.lower() if self.ignores_case else name
