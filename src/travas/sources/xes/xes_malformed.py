"""The errors for malformed XES files, which say where."""

from __future__ import annotations

from typing import Any

from lxml import etree

from ...errors import CONFIDENTIAL, LogError
from ..wording import EXPORT_AGAIN
from .xes_scanner import ParserPosition


def malformed_xml(where: str, error: etree.XMLSyntaxError, position: ParserPosition) -> LogError:
    """Return the error for what the parser refuses.

    Args:
        where: The file.
        error: That of the parser.
        position: Where the parser is in the file.

    Returns:
        The error, with the line and column of the file.
    """
    entries: Any = error.error_log
    last = entries[-1] if len(entries) else None
    (line, column), kind = error.position, last.type_name if last else ""
    if last and not line:
        line, column = last.line, last.column
    line, column = position.in_file(line, column)
    if "RESOURCE_LIMIT" in kind or "too long" in str(error) or "huge" in str(error).lower():
        return LogError(
            f"{where}: line {line}, column {column}: a value is over 10 MB, or elements are nested too "
            f"deeply; {EXPORT_AGAIN} {CONFIDENTIAL}"
        )
    reason = kind.removeprefix("ERR_").replace("_", " ").lower() or "syntax error"
    return LogError(f"{where}: malformed XML at line {line}, column {column} ({reason}); {EXPORT_AGAIN} {CONFIDENTIAL}")


def neither_event_nor_attribute(where: str, child: Any, number: int) -> LogError:
    """Return the error for an element of a trace that may be an event and would not be counted.

    Args:
        where: The file.
        child: The element.
        number: The number of the trace.

    Returns:
        The error.
    """
    name, trace = local_name(child), f"trace {number:,}"
    what = f"<{name[:60]}> in {trace} is neither an <event> nor an attribute with a key"
    if name == "event":
        what = f"an <event> in {trace} is in another namespace than <log>"
    return LogError(f"{where}: {what}; {EXPORT_AGAIN} {CONFIDENTIAL}")


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace."""
    name: str = element.tag.rpartition("}")[2]
    return name
