"""The records of a ledger, and the chain of digests that links them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from .account import CompositionRule

START = bytes(32)
"""The digest before the first record."""


def now() -> str:
    """Return the system time, to seconds, as records state it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Created:
    """A new data set without a budget."""

    time: str
    dataset: str


@dataclass(frozen=True)
class Limited:
    """A budget for a data set, which is created if it does not exist."""

    time: str
    dataset: str
    epsilon: str
    delta: str
    composition: CompositionRule


@dataclass(frozen=True)
class Charged:
    """A release, charged to a name or, without one, to a location. Version 1 did not record what a case is.

    `description` is what `Mechanism.describe()` returned. Records from before have `person_table` at most: a table for all
    counts of a unit together.
    `period` is that of a release of one period (`budget.periods`).
    """

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
    person_table: dict[str, Any] | None = None
    period: dict[str, Any] | None = None
    reason: str | None = None
    signed_off_by: str | None = None
    reference: str | None = None
    description: dict[str, Any] | None = None


@dataclass(frozen=True)
class Assigned:
    """All past and future charges to `old` (a name) or `location` belong to the data set."""

    time: str
    old: str | None
    location: str | None
    dataset: str


@dataclass(frozen=True)
class Respelled:
    """All past and future charges to `location` belong to the location `now`: both are names of one table."""

    time: str
    location: str
    now: str


Record = Created | Limited | Charged | Assigned | Respelled

_RECORD_TYPES: dict[str, type[Record]] = {
    "data set": Created,
    "budget": Limited,
    "charge": Charged,
    "assignment": Assigned,
    "spelling": Respelled,
}
_LATER = ("person_table", "period", "reason", "signed_off_by", "reference", "description")
"""Fields that the first records of this version do not have."""

_NAMES = {record_type: name for name, record_type in _RECORD_TYPES.items()}


def encode(record: Record) -> str:
    """Encode a record as one line of ASCII JSON, which also represents paths that are not valid text."""
    fields = {name: value for name, value in asdict(record).items() if name not in _LATER or value is not None}
    return json.dumps({"kind": _NAMES[type(record)]} | fields, separators=(",", ":"))


def decode(content: str) -> Record:
    """Decode a record whose digest was checked."""
    fields = json.loads(content)
    return _RECORD_TYPES[fields.pop("kind")](**fields)


def chained_digest(previous: bytes, number: int, content: str) -> bytes:
    """Return the digest of a record, which depends on every record before it."""
    return hashlib.sha256(previous + number.to_bytes(8, "big") + content.encode()).digest()


def is_chain(lines: Iterable[tuple[object, object, object]], head: tuple[object, object]) -> bool:
    """Return whether lines (number, content, digest) form the complete chain to the head (number, digest)."""
    digest, last = START, 0
    for expected, (number, content, given) in enumerate(lines, start=1):
        if number != expected or not isinstance(content, str):
            return False
        digest, last = chained_digest(digest, expected, content), expected
        if given != digest:
            return False
    return head == (last, digest)
