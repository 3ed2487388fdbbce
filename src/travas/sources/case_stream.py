"""Cases that are read one after the other, as from XES: collected into variants, with everything missing in one error."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import CONFIDENTIAL, LogError, number_of
from ..model.traces import Codes
from ..model.variants import Roles, Variants
from .contribution_bounding import Kept, case_digest, several_units
from .encoded_stream import CaseDetails, StreamEncoder
from .period import Period
from .reading import ACTIVITY, TIMESTAMP, Reading, released_columns
from .row_selection import LIFECYCLE, DuplicateEvents
from .tabular.table_columns import lifecycle_note
from .wording import NO_EVENTS, MissingValues, left_out_note, missing_values, several_values_notes

MAX_TRACE_EVENTS = 10_000_000
"""How many events of a trace are read; more are cut rather than refused: one long case must not decide about a release."""


@dataclass
class StreamedCase:
    """The case read so far: the codes of its activities and, if ordered by time, their sort keys.

    `ends` says which of them are end activities, if only the cases of a period are counted. `own` has the attributes of
    the trace itself that are read, by their keys.
    """

    name: str = ""
    unit: str = ""
    own: dict[str, str] = field(default_factory=dict)
    trace: int = 0
    codes: array[int] = field(default_factory=lambda: array("I"))
    keys: list[tuple[Any, ...]] = field(default_factory=list)
    ends: list[bool] = field(default_factory=list)
    details: CaseDetails = field(default_factory=CaseDetails)
    events: int = 0
    is_cut: bool = False
    is_selected: bool = True
    undecided: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def sort(self, duplicates: DuplicateEvents) -> Sequence[int]:
        """Put the events in the order of their sort keys, if there are any, without duplicates if they are dropped.

        Returns the indexes of the events in the file, in that order.
        """
        order: Sequence[int] = range(len(self.codes))
        if self.keys:
            order = sorted(order, key=self.keys.__getitem__)
            if duplicates == "drop":
                first: dict[tuple[Any, int], int] = {}
                for index in order:
                    first.setdefault((self.keys[index][0], self.codes[index]), index)
                order = list(first.values())
            self.codes = array("I", (self.codes[index] for index in order))
            self.keys = [self.keys[index] for index in order]
            self.ends = [self.ends[index] for index in order] if self.ends else []
        return order

    def close(self, period: Period) -> None:
        """Remove what comes after the closing of the case, or everything if it is not closed in the period."""
        times = [key[0] // 1000 for key in self.keys]
        del self.codes[period.trace_length(times, self.ends) :]


def tie_key(value: str | None) -> tuple[Any, ...]:
    """Return the sort key of a tie: integers by size, then other text by its characters, then missing values."""
    if not value:
        return (2, 0, "")
    digits = value[1:] if value[0] in "+-" else value
    if digits.isascii() and digits.isdecimal() and len(digits) <= 18:
        return (0, int(value), "")
    return (1, 0, value)


class CaseStream:
    """Collects cases into variants, and missing or duplicate values into one error."""

    def __init__(self, where: str, reading: Reading) -> None:
        self.where, self.reading = where, reading
        self.codes = Codes()
        self.counts: Counter[bytes] = Counter()
        self.kept = None if reading.unit is None else Kept(reading)
        self.named: dict[str, int] = {}
        self.merged: dict[str, StreamedCase] = {}
        self.traces = 0
        self.missing: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.has_unnamed = False
        self.empty = 0
        self.cut = 0
        self.notes: list[str] = []
        self.has_lifecycle = False
        self.encoder = StreamEncoder(reading.details) if reading.details else None

    def lacking(self, what: str, position: str) -> None:
        self.missing[what] += 1
        self.first.setdefault(what, position)

    def finish(self, case: StreamedCase) -> None:
        """Finish a trace: it is a case, unless something is missing."""
        self.traces += 1
        if not case.is_selected:
            return
        self.cut += case.is_cut
        case.trace = self.traces
        policy = self.reading.duplicate_cases
        if policy != "separate" and not case.name:
            self.has_unnamed = True
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

    def _count(self, case: StreamedCase) -> None:
        keys = case.keys if self.reading.ties == "activity" else None
        order = case.sort(self.reading.duplicate_events)
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
        if self.missing and self.reading.on_missing == "fail":
            drop = "set on_missing to 'drop'"
            if self.has_unnamed:
                drop += ", or set duplicate_cases to 'separate' if every trace is a case"
            missing = [MissingValues(what, number, self.first[what]) for what, number in self.missing.items()]
            raise missing_values(self.where, missing, drop, "for order" if self.reading.by_time() else "for times")
        if self.kept is not None:
            self.counts = self.kept.counts()
        notes = [*self.notes, *(left_out_note(number, what) for what, number in self.missing.items())]
        if not self.counts and not self.missing:
            notes.append(NO_EVENTS)
        notes += lifecycle_note(self.reading, [LIFECYCLE]) if self.has_lifecycle else ()
        if self.cut:
            notes.append(f"only the first {MAX_TRACE_EVENTS:,} events of {number_of(self.cut, 'traces')} were read")
        if self.encoder is not None:
            notes += several_values_notes(self.encoder.several)
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
            None if self.reading.lifecycle == "all" else LIFECYCLE,
            is_every_trace=self.reading.duplicate_cases == "separate",
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
