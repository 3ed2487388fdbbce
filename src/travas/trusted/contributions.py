"""What one case adds to every measurement of a synthetic log and of a process map: integer vectors of bounded norm.

To be read against Lemma 1 of docs/mechanisms/synthesis.md and of docs/mechanisms/map.md: given earlier outputs, what a case
adds depends on the case alone, and its Euclidean norm is at most the contribution Δ of the stage. Sums are 64-bit integers:
Δ < 2^26, so 10^11 cases fit, which is the largest log.

Traces are coded: activity a of n is the integer a, and the codes of all traces follow one another in one array. An
event is labelled *first* (0) if its activity has not occurred before in its trace, else *again* (1).
States are START (0) and 1 + 2a + label; symbols are 2a + label and END (2n).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .samplers import Booleans, Integers
from .stages import Stage

# ------------------------------------------------------------------------------------------- weights of bounded norm

_SATURATED = 26
"""Δ² is below 2^52: a trace whose Σc² reaches that adds nothing, however much larger it is."""


def integer_root(values: Integers) -> Integers:
    """⌊√v⌋ for 0 ≤ v < 2^52: a float's root is off by at most one, and corrected."""
    root = np.sqrt(values).astype(np.int64)
    root -= root * root > values
    root += (root + 1) ** 2 <= values
    return root


def norm_weights(squares: Integers, contribution: int) -> Integers:
    """W = isqrt(⌊Δ²/Σc²⌋) of every trace: W·c has a norm of at most Δ."""
    return integer_root(contribution**2 // np.maximum(squares, 1))


def squared_norms(owner: Integers, times: Integers, traces: int) -> Integers:
    """Σc² of every trace, c the times of its cells: exact below 2^52, where it saturates, for up to 2^37 cells per trace."""
    squares = np.minimum(times, 1 << _SATURATED) ** 2
    high, low = np.zeros((2, traces), dtype=np.int64)
    np.add.at(high, owner, squares >> _SATURATED)
    np.add.at(low, owner, squares & ((1 << _SATURATED) - 1))
    high += low >> _SATURATED
    exact = (high << _SATURATED) | (low & ((1 << _SATURATED) - 1))
    return np.where(high >> _SATURATED, 1 << 2 * _SATURATED, exact)


def case_blocks(lengths: Integers, size: int) -> Iterator[tuple[slice, slice]]:
    """Split cases into blocks of complete cases; sums over cases do not depend on it."""
    ends = np.cumsum(lengths)
    events = int(ends[-1]) if len(ends) else 0
    stops = np.unique(np.append(np.searchsorted(ends, np.arange(size, events, size)), len(ends)))
    start = first = 0
    for stop in stops.tolist():
        last = int(ends[stop - 1]) if stop else 0
        yield slice(start, stop), slice(first, last)
        start, first = stop, last


def distinct(keys: Integers) -> tuple[Integers, Integers]:
    """Return the distinct keys in increasing order, and how often each occurs.

    Fastest if keys begin with the index of the case: a stable sort merges runs, and cases are in order already.
    """
    ordered = np.sort(keys, kind="stable")
    is_new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    starts = np.flatnonzero(is_new)
    return ordered[starts], np.diff(starts, append=len(ordered))


# ------------------------------------------------------------------------------------- lengths and labelled transitions

LONGEST = 4096


def _edges() -> tuple[int, ...]:
    edges = [1]
    while edges[-1] < LONGEST:
        edges.append(min(LONGEST, max(edges[-1] + 1, -(-7 * edges[-1] // 5))))
    return tuple(edges)


LENGTH_EDGES = _edges()
"""The least length of every bucket but the first, which holds traces without events. The last bucket is open."""

BUCKETS = len(LENGTH_EDGES) + 1


def bucket_of(lengths: Integers) -> Integers:
    """The bucket of every length: 0 for no events, then by `LENGTH_EDGES`."""
    return np.searchsorted(np.array(LENGTH_EDGES), lengths, side="right")


def longest_in(bucket: int) -> int:
    """The largest length in a bucket; for the open one the length where the next bucket would begin, less one."""
    if bucket < BUCKETS - 1:
        return LENGTH_EDGES[bucket] - 1 if bucket else 0
    return -(-7 * LONGEST // 5) - 1


def states(activities: int) -> int:
    """Return the number of states over this many activities."""
    return 2 * activities + 1


def cells(activities: int) -> Booleans:
    """Which transitions can occur, by state and symbol: START is followed by a first, an activity never by its own first."""
    size = states(activities)
    allowed = np.ones((size, size), dtype=bool)
    allowed[0, 1::2] = False
    allowed[0, -1] = False
    firsts = 2 * np.arange(activities)
    allowed[firsts + 1, firsts] = False
    allowed[firsts + 2, firsts] = False
    return allowed


def first_occurrences(owner: Integers, codes: NDArray[np.integer[Any]], activities: int) -> Booleans:
    """For every event, whether its activity has not occurred before in its trace."""
    first = np.zeros(len(codes), dtype=bool)
    _, index = np.unique(owner * max(activities, 1) + codes, return_index=True)
    first[index] = True
    return first


def _steps(
    befores: Integers, afters: Integers, lengths: Integers, start: int, end: int
) -> tuple[Integers, Integers, Integers]:
    """The owner of every step from an event to the next one, with START and END, and what is before and after it."""
    owner = np.repeat(np.arange(len(lengths)), np.where(lengths > 0, lengths + 1, 0))
    ends = np.cumsum(lengths)[lengths > 0]
    starts = ends - lengths[lengths > 0]
    return owner, np.insert(befores, starts, start), np.insert(afters, ends, end)


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
    owner: Integers
    state: Integers
    symbol: Integers

    @classmethod
    def of(cls, codes: NDArray[np.integer[Any]], lengths: Integers, activities: int) -> Transitions:
        """The transitions of traces of these lengths, whose codes follow one another."""
        is_first = first_occurrences(np.repeat(np.arange(len(lengths)), lengths), codes, activities)
        symbols = 2 * codes.astype(np.int64) + ~is_first
        return cls(activities, len(lengths), *_steps(symbols + 1, symbols, lengths, 0, 2 * activities))

    @property
    def cell(self) -> Integers:
        """The index of every transition's cell in the flattened table of states and symbols."""
        return self.state * states(self.activities) + self.symbol

    def squared_norms(self) -> Integers:
        """Σc² of every trace, where c counts its transitions by cell."""
        keys, times = distinct(self.owner * states(self.activities) ** 2 + self.cell)
        return squared_norms(keys // states(self.activities) ** 2, times, self.traces)


# ------------------------------------------------------------------------------------------------- a synthetic log

BLOCK = 1 << 20
"""About how many events are processed at once: bounds the memory, and changes no sum."""


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
    lengths: Integers
    counts: Integers
    activities: int

    @cached_property
    def owner(self) -> Integers:
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

    def without(self, some: Booleans) -> CodedTraces:
        """The same traces, some of them with no case: they add nothing to any sum."""
        return CodedTraces(self.codes, self.lengths, np.where(some, 0, self.counts), self.activities)

    def projected(self, activities: Integers) -> CodedTraces:
        """The same traces without the events of all other activities; the k-th of `activities` becomes k."""
        recoded = np.full(self.activities, -1, dtype=np.int32)
        recoded[activities] = np.arange(len(activities))
        codes = recoded[self.codes]
        kept = np.append(0, np.cumsum(codes >= 0))
        ends = np.cumsum(self.lengths)
        lengths = kept[ends] - kept[ends - self.lengths]
        return CodedTraces(codes[codes >= 0], lengths, self.counts, len(activities))


def activity_sums(traces: CodedTraces, known: Integers, stage: Stage) -> Integers:
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


def length_sums(traces: CodedTraces, stage: Stage) -> Integers:
    """L: a case adds Δ to the bucket of its length."""
    sums = np.zeros(BUCKETS, dtype=np.int64)
    for block in traces.blocks():
        np.add.at(sums, bucket_of(block.lengths), block.counts * stage.contribution)
    return sums


def transition_weights(traces: CodedTraces, stage: Stage) -> Integers:
    """n·W for every trace: what all its cases together add for each of its transitions."""
    return traces.counts * norm_weights(traces.transitions.squared_norms(), stage.contribution)


def transition_sums(traces: CodedTraces, stage: Stage) -> Integers:
    """T1: a case adds W·c to the cells of its transitions, by state and symbol."""
    size = states(traces.activities)
    sums = np.zeros(size * size, dtype=np.int64)
    for block in traces.blocks():
        np.add.at(sums, block.transitions.cell, transition_weights(block, stage)[block.transitions.owner])
    return sums.reshape(size, size)


def context_sums(traces: CodedTraces, pairs: Integers, stage: Stage) -> Integers:
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


# ---------------------------------------------------------------------------------- times and attributes, by their cells


def add_counts(owner: Integers, cells: Integers, contribution: int, sums: Integers) -> None:
    """D, E, G, P, W, H and C: a case adds W·c, where c counts by cell: its steps or events, in order of cases, or the case."""
    if not len(owner):
        return
    keys, counts = distinct(owner * len(sums) + cells)
    owners, cells = np.divmod(keys, len(sums))
    weights = norm_weights(squared_norms(owners, counts, int(owners[-1]) + 1), contribution)
    np.add.at(sums, cells, counts * weights[owners])


# --------------------------------------------------------------------------------------------------- a process map

SIZE_CELLS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256, 384, 512, 768, 1024)
"""The largest number of distinct pairs of every cell of M; the last cell also holds cases with more."""


def nodes_of(activities: int) -> int:
    """The number of rows and columns of the table of pairs: the activities, `other`, and START or END."""
    return activities + 2


@dataclass(frozen=True, eq=False)
class CaseCells:
    """The distinct cells that every trace touches: confidential.

    Attributes:
        owner: The index of the trace, for every cell that it touches.
        cell: The index of the cell.
        counts: The number of cases of every trace.
    """

    owner: Integers
    cell: Integers
    counts: Integers

    @cached_property
    def numbers(self) -> Integers:
        """m: the number of distinct cells of every trace."""
        return np.bincount(self.owner, minlength=len(self.counts))

    def sums(self, stage: Stage, cap: int, cells: int) -> Integers:
        """F and R: a case adds isqrt(⌊Δ²/max(c, m)⌋) to each of its m cells."""
        weights = self.counts * integer_root(stage.contribution**2 // np.maximum(self.numbers, cap))
        sums = np.zeros(cells, dtype=np.int64)
        np.add.at(sums, self.cell, weights[self.owner])
        return sums


def with_other(traces: CodedTraces, activities: Integers) -> CodedTraces:
    """The same traces; the k-th of `activities` becomes k, and every other activity becomes the node after them."""
    node = np.full(traces.activities, len(activities), dtype=np.int64)
    node[activities] = np.arange(len(activities))
    return CodedTraces(node[traces.codes], traces.lengths, traces.counts, len(activities) + 1)


def _case_cells(traces: CodedTraces, width: int, cells_of: Callable[[CodedTraces], Integers]) -> CaseCells:
    """The cells of all traces; `cells_of` returns them for some of the traces, as trace·width + cell."""
    found, start = [], 0
    for block in traces.blocks():
        found.append(start * width + cells_of(block))
        start += len(block.lengths)
    return CaseCells(*np.divmod(np.concatenate(found), width), traces.counts)


def pairs_of(traces: CodedTraces) -> CaseCells:
    """The distinct directly-follows pairs of every trace, START and END included; a trace without events has none."""
    size = nodes_of(traces.activities - 1)

    def pairs(block: CodedTraces) -> Integers:
        codes = block.codes.astype(np.int64)
        owner, before, after = _steps(codes, codes, block.lengths, size - 1, size - 1)
        return distinct(owner * size**2 + before * size + after)[0]

    return _case_cells(traces, size**2, pairs)


def rework_of(traces: CodedTraces) -> CaseCells:
    """Cell a for every activity a of a trace, and cell n + a if it occurs again; `other`, which is n, has none."""
    activities = traces.activities - 1
    width = max(2 * activities, 1)

    def cells(block: CodedTraces) -> Integers:
        named = block.codes < activities
        keys, times = distinct(block.owner[named] * width + block.codes[named])
        return np.concatenate([keys, keys[times > 1] + activities])

    return _case_cells(traces, width, cells)


def size_sums(pairs: CaseCells, stage: Stage) -> Integers:
    """M: a case adds Δ to the cell of its number of distinct pairs."""
    sums = np.zeros(len(SIZE_CELLS), dtype=np.int64)
    some = pairs.numbers > 0
    cell = np.searchsorted(np.array(SIZE_CELLS), np.minimum(pairs.numbers[some], SIZE_CELLS[-1]))
    np.add.at(sums, cell, pairs.counts[some] * stage.contribution)
    return sums
