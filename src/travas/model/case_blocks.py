"""Cases, some at a time, and what they have in common: arrays that fit a processor's cache are sorted much faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def case_blocks(lengths: NDArray[np.int64], size: int) -> Iterator[tuple[slice, slice]]:
    """Split cases into blocks of complete cases; sums over cases do not depend on it.

    Args:
        lengths: The number of events of every case.
        size: About how many events a block has; one case may have more.

    Returns:
        For every block, its cases and its events; one empty block if there are no cases.
    """
    import numpy as np

    ends = np.cumsum(lengths)
    events = int(ends[-1]) if len(ends) else 0
    stops = np.unique(np.append(np.searchsorted(ends, np.arange(size, events, size)), len(ends)))
    start = first = 0
    for stop in stops.tolist():
        last = int(ends[stop - 1]) if stop else 0
        yield slice(start, stop), slice(first, last)
        start, first = stop, last


def distinct(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct keys in increasing order, and how often each occurs.

    Fastest if keys begin with the index of the case: a stable sort merges runs, and cases are in order already.

    Args:
        keys: The keys.

    Returns:
        The same as `np.unique(keys, return_counts=True)`.
    """
    import numpy as np

    ordered = np.sort(keys, kind="stable")
    is_new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    starts = np.flatnonzero(is_new)
    return ordered[starts], np.diff(starts, append=len(ordered))
