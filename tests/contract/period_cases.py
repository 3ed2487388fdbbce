"""Random cases for periods, and a plain twin of when a case is closed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import polars as pl
from adjacent_logs import Rule

from travas import Period, Reading

START = datetime(2026, 1, 1, tzinfo=UTC)
MONTHS = tuple(f"2026-{month:02}" for month in range(1, 7))
RULES = (Period("2026-01", end_activity=("end", "also the end"), grace="5d"), Period("2026-01", gap="20d", grace="5d"))
IDS = ("end activities", "gap")


def closing(events: list[tuple[datetime, str]], rule: Period) -> tuple[datetime, tuple[str, ...]] | None:
    """When a case is closed, and its trace: written without the code under test. None if it never is, as far as known."""
    trace: list[str] = []
    before: datetime | None = None
    for moment, activity in sorted(events):
        if rule.gap is not None and before is not None and moment - before >= timedelta(days=20):
            break
        trace.append(activity)
        before = moment
        if activity in rule.end_activity:
            return moment, tuple(trace)
    return None if rule.gap is None or before is None else (before + timedelta(days=20), tuple(trace))


def in_month(moment: datetime, month: str) -> bool:
    return f"{moment:%Y-%m}" == month


def random_cases(seed: int, number: int) -> dict[str, list[tuple[datetime, str]]]:
    """Cases of a few events each; some are closed, some reopened, some at the very border of a month or of a gap."""
    chance = random.Random(seed)
    days = (0, 1, 19, 20, 21, 30, timedelta(days=20) - timedelta(microseconds=1), timedelta(hours=1))
    cases = {}
    for case in range(number):
        moment = START + timedelta(days=chance.randint(0, 120)) - timedelta(microseconds=chance.choice((0, 0, 1)))
        events = [(moment, f"# {case}")]
        for _ in range(chance.randint(0, 8)):
            step = chance.choice(days)
            moment += step if isinstance(step, timedelta) else timedelta(days=step)
            events.append((moment, chance.choice(("a", "b", "end", "also the end", "End"))))
        cases[str(case)] = events
    return cases


def table(cases: dict[str, list[tuple[datetime, str]]]) -> pl.DataFrame:
    rows = [(case, activity, moment) for case, events in cases.items() for moment, activity in events]
    frame = pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row")
    return frame.with_columns(pl.col("timestamp").cast(pl.Datetime("us", "UTC"))).sample(
        fraction=1, shuffle=True, seed=7
    )


@dataclass(frozen=True)
class PeriodRule(Rule):
    """A rule of reading that counts the cases of one period."""

    period: Period = RULES[0]

    @classmethod
    def of(cls, rule: Rule, chance: random.Random) -> PeriodRule:
        days = ("2019-12-31", "2020-01-01")
        if chance.random() < 0.5:
            period = Period(chance.choice(days), end_activity=tuple(chance.sample(("a", "A", "1", "ä", "NA"), 3)))
        else:
            period = Period(chance.choice(("2020-01-01", "2020-01-02")), gap=chance.choice(("1s", "2h", "1d")))
        rows = rule.lifecycle, rule.values, rule.duplicates
        return cls(rule.by, rule.max_cases, rule.counted, "time", rule.ties, *rows, period)

    def reading(self, **more: Any) -> Reading:
        return attrs.evolve(super().reading(**more), period=self.period)
