"""Metrics of how much of a log is preserved. They read the original log and are confidential, never part of a release.

Definitions: docs/metrics.md. A log is a path, a DataFrame, `Log`, a `Release`, or a mapping of tuples to counts.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError, MissingExtraError, check_choice
from ..log.traces import Activity, Trace
from ..sources.engine import read
from ..trusted.samplers import Floats

Buffer = Literal["length", "penalty"]
Counts = Mapping[Trace, int]

_PENALTY = 10
_BYTES_PER_ARC = 52  # of the transport problem: measured, benchmarks/metrics.py


# ------------------------------------------------------------------------------------------------ the two distances


def relative_log_similarity(original: Any, released: Any) -> float:
    """Return 1 − the earth mover's distance of the variant distributions; ground cost: edit distance / longer length.

    The value is 1 for equal distributions and 0 for an empty released log. The optimal transport is solved exactly.
    """
    before, after = both(original, released)
    if not after:
        return 0.0
    longer = np.maximum.outer([len(trace) for trace in before], [len(trace) for trace in after])
    costs = _edit_distances(list(before), list(after)) / longer
    total, other = sum(before.values()), sum(after.values())
    supply = [count * other for count in before.values()]  # both to one total
    demand = [count * total for count in after.values()]
    return 1.0 - _least_cost(costs, supply, demand) / (total * other)


def absolute_log_difference(original: Any, released: Any, buffer: Buffer = "length") -> int:
    """Return the smallest number of edits that turns one log into the other, by an integer min-cost flow of cases.

    Equal variants are matched first. Extra cases of one log flow into a buffer, at the cost of their length (`length`,
    the supplement of the paper), or of the largest remaining edit distance + 10 (`penalty`, the reference code).
    """
    check_choice(buffer, Buffer, "buffer")
    before, after = both(original, released)
    more, less = Counter(before) - Counter(after), Counter(after) - Counter(before)
    if sum(more.values()) < sum(less.values()):
        more, less = less, more
    if not more:
        return 0
    distances = _edit_distances(list(more), list(less))
    surplus = sum(more.values()) - sum(less.values())
    costs = np.empty((len(more), len(less) + (surplus > 0)))
    costs[:, : len(less)] = distances
    if surplus:
        penalty = int(distances.max(initial=0)) + _PENALTY
        costs[:, -1] = [len(trace) if buffer == "length" else penalty for trace in more]
    flow = _least_cost(costs, [*more.values()], [*less.values(), *([surplus] if surplus else [])])
    return round(flow)


def _edit_distances(rows: Sequence[Trace], columns: Sequence[Trace]) -> NDArray[np.unsignedinteger[Any]]:
    """Return Levenshtein distances on activities, computed in blocks on all cores, in the smallest sufficient type."""
    try:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist
    except ImportError:
        raise MissingExtraError("comparing logs", "metrics") from None
    needed, available = len(rows) * len(columns) * _BYTES_PER_ARC, _available_memory()
    if needed > available:
        raise LogError(
            f"comparing {len(rows):,} with {len(columns):,} variants needs about {needed / 2**30:,.1f} GB of memory and "
            f"this machine has {available / 2**30:,.1f} GB; compare generalised logs, or use a larger machine"
        )
    longest = max((len(trace) for trace in (*rows, *columns)), default=0)
    kind = np.uint8 if longest < 2**8 else np.uint16 if longest < 2**16 else np.uint32
    if not rows or not columns:
        return np.zeros((len(rows), len(columns)), dtype=kind)
    codes: dict[Activity, int] = {}  # as characters: distances of texts are the fastest
    left, right = (
        ["".join(chr(codes.setdefault(activity, len(codes))) for activity in trace) for trace in traces]
        for traces in (rows, columns)
    )
    found: NDArray[np.unsignedinteger[Any]] = cdist(left, right, scorer=Levenshtein.distance, dtype=kind, workers=-1)
    return found


def _least_cost(costs: Floats, supply: list[int], demand: list[int]) -> float:
    """Return the cost of the optimal transport of integer masses with equal totals, by POT's network simplex."""
    for backend in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW"):  # otherwise POT imports those that are installed
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{backend}", "1")
    try:
        import ot
    except ImportError:
        raise MissingExtraError("comparing logs", "metrics") from None
    total = sum(supply)
    scale = 1.0 if total < 2**26 else 1.0 / total  # POT multiplies masses by their total, which must not overflow
    masses = np.array(supply, dtype=np.float64) * scale, np.array(demand, dtype=np.float64) * scale
    cost, log = ot.emd2(*masses, costs, numItermax=2**31 - 1, log=True, center_dual=False)
    if log["result_code"] != 1:
        raise ArithmeticError(f"the optimal transport was not solved: {log['warning']}")
    return float(cost / scale)


def _available_memory() -> float:
    """In bytes; infinite where the system does not say it, as on Windows."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else math.inf


# ---------------------------------------------------------------------------------------------------- simple figures


def case_coverage(original: Any, released: Any) -> float:
    """Return the share of the original cases whose variant is in the released log."""
    before, after = both(original, released)
    return sum(count for trace, count in before.items() if trace in after) / sum(before.values())


def variant_coverage(original: Any, released: Any) -> float:
    """Return the share of the original variants that are in the released log."""
    before, after = both(original, released)
    return sum(trace in after for trace in before) / len(before)


def total_variation_distance(original: Any, released: Any) -> float:
    """Return half the sum of absolute differences of the variant distributions: 0 equal, 1 disjoint or empty."""
    before, after = both(original, released)
    total, other = sum(before.values()), max(sum(after.values()), 1)
    return 1 - sum(min(count * other, after.get(trace, 0) * total) for trace, count in before.items()) / (total * other)


def log_size_difference(original: Any, released: Any) -> int:
    """Return the cases of the released log minus those of the original."""
    before, after = both(original, released)
    return sum(after.values()) - sum(before.values())


def fake_variants(original: Any, released: Any) -> int:
    """Return the number of released variants that the original does not have: none with `optimal` and `travas`."""
    before, after = both(original, released)
    return sum(trace not in before for trace in after)


# ------------------------------------------------------------------------------------------------------ both logs


def both(original: Any, released: Any) -> tuple[Counts, Counts]:
    """Read both logs; the original must not be empty, and activities must have the same number of columns."""
    before, after = read(original), read(released)
    if not len(before):
        raise LogError("the original log is empty; there is nothing to compare with")
    if len(after) and len(before.columns) != len(after.columns):
        raise LogError(
            f"an activity of the original has {len(before.columns)} columns, one of the released log has "
            f"{len(after.columns)}; read both with the same activity columns"
        )
    return dict(before.items()), dict(after.items())


def fake_activities(original: Any, released: Any) -> set[Activity]:
    """Return activities of the released log that the original does not have."""
    before, after = both(original, released)
    return set().union(*after) - set().union(*before)
