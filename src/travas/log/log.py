"""The log: trace variants and their counts. They are confidential: there is no writer, and `repr` hides the counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..errors import CONFIDENTIAL, LogError, confidential_repr, is_encodable, shown
from ..trusted.guarantee import ONE_CASE, Counted, PrivacyUnit
from ..trusted.samplers import Integers
from .abstraction import FULL, Abstraction
from .traces import CODE, CODE_BYTES, Activity, AnyTrace, Codes, Trace

if TYPE_CHECKING:
    from .questions import Totals


MAX_CASES = 10**11
"""The largest log. Sums that mechanisms compute from counts, such as 10⁷ for each case, then fit into 64 bits."""

EVERY_TRACE = "every trace"
"""What a case is if XES traces with the same name are different cases."""


@dataclass(frozen=True)
class Roles:
    """The columns, or XES attributes, that a log was read from: part of its schema, and public.

    `defined_case` is what the ledger compares: the column or attribute that identifies cases, or `EVERY_TRACE`.
    """

    case: str
    activities: tuple[str, ...]
    timestamp: str | None = None
    lifecycle: str | None = None
    is_every_trace: bool = False

    @property
    def defined_case(self) -> str:
        return EVERY_TRACE if self.is_every_trace else self.case


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """The different traces of a log (`keys`, encoded by `alphabet`) and the number of cases of each. Confidential.

    `columns`: the activity columns; `notes`: remarks for the data owner about what was left out; `cautions`: what seems
    wrong, shown before the charge; `abstraction`: the
    public rule applied to every trace before counting. With a `unit` of several cases, `counted` states what is counted:
    see `sources.events`. `totals` answers further questions about the counted cases, if times or attributes
    were read.
    """

    alphabet: Sequence[Activity]
    keys: Sequence[bytes]
    counts: Integers
    columns: tuple[str, ...] = ("concept:name",)
    notes: tuple[str, ...] = ()
    abstraction: Abstraction = FULL
    _: KW_ONLY
    unit: PrivacyUnit = ONE_CASE
    counted: Counted = "cases"
    roles: Roles | None = None
    totals: Totals | None = None
    cautions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_number_of_cases(self.counts)

    def __repr__(self) -> str:
        return "Log(confidential)"

    def __len__(self) -> int:
        return len(self.keys)

    def traces(self, indexes: Iterable[int]) -> list[Trace]:
        """Return the traces of variants by index.

        Args:
            indexes: The indexes of the variants.

        Returns:
            The traces, in this order.
        """
        alphabet = self.alphabet
        return [tuple(map(alphabet.__getitem__, np.frombuffer(self.keys[i], CODE).tolist())) for i in indexes]

    def lengths(self) -> Integers:
        """Return the number of events of each variant.

        Returns:
            The lengths, in the order of the variants.
        """
        return np.array([len(key) for key in self.keys], dtype=np.int64) // CODE_BYTES

    def summary(self) -> Summary:
        """Return the size and shape of the log. Confidential.

        Returns:
            Numbers of events, cases, activities and variants, and the longest trace.
        """
        lengths = self.lengths()
        cases = int(self.counts.sum())
        return Summary(
            events=int(lengths @ self.counts),
            cases=cases,
            activities=len(self.alphabet),
            variants=len(self),
            trace_uniqueness=len(self) / cases if cases else 0.0,
            longest_trace=int(lengths.max(initial=0)),
        )

    def items(self) -> Iterator[tuple[Trace, int]]:
        """Return every trace with its true count, for metrics and tests. Confidential.

        Returns:
            An iterator of pairs.
        """
        return zip(self.traces(range(len(self))), self.counts.tolist(), strict=True)

    def canonical(self) -> Log:
        """Return the variants and activities in the order of the traces, so that a seed always gives the same release.

        Returns:
            The same variants in that order.
        """
        same = Log.from_mapping(dict(sorted(self.items())), self.columns)
        return replace(self, alphabet=same.alphabet, keys=same.keys, counts=same.counts)

    @classmethod
    def from_mapping(cls, mapping: Mapping[AnyTrace, int], columns: tuple[str, ...] = ()) -> Log:
        """Build variants from a mapping.

        Args:
            mapping: Numbers of cases by tuple of activities.
            columns: The names of the columns that make up an activity; by default `concept:name`, and `part 2` and so on.

        Returns:
            The variants.
        """
        if not columns:
            activity = next((trace[0] for trace in mapping if isinstance(trace, tuple) and trace), "")
            width = len(activity) if isinstance(activity, tuple) else 1
            columns = ("concept:name", *(f"part {part}" for part in range(2, width + 1)))
        codes = Codes()
        keys: list[bytes] = []
        counts: list[int] = []
        empty = 0
        for index, (trace, count) in enumerate(mapping.items(), start=1):
            if not isinstance(trace, tuple):
                raise LogError(f"variant {index} is a {type(trace).__name__}; a variant must be a tuple of activities")
            if isinstance(count, bool) or not isinstance(count, Integral) or not 1 <= count <= MAX_CASES:
                raise LogError(
                    f"variant {index} has the count {shown(count)}; a count must be a whole number from 1 to {MAX_CASES:,} "
                    f"{CONFIDENTIAL}"
                )
            for activity in trace:
                if activity not in codes:
                    _check_activity(activity, index, len(columns))
            if trace:
                keys.append(np.array([codes[activity] for activity in trace], dtype=CODE).tobytes())
                counts.append(int(count))
            else:
                empty += int(count)
        notes = (f"{empty} cases without events were left out",) if empty else ()
        return cls(list(codes), keys, np.array(counts, dtype=np.int64), columns, notes)


def check_number_of_cases(counts: Integers) -> None:
    """Raise LogError if there are more than `MAX_CASES` cases, of which no sum would be exact."""
    if sum(counts.tolist()) > MAX_CASES:  # integers of Python, which cannot overflow
        raise LogError(f"the log has more than {MAX_CASES:,} cases, the largest number supported {CONFIDENTIAL}")


def _check_activity(activity: Activity, index: int, columns: int) -> None:
    parts = activity if isinstance(activity, tuple) else (activity,)
    are_names = all(isinstance(part, str) and part and is_encodable(part) for part in parts)
    if not are_names or len(parts) != columns or (columns == 1 and isinstance(activity, tuple)):
        raise LogError(
            f"variant {index} has an activity that is not text, or a tuple of {columns} texts, none of them empty"
        )


@dataclass(frozen=True)
class Summary:
    """Size and shape of a log. Confidential. `trace_uniqueness` is variants / cases."""

    events: int
    cases: int
    activities: int
    variants: int
    trace_uniqueness: float
    longest_trace: int

    def __repr__(self) -> str:
        return confidential_repr(self)
