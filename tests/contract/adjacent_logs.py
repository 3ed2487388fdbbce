"""Pairs of random logs with and without a newcomer, and how a batch of them is read."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from travas import Log, Reading
from travas.sources.reading import DuplicateEvents, Lifecycle
from travas.trusted.guarantee import Counted

TIE = "lifecycle:transition"  # orders ties, and is the lifecycle of the event
COLUMNS = ("case_id", "activity", "timestamp", TIE, "person")
NAMES = (
    "a", "A", "a ", "ä", "a\u0308", "1", "1.0", "01", "NA", "null", "x,y", 'q"q', '"', "l\nl", "r\rr", "é", " ", "",
)  # fmt: skip
TIMES = (
    "2020-01-01T00:00:00", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "2020-01-01 00:00:00.000001",
    "2020-01-01", "2019-12-31T22:00:00-02:00", "2020-01-01T00:00:00.000002", "2020-01-01T00:00:01", "2020-01-01T00:00", "",
)  # fmt: skip
TIES = ("", "1", "2", "10", "-1", "+1", "x", "01", "complete", "START", "Complete", "start")
CASES = ("1", "01", "1.0", "a", "A", "a ", "ä", "Z9", "7", "c\nd", "'", "NaN", "", *(f"k{n}" for n in range(6)))
PERSONS = ("p", "P", "p ", "1", "01", "q", "")
Row = tuple[str, str, str, str, str]
"""Case, activity, time, tie and person; the empty text is missing."""


@dataclass(frozen=True)
class Rule:
    """How a batch of pairs is read."""

    by: Literal["case", "person"]
    max_cases: int
    counted: Counted
    order: Literal["file", "time"]
    ties: Literal["file", "activity", "tie"]
    lifecycle: Lifecycle = "all"
    values: tuple[str, ...] = ()
    duplicates: DuplicateEvents = "keep"

    @classmethod
    def drawn(cls, chance: random.Random, *, has_order: bool) -> Rule:
        ties = chance.choice(("file", "activity", "tie") if has_order else ("activity", "tie"))
        by_file = has_order and ties == "file" and chance.random() < 0.3
        by = chance.choice(("case", "person", "person"))
        rows = (
            chance.choice(("all", "all", "complete", "start", "pairs")),
            chance.choice(((), (), ("complete", "1", "x"))),
        )
        drop = "keep" if by_file else chance.choice(("keep", "drop"))
        counted = chance.choice(("units", "cases"))
        return cls(by, chance.randint(1, 3), counted, "file" if by_file else "time", ties, *rows, drop)  # type: ignore[arg-type]

    def reading(self, **more: Any) -> Reading:
        unit = {"unit": "person", "max_cases": self.max_cases, "counted": self.counted} if self.by == "person" else {}
        ties = {} if self.order == "file" or self.ties == "file" else {"ties": TIE if self.ties == "tie" else self.ties}
        rows: dict[str, Any] = {"lifecycle": self.lifecycle, "where": tuple((TIE, value) for value in self.values)}
        rows["duplicate_events"] = self.duplicates
        return Reading(order=self.order, on_missing="drop", **ties, **unit, **rows, **more)  # type: ignore[arg-type]

    def is_complete(self, row: Row) -> bool:
        is_read = self.lifecycle.replace("pairs", "complete") in ("all", (row[3] or "complete").lower()) and (
            not self.values or row[3] in self.values
        )
        return bool(is_read and row[0] and row[1] and (row[2] or self.order == "file"))


@dataclass(frozen=True)
class Pair:
    """A log, and the cases that are new in it."""

    rows: tuple[Row, ...]
    newcomers: frozenset[str]

    @classmethod
    def drawn(cls, chance: random.Random, rule: Rule) -> Pair:
        cases = chance.sample(CASES, chance.randint(1, 9))
        owners = {case: chance.choice(PERSONS) for case in cases}
        rows = [
            (case, chance.choice(NAMES), chance.choice(TIMES), chance.choice(TIES), chance.choice((owner,) * 4 + ("",)))
            for case, owner in owners.items()
            for _ in range(chance.randint(1, 4))
        ]
        chance.shuffle(rows)
        chosen = chance.choice(cases)
        same = [case for case, owner in owners.items() if owner == owners[chosen]]
        return cls(tuple(rows), frozenset(same if rule.by == "person" else [chosen]))

    def without(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row[0] not in self.newcomers)


PlainLog = Sequence[Row]
Reader = Callable[[PlainLog, Rule, Path, pytest.FixtureRequest], Log]


def together(logs: Iterable[PlainLog]) -> list[Row]:
    """Several logs in one table, distinguished by the beginnings of their names."""

    def marked(number: int, value: str) -> str:
        return f"{number}|{value}" if value else value

    return [
        (marked(number, case), marked(number, activity), moment, tie, marked(number, person))
        for number, rows in enumerate(logs)
        for case, activity, moment, tie, person in rows
    ]


def apart(variants: Log, number: int) -> list[Counter[Any]]:
    """The counts of every log of a table."""
    counts: list[Counter[Any]] = [Counter() for _ in range(number)]
    for trace, count in variants.items():
        [log] = {int(str(activity).partition("|")[0]) for activity in trace}
        counts[log][tuple(str(activity).partition("|")[2] for activity in trace)] += count
    return counts
