"""What is said beforehand about times and attributes."""

from __future__ import annotations

import pytest

from travas import Synthesis
from travas.evaluation.kinds import detail_facts


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        (800, "rough, an attribute is poor: leave it out"),
        (3_000, "rough, an attribute is rough"),
        (20_000, "good, an attribute is good"),
    ],
)
def test_the_stated_number_of_cases_decides(cases: int, words: str) -> None:
    *_, last = detail_facts(Synthesis(1, "1e-6"), cases)
    assert last == f"for {cases:,} cases: weeks in which cases start are {words}"


def test_the_limits_are_those_of_the_measurements_and_grow_with_the_noise() -> None:
    facts = detail_facts(Synthesis(1, "1e-6"), None)
    assert "good from about 7,000 cases on, and poor below 1,500" in facts[-1]
    assert "about 94 cases" in facts[0] and "good from about 6,000 cases on" in facts[0]
    assert "good from about 13,000 cases on" in detail_facts(Synthesis("0.5", "1e-6"), None)[-1]
