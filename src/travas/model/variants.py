"""What is confidential: trace variants and how many cases have each. It has no writer and hides its counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, TypeVar

from ..errors import CONFIDENTIAL, LogError, shown
from ..privacy.guarantee import ONE_CASE, Counted, PrivacyUnit
from .abstraction import FULL, Abstraction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Activity = str | tuple[str, ...]
"""A name, or a tuple of them where several columns make an activity. Never a joined string."""

Trace = tuple[Activity, ...]
"""A trace variant: the sequence of the activities of a case."""

# A mapping is invariant in its keys: dict[tuple[str, ...], int] is no Mapping[Trace, int].
AnyTrace = TypeVar("AnyTrace", bound=Trace)

CODE = "uint32"
"""Activities are interned: a key is the bytes of its activities' codes."""

CODE_BYTES = 4


@dataclass(frozen=True)
class Roles:
    """The columns, or XES attributes, that a log was read from: part of its schema, and public."""

    case: str
    activities: tuple[str, ...]
    timestamp: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Variants:
    """Different traces of a log (`keys`, coded by `alphabet`) and the number of cases of each: confidential.

    `columns` names the activity's columns; `notes` are remarks for the data owner about what was left out;
    `abstraction` is the public rule that was applied to every trace before counting. With a `unit` of several cases no
    more than its share is counted, and `counted` says how: see `logs.units`.
    """

    alphabet: Sequence[Activity]
    keys: Sequence[bytes]
    counts: NDArray[np.int64]
    columns: tuple[str, ...] = ("concept:name",)
    notes: tuple[str, ...] = ()
    abstraction: Abstraction = FULL
    unit: PrivacyUnit = field(default=ONE_CASE, kw_only=True)
    counted: Counted = field(default="cases", kw_only=True)
    roles: Roles | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        return "Variants(confidential)"

    def __len__(self) -> int:
        return len(self.keys)

    def traces(self, chosen: Iterable[int]) -> list[Trace]:
        """The traces of the chosen keys, by their places."""
        import numpy as np

        alphabet = self.alphabet
        return [tuple(map(alphabet.__getitem__, np.frombuffer(self.keys[i], CODE).tolist())) for i in chosen]

    def lengths(self) -> NDArray[np.int64]:
        """How many events a case of each variant has."""
        import numpy as np

        return np.array([len(key) for key in self.keys], dtype=np.int64) // CODE_BYTES

    def items(self) -> Iterator[tuple[Trace, int]]:
        """Every trace with its true count: for metrics and tests, never for a file that leaves."""
        return zip(self.traces(range(len(self))), self.counts.tolist(), strict=True)

    def canonical(self) -> Variants:
        """The same variants in the order of their traces: with it a seed gives one release, however the log was read."""
        traces = self.traces(range(len(self)))
        order = sorted(range(len(self)), key=traces.__getitem__)
        return replace(self, keys=[self.keys[place] for place in order], counts=self.counts[order])

    @classmethod
    def from_mapping(cls, mapping: Mapping[AnyTrace, int], columns: tuple[str, ...] = ()) -> Variants:
        """From a plain mapping of tuples of activities to numbers of cases."""
        import numpy as np

        if not columns:
            activity = next((trace[0] for trace in mapping if isinstance(trace, tuple) and trace), "")
            width = len(activity) if isinstance(activity, tuple) else 1
            columns = ("concept:name", *(f"part {part}" for part in range(2, width + 1)))

        codes = Codes()
        keys: list[bytes] = []
        counts: list[int] = []
        empty = 0
        for place, (trace, count) in enumerate(mapping.items(), start=1):
            if not isinstance(trace, tuple):
                raise LogError(f"variant {place} is a {type(trace).__name__}: a variant is a tuple of activities")
            if isinstance(count, bool) or not isinstance(count, Integral) or not 1 <= count < 2**53:
                raise LogError(
                    f"variant {place} has the count {shown(count)}: a count is a whole number from 1 {CONFIDENTIAL}"
                )
            for activity in trace:
                if activity not in codes:
                    _check_activity(activity, place, len(columns))
            if trace:
                keys.append(np.array([codes[activity] for activity in trace], dtype=CODE).tobytes())
                counts.append(int(count))
            else:
                empty += int(count)
        notes = (f"{empty} cases without events were left out",) if empty else ()
        return cls(list(codes), keys, np.array(counts, dtype=np.int64), columns, notes)


def _check_activity(activity: Activity, place: int, columns: int) -> None:
    parts = activity if isinstance(activity, tuple) else (activity,)
    if not all(isinstance(part, str) and part and _is_text(part) for part in parts):
        raise LogError(f"variant {place} has an activity that is not a text, or an empty one: an activity is a name")
    if len(parts) != columns or (columns == 1 and isinstance(activity, tuple)):
        raise LogError(f"variant {place} has an activity of {len(parts)} parts where the log has {columns} columns")


def _is_text(name: str) -> bool:
    """Half a surrogate pair is no text: nothing could write it."""
    return name.isascii() or name.encode(errors="ignore").decode() == name


class Codes(dict[Activity, int]):
    """Interns activities: the code of an activity never seen before is the number of those that were."""

    def __missing__(self, activity: Activity) -> int:
        code = self[activity] = len(self)
        return code


@dataclass(frozen=True)
class Summary:
    """The columns of the paper's log table, read from the original log: confidential."""

    events: int
    cases: int
    activities: int
    variants: int
    trace_uniqueness: float
    longest_trace: int


def summary(variants: Variants) -> Summary:
    """Size and shape of the original log: confidential. `trace_uniqueness` is variants / cases."""
    lengths = variants.lengths()
    cases = int(variants.counts.sum())
    return Summary(
        events=int(lengths @ variants.counts),
        cases=cases,
        activities=len(variants.alphabet),
        variants=len(variants),
        trace_uniqueness=len(variants) / cases if cases else 0.0,
        longest_trace=int(lengths.max(initial=0)),
    )
