"""Ten faults, each with its size, that an audit must notice: an audit that misses one fails.

A fault is planted in the code of travas while a context is open; the guarantee that is claimed stays the same.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from worst_pairs import MECHANISMS, PAIRS, Pair

from travas.log.abstraction import Abstraction
from travas.mechanisms import prefix_tree
from travas.mechanisms.prefix_tree import Trie
from travas.mechanisms.selection import PartitionSelection
from travas.releases import release
from travas.search.table_builders import _two_sided, exponential_bounds
from travas.sources import events
from travas.trusted import contributions
from travas.trusted.numbers import ONE
from travas.trusted.tables import Noise

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Fault:
    """A fault and where it shows.

    Attributes:
        size: How large it is, in words.
        planted: Makes the context in which the code has it.
        mechanism: The name of the mechanism that is audited.
        pair: The neighbouring logs that show it.
        runs: How many runs on each log are enough.
    """

    size: str
    planted: Callable[[], AbstractContextManager[Any]]
    mechanism: str
    pair: Pair
    runs: int


def _pair(name: str) -> Pair:
    return next(pair for pair in PAIRS if pair.name == name)


def _off_by_one() -> AbstractContextManager[Any]:
    draw = Noise.draw
    return patch.object(Noise, "draw", lambda self, size, source: np.maximum(draw(self, size, source) - 1, 1))


def _smaller_threshold() -> AbstractContextManager[Any]:
    """The table of TraVaS with k − 1, as if it had been verified."""
    growth, _ = exponential_bounds(Fraction(1, 2))
    rule = MECHANISMS["travas"]()
    assert isinstance(rule, PartitionSelection)
    table = _two_sided(rule.noise.table.length // 2 - 1, Fraction(1 << 192, growth))
    noise = object.__new__(Noise)
    object.__setattr__(noise, "table", table)
    draw = Noise.draw
    return patch.object(Noise, "draw", lambda self, size, source: draw(noise, size, source))


def _shared_noise() -> AbstractContextManager[Any]:
    draw = Noise.draw
    return patch.object(Noise, "draw", lambda self, size, source: np.full(size, draw(self, 1, source)[0]))


def _float_sampler() -> AbstractContextManager[Any]:
    """Uniform numbers of four bits instead of 128: every probability is a multiple of 1/16."""

    def draw(self: Noise, size: int, source: Callable[[int], bytes]) -> Integers:
        uniform = (np.frombuffer(source(size), dtype=np.uint8) >> 4) / np.float16(16)
        cumulative = np.array([boundary / ONE for boundary in self.table.boundaries()], dtype=np.float16)
        found: Integers = np.searchsorted(cumulative, uniform, side="right") + 1
        return found

    return patch.object(Noise, "draw", draw)


def _no_delta() -> AbstractContextManager[Any]:
    """Every variant that occurs is kept, whatever its noise."""

    def select(self: PartitionSelection, counts: Integers, source: Callable[[int], bytes]) -> tuple[Integers, Integers]:
        drawn = self.noise.draw(len(counts), source)
        return np.arange(len(counts)), np.maximum(counts - drawn + self.centre, 1)

    return patch.object(PartitionSelection, "select", select)


@contextmanager
def _ordered_by_true_count() -> Iterator[None]:
    """Releases keep the order in which the mechanism made them, and it goes by true counts."""
    select = PartitionSelection.select

    def by_count(
        self: PartitionSelection, counts: Integers, source: Callable[[int], bytes]
    ) -> tuple[Integers, Integers]:
        kept, noisy = select(self, counts, source)
        order = np.argsort(-counts[kept], kind="stable")
        return kept[order], noisy[order]

    with patch.object(PartitionSelection, "select", by_count), patch.object(release, "sorted", list, create=True):
        yield


def _no_unit_bounding() -> AbstractContextManager[Any]:
    return patch.object(events, "_kept", lambda cases, parts, reading: cases)


def _no_normalisation() -> AbstractContextManager[Any]:
    """Every transition of a case adds the whole contribution."""

    def weights(traces: Any, stage: Any) -> Integers:
        found: Integers = traces.counts * stage.contribution
        return found

    return patch.object(contributions, "transition_weights", weights)


def _cap_from_the_data() -> AbstractContextManager[Any]:
    """The tree is as deep as the longest trace of the log, not as its public option says."""
    grow: Any = prefix_tree.Tree._grow

    class _Deeper:
        def __init__(self, tree: Any, longest: int) -> None:
            self._tree, self.max_length = tree, longest

        def __getattr__(self, name: str) -> Any:
            return getattr(self._tree, name)

    def deeper(self: Any, variants: Any, trie: Trie) -> Any:
        longest = int(variants.lengths().max(initial=1))
        return grow(_Deeper(self, longest), variants, Trie(variants, longest, self.alphabet))

    return patch.object(prefix_tree.PrefixTree, "_grow", deeper)


def _residual_of_another_case() -> AbstractContextManager[Any]:
    """Which cases are left for the next rung depends on the largest number of cases of a variant in the log."""

    class _Grouping:
        def __init__(self, keys: Any) -> None:
            self._keys = keys

        def __getattr__(self, name: str) -> Any:
            return getattr(self._keys, name)

        def counts(self, left: Integers) -> Integers:
            if left.max(initial=0) % 2:
                left[:] = 0
            found: Integers = self._keys.counts(left)
            return found

    grouped = Abstraction.grouped
    return patch.object(Abstraction, "grouped", lambda self, variants: _Grouping(grouped(self, variants)))


ORDER = Pair("a tie and a difference of one", {("a",): 60, ("b",): 60}, {("a",): 60, ("b",): 61})
OTHERS = [(f"other {case}", f"v{case % 3}", f"q{case}") for case in range(12)]
MANY_CASES = Pair("a person with 60 cases", OTHERS, [*OTHERS, *((f"own {case}", "v0", "p") for case in range(60))], 3)
RESIDUAL = Pair("even and odd", {("a", "b"): 40, ("c",): 3}, {("a", "b"): 41, ("c",): 3})

FAULTS: dict[str, Fault] = {
    "threshold off by one": Fault(
        "a variant of one case is released with δ(1 + e^ε) = 0.132 instead of 0.05",
        _off_by_one, "optimal", _pair("a singleton"), 8000,
    ),
    "k - 1 for k": Fault(
        "a variant of one case is released with 0.066 instead of 0.037; the claim is 0.05", _smaller_threshold, "travas",
        _pair("a singleton"), 30_000,
    ),
    "shared noise": Fault(
        "differences of counts are exact", _shared_noise, "optimal", _pair("frequent counts"), 400,
    ),
    "a biased float sampler": Fault(
        "probabilities are multiples of 1/16: 0.0625 instead of 0.05 for a variant of one case", _float_sampler, "optimal",
        _pair("frequent counts"), 30_000,
    ),
    "delta ignored": Fault("every variant is released", _no_delta, "optimal", _pair("a singleton"), 400),
    "output ordered by true count": Fault(
        "the order shows which of two counts is larger", _ordered_by_true_count, "optimal", ORDER, 400,
    ),
    "unit bounding skipped": Fault(
        "60 cases of a person are counted instead of three", _no_unit_bounding, "ladder", MANY_CASES, 120,
    ),
    "normalisation of a case's contribution skipped": Fault(
        "a trace of 1,000 events adds about 1,000 times its contribution", _no_normalisation, "synthesis",
        Pair("one activity 1,000 times", {("a", "a"): 500}, {("a", "a"): 500, ("a",) * 1000: 1}), 200,
    ),
    "a cap taken from the data": Fault(
        "one case of five events makes the tree five levels deep instead of two", _cap_from_the_data, "prefix-tree",
        Pair("a case of five events", {("a",): 6}, {("a",): 6, ("a", "b", "c", "a", "b"): 1}), 400,
    ),
    "a residual that depends on another case": Fault(
        "one more case of a variant removes all others from the next rung", _residual_of_another_case, "ladder", RESIDUAL,
        400,
    ),
}  # fmt: skip
