"""XES files: streamed trace by trace in constant memory, hardened against malicious files."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from ..errors import CONFIDENTIAL, LogError
from ..model.mechanism import Progress
from ..model.traces import Codes
from ..model.variants import Roles, Variants
from .chunks import chunks
from .closing import Period
from .columns import ACTIVITY, TIMESTAMP, Reading, released_columns
from .contribution_bounding import Kept, case_digest, several_units
from .encoded_stream import CaseDetails, StreamEncoder
from .timestamps import parse_zoned
from .wording import NO_EVENTS, available_names, left_out_note, missing_message, number_of

MAX_TRACE_EVENTS = 10_000_000
MAX_ELEMENT_BYTES = 16 << 20
_CHUNK = 1 << 18
_OPEN_TRACE_BYTES = 4 << 20
_PROLOG_BYTES = 1 << 20
_NAMES = 100
_EXPORT_AGAIN = "fix the log, or export it again"


def read_xes(path: Path, reading: Reading, progress: Progress) -> Variants:
    """Read the variants of a `.xes` or `.xes.gz` file.

    A DOCTYPE, an attribute over 10 MB and an event over 16 MB are refused; the first 10 million events of a trace are
    read. A malicious file costs time but no memory.
    """
    reading = replace(reading, details=reading.details.settled("recorded"))  # the standard has a time for every event
    cases = _Cases(str(path), reading)
    document = _Document(str(path), reading, cases)
    for chunk in chunks(path, progress, _CHUNK):
        document.feed(chunk)
    document.close()
    return cases.variants()


@dataclass
class _Case:
    """The case read so far: the codes of its activities and, if ordered by time, their sort keys.

    `ends` says which of them are end activities, if only the cases of a period are counted.
    """

    name: str = ""
    unit: str = ""
    trace: int = 0
    codes: array[int] = field(default_factory=lambda: array("I"))
    keys: list[tuple[Any, ...]] = field(default_factory=list)
    ends: list[bool] = field(default_factory=list)
    details: CaseDetails = field(default_factory=CaseDetails)
    events: int = 0
    is_cut: bool = False

    def sort(self) -> Sequence[int]:
        """Put the events in the order of their sort keys, if there are any; return that order of the file's events."""
        order: Sequence[int] = range(len(self.codes))
        if self.keys:
            order = sorted(order, key=self.keys.__getitem__)
            self.codes = array("I", (self.codes[index] for index in order))
            self.keys = [self.keys[index] for index in order]
            self.ends = [self.ends[index] for index in order] if self.ends else []
        return order

    def close(self, period: Period) -> None:
        """Remove what comes after the closing of the case, or everything if it is not closed in the period."""
        times = [key[0] // 1000 for key in self.keys]
        del self.codes[period.trace_length(times, self.ends) :]


class _Cases:
    """Collects cases into variants, and missing or duplicate values into one error."""

    def __init__(self, where: str, reading: Reading) -> None:
        self.where, self.reading = where, reading
        self.codes = Codes()
        self.counts: Counter[bytes] = Counter()
        self.kept = None if reading.unit is None else Kept(reading)
        self.named: dict[str, int] = {}
        self.merged: dict[str, _Case] = {}
        self.traces = 0
        self.missing: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.empty = 0
        self.cut = 0
        self.notes: list[str] = []
        self.encoder = StreamEncoder(reading.details) if reading.details else None

    def lacking(self, what: str, position: str, number: int = 1) -> None:
        self.missing[what] += number
        self.first.setdefault(what, position)

    def finish(self, case: _Case) -> None:
        """Finish a trace: it is a case, unless something is missing."""
        self.traces += 1
        self.cut += case.is_cut
        case.trace = self.traces
        policy = self.reading.duplicate_cases
        if policy != "separate" and not case.name:
            self.lacking("traces without a name, which may be part of one case", f"trace {self.traces:,}")
            return
        if policy == "fail":
            earlier = self.named.setdefault(case.name, self.traces)
            if earlier != self.traces:
                raise LogError(
                    f"{self.where}: traces {earlier:,} and {self.traces:,} have the same name; set duplicate_cases to "
                    f"'merge' if they are one case, or to 'separate' if they are different cases {CONFIDENTIAL}",
                    field="duplicate_cases",
                )
        if policy == "merge":
            merged = self.merged.setdefault(case.name, case)
            if merged is not case:
                if merged.unit and case.unit and merged.unit != case.unit:
                    raise several_units(self.where, str(self.reading.unit), case.name)
                merged.unit = merged.unit or case.unit
                merged.codes.extend(case.codes)
                merged.keys.extend(case.keys)
                merged.ends.extend(case.ends)
                merged.details.extend(case.details)
        else:
            self._count(case)

    def _count(self, case: _Case) -> None:
        keys = case.keys if self.reading.ties == "activity" else None
        order = case.sort()
        if not case.codes:
            self.empty += 1
            return
        if self.reading.period is not None:
            case.close(self.reading.period)
        if not case.codes:
            return
        if self.kept is not None and not case.unit:
            self.lacking(f"cases without the unit {self.reading.unit!r}", f"trace {case.trace:,}")
            return
        if self.kept is None:
            self.counts[case.codes.tobytes()] += 1
        else:
            self.kept.add(case.unit, case.name, case.codes.tobytes())
        if self.encoder is not None:
            owner = None if self.kept is None else (case.unit, case_digest(case.name))
            self.encoder.add(case.codes, case.details, order[: len(case.codes)], keys, owner)

    def variants(self) -> Variants:
        for case in self.merged.values():
            self._count(case)
        if self.reading.on_missing == "fail":
            for what, number in self.missing.items():
                drop = "set on_missing to 'drop'"
                if what.startswith("traces"):
                    drop += ", or set duplicate_cases to 'separate' if every trace is a case"
                raise LogError(missing_message(self.where, what, number, self.first[what], drop))
        if self.kept is not None:
            self.counts = self.kept.counts()
        notes = [*self.notes, *(left_out_note(number, what) for what, number in self.missing.items())]
        if not self.counts and not self.missing:
            notes.append(NO_EVENTS)
        if self.cut:
            notes.append(f"only the first {MAX_TRACE_EVENTS:,} events of {number_of(self.cut, 'traces')} were read")
        if self.empty:
            notes.append(f"{left_out_note(self.empty, 'traces without events')}")
        counts = np.fromiter(self.counts.values(), dtype=np.int64, count=len(self.counts))
        columns = released_columns(self.reading.activities or (ACTIVITY,))
        unit, counted = self.reading.privacy_unit, self.reading.counts_of
        reads_times = self.reading.by_time() or self.reading.details.times == "read"
        roles = Roles(
            self.reading.case or ACTIVITY,
            self.reading.activities or (ACTIVITY,),
            self.reading.timestamp or TIMESTAMP if reads_times else None,
        )
        kept = None if self.kept is None else self.kept.owners()
        totals = None if self.encoder is None else self.encoder.totals(self.codes, kept)
        return Variants(
            list(self.codes),
            list(self.counts),
            counts,
            columns,
            tuple(notes),
            unit=unit,
            counted=counted,
            roles=roles,
            totals=totals,
        )


class _Document:
    """Feeds the XML parser, hands over traces, and keeps the tree small by removing what was read."""

    def __init__(self, where: str, reading: Reading, cases: _Cases) -> None:
        self.where, self.reading, self.cases = where, reading, cases
        self.parser = etree.XMLPullParser(
            events=("start", "end"), tag=("{*}log", "{*}trace"), resolve_entities=False, no_network=True, load_dtd=False,
            huge_tree=False, remove_comments=True, remove_pis=True, remove_blank_text=True, collect_ids=False,
        )  # fmt: skip
        self.root: Any = None
        self.trace: Any = None
        self.case = _Case()
        self.prolog = b""
        self.by_time = reading.by_time()
        self.reads_times = self.by_time or reading.details.times == "read"
        self.tie_seen = False
        self.unseen: list[tuple[str, str, str, Any]] = []
        self.present: dict[str, set[str]] = {"event": set(), "trace": set()}
        self.pending = 0  # bytes fed since something was last removed from the tree

    def feed(self, chunk: bytes) -> None:
        if self.root is None:
            self._check_prolog(chunk)
        try:
            self.parser.feed(chunk)
        except etree.XMLSyntaxError as error:
            raise self._malformed(error) from None
        self.pending += len(chunk)
        for event, element in self.parser.read_events():
            if event == "start":
                self._start(element)
            elif element is self.trace:
                self._take(element)
                self.cases.finish(self.case)
                element.clear()
                self.trace, self.case, self.pending = None, _Case(), 0
        if self.root is not None:
            self._prune()

    def close(self) -> None:
        try:
            root = self.parser.close()
        except etree.XMLSyntaxError as error:
            raise self._malformed(error) from None
        if root is not self.root:
            raise LogError(
                f"{self.where}: not an XES log, the root element is not <log>; check that it is the right file"
            )
        self._stray(root[:])
        for level, key, role, _ in self.unseen:
            if present := sorted(self.present[level], key=lambda name: (":" not in name, name)):
                hint = available_names(present, 10, key)
                if self.reading.on_missing == "fail" and self.cases.missing:
                    raise LogError(f"{self.where}: no {level} has the attribute {key!r} for the {role}; {hint}")
                self.cases.notes.append(f"no {level} has the attribute {key!r} for the {role}; {hint}")
        if self.tie is not None and self.cases.traces and not self.tie_seen:
            self.cases.notes.append(f"no event has the attribute {self.reading.ties!r} for the ties; check its name")

    def _check_prolog(self, chunk: bytes) -> None:
        """Check that the prolog before <log> is short and has no DOCTYPE, which allows entity expansion attacks."""
        self.prolog += chunk.replace(b"\0", b"")  # so that UTF-16 reads like ASCII
        head = self.prolog.partition(b"<log")[0]
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
            self._compile(etree.QName(element).namespace)
        elif parent is not self.root or element.tag != self.trace_tag:
            raise LogError(
                f"{self.where}: <{etree.QName(element).localname}> is not directly in <log>; XES requires <trace> in <log>"
            )
        else:
            self.trace = element

    def _compile(self, namespace: str | None) -> None:
        """Compile one XPath per key: at most one value per event, so as many values as events means none is missing."""
        prefix = f"{{{namespace}}}" if namespace else ""
        self.trace_tag, self.event_tag = prefix + "trace", prefix + "event"
        step = "x:event" if namespace else "event"
        spaces = {"x": namespace} if namespace else None
        reading = self.reading
        self.activity_keys = reading.activities or (ACTIVITY,)
        keys = list(self.activity_keys)
        if self.reads_times:
            keys.append(reading.timestamp or TIMESTAMP)

        def values(key: str, of: str = "") -> Any:
            if not key.isprintable():
                raise LogError(f"{self.where}: {key!r} cannot be the key of an XES attribute; check the name")
            return etree.XPath(f"{of}*[@key={_quoted(key)}][1]/@value", namespaces=spaces, smart_strings=False)

        self.columns = [values(key, step + "/") for key in keys]
        self.cells = [values(key) for key in keys]
        tie = reading.tie_column()
        self.tie = None if tie is None else values(tie)
        self.name = values(reading.case or ACTIVITY)
        self.unit = None if reading.unit is None else values(reading.unit)
        details = (*reading.details.attributes, *reading.details.numbers)
        self.attributes = {key: (values(key), values(key, step + "/")) for key in details}
        self.count: Any = etree.XPath(f"count({step})", namespaces=spaces)
        self.without_key: Any = etree.XPath("count(*[not(@key)])")
        self.foreign: Any = etree.XPath(f"*[not(@key)][not(self::{step})][1]", namespaces=spaces)
        self.names: dict[str, Any] = {
            level: etree.XPath(f"{of}*/@key", namespaces=spaces, smart_strings=False)
            for level, of in (("event", f"{step}/"), ("trace", ""))
        }
        roles = ["activity"] * len(self.activity_keys) + ["timestamp"] * self.reads_times
        self.unseen = [("event", *wanted) for wanted in zip(keys, roles, self.columns, strict=True)]
        if reading.case is not None and reading.duplicate_cases != "separate":
            self.unseen.append(("trace", reading.case, "case", self.name))
        if reading.unit is not None:
            self.unseen.append(("trace", reading.unit, "unit", self.unit))

    def _prune(self) -> None:
        root = self.root
        if len(root) > 1:
            self._stray(root[:-1])  # the last child may still be open
            del root[:-1]
            self.pending = 0
        elif self.trace is not None and self.pending > _OPEN_TRACE_BYTES and len(self.trace) > 1:
            piece = etree.Element(self.trace_tag)
            piece.extend(self.trace[:-1])
            self._take(piece)
            self.pending = 0
        if self.pending > MAX_ELEMENT_BYTES:
            raise LogError(f"{self.where}: an element is larger than {MAX_ELEMENT_BYTES >> 20} MB; {_EXPORT_AGAIN}")

    def _stray(self, children: list[Any]) -> None:
        for child in children:
            if child.tag == self.event_tag:
                self.cases.lacking("events outside any trace, so without a case", "log level")
            elif child.tag.rpartition("}")[2] == "event":
                raise LogError(f"{self.where}: an <event> in <log> is in another namespace than <log>; {_EXPORT_AGAIN}")

    def _neither_event_nor_attribute(self, child: Any) -> LogError:
        """Return the error for an element that may be an event and would not be counted."""
        name, trace = etree.QName(child).localname, f"trace {self.cases.traces + 1:,}"
        what = f"<{name[:60]}> in {trace} is neither an <event> nor an attribute with a key"
        if name == "event":
            what = f"an <event> in {trace} is in another namespace than <log>"
        return LogError(f"{self.where}: {what}; {_EXPORT_AGAIN} {CONFIDENTIAL}")

    def _take(self, piece: Any) -> None:
        """Read the available part of a trace into the case."""
        case = self.case
        if self.unseen:
            self._look(piece)
        if not case.name:
            case.name = next(iter(self.name(piece)), "")
        if self.unit is not None and not case.unit:
            case.unit = next(iter(self.unit(piece)), "")
        number = len(list(piece.iterdescendants("{*}event")))  # also where an event must not be
        columns = [column(piece) for column in self.columns]
        is_complete = all(len(column) == number and "" not in column for column in columns)
        if not is_complete or self.without_key(piece) != number:
            self._check_places(piece, number)
        if not is_complete:
            columns = self._complete(piece, len(columns))
        width = len(self.activity_keys)
        names = columns[0] if width == 1 else zip(*columns[:width], strict=True)
        case.codes.extend(map(self.cases.codes.__getitem__, names))
        if self.reads_times:
            self._times(piece, columns)
        if self.reading.period is not None:
            case.ends.extend(map(set(self.reading.period.end_activities).__contains__, columns[0]))
        if self.attributes:
            self._attributes(piece, len(columns[0]))
        case.events += number
        if (
            len(case.codes) > MAX_TRACE_EVENTS
        ):  # cut rather than refused, because one long case must not decide about a release
            case.is_cut = True
            del case.codes[MAX_TRACE_EVENTS:], case.keys[MAX_TRACE_EVENTS:], case.ends[MAX_TRACE_EVENTS:]
            case.details.cut(MAX_TRACE_EVENTS)

    def _check_places(self, piece: Any, number: int) -> None:
        """Refuse a trace with events that are not its children, and children that are neither events nor attributes."""
        if foreign := self.foreign(piece):
            raise self._neither_event_nor_attribute(foreign[0])
        if number != self.count(piece):
            raise LogError(
                f"{self.where}: an <event> in trace {self.cases.traces + 1:,} is inside an event or an attribute, or in "
                f"another namespace than <log>; {_EXPORT_AGAIN} {CONFIDENTIAL}"
            )

    def _look(self, piece: Any) -> None:
        """Record the attribute keys that are present, until every required one was seen, for the error message."""
        self.unseen = [wanted for wanted in self.unseen if not wanted[-1](piece)]
        for level in {wanted[0] for wanted in self.unseen}:
            if len(self.present[level]) < _NAMES:
                self.present[level].update(name[:60] for name in self.names[level](piece))

    def _complete(self, piece: Any, width: int) -> list[list[str]]:
        """Return the columns of the complete events, and record the others."""
        rows: list[list[str]] = []
        for index, event in enumerate(list(piece.iterchildren(self.event_tag)), start=self.case.events + 1):
            row = [next(iter(cell(event)), "") for cell in self.cells]
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
        for key, (own, of_events) in self.attributes.items():
            if value := next(iter(own(piece)), ""):
                details.own.setdefault(key, value)
            values = [""] * number
            if of_events(piece):
                values = [next(iter(own(event)), "") for event in piece.iterchildren(self.event_tag)]
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
                    f"{f' of the format {form!r}' if form else ''}; set timestamp_format {CONFIDENTIAL}"
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
        elif self.tie is not None:
            values = [next(iter(self.tie(event)), None) for event in piece.iterchildren(self.event_tag)]
            self.tie_seen = self.tie_seen or any(values)
            ties = [tie_key(value) for value in values]
        return ties

    def _malformed(self, error: etree.XMLSyntaxError) -> LogError:
        entries: Any = error.error_log
        last = entries[-1] if len(entries) else None
        (line, column), kind = error.position, last.type_name if last else ""
        if last and not line:
            line, column = last.line, last.column
        if "RESOURCE_LIMIT" in kind or "too long" in str(error) or "huge" in str(error).lower():
            return LogError(
                f"{self.where}: line {line}, column {column}: a value is over 10 MB, or elements are nested too deeply"
            )
        reason = kind.removeprefix("ERR_").replace("_", " ").lower() or "syntax error"
        return LogError(f"{self.where}: malformed XML at line {line}, column {column} ({reason}); {_EXPORT_AGAIN}")


def tie_key(value: str | None) -> tuple[Any, ...]:
    """Return the sort key of a tie: integers by size, then other text by its characters, then missing values."""
    if not value:
        return (2, 0, "")
    digits = value[1:] if value[0] in "+-" else value
    if digits.isascii() and digits.isdecimal() and len(digits) <= 18:
        return (0, int(value), "")
    return (1, 0, value)


def _quoted(text: str) -> str:
    """Quote text as an XPath literal."""
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return "concat(" + ", '\"', ".join(f'"{part}"' for part in text.split('"')) + ")"
