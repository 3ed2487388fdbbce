"""SaCoFa (Fahrenkrog-Petersen et al. 2021): a prefix tree without implausible prefixes. Proof: docs/mechanisms/sacofa.md."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from ..log.log import Log
from ..trusted.losses import Losses, Step
from ..trusted.numbers import as_text
from ..trusted.samplers import Booleans, Integers
from .mechanism import parameters_of
from .prefix_tree import Tree, Trie, TwoSidedNoise, tree_parameters

RULES_SHARE = Fraction(1, 5)
"""The share of ε for the rules."""

WRONGLY_DROPPED = 0.001
"""The probability that a rule forbids a pair of activities that occurs in `prune` cases."""


@attrs.frozen(slots=False)
class SaCoFa(Tree):
    """The prefix tree on plausible candidates only, with rules that are covered by the budget.

    Input      as the prefix tree
    Output     as the prefix tree, without sequences in which an activity comes after another it never follows
    Guarantee  a noisy matrix of how many cases have b after a's first occurrence: one case is in up to d² cells, d the
               most different activities a trace of `max_length` can have, so noise of scale d²/ε' makes it (ε', 0)-DP,
               ε' = ε/5; the levels share the other (4ε/5, δ) as in the prefix tree: (ε, δ) by composition
    """

    _name = "sacofa"

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self._rules_noise(self.max_length)

    def _rules_noise(self, activities: int) -> TwoSidedNoise:
        """The noise of the cells of the matrix; a case is in at most the square of its possible activities."""
        cells = max(min(activities, self.max_length), 1) ** 2
        return TwoSidedNoise(self._step.epsilon * RULES_SHARE / cells, Fraction(0))

    @property
    def _of_levels(self) -> Fraction:
        return self.epsilon * (1 - RULES_SHARE)

    def losses(self) -> Losses:
        """The rules and the levels."""
        return (Step(self.epsilon * RULES_SHARE), *super().losses())

    def _allowed(self, variants: Log, trie: Trie) -> Booleans:
        """Return whether b may follow a: not if its noisy number of cases is too low for `prune` cases."""
        size = len(trie.alphabet)
        noise = self._rules_noise(size)
        true, _ = eventually_follows(variants, trie, self.max_length)
        noisy = true + noise.draw(size**2, self._random_bytes).reshape(size, size)
        return np.asarray(noisy > self.prune - noise.within(1 - 2 * WRONGLY_DROPPED))


@parameters_of.register
def _parameters(mechanism: SaCoFa) -> dict[str, Any]:
    return tree_parameters(mechanism) | {"rules_epsilon": as_text(mechanism._step.epsilon * RULES_SHARE)}


def first_and_last(rows: NDArray[np.int32], width: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the first and last index of each symbol in each row; for a missing symbol, far right and −1."""
    size, length = rows.shape
    first = np.full((size, width), length, dtype=np.int32)
    last = np.full((size, width), -1, dtype=np.int32)
    for position in range(length):
        there = np.flatnonzero(rows[:, position] >= 0)
        symbols = rows[there, position]
        last[there, symbols] = position
        first[there, symbols] = np.minimum(first[there, symbols], position)
    return first, last


def eventually_follows(variants: Log, trie: Trie, max_length: int | None) -> tuple[Integers, Integers]:
    """Count the cases with b after the first a, [a, b], and those with a, optionally of truncated traces. Confidential."""
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
