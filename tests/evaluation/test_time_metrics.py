"""Distances of times and attributes: exact, against slow plain twins."""

from itertools import pairwise
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from travas import Attribute
from travas.evaluation.details import attribute_distance, time_distance, wasserstein
from travas.log.calendar import SECOND
from travas.log.questions import DetailColumn
from travas.sources.encoded_cases import Coded, EncodedCases

Case = list[tuple[str, int]]
DAY = 86_400
MONDAY = 4 * DAY


def encoded(
    cases: list[Case], values: list[str | None] | None = None, numbers: list[float] | None = None
) -> EncodedCases:
    alphabet = sorted({activity for case in cases for activity, _ in case})
    texts = sorted({value for value in values or [] if value is not None})
    codes = np.array([-1 if value is None else texts.index(value) for value in values or []], dtype=np.int32)
    return EncodedCases(
        alphabet,
        np.array([alphabet.index(activity) for case in cases for activity, _ in case], dtype=np.uint32),
        np.array([len(case) for case in cases], dtype=np.int64),
        np.array([moment * SECOND for case in cases for _, moment in case], dtype=np.int64),
        np.ones(sum(map(len, cases)), dtype=bool),
        {
            DetailColumn("v", "name", "case"): Coded(codes, texts),
            DetailColumn("n", "number", "case"): np.array(numbers or []),
        },
    )


SAMPLE = st.lists(st.floats(0, 40), min_size=1, max_size=30)


@given(SAMPLE, SAMPLE)
def test_the_wasserstein_distance_is_exact(one: list[float], other: list[float]) -> None:
    expected = wasserstein_distance(one, other)
    assert wasserstein(np.array(one), np.array(other)) == pytest.approx(expected, abs=1e-9)


CASES = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5000)), min_size=1, max_size=5), min_size=1, max_size=8
)


def medians(cases: list[Case]) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for case in cases:
        for (a, begin), (b, end) in pairwise(case):
            found.setdefault((a, b), []).append(max(0, end - begin))
    return found


@given(CASES, CASES)
def test_medians_agree_with_a_slow_twin(one: list[Case], other: list[Case]) -> None:
    true, released = medians(one), medians(other)
    near = sum(
        len(durations)
        for pair, durations in true.items()
        if pair in released and 0.5 <= (median(released[pair]) + 1) / (median(durations) + 1) <= 2
    )
    total = sum(map(len, true.values()))
    assert time_distance(encoded(one), encoded(other), "UTC").medians == pytest.approx(near / total if total else 1.0)


def test_weeks_and_hours_are_those_of_the_zone() -> None:
    early, late = encoded([[("a", MONDAY)]]), encoded([[("a", MONDAY - 3600)]])
    assert time_distance(early, late, "UTC").weeks == 1.0
    assert time_distance(early, late, "Asia/Tokyo").weeks == 0.0  # nine hours later both are on Monday
    many = encoded([[("a", MONDAY + hour * 3600)] for hour in range(4)])
    assert time_distance(many, early, "UTC").hours == pytest.approx(0.75)


def test_values_that_were_not_released_are_other() -> None:
    original = encoded([[("a", 0)]] * 4, ["x", "y", "z", None])
    released = encoded([[("a", 0)]] * 2 + [[("b", 0)]] * 2, ["x", "other", "other", None])
    found = attribute_distance(original, released, Attribute("v"))
    assert (found.alone, found.kept, found.by_last) == (0.0, 0.5, 0.5)


def test_numbers_are_compared_by_bin() -> None:
    original = encoded([[("a", 0)]] * 4, numbers=[1, 6, 7, float("nan")])
    released = encoded([[("a", 0)]] * 4, numbers=[4, 5, 20, 20])
    assert attribute_distance(original, released, Attribute("n", [0, 5, 10])).alone == pytest.approx(0.5)
