"""The words about ε, δ, units and what is missing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from travas import Optimal, ParameterError, explain
from travas.mechanisms import mechanism

CAUTIOUS = Fraction(1), Fraction(1, 10**6)


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


@pytest.mark.parametrize("wrong", [0, -1, True, 2.5, "10"])
def test_stated_cases_are_a_whole_number(wrong: object) -> None:
    with pytest.raises(ParameterError, match="stated_cases is"):
        explain.check_stated_cases(wrong)  # type: ignore[arg-type]


def test_emptiness_is_decided_by_the_release() -> None:
    rule = Optimal(*CAUTIOUS)
    half = next(cases for cases in range(1, 100) if rule.keep_probability(cases) >= Fraction(1, 2))
    empty = explain.of_emptiness(0, rule)
    assert empty is not None and "The release is empty" in empty and f"needs {half:,} cases" in empty
    assert "use a ladder" in empty and "a larger ε" in empty and "abstraction" in empty
    few = explain.of_emptiness(1, rule)
    assert few is not None and "it has only 1 variant." in few
    assert explain.of_emptiness(explain.FEW_VARIANTS, rule) is None
    on_a_ladder = explain.of_emptiness(0, mechanism("ladder", *CAUTIOUS))
    assert on_a_ladder is not None and "more general rungs" in on_a_ladder


def test_missing_cases_are_an_interval_and_say_what_it_rests_on() -> None:
    estimate = mechanism("optimal", *CAUTIOUS).estimate((20, 300))
    words = explain.of_missing(estimate, "cases")
    assert words is not None and words.startswith("roughly ") and "Zipf" in words and "does not show" in words
    assert explain.of_missing(None, "cases") is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (1, "1 second"), (90, "1.5 minutes"), (7200, "2 hours"), (86_400, "1 day"), (4e9, "127 years")],
)
def test_durations_are_formatted_in_their_largest_unit(seconds: float, words: str) -> None:
    assert explain.duration_in_words(seconds) == words
