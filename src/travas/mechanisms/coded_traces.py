"""What cases add to the measurements of a synthetic log: sums of integer vectors, one per case, of bounded norm.

Every function here follows Lemma 1 of docs/mechanisms/synthesis.md: given earlier outputs, what a case adds depends on
the case alone, and its Euclidean norm is at most the contribution of the stage. All sums are 64-bit integers, enough
for 10^12 cases; beyond that they wrap around, which commutes with adding noise and costs no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..model.integer_root import integer_root
from ..model.trace_features import BUCKETS, Transitions, bucket_of, first_occurrences, states
from ..model.traces import CODE
from ..model.variants import Variants
from ..privacy.gaussian_stages import Stage

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class CodedTraces:
    """Distinct traces as integers, one after another, and how many cases have each: confidential.

    Attributes:
        codes: The codes of all events.
        lengths: The number of events of every trace.
        counts: The number of cases of every trace.
        activities: The number of activities; codes are below it.
    """

    codes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]
    activities: int

    @classmethod
    def of(cls, variants: Variants) -> CodedTraces:
        """The traces of a log, coded by its alphabet."""
        codes = np.frombuffer(b"".join(variants.keys), dtype=CODE).astype(np.int64)
        return cls(codes, variants.lengths(), variants.counts, len(variants.alphabet))

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """For every event, the index of its trace."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def transitions(self) -> Transitions:
        """The labelled transitions of all traces."""
        return Transitions.of(self.codes, self.lengths, self.activities)

    def without(self, chosen: NDArray[np.int64]) -> CodedTraces:
        """The traces other than those at the chosen indices."""
        rest = np.ones(len(self.lengths), dtype=bool)
        rest[chosen] = False
        codes = self.codes[np.repeat(rest, self.lengths)]
        return CodedTraces(codes, self.lengths[rest], self.counts[rest], self.activities)

    def projected(self, activities: NDArray[np.int64]) -> CodedTraces:
        """The same traces without the events of all other activities; the k-th of `activities` becomes k."""
        recoded = np.full(self.activities, -1, dtype=np.int64)
        recoded[activities] = np.arange(len(activities))
        codes = recoded[self.codes]
        kept = codes >= 0
        lengths = np.bincount(self.owner[kept], minlength=len(self.lengths)).astype(np.int64)
        return CodedTraces(codes[kept], lengths, self.counts, len(activities))


def activity_sums(traces: CodedTraces, known: NDArray[np.int64], stage: Stage) -> NDArray[np.int64]:
    """A: a case adds w_m to each of its first K distinct activities that are not known yet; m is their number."""
    if stage.selection is None:
        raise ValueError("activities are selected: the stage must have a selection")
    unknown = np.ones(traces.activities, dtype=bool)
    unknown[known] = False
    chosen = unknown[traces.codes]
    owner, codes = traces.owner[chosen], traces.codes[chosen]
    first = first_occurrences(owner, codes, traces.activities)
    owner, codes = owner[first], codes[first]
    numbers = np.bincount(owner, minlength=len(traces.lengths))
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    counted = rank < stage.selection.most
    weights = np.array([0, *(stage.weight(keys) for keys in range(1, stage.selection.most + 1))], dtype=np.int64)
    added = traces.counts * weights[np.minimum(numbers, stage.selection.most)]
    sums = np.zeros(traces.activities, dtype=np.int64)
    np.add.at(sums, codes[counted], added[owner[counted]])
    return sums


def length_sums(traces: CodedTraces, stage: Stage) -> NDArray[np.int64]:
    """L: a case adds Δ to the bucket of its length."""
    sums = np.zeros(BUCKETS, dtype=np.int64)
    np.add.at(sums, bucket_of(traces.lengths), traces.counts * stage.contribution)
    return sums


def transition_weights(traces: CodedTraces, stage: Stage) -> NDArray[np.int64]:
    """n·W for every trace, W = isqrt(⌊Δ²/Σc²⌋): what all its cases together add for each of its transitions."""
    squares = np.maximum(traces.transitions.squared_norms(), 1)
    return traces.counts * integer_root(stage.contribution**2 // squares)


def transition_sums(traces: CodedTraces, stage: Stage) -> NDArray[np.int64]:
    """T1: a case adds W·c to the cells of its transitions, by state and symbol."""
    size = states(traces.activities)
    sums = np.zeros(size * size, dtype=np.int64)
    np.add.at(sums, traces.transitions.cell, transition_weights(traces, stage)[traces.transitions.owner])
    return sums.reshape(size, size)


def context_sums(traces: CodedTraces, pairs: NDArray[np.int64], stage: Stage) -> NDArray[np.int64]:
    """T2: a case adds W·c₂ to the cells (g, h, symbol) of the chosen pairs of states, with T1's norm of c.

    A transition that is counted in a cell (g, h, symbol) is counted by T1 in (h, symbol), so the norm is not larger.
    """
    size = states(traces.activities)
    row_of = np.full((size, size), -1, dtype=np.int64)
    row_of[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    transitions = traces.transitions
    later = np.flatnonzero(transitions.state > 0)  # not the first transition of a trace
    row = row_of[transitions.state[later - 1], transitions.state[later]]
    later, row = later[row >= 0], row[row >= 0]
    sums = np.zeros(len(pairs) * size, dtype=np.int64)
    weights = transition_weights(traces, stage)
    np.add.at(sums, row * size + transitions.symbol[later], weights[transitions.owner[later]])
    return sums.reshape(len(pairs), size)
