"""SaCoFa (Fahrenkrog-Petersen et al. 2021): a prefix tree that spares implausible prefixes. docs/mechanisms/sacofa.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..model.release import Release
from ..model.variants import Trace, Variants
from ..privacy.guarantee import Guarantee, Standing
from ..privacy.numbers import as_text
from ..privacy.sampling import choose, geometric_up_to
from .prefix_tree import Tree, TwoSidedNoise, allowed_after, grow
from .trie import Prefixes, Trie

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RULES_SHARE = Fraction(1, 5)
"""Of ε: what the sound form pays for its rules."""

WRONGLY_DROPPED = 0.001
"""The chance that a rule forbids a pair of activities which as many cases as `prune` have."""


@dataclass(frozen=True)
class Sacofa(Tree):
    """The prefix tree on plausible candidates only, with rules that are paid for.

    Input      as the prefix tree
    Output     as the prefix tree, without sequences in which an activity comes after another it never follows
    Guarantee  a noisy matrix of how many cases have b after a's first occurrence: one case is in up to d² cells, d the
               most different activities a trace of `max_length` can have, so noise of scale d²/ε' makes it (ε', 0)-DP,
               ε' = ε/5; the levels share the other (4ε/5, δ) as in the prefix tree: (ε, δ) by composition, which is
               the `step` of a unit of several cases
    """

    name = "sacofa"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._rules_noise(self._length).check()

    def _rules_noise(self, activities: int) -> TwoSidedNoise:
        """For the cells of the matrix: a case is in no more than the square of the activities it can have."""
        cells = max(min(activities, self._length), 1) ** 2
        return TwoSidedNoise(self.step.epsilon * RULES_SHARE / cells, Fraction(0))

    @cached_property
    def noise(self) -> TwoSidedNoise:
        return TwoSidedNoise(self.step.epsilon * (1 - RULES_SHARE) / self._length, self.step.delta / self._length)

    def guarantee(self) -> Guarantee:
        return self._proven()

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"rules_epsilon": as_text(self.step.epsilon * RULES_SHARE)}

    def _release(self, variants: Variants) -> Release:
        trie = self._trie(variants)
        found = grow(self, trie, self._rules(variants, trie))
        return Release(
            self, tuple(found), tuple(found.values()), variants.columns, abstractions=(variants.abstraction,)
        )

    def _rules(self, variants: Variants, trie: Trie) -> NDArray[np.bool_]:
        """Whether b may come after a: unless its noisy number of cases is too low for one of `prune` cases."""
        size = len(trie.alphabet)
        noise = self._rules_noise(size)
        true, _ = eventually_follows(variants, trie, self._length)
        noisy = true + noise.draw(size**2, self.random_bytes).reshape(size, size)
        allowed: NDArray[np.bool_] = noisy > self._prune - noise.within(1 - 2 * WRONGLY_DROPPED)
        return allowed


@dataclass(frozen=True)
class SacofaPublished(Tree):
    """SaCoFa as published: rules read from the original log, (ε, δ) spent on every level, END as a symbol.

    From the implausible candidates of a level, so many as an exponential draw says join those that get noise. Prefixes
    below `prune` are cut; finished ones stay above 0; at the maximum length the unfinished come out as they are.
    Guarantee  not established: the rules are free, and max_length levels cost max_length times what is stated.
    """

    name = "sacofa-published"

    @cached_property
    def noise(self) -> TwoSidedNoise:
        return TwoSidedNoise(self.step.epsilon, self.step.delta)

    def guarantee(self) -> Guarantee:
        reasons = (
            "the rules of what is plausible were read from the original log, which no budget covers",
            f"epsilon and delta were spent on each of {self.max_length} levels, not divided over them",
        )
        return self._guarantee(
            self.step.delta, Standing.NOT_ESTABLISHED, "any mechanism", (*self._assumptions(), *reasons)
        )

    def _release(self, variants: Variants) -> Release:
        found = self._grow(variants, self._trie(variants))
        return Release(
            self, tuple(found), tuple(found.values()), variants.columns, abstractions=(variants.abstraction,)
        )

    def _grow(self, variants: Variants, trie: Trie) -> dict[Trace, int]:
        import numpy as np

        rules = _Rules(variants, trie)
        parents, implausible = trie.root(), np.zeros(1, dtype=bool)
        released: dict[Trace, int] = {}
        work = 0
        for level in range(1, self._length + 1):
            if not len(parents):
                return released
            work += len(parents) * (len(trie.alphabet) + 1)
            self._check_work(work, level)
            longer = trie.children(parents)
            ends = len(parents) if level > 1 else 0  # nothing ends before it began
            true = np.concatenate((trie.ending(longer) + trie.going_on(longer), trie.ending(parents)[:ends]))
            by_symbol = implausible[longer.parent] | rules.broken_by_symbol(parents).ravel()
            by_end = (implausible | rules.broken_by_end(parents))[:ends]
            bad = np.concatenate((by_symbol, by_end))
            noised = np.flatnonzero(~bad)
            harmful = np.flatnonzero(bad)
            more = geometric_up_to(len(harmful), self.step.epsilon / 2, self.random_bytes)
            noised = np.union1d(noised, harmful[choose(more, len(harmful), self.random_bytes)])
            counts = np.zeros(len(true), dtype=np.int64)
            counts[noised] = true[noised] + self.noise.draw(len(noised), self.random_bytes)
            finished = np.flatnonzero(counts[len(longer) :] > 0)
            released.update(
                zip(trie.traces(parents.at(finished)), counts[len(longer) + finished].tolist(), strict=True)
            )
            least = max(self._prune, 1) if level < self._length else 1
            kept = np.flatnonzero(counts[: len(longer)] >= least)
            parents, implausible = longer.at(kept), bad[kept]
        released.update(zip(trie.traces(parents), counts[kept].tolist(), strict=True))
        return released


class _Rules:
    """What is always or never so in the original log, for each ordered pair of activities."""

    def __init__(self, variants: Variants, trie: Trie) -> None:
        import numpy as np

        after, cases = eventually_follows(variants, trie, None)
        others = ~np.eye(len(after), dtype=bool)
        self._may_follow = after > 0
        self._always_after = (after == cases[:, None]) & others  # [a, b]: b comes after a's first occurrence
        self._always_before = (cases[:, None] == after.T) & others  # [a, b]: b comes before a's last occurrence
        self._starts = np.zeros(len(after), dtype=bool)
        first = trie.children(trie.root())
        self._starts[:] = trie.ending(first) + trie.going_on(first) > 0

    def broken_by_symbol(self, prefixes: Prefixes) -> NDArray[np.bool_]:
        """For every prefix and symbol: whether adding it breaks a rule."""
        if prefixes.symbols.shape[1] == 0:
            return ~self._starts[None, :]
        missing = ~_occurs(prefixes, len(self._starts))
        needed = missing.astype("float32") @ self._always_before.T.astype("float32") > 0
        broken: NDArray[np.bool_] = ~allowed_after(prefixes, self._may_follow) | needed
        return broken

    def broken_by_end(self, prefixes: Prefixes) -> NDArray[np.bool_]:
        """For every prefix: whether it lacks something that always comes after one of its activities."""
        import numpy as np

        first, last = first_and_last(prefixes.symbols, len(self._starts))
        broken = np.zeros(len(prefixes), dtype=bool)
        for activity in np.flatnonzero(self._always_after.any(axis=1)):
            absent = last[:, self._always_after[activity]] <= first[:, activity, None]
            broken |= (last[:, activity] >= 0) & absent.any(axis=1)
        return broken


def _occurs(prefixes: Prefixes, width: int) -> NDArray[np.bool_]:
    _, last = first_and_last(prefixes.symbols, width)
    occurs: NDArray[np.bool_] = last >= 0
    return occurs


def first_and_last(rows: NDArray[np.int32], width: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where each symbol occurs first and last in each row; a symbol that does not: far right, and −1. −1 is no symbol."""
    import numpy as np

    size, length = rows.shape
    first = np.full((size, width), length, dtype=np.int32)
    last = np.full((size, width), -1, dtype=np.int32)
    for position in range(length):
        there = np.flatnonzero(rows[:, position] >= 0)
        symbols = rows[there, position]
        last[there, symbols] = position
        first[there, symbols] = np.minimum(first[there, symbols], position)
    return first, last


def eventually_follows(
    variants: Variants, trie: Trie, max_length: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Confidential. How many cases have b after a's first occurrence, [a, b], and how many have a; of cut traces if told so."""
    import numpy as np

    width = len(trie.alphabet)
    after, cases = np.zeros((width, width), dtype=np.int64), np.zeros(width, dtype=np.int64)
    step = max(1, 20_000_000 // max(1, width * width))
    for start in range(0, len(variants), step):
        rows = trie.rows(variants, range(start, min(start + step, len(variants))), max_length)
        counts = variants.counts[start : start + step]
        first, last = first_and_last(rows, width)
        cases += counts @ (last >= 0)
        for activity in range(width):
            after[activity] += counts @ (last > first[:, activity, None])
    return after, cases
