"""Blocks of cases: every case once and whole, and distinct keys like NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from travas.log import questions as q
from travas.log.questions import Details
from travas.sources import encoded_cases
from travas.sources.encoded_cases import EncodedCases, EncodedTotals
from travas.trusted.contributions import case_blocks, distinct


@given(lengths=st.lists(st.integers(0, 12), max_size=30), size=st.integers(1, 20))
def test_blocks_hold_every_case_once_and_whole(lengths: list[int], size: int) -> None:
    numbers = np.array(lengths, dtype=np.int64)
    blocks = list(case_blocks(numbers, size))
    cases, events = np.arange(len(lengths)), np.repeat(np.arange(len(lengths)), numbers)
    assert [case for some, _ in blocks for case in cases[some].tolist()] == cases.tolist()
    assert [owner for _, some in blocks for owner in events[some].tolist()] == events.tolist()
    assert all(set(events[event].tolist()) <= set(cases[case].tolist()) for case, event in blocks)
    assert all(sum(lengths[case]) < size + 2 * max(lengths, default=0) for case, _ in blocks)


@given(keys=st.lists(st.integers(-5, 2**40), max_size=40))
def test_distinct_keys_and_how_often_they_occur(keys: list[int]) -> None:
    numbers = np.array(keys, dtype=np.int64)
    expected = np.unique(numbers, return_counts=True)
    for found, known in zip(distinct(numbers), expected, strict=True):
        assert found.tolist() == known.tolist()


QUESTIONS = (
    q.Durations(contribution=1000, activities=("a", "b"), others="node", pairs=((0, 1), (1, 2), (2, 2))),
    q.Durations(contribution=1000, activities=("a", "c"), pairs=((0, 1), (0, 0))),
    q.Throughput(contribution=1000, activities=("a", "b")),
    q.EventHours(contribution=1000, activities=("b", "c"), zone="Europe/Berlin"),
    q.StartWeekdays(contribution=1000, activities=("b", "c"), zone="Europe/Berlin"),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
@pytest.mark.parametrize("zones", ["all", "some"])
def test_answers_do_not_depend_on_blocks(question: q.CellQuestion, zones: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 9, 60)
    codes = rng.integers(0, 3, lengths.sum()).astype(np.uint32)
    times = np.cumsum(rng.integers(-(10**9), 10**11, lengths.sum()))
    aware = True if zones == "all" else rng.random(lengths.sum()) < 0.5
    totals = EncodedTotals(EncodedCases(["a", "b", "c"], codes, lengths, times, aware), Details("read"))
    whole = totals.sums(question)
    monkeypatch.setattr(encoded_cases, "BLOCK", 10)
    assert totals.sums(question).tolist() == whole.tolist()
    assert whole.any()
