"""The prefix tree of Mannhardt et al. 2019, the benchmark of the TraVaS paper. Proof: docs/mechanisms/prefix-tree.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import CONFIDENTIAL, ParameterError
from ..model.estimate import CONFIDENCE, Estimate, measured
from ..model.mechanism import Mechanism
from ..model.release import Release
from ..model.variants import Activity, Trace, Variants
from ..privacy.guarantee import Guarantee, Standing
from ..privacy.noise import Noise, RandomBytes
from ..privacy.numbers import as_text
from ..privacy.sampling import DiscreteLaplace
from ..privacy.tables import laplace_table
from .trie import Prefixes, Trie

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_PREFIXES = 5_000_000
"""The work of one release: so many prefixes may be given noise, on all levels together."""

ALPHABET_OF_THE_LOG = "the alphabet: the names of all activities of the log"


@dataclass(frozen=True)
class TwoSidedNoise:
    """Integer noise around zero on a public cell: (ε, δ)-DP for a count that changes by one."""

    epsilon: Fraction
    delta: Fraction

    @cached_property
    def table(self) -> Noise | None:
        """The verified table; at δ = 0 none, the noise is discrete Laplace."""
        return Noise(laplace_table(self.epsilon, self.delta), self.epsilon, self.delta) if self.delta else None

    @cached_property
    def _laplace(self) -> DiscreteLaplace:
        return DiscreteLaplace(1 / self.epsilon)

    def check(self) -> None:
        """Refuse what could not be drawn, before anything is."""
        assert self.table or self._laplace

    def draw(self, size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
        if self.table is None:
            return self._laplace.draw(size, random_bytes)
        return self.table.draw(size, random_bytes) - (self.table.table.length // 2 + 1)

    def within(self, share: float) -> int:
        """The least q with P[|noise| ≤ q] ≥ share."""
        ratio = (1 - float(self.delta)) * math.exp(-float(self.epsilon))
        return max(0, math.ceil(math.log((1 - share) * (1 + ratio) / 2) / math.log(ratio)) - 1)


@dataclass(frozen=True)
class Tree(Mechanism):
    """What all prefix trees share: a public alphabet, a maximum length, a pruning threshold, and bounded work."""

    options = ("max_length", "prune", "alphabet")
    counted = "cases"

    max_length: int | None = None
    prune: int | None = None
    alphabet: tuple[Activity, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for option, least in (("max_length", 1), ("prune", 0)):
            value = getattr(self, option)
            if value is None:
                raise ParameterError(
                    f"{self.name} needs {option}, and it may not be read from the log: give --max-length (activities of "
                    "the longest variant) and --prune (a noisy count must exceed it)"
                )
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10**9:
                raise ParameterError(f"{option} is {value!r}: it must be a whole number from {least}")
        if self.alphabet is not None:
            names = tuple(tuple(name) if isinstance(name, list) else name for name in self.alphabet)
            parts = [part for name in names for part in (name if isinstance(name, tuple) else (name,))]
            if not names or not all(isinstance(part, str) and part for part in parts):
                raise ParameterError("the alphabet must name at least one activity, and each with a text")
            object.__setattr__(self, "alphabet", tuple(sorted(set(names))))
        self.noise.check()

    @property
    def _length(self) -> int:
        assert self.max_length is not None
        return self.max_length

    @property
    def _prune(self) -> int:
        assert self.prune is not None
        return self.prune

    @property
    def noise(self) -> TwoSidedNoise:
        """The noise of every cell of a level: a case falls into one of them."""
        raise NotImplementedError

    def tables(self) -> tuple[Noise, ...]:
        return (self.noise.table,) if self.noise.table is not None else ()

    def parameters(self) -> dict[str, Any]:
        names = self.alphabet and [list(name) if isinstance(name, tuple) else name for name in self.alphabet]
        return {
            "max_length": self.max_length,
            "prune": self.prune,
            "alphabet": names,
            "most_prefixes": MAX_PREFIXES,
            "level_epsilon": as_text(self.noise.epsilon),
            "level_delta": as_text(self.noise.delta),
        }

    def _proven(self) -> Guarantee:
        """By composition of the levels: what their verified tables spend, together."""
        spent = sum((table.delta_spent for table in self.tables()), Fraction(0)) * self._length
        return self._guarantee(spent, Standing.PROVEN, "any mechanism", self._assumptions())

    def _assumptions(self) -> tuple[str, ...]:
        return () if self.alphabet is not None else (ALPHABET_OF_THE_LOG,)

    def estimate(self, noisy: tuple[int, ...]) -> Estimate:
        """The noise is symmetric: the noisy count is the estimate. A variant may be a fake: the interval may reach 0."""
        radius = self.noise.within(CONFIDENCE)
        return measured(noisy, tuple((max(0, count - radius), count + radius) for count in noisy))

    def check(self, variants: Variants) -> None:
        """Refuse an alphabet whose names are of another width, too: before the charge."""
        super().check(variants)
        width = len(variants.columns)
        if any((len(name) if isinstance(name, tuple) else 1) != width for name in self.alphabet or ()):
            raise ParameterError(
                f"an activity of this log is made of {width} columns, one of the alphabet is not {CONFIDENTIAL}"
            )

    def _trie(self, variants: Variants) -> Trie:
        return Trie(variants, self._length, self.alphabet)

    def _check_work(self, prefixes: int, level: int) -> None:
        if prefixes > MAX_PREFIXES:
            raise ParameterError(
                f"the tree explodes: {prefixes:,} noisy prefixes at length {level} of {self.max_length}, over "
                f"{MAX_PREFIXES:,}: take a larger prune than {self.prune}, a smaller max_length, or a larger epsilon"
            )


@dataclass(frozen=True)
class PrefixTree(Tree):
    """Level by level: noise on how many cases are a prefix and how many go on after it; both must exceed `prune`.

    Input      a log's variants and counts; an alphabet, a maximum length and a threshold, which must be public
    Output     sequences over the alphabet, fakes among them, with noisy counts above `prune`; longer traces are lost
    Neighbours one case more or less changes one cell of each level by one
    Guarantee  every level (ε, δ)/max_length; candidates follow from noisy outputs only: (ε, δ) by adaptive composition;
               with a unit of several cases this is its `step`, and (ε, δ) for all of them by group privacy
    """

    name = "prefix-tree"

    @cached_property
    def noise(self) -> TwoSidedNoise:
        return TwoSidedNoise(self.step.epsilon / self._length, self.step.delta / self._length)

    def guarantee(self) -> Guarantee:
        return self._proven()

    def _release(self, variants: Variants) -> Release:
        found = grow(self, self._trie(variants), None)
        return Release(
            self, tuple(found), tuple(found.values()), variants.columns, abstractions=(variants.abstraction,)
        )


def grow(tree: Tree, trie: Trie, allowed: NDArray[np.bool_] | None) -> dict[Trace, int]:
    """The noisy tree: what is released, with its noisy counts. `allowed[a, b]`: b may come after a; None: always."""
    import numpy as np

    parents = trie.root()
    released: dict[Trace, int] = {}
    work = 0
    for level in range(1, tree._length + 1):
        if not len(parents):
            break
        work += len(parents) * len(trie.alphabet)
        tree._check_work(work, level)
        candidates = trie.children(parents, None if allowed is None else allowed_after(parents, allowed))
        drawn = tree.noise.draw(2 * len(candidates), tree.random_bytes)
        finished = trie.ending(candidates) + drawn[: len(candidates)]
        going_on = trie.going_on(candidates) + drawn[len(candidates) :]
        kept = np.flatnonzero(finished > tree._prune)
        released.update(zip(trie.traces(candidates.at(kept)), finished[kept].tolist(), strict=True))
        parents = candidates.at(np.flatnonzero(going_on > tree._prune))
    return released


def allowed_after(prefixes: Prefixes, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For every prefix and symbol: whether the symbol may come after each activity of the prefix."""
    import numpy as np

    may = np.ones((len(prefixes), len(allowed)), dtype=bool)
    for position in range(prefixes.symbols.shape[1]):
        may &= allowed[prefixes.symbols[:, position]]
    return may
