"""The compiled XPaths by which the XES reader takes values out of traces and events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lxml import etree

from ...errors import LogError
from ..reading import ACTIVITY, Reading
from ..row_selection import LIFECYCLE, Lifecycle, by_level, spellings

XPath = Callable[[Any], Any]
"""A compiled XPath, which is called with an element."""


@dataclass(frozen=True)
class WantedAttribute:
    """An attribute that traces or events should have, and what it is read for; `path` is that of a trace."""

    level: Literal["event", "trace"]
    key: str
    role: str
    path: XPath


@dataclass(frozen=True, eq=False, repr=False)
class XesPaths:
    """The XPaths of a document; those of values lead to at most one per event or trace.

    Attributes:
        trace_tag: The tag of traces, in the namespace of the document.
        event_tag: The tag of events.
        columns: For each key, its values in the events of a trace: as many as events means that none is missing.
        cells: For each key, its value in an event.
        tie: The value in an event that orders simultaneous ones; None if none does.
        own: For each key that is read of traces, the attribute of a trace.
        attributes: For each released attribute, its value in an event, and its values in the events of a trace.
        deselected: The events of a trace that are not read; None if all are.
        transitions: The lifecycle transitions of the events of a trace.
        count: The number of events of a trace.
        foreign: The first child of a trace that is neither an event nor an attribute with a key.
        names: The keys of all attributes of the events of a trace, and of the trace.
        required: The attributes without which something is missing in every case or nothing is selected.
        released: For each released attribute, its values in a trace and its events.
    """

    trace_tag: str
    event_tag: str
    columns: Sequence[XPath]
    cells: Sequence[XPath]
    tie: XPath | None
    own: Mapping[str, XPath]
    attributes: Mapping[str, tuple[XPath, XPath]]
    deselected: XPath | None
    transitions: XPath
    count: XPath
    foreign: XPath
    names: Mapping[str, XPath]
    required: Sequence[WantedAttribute]
    released: Mapping[str, XPath]

    @classmethod
    def of(cls, reading: Reading, namespace: str | None, keys: Sequence[str], where: str) -> XesPaths:
        """Compile the XPaths of a document.

        Args:
            reading: What is read.
            namespace: The namespace of `<log>`.
            keys: The keys of the activities and, if times are read, of the timestamp.
            where: The file, for messages.

        Returns:
            The XPaths.

        Raises:
            LogError: A name cannot be the key of an attribute.
        """
        compiler = _Compiler(namespace, where)
        prefix, step = f"{{{namespace}}}" if namespace else "", compiler.step
        of_trace, _ = by_level(reading.where)
        tie = reading.tie_column()
        details = (*reading.details.attributes, *reading.details.numbers)
        columns = [compiler.column(key) for key in keys]
        cells = [compiler.cell(key) for key in keys]
        tie_cell = None if tie is None else compiler.cell(tie)
        own_keys = (reading.case or ACTIVITY, *filter(None, [reading.unit]), *details, *of_trace)
        own = {key: compiler.attribute(key) for key in own_keys}
        return cls(
            trace_tag=prefix + "trace",
            event_tag=prefix + "event",
            columns=columns,
            cells=cells,
            tie=tie_cell,
            own=own,
            attributes={key: (compiler.cell(key), compiler.column(key)) for key in details},
            deselected=_deselection(reading, compiler),
            transitions=compiler.column(LIFECYCLE),
            count=compiler.path(f"count({step})"),
            foreign=compiler.path(f"*[not(@key)][not(self::{step})][1]"),
            names={"event": compiler.path(f"{step}/*/@key"), "trace": compiler.path("*/@key")},
            required=_required(reading, keys, columns, own, compiler),
            released={key: compiler.path(f"{_value(key)}|{step}/{_value(key)}") for key in details},
        )


@dataclass(frozen=True)
class _Compiler:
    """Compiles XPaths for the namespace of a document."""

    namespace: str | None
    where: str

    @property
    def step(self) -> str:
        """The step from a trace to its events."""
        return "x:event" if self.namespace else "event"

    def path(self, expression: str) -> XPath:
        spaces = {"x": self.namespace} if self.namespace else None
        try:
            compiled: XPath = etree.XPath(expression, namespaces=spaces, smart_strings=False)
        except ValueError:  # names and values are quoted, so it is not the syntax
            raise LogError(
                f"{self.where}: where has a name or value with a character that XML cannot contain; correct it",
                field="where",
            ) from None
        return compiled

    def attribute(self, key: str) -> XPath:
        """Return the path from an element to its first attribute with this key."""
        return self.path(_attribute(self._checked(key)))

    def cell(self, key: str) -> XPath:
        """Return the path from an element to the value of its first attribute with this key."""
        return self.path(_value(self._checked(key)))

    def column(self, key: str) -> XPath:
        """Return the path from a trace to these values of its events."""
        return self.path(f"{self.step}/{_value(self._checked(key))}")

    def _checked(self, key: str) -> str:
        if not key.isprintable():
            raise LogError(f"{self.where}: {key!r} cannot be the key of an XES attribute; check the name")
        return key


def _required(
    reading: Reading, keys: Sequence[str], columns: Sequence[XPath], own: Mapping[str, XPath], compiler: _Compiler
) -> list[WantedAttribute]:
    """Return the attributes without which something is missing in every case, or nothing is selected."""
    width = len(reading.activities or (ACTIVITY,))
    roles = ["activity"] * width + ["timestamp"] * (len(keys) - width)
    wanted = [WantedAttribute("event", *each) for each in zip(keys, roles, columns, strict=True)]
    if reading.case is not None and reading.duplicate_cases != "separate":
        wanted.append(WantedAttribute("trace", reading.case, "case", own[reading.case]))
    if reading.unit is not None:
        wanted.append(WantedAttribute("trace", reading.unit, "unit", own[reading.unit]))
    of_trace, of_event = by_level(reading.where)
    wanted += [WantedAttribute("trace", key, "where", own[key]) for key in of_trace]
    return wanted + [WantedAttribute("event", key, "where", compiler.column(key)) for key in of_event]


def _deselection(reading: Reading, compiler: _Compiler) -> XPath | None:
    """Compile the XPath of the events that are not read (`sources.row_selection`); None if all are."""
    _, of_event = by_level(reading.where)
    conditions = [" or ".join(_is_one_of(_value(key), values)) for key, values in of_event.items()]
    if reading.lifecycle != "all":
        conditions.append(" or ".join(_is_transition(reading.lifecycle)))
    if not conditions:
        return None
    selected = " and ".join(f"({condition})" for condition in conditions)
    return compiler.path(f"{compiler.step}[not({selected})]")


def _is_transition(lifecycle: Lifecycle) -> list[str]:
    transition = _value(LIFECYCLE)
    missing = [f"string({transition})=''"] if lifecycle == "complete" else []
    return missing + _is_one_of(transition, spellings(lifecycle))


def _is_one_of(value: str, texts: Sequence[str]) -> list[str]:
    return [f"{value}={_quoted(text)}" for text in texts]


def _attribute(key: str) -> str:
    """Return the XPath of the first attribute of an element with this key."""
    return f"*[@key={_quoted(key)}][1]"


def _value(key: str) -> str:
    """Return the XPath of its value."""
    return f"{_attribute(key)}/@value"


def _quoted(text: str) -> str:
    """Quote text as an XPath literal."""
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return "concat(" + ", '\"', ".join(f'"{part}"' for part in text.split('"')) + ")"
