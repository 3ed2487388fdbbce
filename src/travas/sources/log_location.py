"""The location of a log, by which the ledger identifies a log without a name. It never depends on the content."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from .folders import is_pattern

_SYNONYMS = {"postgres": "postgresql"}
_DEFAULT_PORTS = {"postgresql": 5432, "trino": 8080}
_IDENTIFYING = ("host", "hostaddr", "port", "dbname", "service")
"""URL parameters that locate the data. Others are dropped, because they may be passwords."""


def url_scheme(text: str) -> str | None:
    """Return the scheme of the URL of a database or of Spark, in lower case; None for anything else, such as a path.

    >>> url_scheme("postgresql://host/db"), url_scheme("spark:"), url_scheme("C:/log.csv"), url_scheme("log.csv")
    ('postgresql', 'spark', None, None)
    """
    scheme = re.match(r"([a-z][a-z0-9+.-]+):(//)?", text, re.IGNORECASE)
    return scheme[1].lower() if scheme and (scheme[2] or scheme[1].lower() == "spark") else None


def location_of(source: Any) -> str | None:
    """Return the location of a log: the real path of a file, folder or glob.

    Symbolic links and relative paths to one file have one location; hard links have several.

    Args:
        source: The source, as for `travas.read`.

    Returns:
        The location, or None for an object in memory, standard input, a pipe, a database or Spark.
    """
    if not isinstance(source, str | Path):
        return None
    text = str(source)
    scheme = url_scheme(text) if isinstance(source, str) else None
    try:
        return _file(text) if scheme is None else None
    except (ValueError, OSError, RuntimeError):  # neither a path nor a URL; reading it raises the error
        return None


def _file(text: str) -> str | None:
    path = Path(text)
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return None if text == "-" else _glob(path)
    return str(path.resolve()) if kind in (stat.S_IFREG, stat.S_IFDIR) else None


def _glob(path: Path) -> str:
    """Return the real folder and pattern of a glob, or the real path of a file, which need not exist."""
    parts = path.absolute().parts
    first = next((index for index, part in enumerate(parts) if is_pattern(part)), len(parts))
    return str(Path(*parts[:first]).resolve().joinpath(*parts[first:]))


def database_of(url: str) -> str | None:
    """Return the URL of a database without user, password and options; the real path of a DuckDB file.

    Args:
        url: The URL, as for `travas.read`.

    Returns:
        The URL, or None if it has a user name or password with an unescaped slash, which must not be recorded.
    """
    try:
        parts = urlsplit(url)
        if "@" in parts.path:
            return None
        return f"duckdb://{_duckdb_path(url)}" if parts.scheme.lower() == "duckdb" else _without_credentials(url)
    except (ValueError, OSError, RuntimeError):  # not a URL; reading it raises the error
        return None


def _duckdb_path(url: str) -> str:
    """Return the file as it is opened: relative to the root, otherwise to the working directory."""
    text = unquote(url.partition("://")[2].partition("?")[0])
    path = next((path for path in (Path(text), Path(text.lstrip("/"))) if path.is_file()), Path(text))
    return str(path.resolve())


def _without_credentials(url: str) -> str:
    """Return the URL without user, password and parameters that do not locate the data."""
    parts = urlsplit(url)
    scheme = _SYNONYMS.get(parts.scheme.lower(), parts.scheme.lower())
    host = parts.netloc.rpartition("@")[2].lower().removesuffix(f":{_DEFAULT_PORTS.get(scheme)}")
    query = urlencode(sorted(pair for pair in parse_qsl(parts.query) if pair[0] in _IDENTIFYING))
    prefix = f"{scheme}://" if scheme else ""
    return f"{prefix}{host}{parts.path}{'?' if query else ''}{query}"
