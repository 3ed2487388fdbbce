"""What cases add to the measurements of a synthetic log: sums of integer vectors, one per case, of bounded norm.

Every function here follows Lemma 1 of docs/mechanisms/synthesis.md: given earlier outputs, what a case adds depends on
the case alone, and its Euclidean norm is at most the contribution of the stage. All sums are 64-bit integers, enough
for 10^12 cases; beyond that they wrap around, which commutes with adding noise and costs no privacy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..model.case_blocks import case_blocks
from ..model.integer_root import integer_root
from ..model.trace_features import BUCKETS, Transitions, bucket_of, first_occurrences, states
from ..model.traces import CODE
from ..model.variants import Variants
from ..trusted.stages import Stage

if TYPE_CHECKING:
    from numpy.typing import NDArray


BLOCK = 1 << 20
"""About how many events are processed at once: bounds the memory, and changes no sum."""


class Blocks(Protocol):
    """Distinct traces that can be looked at some at a time."""

    @property
    def activities(self) -> int:
        """The number of activities; codes are below it."""

    def blocks(self) -> Iterator[CodedTraces]:
        """The traces, some at a time, with codes of 64 bits."""


@dataclass(frozen=True, eq=False)
class CodedTraces:
    """Distinct traces as integers, one after another, and how many cases have each: confidential.

    Attributes:
        codes: The codes of all events.
        lengths: The number of events of every trace.
        counts: The number of cases of every trace.
        activities: The number of activities; codes are below it.
    """

    codes: NDArray[np.integer[Any]]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]
    activities: int

    @classmethod
    def of(cls, variants: Variants) -> CodedTraces:
        """The traces of a log, coded by its alphabet: 4 bytes per event."""
        codes = np.frombuffer(b"".join(variants.keys), dtype=CODE)
        return cls(codes, variants.lengths(), variants.counts, len(variants.alphabet))

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """For every event, the index of its trace."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def transitions(self) -> Transitions:
        """The labelled transitions of all traces."""
        return Transitions.of(self.codes, self.lengths, self.activities)

    def blocks(self) -> Iterator[CodedTraces]:
        """The traces, some at a time, with codes of 64 bits."""
        for cases, events in case_blocks(self.lengths, BLOCK):
            codes = self.codes[events].astype(np.int64)
            yield CodedTraces(codes, self.lengths[cases], self.counts[cases], self.activities)

    def without(self, indexes: NDArray[np.int64]) -> CodedTraces:
        """The same traces with no case at these indexes: they add nothing to any sum."""
        counts = self.counts.copy()
        counts[indexes] = 0
        return CodedTraces(self.codes, self.lengths, counts, self.activities)

    def projected(self, activities: NDArray[np.int64]) -> ProjectedTraces:
        """The same traces without the events of all other activities; the k-th of `activities` becomes k."""
        recoded = np.full(self.activities, -1, dtype=np.int64)
        recoded[activities] = np.arange(len(activities))
        return ProjectedTraces(self, recoded, len(activities))


@dataclass(frozen=True, eq=False)
class ProjectedTraces:
    """Traces without the events of some activities. Nothing is copied: blocks are projected when they are looked at.

    Attributes:
        traces: The traces with all events.
        recoded: The new code of every activity; -1 for those that are left out.
        activities: The number of activities that are kept.
    """

    traces: CodedTraces
    recoded: NDArray[np.int64]
    activities: int

    def blocks(self) -> Iterator[CodedTraces]:
        """The projected traces, some at a time."""
        for block in self.traces.blocks():
            codes = self.recoded[block.codes]
            kept = codes >= 0
            lengths = np.bincount(block.owner[kept], minlength=len(block.lengths)).astype(np.int64)
            yield CodedTraces(codes[kept], lengths, block.counts, self.activities)


def activity_sums(traces: Blocks, known: NDArray[np.int64], stage: Stage) -> NDArray[np.int64]:
    """A: a case adds w_m to each of its first K distinct activities that are not known yet; m is their number."""
    if stage.selection is None:
        raise ValueError("activities are selected: the stage must have a selection")
    most = stage.selection.most
    unknown = np.ones(traces.activities, dtype=bool)
    unknown[known] = False
    weights = np.array([0, *(stage.weight(keys) for keys in range(1, most + 1))], dtype=np.int64)
    sums = np.zeros(traces.activities, dtype=np.int64)
    for block in traces.blocks():
        is_unknown = unknown[block.codes]
        owner, codes = block.owner[is_unknown], block.codes[is_unknown]
        first = first_occurrences(owner, codes, block.activities)
        owner, codes = owner[first], codes[first]
        numbers = np.bincount(owner, minlength=len(block.lengths))
        rank = np.arange(len(owner)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
        added = block.counts * weights[np.minimum(numbers, most)]
        np.add.at(sums, codes[rank < most], added[owner[rank < most]])
    return sums


def length_sums(traces: Blocks, stage: Stage) -> NDArray[np.int64]:
    """L: a case adds Δ to the bucket of its length."""
    sums = np.zeros(BUCKETS, dtype=np.int64)
    for block in traces.blocks():
        np.add.at(sums, bucket_of(block.lengths), block.counts * stage.contribution)
    return sums


def transition_weights(traces: CodedTraces, stage: Stage) -> NDArray[np.int64]:
    """n·W for every trace, W = isqrt(⌊Δ²/Σc²⌋): what all its cases together add for each of its transitions."""
    squares = np.maximum(traces.transitions.squared_norms(), 1)
    return traces.counts * integer_root(stage.contribution**2 // squares)


def transition_sums(traces: Blocks, stage: Stage) -> NDArray[np.int64]:
    """T1: a case adds W·c to the cells of its transitions, by state and symbol."""
    size = states(traces.activities)
    sums = np.zeros(size * size, dtype=np.int64)
    for block in traces.blocks():
        np.add.at(sums, block.transitions.cell, transition_weights(block, stage)[block.transitions.owner])
    return sums.reshape(size, size)


def context_sums(traces: Blocks, pairs: NDArray[np.int64], stage: Stage) -> NDArray[np.int64]:
    """T2: a case adds W·c₂ to the cells (g, h, symbol) of the chosen pairs of states, with T1's norm of c.

    A transition that is counted in a cell (g, h, symbol) is counted by T1 in (h, symbol), so the norm is not larger.
    """
    size = states(traces.activities)
    row_of = np.full((size, size), -1, dtype=np.int64)
    row_of[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    sums = np.zeros(len(pairs) * size, dtype=np.int64)
    for block in traces.blocks():
        transitions = block.transitions
        later = np.flatnonzero(transitions.state > 0)  # not the first transition of a trace
        row = row_of[transitions.state[later - 1], transitions.state[later]]
        later, row = later[row >= 0], row[row >= 0]
        weights = transition_weights(block, stage)
        np.add.at(sums, row * size + transitions.symbol[later], weights[transitions.owner[later]])
    return sums.reshape(len(pairs), size)
