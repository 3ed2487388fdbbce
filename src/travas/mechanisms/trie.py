"""The variants of a log as a tree of prefixes, and candidates for prefixes inside and outside of the tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..log.log import Log
from ..log.traces import CODE, Activity, Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOWHERE = -1
"""The node of a prefix that no case has."""


@dataclass(frozen=True)
class Prefixes:
    """Prefixes of one length: the symbols of each, a row, and its node in the true tree."""

    symbols: NDArray[np.int32]
    nodes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.nodes)

    def at(self, indexes: NDArray[np.int64]) -> Prefixes:
        return Prefixes(self.symbols[indexes], self.nodes[indexes])


@dataclass(frozen=True)
class Candidates:
    """Prefixes one symbol longer than others: their parents, symbols and nodes."""

    parents: Prefixes
    parent: NDArray[np.int64]
    symbol: NDArray[np.int64]
    nodes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.nodes)

    def at(self, indexes: NDArray[np.int64]) -> Prefixes:
        """Return the selected prefixes."""
        import numpy as np

        rows = self.parents.symbols[self.parent[indexes]]
        added = self.symbol[indexes, None].astype(np.int32)
        return Prefixes(np.concatenate((rows, added), axis=1), self.nodes[indexes])


class Trie:
    """The prefixes of a log up to a length, over an alphabet in canonical order; None: that of the log. Confidential.

    A case with an activity that is not in the alphabet counts as continuing after its last prefix over the alphabet.
    Edges are sorted numbers node·|A| + symbol, so that the children of many prefixes are found in one search.
    """

    def __init__(self, variants: Log, max_length: int, alphabet: Sequence[Activity] | None) -> None:
        import numpy as np

        names = sorted(set(variants.alphabet) if alphabet is None else set(alphabet))
        self.alphabet: list[Activity] = names
        index = {name: code for code, name in enumerate(names)}
        codes = self._codes = np.array([index.get(name, NOWHERE) for name in variants.alphabet], dtype=np.int64)
        lengths = np.array([len(key) for key in variants.keys], dtype=np.int64) // np.dtype(CODE).itemsize
        starts = np.cumsum(lengths) - lengths
        events = np.frombuffer(b"".join(variants.keys), dtype=CODE)
        counts = variants.counts
        at = np.zeros(len(lengths), dtype=np.int64)  # the node each variant has reached
        alive = np.arange(len(lengths))
        edges, ending, going_on = [], [np.zeros(1, dtype=np.int64)], [np.array([counts.sum()])]
        made = 1
        for level in range(max_length):
            alive = alive[lengths[alive] > level]
            symbols = codes[events[starts[alive] + level]] if len(alive) else np.empty(0, dtype=np.int64)
            alive, symbols = alive[symbols >= 0], symbols[symbols >= 0]
            if not len(alive):
                break
            numbers, reached = np.unique(at[alive] * len(names) + symbols, return_inverse=True)
            at[alive] = made + reached
            last = lengths[alive] == level + 1
            everybody = np.bincount(reached, weights=counts[alive], minlength=len(numbers)).astype(np.int64)
            finished = np.bincount(reached[last], weights=counts[alive][last], minlength=len(numbers)).astype(np.int64)
            edges.append(numbers)
            ending.append(finished)
            going_on.append(everybody - finished)
            made += len(numbers)
        # nodes are numbered level by level in the order of their edges, so all edges together are sorted
        self._edges = np.concatenate(edges) if edges else np.empty(0, dtype=np.int64)
        self._ending, self._going_on = np.concatenate([*ending, [0]]), np.concatenate([*going_on, [0]])

    def root(self) -> Prefixes:
        import numpy as np

        return Prefixes(np.empty((1, 0), dtype=np.int32), np.zeros(1, dtype=np.int64))

    def children(self, parents: Prefixes, may: NDArray[np.bool_] | None = None) -> Candidates:
        """Return every prefix extended by every symbol, in canonical order; only those with `may[prefix, symbol]`."""
        import numpy as np

        size, width = len(parents), len(self.alphabet)
        if may is None:
            parent, symbol = np.repeat(np.arange(size), width), np.tile(np.arange(width), size)
        else:
            parent, symbol = np.nonzero(may)
        return Candidates(parents, parent, symbol, self._step(parents.nodes[parent], symbol))

    def _step(self, nodes: NDArray[np.int64], symbols: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the nodes one symbol further, or NOWHERE."""
        import numpy as np

        wanted = nodes * len(self.alphabet) + symbols
        index = np.searchsorted(self._edges, wanted)
        exists = nodes >= 0
        exists[exists] = index[exists] < len(self._edges)
        exists[exists] = self._edges[index[exists]] == wanted[exists]
        return np.where(exists, index + 1, NOWHERE)

    def ending(self, prefixes: Prefixes | Candidates) -> NDArray[np.int64]:
        """Return the number of cases that end at each of these prefixes."""
        return self._ending[prefixes.nodes]  # NOWHERE is the last index: no cases

    def going_on(self, prefixes: Prefixes | Candidates) -> NDArray[np.int64]:
        """Return the number of cases that continue after each of these prefixes."""
        return self._going_on[prefixes.nodes]

    def traces(self, prefixes: Prefixes) -> list[Trace]:
        """Return the prefixes as sequences of activities."""
        name = self.alphabet.__getitem__
        return [tuple(map(name, row)) for row in prefixes.symbols.tolist()]

    def rows(self, variants: Log, indexes: Iterable[int], max_length: int | None) -> NDArray[np.int32]:
        """Return variants as rows of symbols, truncated to `max_length` and padded with NOWHERE. Confidential."""
        import numpy as np

        keys = [np.frombuffer(variants.keys[index], CODE)[:max_length] for index in indexes]
        rows = np.full((len(keys), max(map(len, keys), default=0)), NOWHERE, dtype=np.int32)
        for row, key in zip(rows, keys, strict=True):
            row[: len(key)] = self._codes[key]
        return rows
