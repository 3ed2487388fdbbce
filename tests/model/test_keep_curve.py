"""The keep curve: the numbers that texts, pictures, report and web app take from it."""

from __future__ import annotations

import pytest

from travas import Optimal
from travas.explain import HALF

SLOW_CURVES = [("0.1", "1e-6", 109), ("0.01", "1e-12", 2234)]
"""(ε, δ, cases): so many cases are always kept that the points of a picture leave numbers out."""


@pytest.mark.parametrize(("epsilon", "delta", "cases"), SLOW_CURVES)
def test_the_curve_has_the_first_number_of_cases_above_one_half(epsilon: str, delta: str, cases: int) -> None:
    curve = Optimal(epsilon=epsilon, delta=delta).curve
    assert curve.first_above(HALF) == cases and curve.probability(cases) > HALF >= curve.probability(cases - 1)
