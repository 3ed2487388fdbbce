"""Periods in every engine: the cases closed in a period, each up to its closing, and nothing of the others."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
from test_adjacency import ALL as READERS
from test_adjacency import Log, Pair, Row, Rule, Tried, apart, together, xes
from test_engines import ALL as ENGINES
from test_engines import Engine

from travas import LogError, ParameterError, Period, Reading, read

START = datetime(2026, 1, 1, tzinfo=UTC)
MONTHS = tuple(f"2026-{month:02}" for month in range(1, 7))
RULES = (
    Period("2026-01", end_activities=("end", "also the end"), grace="5d"),
    Period("2026-01", gap="20d", grace="5d"),
)
IDS = ("end activities", "gap")


def microseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def closing(events: list[tuple[datetime, str]], rule: Period) -> tuple[datetime, tuple[str, ...]] | None:
    """When a case is closed, and its trace: written without the code under test. None if it never is, as far as known."""
    trace: list[str] = []
    before: datetime | None = None
    for moment, activity in sorted(events):
        if rule.gap is not None and before is not None and moment - before >= timedelta(days=20):
            break
        trace.append(activity)
        before = moment
        if activity in rule.end_activities:
            return moment, tuple(trace)
    return None if rule.gap is None or before is None else (before + timedelta(days=20), tuple(trace))


def in_month(moment: datetime, month: str) -> bool:
    return f"{moment:%Y-%m}" == month


# ------------------------------------------------------------------------------------------------------- the engines


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


@pytest.mark.parametrize("kind", [pl.Datetime("us", "UTC"), pl.Datetime("us", "America/New_York"), pl.Datetime("us")])
@pytest.mark.parametrize("rule", RULES, ids=IDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_the_cases_closed_in_a_period(
    engine: Engine, rule: Period, kind: pl.Datetime, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cases = random_cases(1, 80)
    frame = table(cases)
    frame = frame.with_columns(
        pl.col("timestamp").dt.convert_time_zone(kind.time_zone)
        if kind.time_zone
        else pl.col("timestamp").dt.replace_time_zone(None)
    )
    expected = Counter(
        closed[1]
        for events in cases.values()
        if (closed := closing(events, rule)) is not None and in_month(closed[0], "2026-03")
    )
    assert len(expected) > 5
    found = engine(frame, Reading(ties="activity", period=replace(rule, name="2026-03")), tmp_path, request)
    assert dict(found.items()) == expected


@pytest.mark.parametrize("rule", RULES, ids=IDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_closes_cases_with_simultaneous_events_alike(
    engine: Engine, rule: Period, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Events with one name and time have no order: a database must not order them differently in each of its windows."""
    cases = {case: [event for event in events for _ in range(4)] for case, events in random_cases(3, 60).items()}
    expected = Counter(
        closed[1]
        for events in cases.values()
        if (closed := closing(events, rule)) is not None and in_month(closed[0], "2026-03")
    )
    reading = Reading(ties="activity", period=replace(rule, name="2026-03"))
    assert dict(engine(table(cases), reading, tmp_path, request).items()) == expected


@pytest.mark.parametrize("rule", RULES, ids=IDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_keeps_one_of_the_duplicates_that_close_a_case(
    engine: Engine, rule: Period, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The duplicate that is kept and the one that closes the case are the same, whatever order the engine reads in."""
    cases = random_cases(3, 60)
    expected = Counter(
        closed[1]
        for events in cases.values()
        if (closed := closing(sorted(set(events)), rule)) is not None and in_month(closed[0], "2026-03")
    )
    frame = table({case: 4 * events for case, events in cases.items()})
    reading = Reading(ties="activity", duplicate_events="drop", period=replace(rule, name="2026-03"))
    assert dict(engine(frame, reading, tmp_path, request).items()) == expected


@pytest.mark.parametrize("rule", RULES, ids=IDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_selects_the_cases_of_a_person_among_those_of_the_period(
    engine: Engine, rule: Period, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Cases of other periods do not use up what is counted of a person."""
    cases = random_cases(2, 90)
    frame = table(cases).with_columns((pl.col("case_id").str.to_integer() % 7).cast(pl.String).alias("person"))
    own: dict[int, list[tuple[str, tuple[str, ...]]]] = {}
    for case, events in cases.items():
        closed = closing(events, rule)
        if closed is not None and in_month(closed[0], "2026-03"):
            digest = hashlib.md5(case.encode()).hexdigest()
            own.setdefault(int(case) % 7, []).append((digest, closed[1]))
    expected = Counter(trace for closed in own.values() for _, trace in sorted(closed)[:2])
    assert any(len(closed) > 2 for closed in own.values())
    reading = Reading(
        ties="activity", period=replace(rule, name="2026-03"), unit="person", max_cases=2, counted="cases"
    )
    assert dict(engine(frame, reading, tmp_path, request).items()) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_refuses_numbers_as_times_of_a_period(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame = table(random_cases(1, 3)).with_columns(pl.col("timestamp").cast(pl.Int64))
    reading = Reading(ties="activity", period=RULES[1])
    message = "is not a timestamp" if engine.__name__ == "csv" else "which has no dates for a period"
    with pytest.raises(LogError, match=message):
        engine(frame, reading, tmp_path, request)


def test_a_date_is_its_first_instant_and_a_finer_time_is_rounded_down(tmp_path: Path) -> None:
    rows = [
        ("1", "a", "2026-01-30"),
        ("1", "end", "2026-02-01"),
        ("2", "end", "2026-01-31"),
        ("3", "end", "2026-03-01"),
    ]
    texts = pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row")
    period = replace(RULES[0], name="2026-02")
    dates = texts.with_columns(pl.col("timestamp").str.to_date())
    for frame in (texts, dates, dates.to_pandas(date_as_object=False)):
        assert dict(read(frame, Reading(period=period)).items()) == {("a", "end"): 1}
    finer = pl.DataFrame({"case_id": ["1"], "activity": ["end"], "timestamp": ["2026-01-31T23:59:59.999999999"]})
    nanoseconds = finer.with_columns(pl.col("timestamp").str.to_datetime(time_unit="ns"))
    for frame in (finer, nanoseconds):
        assert not len(read(frame, Reading(period=period)))
        assert len(read(frame, Reading(period=replace(period, name="2026-01")))) == 1


def test_of_several_activity_columns_the_first_closes() -> None:
    rows = [("1", "a", "end"), ("1", "end", "x"), ("1", "b", "end")]
    frame = pl.DataFrame(rows, schema=["case_id", "activity", "phase"], orient="row").with_columns(
        timestamp=pl.Series([f"2026-01-0{day}" for day in (1, 2, 3)])
    )
    found = read(frame, Reading(activities=("activity", "phase"), period=RULES[0]))
    assert dict(found.items()) == {(("a", "end"), ("end", "x")): 1}


# --------------------------------------------------------------------------------------------- neighbours stay neighbours


@dataclass(frozen=True)
class PeriodRule(Rule):
    """A rule of reading that counts the cases of one period."""

    period: Period = RULES[0]

    @classmethod
    def of(cls, rule: Rule, chance: random.Random) -> PeriodRule:
        days = ("2019-12-31", "2020-01-01")
        if chance.random() < 0.5:
            period = Period(chance.choice(days), end_activities=tuple(chance.sample(("a", "A", "1", "ä", "NA"), 3)))
        else:
            period = Period(chance.choice(("2020-01-01", "2020-01-02")), gap=chance.choice(("1s", "2h", "1d")))
        rows = rule.lifecycle, rule.values, rule.duplicates
        return cls(rule.by, rule.max_cases, rule.counted, "time", rule.ties, *rows, period)

    def reading(self, **more: Any) -> Reading:
        return replace(super().reading(**more), period=self.period)


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


def _own(pair: Pair) -> Log:
    """The newcomers alone."""
    return [row for row in pair.rows if row[0] in pair.newcomers]


@pytest.mark.parametrize("tried", READERS)
def test_what_is_counted_of_a_case_in_a_period_depends_on_that_case_or_person_alone(
    tried: Tried, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """With the newcomers: what is counted without them, plus what is counted of them alone."""
    chance, met = random.Random(23), 0
    for _ in range(max(tried.batches // 2, 2)):
        rule = PeriodRule.of(Rule.drawn(chance, has_order=tried.has_order), chance)
        rule = replace(rule, ties="activity") if rule.ties == "file" and tried.reader is not xes else rule
        if tried.size > 1:  # the names of several logs in one table have prefixes
            ends = [f"{number}|{name}" for number in range(tried.size) for name in rule.period.end_activities]
            rule = replace(rule, period=replace(rule.period, end_activities=tuple(ends)))
        pairs = [Pair.drawn(chance, rule) for _ in range(tried.size)]
        for pair, change in zip(pairs, changes(tried, rule, pairs, tmp_path, request), strict=True):
            assert not change, (rule, pair)
        met += 1
    assert met > 1


# ---------------------------------------------------------------------------------------------------- a log that grows


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
        period = replace(rule, name=month)
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
    for seed in range(20):
        for events in random_cases(seed, 40).values():
            ordered = sorted(events)
            for month in MONTHS:
                period = replace(rule, name=month)
                before = [event for event in ordered if event[0] < period.end]
                lengths = [
                    period.trace_length(
                        [microseconds(moment) for moment, _ in known],
                        [activity in rule.end_activities for _, activity in known],
                    )
                    for known in (ordered, before)
                ]
                assert lengths[0] == lengths[1]
                closed += lengths[0] > 0
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
            ends = {f"{moment:%Y-%m}" for moment, activity in own if activity in RULES[0].end_activities}
            twice_if_naive += len(ends) > 1
    assert twice_if_naive > 20  # counting every case that ends in a month would have counted these more than once


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_every_engine_counts_no_case_twice_while_the_log_grows(
    rule: Period, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    import duckdb as library

    def in_database(frame: pl.DataFrame, reading: Reading) -> Any:
        path = tmp_path / f"{uuid4().hex}.db"
        with library.connect(path) as connection:
            connection.execute("CREATE TABLE events AS SELECT * FROM frame")
        return read(f"duckdb://{path}", replace(reading, table="events"))

    def as_xes(frame: pl.DataFrame, reading: Reading) -> Any:
        rows: list[Row] = [(case, name, moment.isoformat(), "", "") for case, name, moment in frame.iter_rows()]
        folder = tmp_path / uuid4().hex
        folder.mkdir()
        period = reading.period
        assert period is not None
        return xes(rows, PeriodRule("case", 1, "cases", "time", "activity", period=period), folder, request)

    events = history(3, 60, timedelta(days=5))
    expected = contributions(events, rule, read)
    assert sum(map(len, expected.values())) > 20
    for engine in (in_database, as_xes):
        assert contributions(events, rule, engine) == expected


def test_an_event_after_the_grace_period_breaks_it() -> None:
    """The assumption is not decoration: a late event fills the gap that closed the case, and it is closed again."""

    def event(day: str, arrives: str) -> Arriving:
        moment, arrival = (datetime.fromisoformat(f"2026-{text}T00:00:00+00:00") for text in (day, arrives))
        return Arriving("0", moment, "# 0", arrival)

    in_time = [event("01-05", "01-05"), event("01-20", "02-05"), event("02-04", "02-06")]
    assert contributions(in_time, RULES[1], read) == {"0": ["2026-02"]}
    too_late = [event("01-05", "01-05"), event("01-20", "02-07"), event("02-04", "02-07")]
    assert contributions(too_late, RULES[1], read) == {"0": ["2026-01", "2026-02"]}


def test_a_changed_event_breaks_it() -> None:
    """With end activities late events cannot reopen a case, but the change of an event that closed one can."""
    moments = [datetime(2026, 1, 10, tzinfo=UTC), datetime(2026, 2, 10, tzinfo=UTC)]
    contributed = []
    for month, moment in zip(MONTHS, moments, strict=False):
        frame = table({"0": [(moment, "end")]})  # in February the date of the event is another
        contributed.append(len(read(frame, Reading(period=replace(RULES[0], name=month)))))
    assert contributed == [1, 1]


def test_a_reader_that_dates_a_case_by_its_last_event_is_found_out() -> None:
    """Without the rule: cases by the month of their last event, in the log as it is. Reopened cases count twice."""
    events = history(3, 60, timedelta(days=5))
    months: dict[str, set[str]] = {}
    for month in MONTHS:
        log = log_at(events, replace(RULES[0], name=month).earliest_release)
        for case, own in log.items():
            if in_month(max(own)[0], month):
                months.setdefault(case, set()).add(month)
    assert sum(len(found) > 1 for found in months.values()) > 10


# -------------------------------------------------------------------------------------------------------- the value


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("2026", "2026-01-01", "2027-01-01"),
        ("2026-Q4", "2026-10-01", "2027-01-01"),
        ("2026-12", "2026-12-01", "2027-01-01"),
        ("2026-W01", "2025-12-29", "2026-01-05"),
        ("2024-02-29", "2024-02-29", "2024-03-01"),
        ("2026-02-01/2026-02-15", "2026-02-01", "2026-02-15"),
    ],
)
def test_the_range_of_a_period(name: str, start: str, end: str) -> None:
    period = Period(name, gap="30d")
    assert (f"{period.start:%Y-%m-%d}", f"{period.end:%Y-%m-%d}") == (start, end)
    assert Period.from_description(period.describe()) == period
    assert "/" not in period.folder


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "2026-13"}, "period is '2026-13'; use '2026-02'"),
        ({"name": "2026-02-30"}, "period is '2026-02-30'"),
        ({"name": "2026-02-02/2026-02-02"}, "must start before it ends"),
        ({"name": "9999-12"}, "period is '9999-12'"),
        ({"gap": None}, "set either end_activities or gap"),
        ({"end_activities": ("end",)}, "set either end_activities or gap"),
        ({"gap": "0d"}, "gap is '0d': it must be longer"),
        ({"gap": "a month"}, "gap is 'a month'; use a whole number"),
        ({"grace": "-1d"}, "grace is '-1d'; use a whole number"),
        ({"gap": None, "end_activities": ("end", "end")}, "an activity twice"),
        ({"gap": None, "end_activities": ("",)}, "end_activities has ''"),
    ],
)
def test_a_period_is_checked_when_it_is_made(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Period(**({"name": "2026-02", "gap": "30d"} | options))


def test_a_reading_with_a_period_orders_by_time_and_describes_it() -> None:
    with pytest.raises(ParameterError, match="order is 'file'"):
        Reading(order="file", period=RULES[0])
    with pytest.raises(ParameterError, match=r"period is '2026-01'; use travas.Period"):
        Reading(period="2026-01")  # type: ignore[arg-type]
    frame = table({"0": [(START, "end")]})
    variants = read(frame, Reading(period=RULES[0]))
    assert variants.roles is not None
    described = Reading(period=RULES[0]).describe(variants.roles)
    assert described["period"]["end_activities"] == ["end", "also the end"]
    assert Reading.from_description(described).period == RULES[0]
    moved = described | {"period": described["period"] | {"end": "2026-03-01T00:00:00+00:00"}}
    with pytest.raises(ParameterError, match="does not start or end as stated"):
        Reading.from_description(moved)
