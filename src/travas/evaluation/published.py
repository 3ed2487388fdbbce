"""Mechanisms as published, without an established guarantee: for comparison only, not for protection."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from statistics import fmean
from typing import Any

import attrs
import numpy as np

from ..log.log import Log
from ..log.traces import Trace
from ..mechanisms.mechanism import Mechanism, check_log, parameters_of
from ..mechanisms.prefix_tree import Prefix, Tree, Trie
from ..mechanisms.sacofa import eventually_follows, first_and_last
from ..mechanisms.utravas import MOST_SPLITS, UTravas
from ..releases.release import VariantRelease
from ..trusted.guarantee import GroupStep, Guarantee, Standing
from ..trusted.numbers import whole_number
from ..trusted.samplers import Booleans, DiscreteLaplace, Integers, RandomBytes, Seeded, happens, uniform_below
from .metrics import relative_log_similarity

_TRIALS = 10  # trial releases for each number of splits


def _most_splits(value: int) -> int:
    return whole_number(value, "splits", 2, 100, ", the largest that is tried")


@attrs.frozen(slots=False)
class UTravasPublished(Mechanism):
    """uTraVaS as published: with the number of splits, of 2 to `splits`, whose releases are most like the original log.

    Guarantee  not established: the choice reads the original log outside the budget. The published argument, that
               "selection does not interfere with the noise", is wrong: the choice is not post-processing.
    """

    _name = "utravas-published"
    _counted = "units"

    splits: int = attrs.field(default=MOST_SPLITS, converter=_most_splits)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self._with(self.splits)  # raises if it cannot be built

    def _with(self, splits: int) -> UTravas:
        return UTravas(self.epsilon, self.delta, splits, random_bytes=self._random_bytes, unit=self.unit)

    def _promise(self) -> Guarantee:
        reason = "the number of splits was chosen by looking at the original log, which no budget covers"
        return self._guarantee(self.delta, Standing.NOT_ESTABLISHED, assumptions=(reason,))

    def _release(self, variants: Log) -> VariantRelease:
        selected = self._with(_most_similar(self.epsilon, self.delta, self.splits, variants))
        released: VariantRelease = selected.release(variants)
        return replace(released, mechanism=self)


@parameters_of.register
def _parameters(mechanism: UTravasPublished) -> dict[str, Any]:
    return {"splits": mechanism.splits}


@check_log.register
def _check_log(mechanism: UTravasPublished, log: Log) -> None:
    """Also select the number of splits, which may need the extra `metrics`, because nothing must fail after the charge."""
    check_log.dispatch(Mechanism)(mechanism, log)
    _most_similar(mechanism.epsilon, mechanism.delta, mechanism.splits, log)


@lru_cache(maxsize=8)
def _most_similar(epsilon: Fraction, delta: Fraction, most: int, variants: Log) -> int:
    """Return the number of splits with the best mean similarity of trial releases to the log, without empty ones.

    As in the published results, where all ten runs of a cell have one number of splits. Nothing is protected here, so
    the trials are seeded and the choice is kept: it is a function of the log.
    """

    def similarity(splits: int) -> float:
        trials = UTravas(epsilon, delta, splits, random_bytes=Seeded(splits), unit=variants.unit)
        releases = [release for release in (trials.release(variants) for _ in range(_TRIALS)) if release.variants]
        return fmean([relative_log_similarity(variants, release) for release in releases] or [0.0])

    return max(range(2, most + 1), key=similarity) if len(variants) else 2


@attrs.frozen(slots=False)
class SaCoFaPublished(Tree):
    """SaCoFa as published: rules read from the original log, (ε, δ) spent on every level, END as a symbol.

    An exponential draw determines how many implausible candidates of a level join those that get noise. Prefixes
    below `prune` are cut; finished ones stay above 0; at the maximum length the unfinished come out as they are.
    Guarantee  not established: the rules are free, and max_length levels cost max_length times what is stated.
    """

    _name = "sacofa-published"

    @property
    def level(self) -> GroupStep:
        return self._step

    def _promise(self) -> Guarantee:
        reasons = (
            "the rules of what is plausible were read from the original log, which no budget covers",
            f"epsilon and delta were spent on each of {self.max_length} levels, not divided over them",
        )
        return self._guarantee(self.delta, Standing.NOT_ESTABLISHED, "any mechanism", (*self._assumptions, *reasons))

    def _grow(self, variants: Log, trie: Trie) -> dict[Trace, int]:
        rules = _Rules(variants, trie)
        parents: list[Prefix] = [()]
        implausible = np.zeros(1, dtype=bool)
        released: dict[Trace, int] = {}
        work = 0
        for level in range(1, self.max_length + 1):
            if not parents:
                return released
            work += len(parents) * (len(trie.alphabet) + 1)
            self._check_work(work, level)
            longer = trie.children(parents)
            ends = parents if level > 1 else []  # a trace has at least one activity
            true = np.concatenate((np.add(*trie.counts(longer)), trie.counts(ends)[0]))
            by_symbol = implausible[:, None] | np.array([rules.broken_by_symbol(prefix) for prefix in parents])
            by_end = implausible[: len(ends)] | np.array([rules.broken_by_end(prefix) for prefix in ends], dtype=bool)
            bad = np.concatenate((by_symbol.ravel(), by_end))
            noised = np.flatnonzero(~bad)
            harmful = np.flatnonzero(bad)
            more = geometric_up_to(len(harmful), self._step.epsilon / 2, self._random_bytes)
            noised = np.union1d(noised, harmful[choose(more, len(harmful), self._random_bytes)])
            counts = np.zeros(len(true), dtype=np.int64)
            counts[noised] = true[noised] + self.noise.draw(len(noised), self._random_bytes)
            finished = counts[len(longer) :]
            released |= {trie.trace(ends[index]): int(finished[index]) for index in np.flatnonzero(finished > 0)}
            least = max(self.prune, 1) if level < self.max_length else 1
            kept = np.flatnonzero(counts[: len(longer)] >= least)
            parents, implausible = [longer[index] for index in kept], bad[kept]
        released |= {trie.trace(longer[index]): int(counts[index]) for index in kept}
        return released


def geometric_up_to(most: int, rate: Fraction, random_bytes: RandomBytes) -> int:
    """Draw u of 0..most with P[u] ∝ e^(−rate·u), by rejection from the closer of uniform and geometric."""
    geometric = DiscreteLaplace(1 / rate)
    while rate * most <= 1:
        tried = uniform_below(np.array([most + 1]), random_bytes)
        if happens(tried * rate.numerator, rate.denominator, random_bytes)[0]:
            return int(tried[0])
    while (drawn := int(geometric.magnitudes(1, random_bytes)[0])) > most:
        pass
    return drawn


def choose(number: int, size: int, random_bytes: RandomBytes) -> Integers:
    """Draw `number` distinct indexes of 0..size−1, every set equally likely: Floyd's algorithm, one draw each."""
    indexes: set[int] = set()
    tops = np.arange(size - number, size, dtype=np.int64)
    for top, index in zip(tops.tolist(), uniform_below(tops + 1, random_bytes).tolist(), strict=True):
        indexes.add(top if index in indexes else index)
    return np.array(sorted(indexes), dtype=np.int64)


class _Rules:
    """Relations that always or never hold in the original log, for each ordered pair of activities."""

    def __init__(self, variants: Log, trie: Trie) -> None:
        after, cases = eventually_follows(variants, trie.alphabet, None)
        others = ~np.eye(len(after), dtype=bool)
        self._may_follow = after > 0
        self._always_after = (after == cases[:, None]) & others  # [a, b]: b comes after a's first occurrence
        self._always_before = (cases[:, None] == after.T) & others  # [a, b]: b comes before a's last occurrence
        self._starts: Booleans = np.add(*trie.counts(trie.children([()]))) > 0

    def broken_by_symbol(self, prefix: Prefix) -> Booleans:
        """Return for every symbol whether adding it to a prefix violates a rule."""
        if not prefix:
            return ~self._starts
        _, last = first_and_last(prefix, len(self._starts))
        may_follow = self._may_follow[list(prefix)].all(axis=0)
        return np.asarray(~may_follow | self._always_before[:, last < 0].any(axis=1))

    def broken_by_end(self, prefix: Prefix) -> bool:
        """Return whether a prefix lacks an activity that always follows one of its activities."""
        first, last = first_and_last(prefix, len(self._starts))
        return bool((self._always_after & (last >= 0)[:, None] & (last <= first[:, None])).any())
