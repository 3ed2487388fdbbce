"""The records of a ledger, in the order in which they were made, and the chain of digests that holds them together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from .account import CompositionRule

START = bytes(32)
"""The digest before the first record."""


@dataclass(frozen=True)
class Created:
    """A data set of this name, without a budget."""

    time: str
    dataset: str


@dataclass(frozen=True)
class Limited:
    """A budget for the data set of this name, which need not exist before."""

    time: str
    dataset: str
    epsilon: str
    delta: str
    composition: CompositionRule


@dataclass(frozen=True)
class Charged:
    """A release, charged to a name or, without one, to a location. Releases of version 1 do not say what a case is."""

    time: str
    dataset: str | None
    location: str | None
    mechanism: str
    epsilon: str
    delta: str
    unit: str
    max_cases: int
    case: str | None
    minimum_cases: int | None
    standing: str
    software: str


@dataclass(frozen=True)
class Assigned:
    """Everything charged to `old` (a name) or `location`, before and after, belongs to the data set of this name."""

    time: str
    old: str | None
    location: str | None
    dataset: str


Record = Created | Limited | Charged | Assigned

_KINDS: dict[str, type[Record]] = {
    "data set": Created,
    "budget": Limited,
    "charge": Charged,
    "assignment": Assigned,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def encode(record: Record) -> str:
    """One line of JSON in ASCII: a path that is not valid text is kept, too."""
    return json.dumps({"kind": _NAMES[type(record)]} | asdict(record), separators=(",", ":"))


def decode(content: str) -> Record:
    """The record of this line, whose digest was checked before."""
    fields = json.loads(content)
    return _KINDS[fields.pop("kind")](**fields)


def link(previous: bytes, number: int, content: str) -> bytes:
    """The digest of a record: it depends on every record before it."""
    return hashlib.sha256(previous + number.to_bytes(8, "big") + content.encode()).digest()


def is_chain(lines: Iterable[tuple[object, object, object]], head: tuple[object, object]) -> bool:
    """Whether these lines (number, content, digest) are exactly those that lead to the head (number, digest)."""
    digest, last = START, 0
    for expected, (number, content, given) in enumerate(lines, start=1):
        if number != expected or not isinstance(content, str):
            return False
        digest, last = link(digest, expected, content), expected
        if given != digest:
            return False
    return head == (last, digest)
