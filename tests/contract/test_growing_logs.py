"""No case contributes to two periods while a log grows and cases are reopened, unless its assumptions are broken."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest
from period_cases import IDS, MONTHS, RULES, closing, random_cases, table

from travas import Period, Reading, read


@dataclass(frozen=True)
class Arriving:
    """An event and when it arrives in the log."""

    case: str
    moment: datetime
    activity: str
    arrives: datetime


def history(seed: int, number: int, latest: timedelta) -> list[Arriving]:
    """Half a year of cases; every event arrives within `latest` after it happened."""
    chance = random.Random(seed)
    return [
        Arriving(case, moment, activity, moment + latest * chance.random() * 0.999)
        for case, events in random_cases(seed, number).items()
        for moment, activity in events
    ]


def log_at(events: list[Arriving], now: datetime) -> dict[str, list[tuple[datetime, str]]]:
    cases: dict[str, list[tuple[datetime, str]]] = {}
    for event in events:
        if event.arrives <= now:
            cases.setdefault(event.case, []).append((event.moment, event.activity))
    return cases


def contributions(events: list[Arriving], rule: Period, engine: Any) -> dict[str, list[str]]:
    """Release month by month, as soon as it is allowed: the months to which each case contributes.

    The first activity of every case is its name, so that every variant is one case.
    """
    months: dict[str, list[str]] = {}
    for month in MONTHS:
        period = attrs.evolve(rule, name=month)
        released = engine(table(log_at(events, period.earliest_release)), Reading(ties="activity", period=period))
        for trace, count in released.items():
            assert count == 1
            [case] = {str(name).removeprefix("# ") for name in trace if str(name).startswith("# ")}
            months.setdefault(case, []).append(month)
    return months


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_events_after_the_end_of_a_period_do_not_matter(rule: Period) -> None:
    """Lemma 1: whether and when a case is closed before an instant is known from its events before that instant."""
    closed = 0
    for seed in range(8):
        cases = random_cases(seed, 60)
        for month in MONTHS:
            period = attrs.evolve(rule, name=month)
            before = {case: [event for event in events if event[0] < period.end] for case, events in cases.items()}
            reading = Reading(ties="activity", period=period)
            counts, known = (dict(read(table(each), reading).items()) for each in (cases, before))
            assert counts == known
            closed += sum(counts.values())
    assert closed > 200


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_no_case_contributes_twice_while_the_log_grows_and_cases_are_reopened(rule: Period) -> None:
    """Lemmas 2 and 3, by enumeration: events arrive up to the grace period late, in any order."""
    twice_if_naive = 0
    for seed in range(8):
        events = history(seed, 60, timedelta(days=5))
        months = contributions(events, rule, read)
        final = log_at(events, datetime.max.replace(tzinfo=UTC))
        for case, own in final.items():
            closed = closing(own, rule)
            month = None if closed is None else f"{closed[0]:%Y-%m}"
            assert months.get(case, []) == ([month] if month in MONTHS else [])
            ends = {f"{moment:%Y-%m}" for moment, activity in own if activity in RULES[0].end_activity}
            twice_if_naive += len(ends) > 1
    assert twice_if_naive > 20  # counting every case that ends in a month would have counted these more than once
