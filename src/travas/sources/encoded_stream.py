"""Encoding cases that are read one after another, as from XES: times and attributes of a case, then of all cases."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..model.calendar import FIRST_INSTANT, LAST_INSTANT
from ..model.totals import Details, Totals
from ..model.traces import Codes
from .encoded_cases import Coded, EncodedCases, EncodedTotals
from .reading import ATTRIBUTE_NUMBER

_IS_NUMBER = re.compile(ATTRIBUTE_NUMBER)

Owner = tuple[str, bytes]
"""The unit of a case, and the digest of its name."""


@dataclass
class CaseDetails:
    """Times and attribute values of the events of one case, in the order of the file, and values of the case itself."""

    times: array[int] = field(default_factory=lambda: array("q"))
    aware: bytearray = field(default_factory=bytearray)
    own: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)

    def add_time(self, nanoseconds: int, is_aware: bool) -> None:
        """Add the time of an event."""
        self.times.append(min(max(nanoseconds // 1000, FIRST_INSTANT), LAST_INSTANT))
        self.aware.append(is_aware)

    def extend(self, other: CaseDetails) -> None:
        """Add the events of another part of the case."""
        self.times.extend(other.times)
        self.aware.extend(other.aware)
        self.own = other.own | self.own
        for name, values in other.values.items():
            self.values.setdefault(name, []).extend(values)

    def cut(self, events: int) -> None:
        """Keep only the first `events` events."""
        del self.times[events:], self.aware[events:]
        for values in self.values.values():
            del values[events:]

    def value(self, name: str, order: Sequence[int], keys: Sequence[Any] | None, is_number: bool) -> str | None:
        """Return the value of the case, or the first one of its events that is not missing.

        With `keys`, the sort keys of the events, the smallest value counts of those with the same key.
        """
        values = [self.own.get(name, "")]
        if not _is_value(values[0], is_number):
            candidates = self.values.get(name, [])
            indexes = [index for index in order if candidates and _is_value(candidates[index], is_number)]
            if keys is not None and indexes:
                indexes = [index for index in indexes if keys[index] == keys[indexes[0]]]
                indexes.sort(key=lambda index: float(candidates[index]) if is_number else candidates[index].encode())
            values = [candidates[index] for index in indexes]
        return values[0] if values else None

    def has_several(self, name: str) -> bool:
        """Whether the case itself has no value, and its events have different ones."""
        return not self.own.get(name) and len({*self.values[name]} - {""}) > 1


def _is_value(text: str, is_number: bool) -> bool:
    return bool(_IS_NUMBER.fullmatch(text)) if is_number else bool(text)


class StreamEncoder:
    """Collects the details of all cases; `several` is the number of cases with several values of an attribute."""

    def __init__(self, details: Details) -> None:
        self._details = details
        self._codes, self._lengths, self._times = array("I"), array("q"), array("q")
        self._aware = bytearray()
        self._attributes: list[array[int]] = [array("i") for _ in details.attributes]
        self._names: list[dict[str, int]] = [{} for _ in details.attributes]
        self._numbers: list[array[float]] = [array("d") for _ in details.numbers]
        self._owners: list[Owner] = []
        self.several: Counter[str] = Counter()

    def add(
        self,
        codes: array[int],
        case: CaseDetails,
        order: Sequence[int],
        keys: Sequence[Any] | None,
        owner: Owner | None,
    ) -> None:
        """Add a case: the codes of its activities in order, its details, the order of its events, and its owner."""
        self._codes.extend(codes)
        self._lengths.append(len(codes))
        if case.times:
            self._times.extend(case.times[index] for index in order)
            self._aware.extend(case.aware[index] for index in order)
        for column, names, name in zip(self._attributes, self._names, self._details.attributes, strict=True):
            value = case.value(name, order, keys, is_number=False)
            column.append(-1 if value is None else names.setdefault(value, len(names)))
        for numbers, name in zip(self._numbers, self._details.numbers, strict=True):
            value = case.value(name, order, keys, is_number=True)
            numbers.append(float("nan") if value is None else float(value))
        self.several.update(name for name in case.values if case.has_several(name))
        if owner is not None:
            self._owners.append(owner)

    def totals(self, codes: Codes, kept: set[Owner] | None) -> Totals:
        """Return the answers about the cases of these owners; about all cases if nobody owns any."""
        counted = np.ones(len(self._lengths), dtype=bool)
        if kept is not None:
            for index, owner in enumerate(self._owners):
                counted[index] = owner in kept
                kept.discard(owner)  # so that no owner counts twice
        lengths = np.array(self._lengths, dtype=np.int64)
        events = np.repeat(counted, lengths)
        names, numbers = self._details.attributes, self._details.numbers
        cases = EncodedCases(
            list(codes),
            np.array(self._codes, dtype=np.uint32)[events],
            lengths[counted],
            np.array(self._times, dtype=np.int64)[events] if self._details.times == "read" else None,
            np.frombuffer(self._aware, dtype=np.bool_)[events] if self._details.times == "read" else True,
            {
                name: Coded(np.array(column, dtype=np.int32)[counted], list(values))
                for name, column, values in zip(names, self._attributes, self._names, strict=True)
            },
            {name: np.array(column)[counted] for name, column in zip(numbers, self._numbers, strict=True)},
        )
        return EncodedTotals(cases, self._details)
