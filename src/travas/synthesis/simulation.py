"""Traces from a chain: many walkers at once, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..trusted.contributions import Transitions, bucket_of, states
from .chain import Chain
from .randomness import Random


@dataclass(frozen=True, eq=False)
class Tilt:
    """Factors that correct a chain: by cell on the transitions, and by length bucket on ending.

    Attributes:
        transitions: A factor for every cell, flattened.
        endings: A factor on END for every length bucket.
    """

    transitions: NDArray[np.float64]
    endings: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Simulated:
    """Generated traces, coded, one after another.

    Attributes:
        codes: The activities of all events.
        lengths: The number of events of every trace.
        stuck: Whether a trace came to a state from which nothing was allowed.
    """

    codes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    stuck: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Simulated]) -> Simulated:
        """The traces of all parts."""
        return cls(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.stuck for part in parts]),
        )

    def keys(self) -> list[bytes]:
        """Every trace as bytes: equal traces have equal keys."""
        size = self.codes.itemsize
        whole, ends = self.codes.tobytes(), np.cumsum(self.lengths) * size
        begins = ends - self.lengths * size
        return [whole[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]

    def without(self, keys: frozenset[bytes]) -> Simulated:
        """The traces with other keys than these."""
        kept = np.array([key not in keys for key in self.keys()], dtype=bool)
        return Simulated(self.codes[np.repeat(kept, self.lengths)], self.lengths[kept], self.stuck[kept])

    def mean_transitions(self, activities: int) -> NDArray[np.float64]:
        """Transitions by cell, flattened, per trace: normalised exactly as the measured ones are."""
        transitions = Transitions.of(self.codes, self.lengths, activities)
        scale = 1 / np.sqrt(np.maximum(transitions.squared_norms(), 1))
        sums = np.bincount(
            transitions.cell, weights=scale[transitions.owner], minlength=states(activities) ** 2
        )  # floats are fine here: nothing true is in it
        return sums / len(self.lengths)


def simulate(chain: Chain, tilt: Tilt, longest: int, number: int, random: Random) -> Simulated:
    """Let `number` walkers walk the chain from START until END.

    Args:
        chain: The chain.
        tilt: Factors on its weights.
        longest: A walker that has made this many steps stops.
        number: The number of traces.
        random: The generator; it has nothing to do with the noise.

    Returns:
        The traces. A symbol is chosen only if its label agrees with what has occurred before in the trace.
    """
    end = 2 * chain.activities
    weights = chain.weights * tilt.transitions[chain.cells]
    ends = np.where(chain.symbols == end, 0.0, weights)
    ends, goes_on = weights - ends, ends
    seen = np.zeros((number, chain.activities + 1), dtype=bool)  # the last column is END's: it never occurs before
    context = np.zeros(number, dtype=np.int64)
    stuck = np.zeros(number, dtype=bool)
    walking = np.arange(number)
    walkers, symbols = [], []
    bucket = bucket_of(np.arange(longest + 1))
    for position in range(longest):
        if not len(walking):
            break
        weight = goes_on + tilt.endings[bucket[position]] * ends
        entry, possible = _choose(chain, weight, context[walking], seen, walking, random)
        stuck[walking[~possible]] = True
        walking = walking[possible]
        symbol = chain.symbols[entry]
        going = symbol < end
        walking, symbol, entry = walking[going], symbol[going], entry[going]
        seen[walking, symbol >> 1] = True
        context[walking] = chain.contexts[entry]
        walkers.append(walking)
        symbols.append(symbol)
    owner = np.concatenate([np.empty(0, dtype=np.int64), *walkers])
    codes = np.concatenate([np.empty(0, dtype=np.int64), *symbols]) >> 1
    order = np.argsort(owner, kind="stable")
    return Simulated(codes[order], np.bincount(owner, minlength=number).astype(np.int64), stuck)


def _choose(
    chain: Chain,
    weights: NDArray[np.float64],
    context: NDArray[np.int64],
    seen: NDArray[np.bool_],
    walking: NDArray[np.int64],
    random: Random,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """An entry of its context for every walker that can go on, by weight; and which walkers can.

    All candidates of all walkers lie in one array. Their running total is searched once for all walkers.
    """
    begin = chain.starts[context]
    sizes = chain.starts[context + 1] - begin
    stop = np.cumsum(sizes)
    entries = np.arange(stop[-1]) + np.repeat(begin - (stop - sizes), sizes)
    symbols = chain.symbols[entries]
    fits = seen[np.repeat(walking, sizes), symbols >> 1] == (symbols & 1)
    total = np.concatenate([[0.0], np.cumsum(np.where(fits, weights[entries], 0.0))])
    low, high = total[stop - sizes], total[stop]
    possible = high > low
    low, high = low[possible], high[possible]
    wanted = np.minimum(low + random.random(len(low)) * (high - low), np.nextafter(high, 0.0))
    return entries[np.searchsorted(total[1:], wanted, side="right")], possible
