"""XES files, read trace by trace into columns: strict about what a case is, lenient about sizes.

Most traces of most logs consist of nothing but `<trace>`, `<event>` and attributes such as
`<string key="concept:name" value="x-ray"/>`. One regular expression checks that a trace is such a plain one, byte by byte,
and takes the values out, several times as fast as a parser that builds a tree. Whatever else XML allows (an entity, a
comment, a nested attribute, a key that occurs twice in an event …) is not plain, and goes to the parser.

The parser sees the rest of the document, so a plain trace may be left out only where the parser is directly inside `<log>`.
This is so behind a piece of the document that

1. begins behind `</trace>` and ends in `</trace>`,
2. contains neither `<!` nor `<?`, and
3. contains the end of a trace that the parser has reported, directly in `<log>`, and after it no trace is open.

By 3 the parser is outside comments, sections and instructions somewhere in the piece, and by 1 and 2 none begins there.
So every `<` after it starts a tag, because XML allows it in no attribute value. The last one is `</trace>`, and nothing is
open then but `<log>`. A plain trace is complete in itself, so behind it the same holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from lxml import etree

from ..errors import CONFIDENTIAL, LogError
from ..log.escaped_names import ESCAPED
from ..log.log import Log
from ..mechanisms.mechanism import Progress
from .files import chunks, is_supported
from .messages import EXPORT_AGAIN
from .reading import CASE, TRACE_LEVEL, Reading
from .traces import TraceLog

CHUNK = 1 << 18
_HEAD_BYTES = 200
_FIRST = 2  # the parser reads these traces of a file and notes which attributes there are
_LONGEST = 4 << 20  # longer traces go to the parser

END = b"</trace>"
_SPACE = rb"[ \t\r\n]*+"
_TEXT = rb'[^"<&\x00-\x1f]*+'
_KIND = rb"<(?:string|date|int|float|boolean|id) key=\""
_OWN = re.compile(rb"%s(%s)\" value=\"(%s)\"%s/>" % (_KIND, _TEXT, _TEXT, _SPACE))
_HEAD = re.compile(
    rb"%s<trace>%s(?:%s%s\" value=\"%s\"%s/>%s)*+" % (_SPACE, _SPACE, _KIND, _TEXT, _TEXT, _SPACE, _SPACE)
)
_NOT_XML = re.compile("[\ufffe\uffff]")
_UTF_8 = re.compile(
    rb"""(?:\xef\xbb\xbf)?(?:<\?xml\s+version\s*=\s*["']1\.0["'](?:\s+encoding\s*=\s*["'](?i:utf-8)["'])?"""
    rb"""(?:\s+standalone\s*=\s*["'](?:yes|no)["'])?\s*\?>|\s*<[^?\0])"""
)


class EventTable:
    """Collects attributes of events, all of them or those with some keys, and all of their traces."""

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        self.keys = keys
        self.is_escaped, self.stray = False, 0
        self.of_trace: set[str] = set()
        self.of_event: set[str] = set()
        self.traces: list[Mapping[str, str]] = []
        self._events: list[Mapping[str, bytes | None]] = []
        self._lengths: list[int] = []

    def add(self, own: Mapping[str, bytes], columns: Sequence[Sequence[bytes | None]], _: int) -> None:
        """Add a trace: its own attributes, and the values of each key in its events."""
        rows = zip(*columns, strict=True)
        self.add_events(own, [dict(zip(self.keys or (), row, strict=True)) for row in rows])

    def add_events(self, own: Mapping[str, bytes], events: Sequence[Mapping[str, bytes | None]]) -> None:
        """Add a trace and its events."""
        self.traces.append({f"{TRACE_LEVEL}{key}": value.decode() for key, value in own.items()})
        self._events += events
        self._lengths.append(len(events))

    def frame(self, is_wanted: Callable[[str], bool] = lambda _: True) -> pl.DataFrame:
        """Return one row for each event: the name of its trace, its attributes, and the wanted ones of its trace as `case:…`.

        Values are text, and empty ones null; what no event has is no column. A trace without a name is called by its number.
        """
        owner = np.repeat(np.arange(len(self._lengths)), self._lengths)
        names = [each.get(CASE) or f"trace {number}" for number, each in enumerate(self.traces, start=1)]
        of_trace = [key for key in _names(self.traces) if key != CASE and is_wanted(key)]
        own = [pl.Series(key, [each.get(key) or None for each in self.traces], pl.String) for key in of_trace]
        of_event = [
            pl.Series(key, [each.get(key) or None for each in self._events], pl.Binary).cast(pl.String)
            for key in _names(self._events)
            if key not in (CASE, *of_trace)
        ]
        known = [each for each in of_event if each.null_count() < len(each)]
        return pl.DataFrame([pl.Series(CASE, names).gather(owner), *known, *(each.gather(owner) for each in own)])


def _names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return [*dict.fromkeys(name for row in rows for name in row)]


def events_of(paths: Sequence[Path], keys: Sequence[str] | None = None) -> EventTable:
    """Read the attributes of the events of files, or those with some keys, and all attributes of traces."""
    table = EventTable(keys)
    for path in paths:
        _Document(path, keys, table).read()
    return table


def read_xes(paths: Sequence[Path], reading: Reading, progress: Progress, where: str) -> Log:
    """Read the variants of XES files, which may be compressed; several files are one log."""
    traces = TraceLog(where, reading)
    for number, path in enumerate(paths):

        def watch(share: float, done: int = number) -> None:
            progress((done + share) / len(paths))

        traces.is_escaped = False
        _Document(path, traces.event_keys, traces).read(watch)
        traces.flush()
    return traces.variants()


class _Document:
    """Feeds the parser, hands over traces, and keeps the tree small by removing what was read."""

    root: Any = None
    trace: Any = None
    trace_tag = event_tag = ""
    number = 0
    head = b""
    has_skipped = is_behind_end = is_in_log = has_ended = is_in_body = False

    def __init__(self, path: Path, keys: Sequence[str] | None, sink: TraceLog | EventTable) -> None:
        self.path, self.where, self.keys, self.sink = path, str(path), keys, sink
        # no collect_ids=False: with it, lxml opens the file that a DOCTYPE names
        self.parser = etree.XMLPullParser(
            events=("start", "end"), tag=("{*}log", "{*}trace"), resolve_entities=False, no_network=True, load_dtd=False,
            huge_tree=True, remove_comments=True, remove_pis=True,
        )  # fmt: skip
        self.scanner = None if keys is None else TraceScanner(keys)

    def read(self, progress: Progress = lambda _: None) -> None:
        """Read a document: plain traces without the parser, everything else with it."""
        try:
            self._read(progress)
        except etree.XMLSyntaxError as error:
            if self.has_skipped:  # the parser must see all of it for the position of the error in the file
                return _Document(self.path, None, EventTable()).read()
            raise _malformed(self.where, error) from None

    def _read(self, progress: Progress) -> None:
        rest = b""
        for chunk in chunks(self.path, progress, CHUNK):
            begin, text = 0, rest + chunk
            self.head = self.head or text[:_HEAD_BYTES]
            end = text.find(END, max(len(rest) - len(END), 0))
            while end >= 0 and self.scanner is not None:
                end += len(END)
                self._read_piece(text[begin:end])
                begin, end = end, text.find(END, end)
            rest = text[begin:]
            if self.scanner is None or len(rest) > _LONGEST:
                self._parse(rest)
                rest = b""
        self._parse(rest)
        root = self.parser.close()
        if root is not self.root:
            raise LogError(f"{self.where}: not XES, the root element is not <log>; check that it is the right file")
        if not is_supported(encoding := root.getroottree().docinfo.encoding or "utf-8"):  # not known before
            raise LogError(f"{self.where}: the encoding {encoding!r} is not supported; convert the file to UTF-8")
        self._stray(root[:])

    def _read_piece(self, piece: bytes) -> None:
        """Read a piece of the document that ends in `</trace>`."""
        scanner = self.scanner if self.is_in_log and self.number >= _FIRST else None
        if scanner is not None and (trace := scanner.scan(piece)) is not None:
            self.sink.add(*trace)
            self.number += 1
            self.has_skipped = True
            return
        is_whole = self.is_behind_end and b"<!" not in piece and b"<?" not in piece
        self._parse(piece)
        self.is_behind_end = True
        self.is_in_log = is_whole and self.has_ended and self.trace is None

    def _parse(self, piece: bytes) -> None:
        self.has_ended = self.is_behind_end = False
        self.parser.feed(piece)
        for event, element in self.parser.read_events():
            if event == "start":
                self._start(element)
            elif element is self.trace:
                self._take(element)
                element.clear()
                self.trace, self.has_ended = None, True
        if self.root is not None and len(self.root) > 1:
            self._stray(self.root[:-1])  # the last child may still be open
            del self.root[:-1]

    def _start(self, element: Any) -> None:
        parent = element.getparent()
        if parent is None:
            if element.getroottree().docinfo.doctype:  # it allows entities
                raise LogError(f"{self.where}: the file has a DOCTYPE, which XES does not need; remove it")
            self.root, prefix = element, element.tag.removesuffix("log")
            self.trace_tag, self.event_tag = f"{prefix}trace", f"{prefix}event"
            self.scanner = self.scanner if is_scannable(element, self.head) else None
        elif parent is not self.root or element.tag != self.trace_tag:
            raise LogError(f"{self.where}: <{_local_name(element)}> is not directly in <log>; XES requires it there")
        else:
            self.trace = element
            if not self.is_in_body:
                self._read_header(element.itersiblings(preceding=True))  # what follows may have been parsed already
                self.is_in_body = True

    def _read_header(self, children: Iterable[Any]) -> None:
        """Note whether names are escaped: a release of travas says so before its first trace (docs/outputs.md)."""
        self.sink.is_escaped = self.sink.is_escaped or any(child.get("key") == ESCAPED for child in children)

    def _stray(self, children: list[Any]) -> None:
        """Count events outside traces."""
        if not self.is_in_body:
            self._read_header(children)
        for child in children:
            if child.tag == self.event_tag:
                self.sink.stray += 1
            elif _local_name(child) == "event":
                raise LogError(f"{self.where}: an <event> in <log> is in another namespace than <log>; {EXPORT_AGAIN}")

    def _take(self, trace: Any) -> None:
        """Hand over a trace."""
        self.number += 1
        attributes = [child for child in trace if child.tag != self.event_tag]
        for child in attributes:
            if child.get("key") is None:
                if (name := _local_name(child)) == "event":
                    raise self._misplaced("an <event>", "is in another namespace than <log>")
                raise self._misplaced(f"<{name[:60]}>", "is neither an <event> nor an attribute with a key")
        own, events = _values(attributes), [_values(event) for event in trace.iterchildren(self.event_tag)]
        if len(events) != sum(1 for _ in trace.iterdescendants("{*}event")):
            raise self._misplaced("an <event>", "is inside an event or an attribute, or in another namespace")
        if self.number <= _FIRST:
            self.sink.of_trace.update(own)
            self.sink.of_event.update(*events)
        if self.keys is not None:
            self.sink.add(own, [[event.get(key) for event in events] for key in self.keys], len(events))
        elif isinstance(self.sink, EventTable):
            self.sink.add_events(own, events)

    def _misplaced(self, element: str, problem: str) -> LogError:
        """Return the error for an element of a trace that may be an event and would not be counted."""
        return LogError(f"{self.where}: {element} in trace {self.number:,} {problem}; {EXPORT_AGAIN} {CONFIDENTIAL}")


def _values(attributes: Iterable[Any]) -> dict[str, bytes]:
    """Return the values of attributes by their keys: of several with the same key the first."""
    found: dict[str, bytes] = {}
    for attribute in attributes:
        if (key := attribute.get("key")) is not None:
            found.setdefault(key, attribute.get("value", "").encode())
    return found


def _local_name(element: Any) -> str:
    """Return the name of an element without its namespace."""
    name: str = element.tag.rpartition("}")[2]
    return name


def _malformed(where: str, error: etree.XMLSyntaxError) -> LogError:
    """Return the error for what the parser refuses."""
    entries: Any = error.error_log
    last = entries[-1] if len(entries) else None
    (line, column), kind = error.position, last.type_name if last else ""
    if last and not line:
        line, column = last.line, last.column
    reason = kind.removeprefix("ERR_").replace("_", " ").lower() or "syntax error"
    remedy = "convert the file to UTF-8" if "encoding" in reason else EXPORT_AGAIN
    return LogError(f"{where}: malformed XML at line {line}, column {column} ({reason}); {remedy} {CONFIDENTIAL}")


def is_scannable(root: Any, head: bytes) -> bool:
    """Return whether the traces of a document can be plain: it is UTF-8, and `<log>` has no prefix, as they have none."""
    return root.prefix is None and _UTF_8.match(head) is not None


class TraceScanner:
    """Takes the values of some keys out of plain traces."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Prepare to read the values of these keys of events; each is read once."""
        self._width = len(keys)
        names = [re.escape(key.encode()) for key in keys]
        # a group that is set already makes the match fail: this key was there before
        kinds = [rb'(?(%d)(?!))%s" value="(%s)' % (number, name, _TEXT) for number, name in enumerate(names, start=1)]
        other = rb'(?!(?:%s)")' % rb"|".join(names) if names else b""
        kinds.append(rb'%s%s" value="%s' % (other, _TEXT, _TEXT))
        attribute = rb"%s(?:%s)\"%s/>%s" % (_KIND, rb"|".join(kinds), _SPACE, _SPACE)
        self._event = re.compile(rb"<event>%s(?:%s)*+</event>%s" % (_SPACE, attribute, _SPACE))

    def scan(self, text: bytes) -> tuple[dict[str, bytes], list[list[bytes | None]], int] | None:
        """Return what a sink takes of a trace, from the text up to its end; None if it is not plain or has no events."""
        if not _is_xml_text(text):
            return None
        parts: list[Any] = self._event.split(text)
        step = self._width + 1
        between = parts[::step]
        if between.pop() != END or not between or any(between[1:]) or _HEAD.fullmatch(between[0]) is None:
            return None
        own = {key.decode(): value for key, value in reversed(_OWN.findall(between[0]))}
        return own, [parts[index::step] for index in range(1, step)], len(between)


def _is_xml_text(text: bytes) -> bool:
    """Return whether text is UTF-8 without the two characters above the control characters that XML excludes."""
    if text.isascii():
        return True
    try:
        return _NOT_XML.search(text.decode()) is None
    except UnicodeDecodeError:
        return False
