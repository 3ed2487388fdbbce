"""The constants and tests of all statistical checks, in one place.

A check raises a false alarm with probability at most FALSE_ALARM; it must also reject wrong noise, as the test next to it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

FALSE_ALARM = 1e-9


def fits(drawn: NDArray[np.int64], probabilities: Sequence[float]) -> bool:
    """Whether every value occurs as often as it should: exact binomial tests, Bonferroni over the values.

    `probabilities[j]` belongs to value j + 1.
    """
    observed = np.bincount(drawn, minlength=len(probabilities) + 1)[1:]
    if observed.sum() != len(drawn) or len(observed) > len(probabilities):
        return False
    alpha = FALSE_ALARM / (2 * len(probabilities))
    below = binom.cdf(observed, len(drawn), probabilities)
    above = binom.sf(observed - 1, len(drawn), probabilities)
    return bool(min(below.min(), above.min()) >= alpha)


def delta_at_least(one: NDArray[np.int64], other: NDArray[np.int64], growth: float) -> float:
    """A lower bound, wrong with probability at most FALSE_ALARM, of sup_S P[one ∈ S] − growth·P[other ∈ S].

    The set S is chosen on the first half of the samples and measured on the second (Hoeffding on both).
    """
    half_one, half_other = len(one) // 2, len(other) // 2
    values = np.union1d(one, other)
    first_one = np.array([np.mean(one[:half_one] == value) for value in values])
    first_other = np.array([np.mean(other[:half_other] == value) for value in values])
    chosen = values[first_one > growth * first_other]
    hits_one = float(np.mean(np.isin(one[half_one:], chosen)))
    hits_other = float(np.mean(np.isin(other[half_other:], chosen)))
    margin_one = sqrt(log(2 / FALSE_ALARM) / (2 * (len(one) - half_one)))
    margin_other = sqrt(log(2 / FALSE_ALARM) / (2 * (len(other) - half_other)))
    return hits_one - margin_one - growth * (hits_other + margin_other)
