"""Stability of reading, tried on every reader: one case or one person more changes what is counted of no other.

A pair is a random log with a newcomer (a case, or with a unit all cases of a person) and the same log without. The
counts of the two may differ by what counts of the newcomer, and by nothing else: docs/reading.md. Where a read takes
long, several logs lie in one table, each with its own names, and a newcomer is added to each of them.
"""

import csv as csv_module
import io
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import attrs
import numpy as np
import pandas as pd
import pytest
from adjacent_logs import Pair, PlainLog, Reader, Rule, apart, together
from adjacent_readers import ALL, OF_TRACE, READERS, Tried, polars, postgres, spark, xes
from period_cases import PeriodRule

from travas import Log, LogError, Reading, read

PAIRS = 2_000


def problem(pair: Pair, rule: Rule, reader: Reader, more: Counter[Any], less: Counter[Any]) -> str | None:
    """Why these counts are not those of neighbours; None if they are."""
    change = {trace: more[trace] - less[trace] for trace in {*more, *less} if more[trace] != less[trace]}
    own = [[row for row in pair.rows if row[0] == case] for case in pair.newcomers]
    counting = [rows for rows in own if any(map(rule.is_complete, rows))]
    if rule.by == "case":
        fits = sum(change.values()) == len(counting) and min(change.values(), default=1) == 1
        return None if fits else f"one case changed {change}"
    counting = [
        rows for rows in counting if any(row[4] and (reader in OF_TRACE or rule.is_complete(row)) for row in rows)
    ]
    total, most = sum(change.values()), min(rule.max_cases, len(counting))
    fits = min(change.values(), default=1) >= 1 and (total == most or (rule.counted == "units" and 1 <= total <= most))
    if rule.counted == "units":
        fits = fits and max(change.values(), default=1) == 1
    return None if fits else f"one person with {len(counting)} cases changed {change}"


def try_batch(tried: Tried, chance: random.Random, folder: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    rule = Rule.drawn(chance, has_order=tried.has_order)
    pairs = [Pair.drawn(chance, rule) for _ in range(tried.size)]
    found = []
    for side, logs in (("more", [pair.rows for pair in pairs]), ("less", [pair.without() for pair in pairs])):
        place = folder / f"{side}_{uuid4().hex}"
        place.mkdir()
        variants = tried.reader(logs[0] if tried.size == 1 else together(logs), rule, place, request)
        found.append([Counter(dict(variants.items()))] if tried.size == 1 else apart(variants, tried.size))
    for pair, more, less in zip(pairs, *found, strict=True):
        if words := problem(pair, rule, tried.reader, more, less):
            yield f"{words} with {rule}, newcomers {set(pair.newcomers)} of {pair.rows}"


@pytest.mark.parametrize("tried", ALL)
def test_one_more_changes_what_is_counted_of_no_other(
    tried: Tried, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    chance = random.Random(14)
    for _ in range(tried.batches):
        assert list(try_batch(tried, chance, tmp_path, request)) == []


@pytest.mark.slow
@pytest.mark.parametrize("tried", ALL)
def test_one_more_changes_what_is_counted_of_no_other_in_many_pairs(
    tried: Tried, tmp_path: Path, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random()
    batches = -(-PAIRS // tried.size)
    for _ in range(batches):
        assert list(try_batch(tried, chance, tmp_path, request)) == []
    record_property("pairs", batches * tried.size)


def across(rows: PlainLog, rule: Rule, folder: Path, request: pytest.FixtureRequest) -> Log:
    """Wrong: it counts rare activities of the whole log."""
    frequent = Counter(row[1] for row in rows)
    return polars([row for row in rows if frequent[row[1]] > 1], rule, folder, request)


def test_a_reader_that_looks_across_cases_is_detected(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    chance = random.Random(14)
    assert any(list(try_batch(Tried(across, 1, 1), chance, tmp_path, request)) for _ in range(60))


# ------------------------------------------------------------------------------------------- newcomers that are malformed

ODD: list[Any] = [
    1, 2.5, True, b"x", Decimal("1.25"), 2**63 + 5, np.float32(0.1), float("nan"), None, date(2020, 1, 1), time(5),
    datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC), timedelta(1), UUID(int=5), np.datetime64("2020-01-01"), [1],
]  # fmt: skip


@pytest.mark.parametrize("column", ["case_id", "activity", "timestamp", "person"])
@pytest.mark.parametrize("odd", ODD, ids=lambda value: type(value).__name__)
def test_a_newcomer_of_another_type_is_refused_or_changes_no_other(odd: Any, column: str) -> None:
    """One value of another type in a pandas column: with type inference it renamed or reordered all other cases."""
    log = pd.DataFrame(
        [(f"c{n}", name, f"2020-01-01T0{hour}", "p") for n in range(3) for name, hour in (("b", 2), ("a", 1))]
    )
    log.columns = pd.Index(["case_id", "activity", "timestamp", "person"])
    numbers = log.assign(case_id=[n // 2 + 2**53 for n in range(6)], activity=[5, 7] * 3, timestamp=[2, 1] * 3)
    times = log.assign(timestamp=pd.to_datetime(log["timestamp"], format="ISO8601"))
    reading = Reading(on_missing="drop", unit="person", max_cases=5, counted="cases")
    for before in (log, numbers, times):
        newcomer = before.iloc[[0]].assign(case_id=before["case_id"].iloc[0] if column == "case_id" else "new")
        newcomer = newcomer.assign(**{column: pd.Series([odd], index=[0], dtype=object)})
        after = pd.concat([before.astype(object), newcomer.astype(object)], ignore_index=True)
        inferred = after.infer_objects()
        for frame in (after, inferred):
            try:
                more = Counter(dict(read(frame, reading).items()))
            except LogError:
                continue
            less = Counter(dict(read(before, reading).items()))
            assert sum((less - more).values()) == 0 and sum((more - less).values()) <= 1


def test_a_newcomer_with_quotes_changes_no_other_or_is_refused(tmp_path: Path) -> None:
    """Cells as careless programs write them: two stray quotes once swallowed all rows between them.

    Two cells can be the beginning and the end of one long cell. Such a file is valid CSV, of another log.
    """
    chance, path = random.Random(14), tmp_path / "log.csv"
    met: Counter[str] = Counter()
    for _ in range(150):
        rows = [f"c{n},{activity},{note}" for n in range(4) for activity in "ab" for note in ("x", '"y"')]
        less = chance.sample(rows, 9)
        notes = ["".join(chance.choices('""\'ab', k=chance.randint(1, 4))) for _ in range(2)]
        more = list(less)
        for note in notes:
            more.insert(chance.randint(0, len(more)), f"new,a,{note}")
        strict = all('"' not in note or re.fullmatch(r'"([^"]|"")*"', note) for note in notes)
        before, after = (_counts_of_lines(path, lines) for lines in (less, more))
        assert before is not None
        if strict:
            assert after == before + Counter({("a", "a"): 1})
        elif after is not None:
            events: dict[str, list[str]] = {}
            for case, activity, _ in csv_module.reader(
                io.StringIO(path.read_bytes().decode(), newline=""), strict=True
            ):
                events.setdefault(case, []).append(activity)
            del events["case_id"]
            assert after == Counter(map(tuple, events.values()))
        met["refused" if after is None else "strict" if strict else "another log"] += 1
    assert min(met[kind] for kind in ("refused", "strict", "another log")) > 0


def _counts_of_lines(path: Path, lines: list[str]) -> Counter[Any] | None:
    """The counts of a CSV file of these lines, or None if it is refused."""
    path.write_text("\n".join(["case_id,activity,note", *lines, ""]))
    try:
        return Counter(dict(read(path, Reading(order="file")).items()))
    except LogError:
        return None


# ---- Also with a period, adding one case or one person changes what is counted of no other.


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
