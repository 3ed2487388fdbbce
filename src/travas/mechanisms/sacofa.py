"""SaCoFa (Fahrenkrog-Petersen et al. 2021): a prefix tree without implausible prefixes. Proof: docs/mechanisms/sacofa.md."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from ..log.log import Log
from ..log.traces import Activity
from ..trusted.losses import Losses, Step
from ..trusted.numbers import as_text
from ..trusted.samplers import Booleans, Integers
from .mechanism import parameters_of
from .prefix_tree import Prefix, Tree, Trie, TwoSidedNoise, coded_traces, tree_parameters

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
        true, _ = eventually_follows(variants, trie.alphabet, self.max_length)
        noisy = true + noise.draw(size**2, self._random_bytes).reshape(size, size)
        return np.asarray(noisy > self.prune - noise.within(1 - 2 * WRONGLY_DROPPED))


@parameters_of.register
def _parameters(mechanism: SaCoFa) -> dict[str, Any]:
    return tree_parameters(mechanism) | {"rules_epsilon": as_text(mechanism._step.epsilon * RULES_SHARE)}


def first_and_last(trace: Prefix, width: int) -> tuple[Integers, Integers]:
    """The first and last index of each symbol in a trace; of a missing symbol its length and −1."""
    first, last, index = np.full(width + 1, len(trace)), np.full(width + 1, -1), np.arange(len(trace))
    last[list(trace)] = index  # where a symbol is repeated, the last value stays; NOWHERE is the last symbol
    first[list(reversed(trace))] = index[::-1]
    return first[:-1], last[:-1]


def eventually_follows(
    variants: Log, alphabet: Sequence[Activity], max_length: int | None
) -> tuple[Integers, Integers]:
    """Count the cases with b after the first a, [a, b], and those with a, optionally of truncated traces. Confidential."""
    width = len(alphabet)
    after, cases = np.zeros((width, width), dtype=np.int64), np.zeros(width, dtype=np.int64)
    for trace, count in coded_traces(variants, alphabet):
        first, last = first_and_last(trace[:max_length], width)
        cases += count * (last >= 0)
        after += count * (last > first[:, None])
    return after, cases
