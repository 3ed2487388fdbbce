"""What cases add to the measurements of a process map: sums of integer vectors, one per case, of bounded norm.

Every function here follows Lemma 1 of docs/mechanisms/map.md. All sums are 64-bit integers; see `coded_traces`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..maps.map_measurements import SIZE_CELLS, nodes_of
from ..model.case_blocks import case_blocks, distinct
from ..model.integer_root import integer_root
from ..trusted.stages import Stage
from .coded_traces import CodedTraces

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 16
"""About how many events are sorted at a time: bounds the memory, and changes no sum."""


@dataclass(frozen=True, eq=False)
class CaseCells:
    """The distinct cells that every trace touches: confidential.

    Attributes:
        owner: The index of the trace, for every cell that it touches.
        cell: The index of the cell.
        counts: The number of cases of every trace.
    """

    owner: NDArray[np.int64]
    cell: NDArray[np.int64]
    counts: NDArray[np.int64]

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """m: the number of distinct cells of every trace."""
        return np.bincount(self.owner, minlength=len(self.counts))

    def sums(self, stage: Stage, cap: int, cells: int) -> NDArray[np.int64]:
        """F and R: a case adds isqrt(⌊Δ²/max(c, m)⌋) to each of its m cells."""
        weights = self.counts * integer_root(stage.contribution**2 // np.maximum(self.numbers, cap))
        sums = np.zeros(cells, dtype=np.int64)
        np.add.at(sums, self.cell, weights[self.owner])
        return sums


def with_other(traces: CodedTraces, activities: NDArray[np.int64]) -> CodedTraces:
    """The same traces; the k-th of `activities` becomes k, and every other activity becomes the node after them."""
    node = np.full(traces.activities, len(activities), dtype=np.int64)
    node[activities] = np.arange(len(activities))
    return CodedTraces(node[traces.codes], traces.lengths, traces.counts, len(activities) + 1)


def pairs_of(traces: CodedTraces) -> CaseCells:
    """The distinct directly-follows pairs of every trace, START and END included; a trace without events has none."""
    size = nodes_of(traces.activities - 1)
    owners, cells = [], []
    for cases, events in case_blocks(traces.lengths, _BLOCK):
        codes, lengths = traces.codes[events], traces.lengths[cases]
        steps = np.where(lengths > 0, lengths + 1, 0)
        owner = np.repeat(np.arange(len(lengths)), steps)
        last = np.cumsum(steps)[lengths > 0] - 1
        start = last - lengths[lengths > 0]
        is_last, is_first = np.zeros((2, len(owner)), dtype=bool)
        is_last[last], is_first[start] = True, True
        before, after = np.full((2, len(owner)), size - 1, dtype=np.int64)
        before[~is_first], after[~is_last] = codes, codes
        numbers, _ = distinct(owner * size**2 + before * size + after)
        trace, cell = np.divmod(numbers, size**2)
        owners.append(cases.start + trace)
        cells.append(cell)
    return CaseCells(_joined(owners), _joined(cells), traces.counts)


def rework_of(traces: CodedTraces) -> CaseCells:
    """Cell a for every activity a of a trace, and cell n + a if it occurs again; `other`, which is n, has none."""
    activities = traces.activities - 1
    owners, cells = [], []
    for cases, events in case_blocks(traces.lengths, _BLOCK):
        codes, lengths = traces.codes[events], traces.lengths[cases]
        owner = np.repeat(np.arange(len(lengths)), lengths)
        named = codes < activities
        numbers, times = distinct(owner[named] * max(activities, 1) + codes[named])
        trace, activity = np.divmod(numbers, max(activities, 1))
        again = times > 1
        owners.append(cases.start + np.r_[trace, trace[again]])
        cells.append(np.r_[activity, activities + activity[again]])
    return CaseCells(_joined(owners), _joined(cells), traces.counts)


def size_sums(pairs: CaseCells, stage: Stage) -> NDArray[np.int64]:
    """M: a case adds Δ to the cell of its number of distinct pairs."""
    sums = np.zeros(len(SIZE_CELLS), dtype=np.int64)
    some = pairs.numbers > 0
    cell = np.searchsorted(np.array(SIZE_CELLS), np.minimum(pairs.numbers[some], SIZE_CELLS[-1]))
    np.add.at(sums, cell, pairs.counts[some] * stage.contribution)
    return sums


def _joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
