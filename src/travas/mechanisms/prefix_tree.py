"""The prefix tree of Mannhardt et al. 2019, the benchmark of the TraVaS paper. Proof: docs/mechanisms/prefix-tree.md."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import Any

import attrs
import numpy as np

from ..errors import ParameterError, check_encodable, shown
from ..log.log import Log
from ..log.traces import CODE, Activity, Trace
from ..releases.estimate import CONFIDENCE, Estimate, estimate_of, measured
from ..releases.release import VariantRelease
from ..search.table_builders import laplace_table
from ..trusted.guarantee import GroupStep, Guarantee, Standing
from ..trusted.losses import Losses, Step
from ..trusted.numbers import as_text, whole_number
from ..trusted.samplers import Booleans, DiscreteLaplace, Integers, RandomBytes
from ..trusted.tables import Noise
from .mechanism import Mechanism, parameters_of

MAX_PREFIXES = 5_000_000
"""The maximum number of noisy prefixes of one release, on all levels together."""

MAX_NUMBER = 10**9

NOWHERE = -1
"""Stands for an activity that is not in the alphabet."""

ALPHABET_OF_THE_LOG = (
    "the alphabet was read from the log, which no budget covers: an activity of a single case can become visible; "
    "set alphabet to a public list of activities"
)


@dataclass(frozen=True)
class TwoSidedNoise:
    """Symmetric integer noise on a public cell: (ε, δ)-DP for a count that changes by one. Refused if it cannot be drawn."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _ = self.table or self._laplace

    @cached_property
    def table(self) -> Noise | None:
        """The verified table; None at δ = 0, where the noise is discrete Laplace."""
        return Noise(laplace_table(self.epsilon, self.delta), self.epsilon, self.delta) if self.delta else None

    @cached_property
    def _laplace(self) -> DiscreteLaplace:
        return DiscreteLaplace(1 / self.epsilon)

    def draw(self, size: int, random_bytes: RandomBytes) -> Integers:
        """Draw independent values of the noise."""
        if self.table is None:
            return self._laplace.draw(size, random_bytes)
        return self.table.draw(size, random_bytes) - (self.table.table.length // 2 + 1)

    def within(self, share: float) -> int:
        """Return the smallest q with P[|noise| ≤ q] ≥ share."""
        ratio = (1 - float(self.delta)) * math.exp(-float(self.epsilon))
        return max(0, math.ceil(math.log((1 - share) * (1 + ratio) / 2) / math.log(ratio)) - 1)


def _max_length(value: int) -> int:
    return whole_number(value, "max_length", 1, MAX_NUMBER)


def _prune(value: int) -> int:
    return whole_number(value, "prune", 0, MAX_NUMBER)


def public_alphabet(value: Sequence[Activity] | None) -> tuple[Activity, ...] | None:
    """Return the activities, unique and in canonical order; an activity of several columns is a tuple (in JSON, a list)."""
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ParameterError(f"alphabet is {shown(value)}: it must be a list of activities", field="alphabet")
    names = tuple(tuple(name) if isinstance(name, list) else name for name in value)
    parts = [part for name in names for part in (name if isinstance(name, tuple) else (name,))]
    if not names or not parts or not all(isinstance(part, str) and part for part in parts):
        raise ParameterError("alphabet must contain at least one activity, and only text", field="alphabet")
    check_encodable("alphabet", *parts)
    if len({isinstance(name, tuple) and len(name) for name in names}) > 1:
        raise ParameterError("alphabet mixes activities with different numbers of columns", field="alphabet")
    return tuple(sorted(set(names)))


Prefix = tuple[int, ...]
"""Indexes of activities in an alphabet; in the traces of a log NOWHERE stands for any other activity."""


def coded_traces(variants: Log, alphabet: Sequence[Activity]) -> Iterator[tuple[Prefix, int]]:
    """The variants of a log over an alphabet, with their numbers of cases. Confidential."""
    code_of = {name: code for code, name in enumerate(alphabet)}
    codes = np.array([code_of.get(name, NOWHERE) for name in variants.alphabet], dtype=np.int64)
    for key, count in zip(variants.keys, variants.counts.tolist(), strict=True):
        yield tuple(codes[np.frombuffer(key, CODE)].tolist()), count


class Trie:
    """How many cases end at every prefix of a log, and how many continue after it. Confidential.

    The alphabet is in canonical order; None: that of the log. A case with an activity that is not in the alphabet counts as
    continuing after its last prefix over the alphabet.
    """

    def __init__(self, variants: Log, max_length: int, alphabet: Sequence[Activity] | None) -> None:
        self.alphabet = sorted(set(variants.alphabet if alphabet is None else alphabet))
        self._cases = defaultdict[Prefix, list[int]](lambda: [0, 0])
        for trace, count in coded_traces(variants, self.alphabet):
            known = next((index for index, code in enumerate(trace) if code == NOWHERE), len(trace))
            for length in range(min(known, max_length) + 1):
                self._cases[trace[:length]][int(length < len(trace))] += count

    def children(self, prefixes: Iterable[Prefix], allowed: Booleans | None = None) -> list[Prefix]:
        """Every prefix extended by every symbol, in canonical order; only those that may follow each of its symbols."""
        if allowed is None:
            allowed = np.ones((len(self.alphabet), len(self.alphabet)), dtype=bool)
        return [
            (*prefix, symbol)
            for prefix in prefixes
            for symbol in np.flatnonzero(allowed[list(prefix)].all(axis=0)).tolist()
        ]

    def counts(self, prefixes: Iterable[Prefix]) -> tuple[Integers, Integers]:
        """The numbers of cases that end at each of these prefixes, and that continue after it."""
        found = np.array([self._cases.get(prefix, (0, 0)) for prefix in prefixes], dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def trace(self, prefix: Prefix) -> Trace:
        """A prefix as activities."""
        return tuple(self.alphabet[symbol] for symbol in prefix)


@attrs.frozen(slots=False)
class Tree(Mechanism):
    """Base class of prefix trees: an alphabet, a maximum length, a pruning threshold, and bounded work.

    Without a public `alphabet` the activities are read from the log. No budget covers that, so no guarantee is
    established: a single case with a unique activity would be visible.
    """

    _counted = "cases"

    max_length: int = attrs.field(converter=_max_length)
    prune: int = attrs.field(converter=_prune)
    alphabet: tuple[Activity, ...] | None = attrs.field(default=None, converter=public_alphabet)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        _ = self.noise

    @property
    def _of_levels(self) -> Fraction:
        """The part of ε for all levels."""
        return self.epsilon

    @cached_property
    def level(self) -> GroupStep:
        """What one case may spend on a level, so that all cases of a unit spend the level's part of (ε, δ)."""
        return self._part(self._of_levels / self.max_length, self.delta / self.max_length)

    @cached_property
    def noise(self) -> TwoSidedNoise:
        """The noise of every cell of a level; a case is in one of them."""
        return TwoSidedNoise(self.level.epsilon, self.level.delta)

    def losses(self) -> Losses:
        """The levels."""
        return (Step(self._of_levels, self.delta, self.noise.table, self.unit.max_cases, self.max_length),)

    def _promise(self) -> Guarantee:
        """Return the guarantee by composition of the levels, from what their verified tables spend."""
        table = self.noise.table
        spent = Fraction(0) if table is None else table.delta_spent * self.level.factor * self.max_length
        standing = Standing.NOT_ESTABLISHED if self.alphabet is None else Standing.PROVEN
        return self._guarantee(spent, standing, "any mechanism", self._assumptions)

    @property
    def _assumptions(self) -> tuple[str, ...]:
        return () if self.alphabet is not None else (ALPHABET_OF_THE_LOG,)

    def _allowed(self, variants: Log, trie: Trie) -> Booleans | None:
        """Whether one activity may follow another: `allowed[a, b]`; None if it always may."""
        return None

    def _grow(self, variants: Log, trie: Trie) -> dict[Trace, int]:
        """Grow the noisy tree and return the released traces with noisy counts."""
        allowed = self._allowed(variants, trie)
        parents: list[Prefix] = [()]
        released: dict[Trace, int] = {}
        work = 0
        for level in range(1, self.max_length + 1):
            if not parents:
                break
            work += len(parents) * len(trie.alphabet)
            self._check_work(work, level)
            candidates = trie.children(parents, allowed)
            ending, going_on = trie.counts(candidates)
            drawn = self.noise.draw(2 * len(candidates), self._random_bytes)
            finished = ending + drawn[: len(candidates)]
            for index in np.flatnonzero(finished > self.prune).tolist():
                released[trie.trace(candidates[index])] = int(finished[index])
            goes_on = going_on + drawn[len(candidates) :] > self.prune
            parents = list(compress(candidates, goes_on))
        return released

    def _release(self, variants: Log) -> VariantRelease:
        counts = self._grow(variants, Trie(variants, self.max_length, self.alphabet))
        return VariantRelease.of(self, counts, counts.values(), variants.columns, (variants.abstraction,))

    def _check_work(self, prefixes: int, level: int) -> None:
        if prefixes > MAX_PREFIXES:
            raise ParameterError(
                f"the tree is too large: {prefixes:,} noisy prefixes at length {level} of {self.max_length}, limit "
                f"{MAX_PREFIXES:,}; use a larger prune than {self.prune}, a smaller max_length, or a larger epsilon",
                field="max_length",
            )


@parameters_of.register
def tree_parameters(mechanism: Tree) -> dict[str, Any]:
    return mechanism._options() | {
        "most_prefixes": MAX_PREFIXES,
        "level_epsilon": as_text(mechanism.noise.epsilon),
        "level_delta": as_text(mechanism.noise.delta),
    }


@estimate_of.register
def _estimate(
    mechanism: Tree, noisy: tuple[int, ...], rungs: tuple[int, ...] = (), cases: int | None = None
) -> Estimate:
    """The noisy counts, because the noise is symmetric. Intervals may reach 0: a variant may be fake."""
    radius = mechanism.noise.within(CONFIDENCE)
    return measured(noisy, tuple((max(0, count - radius), count + radius) for count in noisy))


@attrs.frozen(slots=False)
class PrefixTree(Tree):
    """Adds noise, level by level, to the cases that end at a prefix and those that continue; both must exceed `prune`.

    Input      a log's variants and counts; an alphabet, a maximum length and a threshold, which must be public
    Output     sequences over the alphabet, fakes among them, with noisy counts above `prune`; longer traces are lost
    Neighbours adding or removing one case changes one cell of each level by one
    Guarantee  every level (ε, δ)/max_length; candidates follow from noisy outputs only: (ε, δ) by adaptive composition;
               with a unit of several cases every level keeps its part for all of them, by group privacy
    """

    _name = "prefix-tree"
