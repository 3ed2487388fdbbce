"""A bound of the privacy loss from samples of outputs, as an attacker would get it, with a stated error rate."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt

from scipy.stats import beta

ERROR_RATE = 1e-6
"""The probability that one bound is above the truth. An audit of 1,000 pairs raises a false alarm in 1 of 1,000 runs."""


@dataclass(frozen=True)
class Losses:
    """What two samples of outputs show about (ε, δ), each bound wrong with probability `ERROR_RATE` at most.

    Attributes:
        runs: The number of runs on each log.
        delta: A lower bound of δ at the claimed ε.
        epsilon: A lower bound of ε at the claimed δ.
    """

    runs: int
    delta: float
    epsilon: float


View = tuple[Hashable, ...]
"""An output, looked at in several ways: each entry is a function of the whole output."""


def at_least(one: Sequence[View], other: Sequence[View], epsilon: float, delta: float) -> Losses:
    """Bound the loss in the worse direction, by the view that shows most.

    The attack, a set of outputs, is chosen on the first half of the samples and measured on the second half, with exact
    binomial bounds (Clopper and Pearson); all views and both directions share the error rate.

    Args:
        one: Outputs on one log.
        other: Outputs on the other log.
        epsilon: The claimed ε.
        delta: The claimed δ.

    Returns:
        The bounds.
    """
    samples = [([seen[view] for seen in one], [seen[view] for seen in other]) for view in range(len(one[0]))]
    pairs = [pair for first, second in samples for pair in ((first, second), (second, first))]
    found = [_one_direction(*pair, epsilon, delta, ERROR_RATE / (2 * len(pairs))) for pair in pairs]
    return Losses(min(len(one), len(other)), max(bound[0] for bound in found), max(bound[1] for bound in found))


def _one_direction(
    one: Sequence[Hashable], other: Sequence[Hashable], epsilon: float, delta: float, error: float
) -> tuple[float, float]:
    half_one, half_other = len(one) // 2, len(other) // 2
    likely, likely_other = Counter(one[:half_one]), Counter(other[:half_other])
    growth = exp(epsilon)
    share = growth * half_one / half_other
    chosen = {seen for seen, times in likely.items() if _is_telling(times, share * likely_other[seen])}
    hits = sum(seen in chosen for seen in one[half_one:])
    hits_other = sum(seen in chosen for seen in other[half_other:])
    low = _below(hits, len(one) - half_one, error)
    high = _above(hits_other, len(other) - half_other, error)
    return low - growth * high, log((low - delta) / high) if low > delta and high > 0 else -inf if low <= delta else inf


def _is_telling(times: int, expected: float) -> bool:
    """Whether an output is more frequent than expected by more than one deviation: otherwise it is mostly noise."""
    return times - expected > sqrt(times + expected)


def _below(hits: int, trials: int, error: float) -> float:
    return float(beta.ppf(error, hits, trials - hits + 1)) if hits else 0.0


def _above(hits: int, trials: int, error: float) -> float:
    return float(beta.ppf(1 - error, hits + 1, trials - hits)) if hits < trials else 1.0
