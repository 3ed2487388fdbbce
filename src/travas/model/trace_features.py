"""What synthetic logs are measured by: lengths in public buckets, and transitions between labelled activities.

Traces are coded: activity a of n is the integer a, and the codes of all traces follow one another in one array. An
event is labelled *first* (0) if its activity has not occurred before in its trace, else *again* (1).
States are START (0) and 1 + 2a + label; symbols are 2a + label and END (2n). Definitions: docs/mechanisms/synthesis.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST = 4096


def _edges() -> tuple[int, ...]:
    edges = [1]
    while edges[-1] < LONGEST:
        edges.append(min(LONGEST, max(edges[-1] + 1, -(-7 * edges[-1] // 5))))
    return tuple(edges)


LENGTH_EDGES = _edges()
"""The least length of every bucket but the first, which holds traces without events. The last bucket is open."""

BUCKETS = len(LENGTH_EDGES) + 1


def bucket_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bucket of every length: 0 for no events, then by `LENGTH_EDGES`."""
    import numpy as np

    return np.searchsorted(np.array(LENGTH_EDGES), lengths, side="right")


def longest_in(bucket: int) -> int:
    """The largest length in a bucket; for the open one the length where the next bucket would begin, less one."""
    if bucket < BUCKETS - 1:
        return LENGTH_EDGES[bucket] - 1 if bucket else 0
    return -(-7 * LONGEST // 5) - 1


def states(activities: int) -> int:
    """Return the number of states over this many activities."""
    return 2 * activities + 1


def cells(activities: int) -> NDArray[np.bool_]:
    """Which transitions can occur, by state and symbol: START is followed by a first, an activity never by its own first."""
    import numpy as np

    size = states(activities)
    allowed = np.ones((size, size), dtype=bool)
    allowed[0, 1::2] = False
    allowed[0, -1] = False
    firsts = 2 * np.arange(activities)
    allowed[firsts + 1, firsts] = False
    allowed[firsts + 2, firsts] = False
    return allowed


def first_occurrences(owner: NDArray[np.int64], codes: NDArray[np.integer[Any]], activities: int) -> NDArray[np.bool_]:
    """For every event, whether its activity has not occurred before in its trace."""
    import numpy as np

    first = np.zeros(len(codes), dtype=bool)
    _, index = np.unique(owner * max(activities, 1) + codes, return_index=True)
    first[index] = True
    return first


@dataclass(frozen=True, eq=False)
class Transitions:
    """All transitions of coded traces, trace by trace, in order. A trace without events has none.

    Attributes:
        activities: The number of activities.
        traces: The number of traces.
        owner: For every transition, the index of its trace.
        state: The state before it.
        symbol: The symbol that follows.
    """

    activities: int
    traces: int
    owner: NDArray[np.int64]
    state: NDArray[np.int64]
    symbol: NDArray[np.int64]

    @classmethod
    def of(cls, codes: NDArray[np.integer[Any]], lengths: NDArray[np.int64], activities: int) -> Transitions:
        """The transitions of traces of these lengths, whose codes follow one another."""
        import numpy as np

        event_owner = np.repeat(np.arange(len(lengths)), lengths)
        symbols = 2 * codes + ~first_occurrences(event_owner, codes, activities)
        steps = np.where(lengths > 0, lengths + 1, 0)
        owner = np.repeat(np.arange(len(lengths)), steps)
        last = np.cumsum(steps)[lengths > 0] - 1
        symbol = np.full(len(owner), 2 * activities, dtype=np.int64)
        is_event = np.ones(len(owner), dtype=bool)
        is_event[last] = False
        symbol[is_event] = symbols
        state = np.empty_like(symbol)
        state[1:] = symbol[:-1] + 1
        state[(last - steps[lengths > 0]) + 1] = 0
        return cls(activities, len(lengths), owner, state, symbol)

    @property
    def cell(self) -> NDArray[np.int64]:
        """The index of every transition's cell in the flattened table of states and symbols."""
        return self.state * states(self.activities) + self.symbol

    def squared_norms(self) -> NDArray[np.int64]:
        """Σc² of every trace, where c counts its transitions by cell."""
        import numpy as np

        keys = self.owner * states(self.activities) ** 2 + self.cell
        keys.sort()
        begin = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if len(keys) else np.empty(0, dtype=np.int64)
        times = np.diff(np.r_[begin, len(keys)])
        squares = np.zeros(self.traces, dtype=np.int64)
        np.add.at(squares, keys[begin] // states(self.activities) ** 2, bounded_squares(times))
        return squares


def bounded_squares(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Squares that stay within 64 bits: beyond 2^60, which is more than any Δ², a trace adds nothing anyway."""
    import numpy as np

    squares: NDArray[np.int64] = np.minimum(times, 1 << 30) ** 2
    return squares
