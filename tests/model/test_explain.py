"""The words about ε, δ, units and what is missing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from travas import explain


@pytest.mark.parametrize(
    ("epsilon", "delta", "stated", "reasons"),
    [
        (Fraction(1), Fraction(1, 10**6), None, 0),
        (Fraction(4), Fraction(1, 10**4), None, 0),
        (Fraction(4), Fraction(1, 10**4), 1000, 0),
        (Fraction(4), Fraction(1, 10**4), 1001, 1),
        (Fraction(4) + Fraction(1, 10**9), Fraction(1, 10**4), None, 1),
        (Fraction(4), Fraction(1, 10**4) + Fraction(1, 10**12), None, 1),
        (Fraction(15), Fraction(1, 2), 10, 3),
        (Fraction(1), Fraction(0), 10**9, 0),
    ],
)
def test_the_policy_line_is_exact(epsilon: Fraction, delta: Fraction, stated: int | None, reasons: int) -> None:
    words = explain.weak_protection(epsilon, delta, stated)
    assert len(words) == reasons
    assert not words or words[0].startswith("Weak protection: ")
