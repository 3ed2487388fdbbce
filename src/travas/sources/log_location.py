"""The location of a log, by which the ledger identifies a log without a name. It never depends on the content."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import unquote

from .folders import is_pattern

DATABASE_SUFFIXES = (".duckdb", ".db", ".sqlite", ".sqlite3")
"""The extensions of DuckDB and SQLite files; which of the two wrote a file is in its first bytes."""


def url_scheme(text: str) -> str | None:
    """Return the scheme of the URL of a database or of Spark, in lower case; None for anything else, such as a path.

    >>> url_scheme("postgresql://host/db"), url_scheme("spark:"), url_scheme("C:/log.csv"), url_scheme("log.csv")
    ('postgresql', 'spark', None, None)
    """
    scheme = re.match(r"([a-z][a-z0-9+.-]+):(//)?", text, re.IGNORECASE)
    return scheme[1].lower() if scheme and (scheme[2] or scheme[1].lower() == "spark") else None


def database_file(source: str | Path) -> Path | None:
    """Return the file of a DuckDB or SQLite database, by its extension or as `duckdb:///FILE`; None for anything else."""
    text, scheme = str(source), url_scheme(source) if isinstance(source, str) else None
    if scheme in ("duckdb", "sqlite"):  # relative to the root, otherwise to the working directory
        path = Path(unquote(text.partition("://")[2].partition("?")[0]))
        return path if path.is_file() else Path(str(path).lstrip("/"))
    is_database = scheme is None and Path(text).suffix.lower() in DATABASE_SUFFIXES
    return Path(text) if is_database and not Path(text).is_dir() else None


def is_database(source: Any) -> TypeGuard[str | Path]:
    """Return whether a source is a database: its file, or a URL that is not one of Spark."""
    if not isinstance(source, str | Path):
        return False
    return database_file(source) is not None or (isinstance(source, str) and url_scheme(source) not in (None, "spark"))


def location_of(source: Any) -> str | None:
    """Return the location of a log: the real path of a file, folder or glob.

    Symbolic links and relative paths to one file have one location; hard links have several.
    """
    if not isinstance(source, str | Path) or str(source) == "-":
        return None
    try:
        if (database := database_file(source)) is not None:
            return str(database.resolve())
        return None if isinstance(source, str) and url_scheme(source) else _file(str(source))
    except (ValueError, OSError, RuntimeError):  # neither a path nor a URL; reading it raises the error
        return None


def _file(text: str) -> str | None:
    path = Path(text)
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return _glob(path)
    return str(path.resolve()) if kind in (stat.S_IFREG, stat.S_IFDIR) else None


def _glob(path: Path) -> str:
    """Return the real folder and pattern of a glob, or the real path of a file, which need not exist."""
    parts = path.absolute().parts
    first = next((index for index, part in enumerate(parts) if is_pattern(part)), len(parts))
    return str(Path(*parts[:first]).resolve().joinpath(*parts[first:]))


def without_secrets(message: str) -> str:
    """Remove possible passwords from a message: text before the host of a URL, or after `password=`."""
    message = re.sub(r"://.*@", "://…@", message)  # a password may have spaces
    return re.sub(r"(?i)(password|token|secret)=[^\s&]*", r"\1=…", message)
