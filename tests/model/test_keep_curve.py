"""The keep curve: the numbers that texts, pictures, report and web app take from it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from travas import Optimal
from travas.explain import HALF
from travas.releases.estimate import KeepCurve
from travas.trusted.tables import NoiseTable

SLOW_CURVES = [("0.1", "1e-6", 109), ("0.01", "1e-12", 2234)]
"""(ε, δ, cases): so many cases are always kept that the points of a picture leave numbers out."""


def test_first_above_is_strict() -> None:
    halves = np.array([1 << 62, 1 << 63], dtype=np.uint64)  # P[N ≤ 1] = 1/4, P[N ≤ 2] = 1/2, P[N ≤ 3] = 1
    curve = KeepCurve(lambda: NoiseTable(halves, np.zeros(2, dtype=np.uint64)), longest=3)
    assert [curve.first_above(share) for share in (Fraction(0), Fraction(1, 4), HALF)] == [1, 2, 3]
    assert curve.probability(2) == HALF and curve.always_kept == 3


@pytest.mark.parametrize(("epsilon", "delta", "cases"), SLOW_CURVES)
def test_the_curve_has_the_first_number_of_cases_above_one_half(epsilon: str, delta: str, cases: int) -> None:
    curve = Optimal(epsilon=epsilon, delta=delta).keep_curve()
    assert curve.first_above(HALF) == cases and curve.probability(cases) > HALF >= curve.probability(cases - 1)
