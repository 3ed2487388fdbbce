"""The tests of an audit: probabilities of what a claim of (ε, δ) makes unlikely. Lemmas: docs/audit.md.

Each function takes what was observed and returns a p-value: an upper bound on the probability of an observation at least
as extreme, if the claim and the stated assumptions hold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

COPIED = 0.1
"""The power of a test is stated against a method that copies each candidate with this probability."""


@dataclass(frozen=True)
class Finding:
    """The result of one test.

    Attributes:
        name: What is tested.
        null: What is assumed; it includes the claim.
        observed: What was found, in words.
        hits: How many of the candidates were found.
        candidates: How many there could have been.
        p_value: An upper bound on the probability of as many hits.
        at: The p-value as a function of the number of hits.
        reason: Why the test could not be made; empty if it was.
    """

    name: str
    null: str
    observed: str = ""
    hits: int = 0
    candidates: int = 0
    p_value: float = 1.0
    at: Callable[[int], float] = field(default=lambda _: 1.0, repr=False, compare=False)
    reason: str = ""

    def needed(self, level: float) -> int | None:
        """The least number of hits that contradicts the claim at this level; None if no number does.

        Args:
            level: The p-value at which a claim is contradicted.

        Returns:
            The number of hits, or None.
        """
        if not self.candidates or self.at(self.candidates) > level:
            return None
        low, high = 0, self.candidates
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.at(middle) <= level else (middle, high)
        return high

    def power(self, level: float) -> float:
        """The probability that the test contradicts a method that copies each candidate with probability `COPIED`.

        Args:
            level: The p-value at which a claim is contradicted.

        Returns:
            The probability, from 0 to 1.
        """
        needed = self.needed(level)
        return 0.0 if needed is None else binomial_tail(needed, self.candidates, COPIED)


def binomial_tail(least: int, trials: int, chance: float) -> float:
    """P[X ≥ least] for X of Binomial(trials, chance)."""
    if least <= 0:
        return 1.0
    if least > trials or chance <= 0:
        return 0.0
    if chance >= 1:
        return 1.0
    if least <= trials * chance:  # sum the shorter side
        return max(0.0, 1.0 - _binomial_sum(range(least - 1, -1, -1), trials, chance))
    return min(1.0, _binomial_sum(range(least, trials + 1), trials, chance))


def _binomial_sum(numbers: range, trials: int, chance: float) -> float:
    """The sum of probabilities from the largest on, until what is left does not matter."""
    total = 0.0
    for number in numbers:
        term = math.exp(
            math.lgamma(trials + 1)
            - math.lgamma(number + 1)
            - math.lgamma(trials - number + 1)
            + number * math.log(chance)
            + (trials - number) * math.log1p(-chance)
        )
        total += term
        if term < total * 1e-17:
            break
    return total


def markov(chances: Sequence[float] | tuple[int, float]) -> Callable[[int], float]:
    """P[at least k of the events] ≤ the sum of their probabilities over k, whatever their dependence (Lemma 7).

    Args:
        chances: A bound on the probability of each event, or their number and a bound for all.

    Returns:
        The bound as a function of k.
    """
    if isinstance(chances, tuple):
        number, chance = chances
        expected = number * chance
    else:
        expected = math.fsum(chances)
    return lambda hits: 1.0 if hits <= 0 else min(1.0, expected / hits)


def largest_atom(epsilon: float, delta: float) -> float:
    """The largest probability of any one error of a count with additive noise (Lemma 8)."""
    return min(1.0, (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1))


def same_error(errors: Sequence[int], atom: float) -> tuple[int, Callable[[int], float]]:
    """The number of counts with the most frequent error, and the probability of at least a given number of them (Lemma 8)."""
    most = max(Counter(errors).values(), default=0)
    return most, lambda hits: min(1.0, binomial_tail(hits, len(errors), atom) / max(atom, 1e-300))


def larger_first(epsilon: float, delta: float) -> float:
    """The largest probability that the larger of two counts that differ by one comes first (Lemma 9)."""
    two_steps = math.exp(2 * epsilon)
    return min(1.0, (two_steps + (1 + math.exp(epsilon)) * delta) / (1 + two_steps))


def guesses(canaries: int, made: int, epsilon: float, delta: float) -> Callable[[int], float]:
    """The probability of as many right guesses of which canaries are in the log (Lemma 11).

    Args:
        canaries: The number of canaries, each added to the log with probability 1/2, independently.
        made: The number of guesses.
        epsilon: ε.
        delta: δ.

    Returns:
        The bound as a function of the number of right guesses.
    """
    accuracy = 1 / (1 + math.exp(-epsilon))

    def at(right: int) -> float:
        beyond = binomial_tail(right, made, accuracy)
        steepest = max(
            ((binomial_tail(right - step, made, accuracy) - beyond) / step for step in range(1, right + 1)), default=0.0
        )
        return min(1.0, beyond + 2 * canaries * delta * steepest)

    return at


def chance_of_text(value: str, alike: int) -> float:
    """A bound on the probability that a method writes exactly this text without having read it (Lemma 10).

    Args:
        value: The text.
        alike: How many different texts of the same shape the release has.

    Returns:
        A hundred times the probability that as many random texts of this shape contain it, at most 1.
    """
    return min(1.0, 100 * alike / math.exp2(bits_of_shape(value)))


def shape(value: str) -> str:
    """The kinds of the characters of a text: digits, small and capital letters; others are themselves."""
    return "".join("9" if c.isdigit() else "a" if c.islower() else "A" if c.isupper() else c for c in value)


def bits_of_shape(value: str) -> float:
    """The logarithm of the number of texts of the same shape, at most 1,000."""
    sizes = {"9": 10, "a": 26, "A": 26}
    return min(1000.0, math.fsum(math.log2(sizes[kind]) for kind in shape(value) if kind in sizes))
