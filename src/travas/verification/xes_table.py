"""The events of an XES release as a table, of a file that has nothing but what travas writes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.case_columns import CASE_PREFIX
from ..sources.reading import TIMESTAMP
from ..sources.unpacking import chunks

if TYPE_CHECKING:
    import polars as pl

Element = tuple[str, frozenset[tuple[str, str]]]
"""The name and the attributes of an element."""

_NAMESPACE = "http://www.xes-standard.org/"
_VALUES = ("string", "int", "float", "date")


class ForeignContentError(ValueError):
    """The file has something that travas does not write, such as a comment, a nested attribute or another key."""


def header_elements(text: str) -> set[Element]:
    """Return the elements of the header of an XES log.

    Args:
        text: The log, up to its first trace.
    """
    from lxml import etree

    return {_element(node) for node in etree.fromstring(f"{text}</log>".encode()).iter()}


def xes_table(path: Path, header: Collection[Element]) -> pl.DataFrame:
    """Return the events of an XES release as they would be in a CSV file; everything is text.

    Args:
        path: The release.
        header: The elements that its header may have.

    Returns:
        One row per event; attributes of a trace are columns of its case.

    Raises:
        ForeignContentError: The file is not XML, or not of the form in which releases are written.
    """
    import polars as pl

    rows: list[dict[str, str]] = []
    for trace in _traces(path, header):
        attributes, events = _parts(trace)
        case = {CASE_PREFIX + key: value for key, value in attributes.items()}
        if any(event.keys() & case.keys() for event in events):
            raise ForeignContentError("an attribute of an event with the name of one of its case")
        rows += [event | case for event in events]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame(
        {name: [row.get(name) for row in rows] for name in names}, schema=dict.fromkeys(names, pl.String)
    )


def _traces(path: Path, header: Collection[Element]) -> Iterator[Any]:
    """Yield the traces; check everything around them."""
    from lxml import etree

    parser: Any = etree.XMLPullParser(
        events=("end", "comment", "pi"), tag="{*}trace", resolve_entities=False, no_network=True
    )
    last = None
    try:
        for chunk in chunks(path, lambda _: None, 1 << 16):
            parser.feed(chunk)
            for event, trace in parser.read_events():
                if event != "end":
                    raise ForeignContentError("a comment")
                if (log := trace.getparent()) is None:
                    raise ForeignContentError("a trace without a log")
                if last is None:
                    _check_header(log, header)
                elif trace.getprevious() is not last or _has_text(last.tail):
                    raise ForeignContentError("something between traces")
                else:
                    log.remove(last)
                yield trace
                trace.clear(keep_tail=True)
                last = trace
        log = parser.close()
    except etree.XMLSyntaxError:
        raise ForeignContentError("not XML") from None
    if last is None:
        _check_header(log, header)
    elif log[-1] is not last or _has_text(last.tail):
        raise ForeignContentError("something after the last trace")


def _check_header(log: Any, header: Collection[Element]) -> None:
    """Check the elements before the first trace, which may be the last of those that were read."""
    children = [child for child in log if _name(child) != "trace"]
    nodes = [log, *(node for child in children for node in child.iter())]
    if any(_element(node) not in header or _has_text(node.text) for node in nodes):
        raise ForeignContentError("an element of the header")
    if log.getroottree().docinfo.doctype or log.nsmap not in ({}, {None: _NAMESPACE}):
        raise ForeignContentError("a document type or a name space")
    if any(_has_text(node.tail) for node in nodes):
        raise ForeignContentError("text")


def _parts(trace: Any) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the attributes of a trace, and those of each of its events."""
    events = [_attributes(node) for node in trace if _name(node) == "event"]
    return _attributes(trace, but="event"), events


def _attributes(parent: Any, but: str = "") -> dict[str, str]:
    """Return the values of the children of an element by their keys, without those of one name."""
    attributes: dict[str, str] = {}
    if parent.attrib or _has_text(parent.text):
        raise ForeignContentError("an attribute of an element, or text")
    for node in parent:
        if _has_text(node.tail):
            raise ForeignContentError("text")
        if (name := _name(node)) == but:
            continue
        key = node.get("key")
        if name not in _VALUES or node.keys() != ["key", "value"] or len(node) or node.text or key in attributes:
            raise ForeignContentError("an attribute")
        attributes[key] = node.get("value").replace(".000+", "+") if key == TIMESTAMP else node.get("value")
    return attributes


def _name(node: Any) -> str:
    return str(node.tag).rpartition("}")[2]


def _element(node: Any) -> Element:
    return _name(node), frozenset(node.attrib.items())


def _has_text(text: str | None) -> bool:
    return bool(text and text.strip())
