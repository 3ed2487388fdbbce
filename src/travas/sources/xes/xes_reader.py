"""XES files: streamed trace by trace in constant memory, hardened against malicious files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
from lxml import etree

from ...errors import CONFIDENTIAL, LogError
from ...model.escaped_names import ESCAPED, original_name
from ...model.mechanism import Progress
from ...model.variants import Variants
from ..case_stream import MAX_TRACE_EVENTS, CaseStream, StreamedCase, tie_key
from ..encodings import check_xml_encoding
from ..reading import ACTIVITY, TIMESTAMP, Reading
from ..row_selection import by_level
from ..timestamps import parse_zoned
from ..unpacking import chunks
from ..wording import EXPORT_AGAIN
from .trace_parts import TagLengths, TraceParts
from .xes_malformed import local_name, malformed_xml, neither_event_nor_attribute
from .xes_paths import XesPaths
from .xes_scanner import ParserPosition, PlainTrace, TraceEnds, TraceScanner, is_scannable
from .xes_unseen import UnseenAttributes

CHUNK = 1 << 18
_PROLOG_BYTES = 1 << 20
_HEAD_BYTES = 200
_PATIENCE = 100  # the parser reads the rest once this many more traces were not plain than plain


def read_xes(paths: Sequence[Path], reading: Reading, progress: Progress, where: str) -> Variants:
    """Read the variants of XES files, which may be compressed; several files are one log.

    A DOCTYPE, an attribute over 9.5 MB and an event over 16 MB are refused; the first 10 million events of a trace are
    read. A malicious file costs time but no memory.
    """
    # the standard has a time for every event
    reading = attrs.evolve(reading, details=reading.details.settled("recorded"))
    cases = CaseStream(where, reading)
    for number, path in enumerate(paths):
        document = XesDocument(str(path), reading, cases)
        for chunk in chunks(path, partial(_part, progress, number, len(paths)), CHUNK):
            document.feed(chunk)
        document.close()
    return cases.variants()


def _part(progress: Progress, done: int, number: int, share: float) -> None:
    progress((done + share) / number)


class XesDocument:
    """Feeds the XML parser, hands over traces, and keeps the tree small by removing what was read."""

    scanned_keys: Sequence[str] = ()
    """The keys of events that are read in plain traces; by default those of the reading."""

    paths: XesPaths
    """What is read of the traces; known since `<log>`, like the attributes that were not seen yet."""

    unseen: UnseenAttributes

    def __init__(self, where: str, reading: Reading, cases: CaseStream) -> None:
        self.where, self.reading, self.cases = where, reading, cases
        self.parser = etree.XMLPullParser(
            events=("start", "end"), tag=("{*}log", "{*}trace"), resolve_entities=False, no_network=True, load_dtd=False,
            huge_tree=False, remove_comments=True, remove_pis=True, collect_ids=False,
        )  # fmt: skip
        self.root: Any = None
        self.trace: Any = None
        self.of_trace, _ = by_level(reading.where)
        self.case = self._new_case()
        self.prolog = self.head = b""
        self.by_time = reading.by_time()
        self.reads_times = self.by_time or reading.details.times == "read"
        self.activity_keys = reading.activities or (ACTIVITY,)
        self.keys = self.activity_keys + ((reading.timestamp or TIMESTAMP,) if self.reads_times else ())
        self.tie_seen = False
        self.parts, self.tags = TraceParts(where), TagLengths(where)
        self.scanner: TraceScanner | None = None
        self.may_scan, self.not_plain = True, 0
        self.ends, self.position, self.has_ended = TraceEnds(), ParserPosition(), False
        self.texts = _Texts()
        self.is_escaped = self.is_in_body = False

    def _new_case(self) -> StreamedCase:
        return StreamedCase(undecided=dict(self.of_trace))

    def feed(self, chunk: bytes) -> None:
        """Read the next bytes of the document: plain traces without the parser, everything else with it."""
        if len(self.head) < _HEAD_BYTES:
            self.head += chunk[:_HEAD_BYTES]
        self.tags.add(chunk, self.head)
        if not self.may_scan:
            self._parse(self.ends.rest() + chunk)
            return
        for piece in self.ends.cut(chunk):
            if not self._scan(piece):
                self._parse(piece)
        self.may_scan = self.may_scan and self.not_plain < _PATIENCE

    def _scan(self, piece: bytes) -> bool:
        """Read a piece of the document without the parser, if it is a plain trace."""
        if self.scanner is None or not self.position.is_in_log:
            return False
        trace = self.scanner.scan(piece)
        if trace is None or not self._take_plain(trace):
            self.not_plain += 1
            return False
        self.not_plain = max(self.not_plain - 1, 0)
        self.position.skipped(piece)
        return True

    def _parse(self, piece: bytes) -> None:
        self.has_ended = False
        self._feed_parser(self.position.resume(piece))
        self.position.parsed(piece, self.has_ended and self.trace is None)

    def _feed_parser(self, chunk: bytes) -> None:
        if self.root is None:
            self._check_prolog(chunk)
        try:
            self.parser.feed(chunk)
        except etree.XMLSyntaxError as error:
            raise malformed_xml(self.where, error, self.position) from None
        self.parts.add(len(chunk))
        for event, element in self.parser.read_events():
            if event == "start":
                self._start(element)
                self.parts.restart(len(chunk))
            elif element is self.trace:
                self._end(element)
                self.parts.restart(len(chunk))
        if self.root is not None:
            self._prune()

    def close(self) -> None:
        self._parse(self.ends.rest())
        try:
            root = self.parser.close()
        except etree.XMLSyntaxError as error:
            raise malformed_xml(self.where, error, self.position) from None
        if root is not self.root:
            raise LogError(
                f"{self.where}: not an XES log, the root element is not <log>; check that it is the right file"
            )
        self._stray(root[:])
        self.unseen.report(self.cases, self.where)
        if self.paths.tie is not None and self.cases.traces and not self.tie_seen:
            self.cases.notes.append(f"no event has the attribute {self.reading.ties!r} for the ties; check its name")

    def _check_prolog(self, chunk: bytes) -> None:
        """Check the prolog before <log>: its encoding, that it is short and has no DOCTYPE, which allows entity expansion."""
        self.prolog += chunk.replace(b"\0", b"")  # so that UTF-16 reads like ASCII
        head = self.prolog.partition(b"<log")[0]
        check_xml_encoding(self.where, head)
        if b"<!DOCTYPE" in head:
            raise LogError(f"{self.where}: the file has a DOCTYPE, which XES does not need; remove it")
        if len(head) > _PROLOG_BYTES:
            raise LogError(
                f"{self.where}: not an XES log, no <log> in the first megabyte; check that it is the right file"
            )

    def _start(self, element: Any) -> None:
        parent = element.getparent()
        if parent is None:
            if element.getroottree().docinfo.doctype:
                raise LogError(f"{self.where}: the file has a DOCTYPE, which XES does not need; remove it")
            self.root, self.prolog = element, b""
            self._prepare()
        elif parent is not self.root or element.tag != self.paths.trace_tag:
            raise LogError(
                f"{self.where}: <{local_name(element)}> is not directly in <log>; XES requires <trace> in <log>"
            )
        else:
            self._check_sizes(element.itersiblings(preceding=True))
            self.trace = element
            if not self.is_in_body:
                self._read_header(element.itersiblings(preceding=True))  # what follows may have been parsed already
                self.is_in_body = True

    def _prepare(self) -> None:
        """Compile what is read of the traces, in the namespace of <log>."""
        root, keys = self.root, self.keys
        namespace = root.nsmap.get(root.prefix)
        if namespace and "}" in namespace:  # no name in it can be written for lxml
            raise LogError(f"{self.where}: the namespace of <log> contains a brace; {EXPORT_AGAIN}")
        self.paths = XesPaths.of(self.reading, namespace, keys, self.where)
        self.unseen = UnseenAttributes(self.paths)
        self.may_scan = is_scannable(root, self.head) and self._is_simple() and len(set(keys)) == len(keys)
        self.scanner = TraceScanner(self.scanned_keys or keys) if self.may_scan else None

    def _read_header(self, children: Iterable[Any]) -> None:
        """Note whether names are escaped: a release of travas says so before its first trace (docs/outputs.md)."""
        self.is_escaped = self.is_escaped or any(child.get("key") == ESCAPED for child in children)

    def _is_simple(self) -> bool:
        """Return whether the activities and times of events, and names and units of traces, are all that is read."""
        reading = self.reading
        return not (reading.where or self.paths.attributes or self.paths.tie is not None or reading.lifecycle != "all")

    def _take_plain(self, trace: PlainTrace) -> bool:
        """Count a plain trace; returns False if only the parser can."""
        if not (self.unseen.is_empty and all(map(all, trace.columns))):
            return False
        case, reading = self.case, self.reading
        case.name = trace.own.get((reading.case or ACTIVITY).encode(), b"").decode()
        case.unit = "" if reading.unit is None else trace.own.get(reading.unit.encode(), b"").decode()
        width = len(self.activity_keys)
        columns = [list(map(self.texts.__getitem__, column)) for column in trace.columns[:width]]
        columns += [[str(value, "utf-8") for value in column if value] for column in trace.columns[width:]]
        self._add(columns, trace.events, None)
        self.cases.finish(case)
        self.case = self._new_case()
        return True

    def _select(self, piece: Any) -> bool:
        """Remove the events that are not read, and return whether the trace is."""
        case = self.case
        for key in case.undecided.keys() & case.own.keys():
            case.is_selected = case.is_selected and case.own[key] in case.undecided.pop(key)
        if self.paths.deselected is not None:
            self._check_places(piece, len(list(piece.iterdescendants("{*}event"))))
            for event in self.paths.deselected(piece):
                piece.remove(event)
        return case.is_selected

    def _end(self, trace: Any) -> None:
        """Read the rest of a trace, and finish the case."""
        if self.parts.is_long:
            self._take_parts(self.parts.of_children(trace[:]))
        self._take(trace)
        self.case.is_selected = self.case.is_selected and not self.case.undecided
        self.cases.finish(self.case)
        trace.clear()
        self.trace, self.case, self.has_ended = None, self._new_case(), True

    def _prune(self) -> None:
        root = self.root
        if len(root) > 1:
            self._stray(root[:-1])  # the last child may still be open
            del root[:-1]
        if self.parts.is_due and self.trace is None:
            self.parts.check_open(root)
        elif self.parts.is_due:
            self._take_parts(self.parts.of_open(self.trace))

    def _take_parts(self, parts: Iterable[list[Any]]) -> None:
        """Read parts of a long trace, and remove them from the tree."""
        for part in parts:
            piece = etree.Element(self.paths.trace_tag)
            piece.extend(part)
            self._take(piece)

    def _check_sizes(self, children: Iterable[Any]) -> None:
        """Refuse elements between traces that are too large; nothing is where few bytes were read since the last trace."""
        if self.parts.is_long:
            self.parts.check(children)

    def _stray(self, children: list[Any]) -> None:
        self._check_sizes(children)
        if not self.is_in_body:
            self._read_header(children)
        for child in children:
            if child.tag == self.paths.event_tag:
                self.cases.lacking("events outside any trace, so without a case", "log level")
            elif local_name(child) == "event":
                raise LogError(f"{self.where}: an <event> in <log> is in another namespace than <log>; {EXPORT_AGAIN}")

    def _take(self, piece: Any) -> None:
        """Read the available part of a trace into the case."""
        case, paths = self.case, self.paths
        if not self.unseen.is_empty:
            self.unseen.look(piece)
        if not self.cases.traces and self.reading.lifecycle == "all":
            self.cases.has_lifecycle = self.cases.has_lifecycle or bool(paths.transitions(piece))
        self._identify(piece)
        if not self._select(piece):
            return
        number = len(list(piece.iterdescendants("{*}event")))  # also where an event must not be
        columns = [column(piece) for column in paths.columns]
        is_complete = all(len(column) == number and "" not in column for column in columns)
        if not is_complete or paths.foreign(piece):
            self._check_places(piece, number)
        if not is_complete:
            columns = self._complete(piece, len(columns))
        self._add(columns, number, piece)
        if paths.attributes:
            self._attributes(piece, len(columns[0]))
            case.details.cut(MAX_TRACE_EVENTS)

    def _identify(self, piece: Any) -> None:
        """Read the attributes of the trace itself: of several with the same key the first, in any part of the trace."""
        case = self.case
        for key, element in self.paths.own.items():
            if key not in case.own and (elements := element(piece)):
                case.own[key] = elements[0].get("value", "")
        case.name = case.own.get(self.reading.case or ACTIVITY, "")
        case.unit = "" if self.reading.unit is None else case.own.get(self.reading.unit, "")

    def _add(self, columns: list[list[str]], number: int, piece: Any) -> None:
        """Add events to the case: the columns of their activities and times, and the elements, where more is read of them."""
        case, width = self.case, len(self.activity_keys)
        if self.is_escaped:
            columns = [*(list(map(original_name, column)) for column in columns[:width]), *columns[width:]]
        names = columns[0] if width == 1 else zip(*columns[:width], strict=True)
        case.codes.extend(map(self.cases.codes.__getitem__, names))
        if self.reads_times:
            self._times(piece, columns)
        if self.reading.period is not None:
            case.ends.extend(map(set(self.reading.period.end_activities).__contains__, columns[0]))
        case.events += number
        if len(case.codes) > MAX_TRACE_EVENTS:  # not refused, because one long case must not decide about a release
            case.is_cut = True
            del case.codes[MAX_TRACE_EVENTS:], case.keys[MAX_TRACE_EVENTS:], case.ends[MAX_TRACE_EVENTS:]
            case.details.cut(MAX_TRACE_EVENTS)

    def _check_places(self, piece: Any, number: int) -> None:
        """Refuse a trace with events that are not its children, and children that are neither events nor attributes."""
        if foreign := self.paths.foreign(piece):
            raise neither_event_nor_attribute(self.where, foreign[0], self.cases.traces + 1)
        if number != self.paths.count(piece):
            raise LogError(
                f"{self.where}: an <event> in trace {self.cases.traces + 1:,} is inside an event or an attribute, or in "
                f"another namespace than <log>; {EXPORT_AGAIN} {CONFIDENTIAL}"
            )

    def _complete(self, piece: Any, width: int) -> list[list[str]]:
        """Return the columns of the complete events, and record the others."""
        rows: list[list[str]] = []
        for index, event in enumerate(list(piece.iterchildren(self.paths.event_tag)), start=self.case.events + 1):
            row = [next(iter(cell(event)), "") for cell in self.paths.cells]
            if all(row):
                rows.append(row)
                continue
            what = "an activity" if not all(row[: len(self.activity_keys)]) else "a timestamp"
            self.cases.lacking(f"events without {what}", f"event {index:,} of trace {self.cases.traces + 1:,}")
            piece.remove(event)
        return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]

    def _attributes(self, piece: Any, number: int) -> None:
        """Read the attributes of the trace, and of its events where they have any."""
        details = self.case.details
        for key, (of_event, of_events) in self.paths.attributes.items():
            if value := self.case.own.get(key):
                details.own[key] = value
            values = [""] * number
            if of_events(piece):
                values = [next(iter(of_event(event)), "") for event in piece.iterchildren(self.paths.event_tag)]
            details.values.setdefault(key, []).extend(values)

    def _times(self, piece: Any, columns: list[list[str]]) -> None:
        """Parse timestamps, for the order of the events and for their times."""
        case, form, reads = self.case, self.reading.timestamp_format, self.reading.details.times == "read"
        ties = self._ties(piece, columns) if self.by_time else [()] * len(columns[-1])
        for text, tie in zip(columns[-1], ties, strict=True):
            try:
                nanoseconds, is_aware = parse_zoned(text, form)
            except ValueError:
                raise LogError(
                    f"{self.where}: {text[:60]!r} in trace {self.cases.traces + 1:,} is not a timestamp"
                    f"{f' of the format {form!r}' if form else ''}; set timestamp_format {CONFIDENTIAL}",
                    field="timestamp_format",
                ) from None
            if self.by_time:
                case.keys.append((nanoseconds, *tie))
            if reads:
                case.details.add_time(nanoseconds, is_aware)

    def _ties(self, piece: Any, columns: list[list[str]]) -> list[tuple[Any, ...]]:
        times = columns[-1]
        ties: list[tuple[Any, ...]] = [()] * len(times)
        if self.reading.ties == "activity":
            ties = list(zip(*columns[:-1], strict=True))
        elif (tie := self.paths.tie) is not None:
            values = [next(iter(tie(event)), None) for event in piece.iterchildren(self.paths.event_tag)]
            self.tie_seen = self.tie_seen or any(values)
            ties = [tie_key(value) for value in values]
        return ties


class _Texts(dict[bytes | None, str]):
    """Decodes names, each once."""

    def __missing__(self, name: bytes | None) -> str:
        text = self[name] = "" if name is None else name.decode()
        return text
