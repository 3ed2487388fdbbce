"""A log's variants as a tree of prefixes, and candidates for prefixes: every one a walk in it, or beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.variants import CODE, Activity, Trace, Variants

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

    def at(self, places: NDArray[np.int64]) -> Prefixes:
        return Prefixes(self.symbols[places], self.nodes[places])


@dataclass(frozen=True)
class Candidates:
    """Prefixes one symbol longer than others: whose children they are, by which symbol, and their nodes."""

    parents: Prefixes
    parent: NDArray[np.int64]
    symbol: NDArray[np.int64]
    nodes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.nodes)

    def at(self, places: NDArray[np.int64]) -> Prefixes:
        """The chosen ones, written out."""
        import numpy as np

        rows = self.parents.symbols[self.parent[places]]
        added = self.symbol[places, None].astype(np.int32)
        return Prefixes(np.concatenate((rows, added), axis=1), self.nodes[places])


class Trie:
    """Confidential. The prefixes of a log up to a length, over an alphabet in canonical order; None: the log's own.

    A case with an activity that is not in the alphabet goes on after its last known prefix, and is not followed.
    Edges are sorted numbers node·|A| + symbol, so that the children of any number of prefixes are one search.
    """

    def __init__(self, variants: Variants, max_length: int, alphabet: Sequence[Activity] | None) -> None:
        import numpy as np

        names = sorted(set(variants.alphabet) if alphabet is None else set(alphabet))
        self.alphabet: list[Activity] = names
        place = {name: code for code, name in enumerate(names)}
        codes = self._codes = np.array([place.get(name, NOWHERE) for name in variants.alphabet], dtype=np.int64)
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
        """Every prefix by every symbol, in canonical order; with `may[prefix, symbol]` only those."""
        import numpy as np

        size, width = len(parents), len(self.alphabet)
        if may is None:
            parent, symbol = np.repeat(np.arange(size), width), np.tile(np.arange(width), size)
        else:
            parent, symbol = np.nonzero(may)
        return Candidates(parents, parent, symbol, self._step(parents.nodes[parent], symbol))

    def _step(self, nodes: NDArray[np.int64], symbols: NDArray[np.int64]) -> NDArray[np.int64]:
        """The nodes that lie one symbol further, or NOWHERE."""
        import numpy as np

        wanted = nodes * len(self.alphabet) + symbols
        place = np.searchsorted(self._edges, wanted)
        found = nodes >= 0
        found[found] = place[found] < len(self._edges)
        found[found] = self._edges[place[found]] == wanted[found]
        return np.where(found, place + 1, NOWHERE)

    def ending(self, prefixes: Prefixes | Candidates) -> NDArray[np.int64]:
        """How many cases are each of these prefixes."""
        return self._ending[prefixes.nodes]  # NOWHERE is the last place: none

    def going_on(self, prefixes: Prefixes | Candidates) -> NDArray[np.int64]:
        """How many cases go on after each of these prefixes."""
        return self._going_on[prefixes.nodes]

    def traces(self, prefixes: Prefixes) -> list[Trace]:
        """The prefixes as sequences of activities."""
        name = self.alphabet.__getitem__
        return [tuple(map(name, row)) for row in prefixes.symbols.tolist()]

    def rows(self, variants: Variants, places: Iterable[int], max_length: int | None) -> NDArray[np.int32]:
        """Confidential. The variants at these places in symbols, one a row, cut where told and filled up with NOWHERE."""
        import numpy as np

        keys = [np.frombuffer(variants.keys[place], CODE)[:max_length] for place in places]
        rows = np.full((len(keys), max(map(len, keys), default=0)), NOWHERE, dtype=np.int32)
        for row, key in zip(rows, keys, strict=True):
            row[: len(key)] = self._codes[key]
        return rows
