"""Also with a period, adding one case or one person changes what is counted of no other."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs
import pytest
from adjacent_logs import Pair, PlainLog, Rule, apart, together
from adjacent_readers import READERS, Tried, postgres, spark, xes
from period_cases import PeriodRule

QUICK = [
    pytest.param(tried, id=tried.reader.__name__, marks=pytest.mark.slow if tried.reader in (postgres, spark) else ())
    for tried in READERS
]


def changes(tried: Tried, rule: PeriodRule, pairs: list[Pair], folder: Path, request: Any) -> list[Counter[Any]]:
    """By how much a newcomer changes each count, for every pair."""
    found = []
    for logs in ([pair.rows for pair in pairs], [pair.without() for pair in pairs], [_own(pair) for pair in pairs]):
        place = folder / uuid4().hex
        place.mkdir()
        variants = tried.reader(logs[0] if tried.size == 1 else together(logs), rule, place, request)
        found.append([Counter(dict(variants.items()))] if tried.size == 1 else apart(variants, tried.size))
    for more, less, alone in zip(*found, strict=True):
        less.update(alone)
        more.subtract(less)
    return [Counter({trace: n for trace, n in more.items() if n}) for more in found[0]]


def _own(pair: Pair) -> PlainLog:
    """The newcomers alone."""
    return [row for row in pair.rows if row[0] in pair.newcomers]


@pytest.mark.parametrize("tried", QUICK)
def test_what_is_counted_of_a_case_in_a_period_depends_on_that_case_or_person_alone(
    tried: Tried, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """With the newcomers: what is counted without them, plus what is counted of them alone."""
    chance, met = random.Random(23), 0
    for _ in range(max(tried.batches // 2, 2)):
        rule = PeriodRule.of(Rule.drawn(chance, has_order=tried.has_order), chance)
        rule = replace(rule, ties="activity") if rule.ties == "file" and tried.reader is not xes else rule
        if tried.size > 1:  # the names of several logs in one table have prefixes
            ends = [f"{number}|{name}" for number in range(tried.size) for name in rule.period.end_activity]
            rule = replace(rule, period=attrs.evolve(rule.period, end_activity=tuple(ends)))
        pairs = [Pair.drawn(chance, rule) for _ in range(tried.size)]
        for pair, change in zip(pairs, changes(tried, rule, pairs, tmp_path, request), strict=True):
            assert not change, (rule, pair)
        met += 1
    assert met > 1
