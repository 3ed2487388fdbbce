"""Every engine gives the totals of the plain twin, and one case more adds exactly the vector of that case."""

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import polars as pl
import pytest
from compared_engines import Engine, csv, duckdb, folder, pandas, parquet, postgres, spark, sqlite, xes
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_totals import PlainCase, plain_event_values, plain_sums, plain_values, plain_vector

from plain_abstractions import CHAINS, abstraction_of, generalised
from travas import Log, Period, Reading, read
from travas.log import questions as q
from travas.log.questions import DetailColumn, Details, Totals
from travas.trusted.guarantee import Counted

BERLIN = "Europe/Berlin"
ACTIVITIES = ("b", "a", "é", "d")
OF_CASES = (DetailColumn("channel"), DetailColumn("age", "number"))
DETAILS = Details("read", (*OF_CASES, *(replace(column, of="event") for column in OF_CASES)))
READING = Reading(order="time", ties="activity", details=DETAILS)
Row = tuple[str, str, datetime, str | None, float | None, str]
"""Case, activity, time, channel, age and patient."""

MOMENTS = [
    datetime(2024, 3, 31, 0, 30, tzinfo=UTC),  # half an hour before the clocks change in Berlin
    datetime(2024, 10, 27, 0, 59, 59, 999_999, tzinfo=UTC),
    datetime(2024, 10, 27, 1, 0, tzinfo=UTC),
    datetime(1969, 12, 28, 22, 59, 59, tzinfo=UTC),  # one second before the first week in Berlin
    datetime(1969, 12, 28, 23, 0, tzinfo=UTC),
    datetime(1, 1, 2, tzinfo=UTC),
    datetime(1880, 6, 1, 12, 7, tzinfo=UTC),
    datetime(1980, 4, 6, 0, 59, tzinfo=UTC),
    datetime(2099, 7, 1, 12, tzinfo=UTC),
    datetime(2126, 12, 29, 22, 30, tzinfo=UTC),
    datetime(2200, 7, 1, tzinfo=UTC),
    datetime(9999, 12, 30, 5, tzinfo=UTC),
]
STEPS = [
    timedelta(microseconds=step) for step in (0, 1, 999_999, 10**6, 4 * 10**6 - 1, 4 * 10**6, 10**9, 10**12, 10**15)
]


def questions(zone: str = BERLIN, contribution: int = 3_001_007) -> list[q.CellQuestion]:
    shown = ACTIVITIES[:3]
    cells: Any = {"contribution": contribution}
    place: Any = {"activities": shown, "zone": zone, "contribution": contribution}
    return [
        q.Durations(activities=shown, pairs=((0, 1), (1, 0), (1, 1), (2, 0)), **cells),
        q.Durations(activities=shown, pairs=((0, 3), (3, 3), (1, 0)), others="node", **cells),
        q.Durations(activities=(), pairs=(), **cells),
        q.Throughput(activities=shown, **cells),
        q.Throughput(activities=shown, edges=q.THROUGHPUT_EDGES, **cells),
        q.Throughput(activities=("a",), others="node", **cells),
        q.StartBlocks(**place),
        q.StartWeeks(blocks=(44, 0, 127), **place),
        q.StartWeeks(blocks=(44, 43), width=8, **place),
        q.StartWeekdays(**place),
        q.StartHours(**place),
        q.EventWeekdays(others="node", **place),
        q.EventHours(weekend=(4,), **place),
        q.AttributeCells(attribute="age", edges=(0, 2.5, 70), **cells),
        q.AttributeByLast(attribute="channel", values=("web", "é"), activities=shown, **cells),
        q.AttributeByLast(attribute="age", edges=(18,), activities=shown, others="node", **cells),
        q.EventValuesByActivity(attribute="channel", values=("web", "é"), activities=shown, **cells),
        q.EventValuesByActivity(attribute="age", edges=(18,), activities=shown, others="node", **cells),
    ]


EVENT_VALUES = q.EventValues(attribute="channel", contribution=12_345, most=2)
VALUES = q.AttributeValues(attribute="channel", contribution=12_345)


def random_rows(cases: int, seed: int = 5) -> list[Row]:
    """Cases of all lengths; attributes that are not constant or missing; simultaneous events; rows in no order."""
    chance = random.Random(seed)
    rows: list[Row] = []
    for number in range(cases):
        time = chance.choice(MOMENTS)
        for _ in range(chance.choice((1, 1, 2, 3, 5, 9))):
            channel = chance.choice((None, None, "", "web", "desk", "é", "Web"))
            age = chance.choice((None, None, -1.5, 0.0, 2.5, 2.25, 69.0, 70.0, 18.0, 1e9))
            rows.append((f"c{number}", chance.choice((*ACTIVITIES, "B")), time, channel, age, f"p{number % 7}"))
            time += chance.choice(STEPS) if time.year < 9000 else timedelta()
    chance.shuffle(rows)
    return rows


def table(rows: Sequence[Row], zone: str | None = "UTC") -> pl.DataFrame:
    """The rows with typed times, with or without a zone."""
    names = ("case_id", "activity", "timestamp", "channel", "age", "patient")
    columns: dict[str, Any] = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    kinds = {"channel": pl.String, "age": pl.Float64, "case_id": pl.String, "activity": pl.String, "patient": pl.String}
    columns["timestamp"] = pl.Series([row[2].replace(tzinfo=None) for row in rows], dtype=pl.Datetime("us"))
    frame = pl.DataFrame(columns, schema_overrides=kinds)
    return frame if zone is None else frame.with_columns(pl.col("timestamp").dt.replace_time_zone(zone))


def plain_cases(rows: Sequence[Row], *, naive: bool = False) -> dict[str, PlainCase]:
    """Cases by the rule of `ties="activity"`."""
    cases: dict[str, PlainCase] = {}
    for name in dict.fromkeys(row[0] for row in rows):
        own = sorted((row for row in rows if row[0] == name), key=_place)
        times = tuple(row[2].replace(tzinfo=None) if naive else row[2] for row in own)
        values = {"channel": _first(own, 3), "age": _first(own, 4)}
        of_events = {"channel": tuple(row[3] or None for row in own), "age": tuple(row[4] for row in own)}
        cases[name] = PlainCase(tuple(row[1] for row in own), times, values, of_events)
    return cases


def _place(row: Row) -> Any:
    """By time and name; of simultaneous events with the same name by their values, missing ones last."""
    channel, age = row[3] or None, row[4]
    return (row[2], row[1].encode(), channel is None, (channel or "").encode(), age is None, str(age))


def _first(rows: Sequence[Row], place: int) -> Any:
    """The first value that is not missing; of simultaneous events with the same name, the smallest."""
    present = [row for row in rows if row[place] not in (None, "")]
    same: list[Any] = [row[place] for row in present if (row[2], row[1]) == (present[0][2], present[0][1])]
    return min(same, key=lambda value: value.encode() if isinstance(value, str) else value, default=None)


def totals_of(variants: Log) -> Totals:
    assert variants.totals is not None
    return variants.totals


def cells(sums: np.ndarray[Any, Any]) -> Counter[tuple[int, ...]]:
    assert sums.dtype == np.int64
    return Counter({tuple(map(int, place)): int(sums[tuple(place)]) for place in np.argwhere(sums)})


def check(totals: Totals, cases: Sequence[PlainCase], zone: str = BERLIN) -> None:
    for question in questions(zone):
        sums = totals.sums(question)
        assert sums.shape == question.shape, question
        assert cells(sums) == plain_sums(question, cases), question
    assert totals.value_sums(VALUES) == plain_values(VALUES, cases)
    assert totals.value_sums(EVENT_VALUES) == plain_event_values(EVENT_VALUES, cases)


ROWS = random_rows(60)
READERS = (xes, parquet, folder, csv, pandas)


@pytest.mark.parametrize(
    ("engine", "zone"),
    [
        *((reader, zone) for reader in (*READERS, duckdb, sqlite) for zone in ("UTC", "Asia/Tokyo", None)),
        pytest.param(postgres, "UTC", marks=pytest.mark.slow),
        *(pytest.param(spark, zone, marks=pytest.mark.slow) for zone in ("UTC", "Asia/Tokyo", None)),
    ],
)
def test_every_engine_gives_the_totals_of_the_plain_twin(
    engine: Engine, zone: str | None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rows = ROWS if zone != "Asia/Tokyo" else [row for row in ROWS if 1900 < row[2].year < 9999]
    frame = table(rows, None if zone is None else "UTC")
    if zone is not None:
        frame = frame.with_columns(pl.col("timestamp").dt.convert_time_zone(zone))
    variants = engine(frame, READING, tmp_path, request)
    cases = list(plain_cases(rows, naive=zone is None).values())
    check(totals_of(variants), cases, "UTC" if zone == "Asia/Tokyo" else BERLIN)


@pytest.mark.parametrize(
    ("engine", "counted"),
    [
        *((reader, counted) for reader in (*READERS, duckdb) for counted in ("cases", "units")),
        *(
            pytest.param(one, counted, marks=pytest.mark.slow)
            for one in (postgres, spark)
            for counted in ("cases", "units")
        ),
    ],
)
def test_every_engine_sums_exactly_the_cases_that_count(
    engine: Engine, counted: Counted, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    reading = attrs.evolve(READING, unit="patient", max_cases=2, counted=counted)
    variants = engine(table(ROWS), reading, tmp_path, request)
    own: dict[str, list[tuple[str, PlainCase]]] = {}
    patients = {row[0]: row[5] for row in ROWS}
    for name, case in plain_cases(ROWS).items():
        own.setdefault(patients[name], []).append((hashlib.md5(name.encode()).hexdigest(), case))
    kept = []
    for cases in own.values():
        cases.sort(key=lambda case: case[0])
        if counted == "units":
            cases = list({case.activities: (digest, case) for digest, case in reversed(cases)}.values())
            cases.sort(key=lambda case: case[0])
        kept += [case for _, case in cases[:2]]
    assert Counter(case.activities for case in kept) == dict(variants.items())
    check(totals_of(variants), kept, "UTC")


def of_period(case: PlainCase, period: Period) -> PlainCase:
    """The events of a case up to its closing, if that lies in the period."""
    times = case.times
    if (gap := period.gap_length) is None:
        length = next((n for n, name in enumerate(case.activities, 1) if name in period.end_activity), 0)
    else:
        length = next((n for n in range(1, len(times)) if times[n] - times[n - 1] >= gap), len(times))
    first, after = period.last_events
    length = length if length and first <= times[length - 1] < after else 0
    return replace(case, activities=case.activities[:length], times=times[:length])


@pytest.mark.parametrize("engine", [*READERS, duckdb, pytest.param(postgres, marks=pytest.mark.slow)])
def test_only_cases_of_the_period_add_something_up_to_their_closing(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    period = Period("2024", end_activity=("d", "é"))
    reading = attrs.evolve(READING, period=period, details=Details("read"))
    totals = totals_of(engine(table(ROWS), reading, tmp_path, request))
    cases = [of_period(case, period) for case in plain_cases(ROWS).values()]
    assert 3 < sum(bool(case.activities) for case in cases) < len(cases)
    for question in questions("UTC"):
        if isinstance(question, q.Durations | q.Throughput | q.CalendarQuestion):
            assert cells(totals.sums(question)) == plain_sums(question, cases), question


# ------------------------------------------------------------------------------------------------------ abstractions


@pytest.mark.parametrize("chain", CHAINS, ids=" | ".join)
def test_events_that_an_abstraction_keeps_keep_their_times(
    chain: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In many small blocks of cases, as a large log is summed."""
    monkeypatch.setattr("travas.sources.encoded_cases.BLOCK", 10)
    variants = read(table(ROWS), attrs.evolve(READING, abstraction=abstraction_of(chain)))
    cases = []
    for case in plain_cases(ROWS).values():
        events = generalised(chain, [(a, index) for index, a in enumerate(case.activities)])
        kept = [index for _, index in events]
        values = {name: tuple(of[index] for index in kept) for name, of in case.of_events.items()}
        times = tuple(case.times[index] for index in kept)
        cases.append(replace(case, activities=tuple(a for a, _ in events), times=times, of_events=values))
    check(totals_of(variants), cases)


# ------------------------------------------------------------------------------------------- starts and completions

PAIRS = attrs.evolve(READING, lifecycle="pairs", details=Details("read", service=True))
TRANSITIONS = ("start", "START", "start", "complete", "COMPLETE", "Complete", None, "suspend")
Events = list[list[tuple[str, int, str | None]]]
"""The activity, the second and the transition of every event, by case."""


def pairs_table(log: Events) -> pl.DataFrame:
    rows = [
        (f"c{number}", a, MOMENTS[0] + timedelta(seconds=s), t) for number, case in enumerate(log) for a, s, t in case
    ]
    frame = pl.DataFrame(rows, schema=["case_id", "activity", "timestamp", q.LIFECYCLE], orient="row")
    return frame.with_columns(pl.col(q.LIFECYCLE).cast(pl.String))


def paired(events: list[tuple[str, int, str | None]], ties: str) -> PlainCase:
    """The completions; of each the seconds since the event before of the same activity, if that is a start."""
    starts: dict[str, int] = {}
    made: list[Any] = []
    by_name = ties == "activity"
    for activity, second, transition in sorted(
        events, key=lambda e: (e[1], *((e[0], e[2] not in TRANSITIONS[:2]) * by_name))
    ):
        if transition in TRANSITIONS[:2]:
            starts[activity] = second
        elif transition != "suspend":
            begin = starts.pop(activity, None)
            service = None if begin is None else float(second - begin)
            made.append((activity, MOMENTS[0] + timedelta(seconds=second), service))
    names, times, seconds = (tuple(event[place] for event in made) for place in range(3))
    return PlainCase(names, times, of_events={q.SERVICE: seconds})


def check_pairs(log: Events, totals: Totals, ties: str = "activity") -> None:
    cases = [paired(case, ties) for case in log]
    cells_of: Any = {"contribution": 3_001_007, "activities": ("a", "b"), "others": "node"}
    every = tuple((one, other) for one in range(3) for other in range(3))
    for question in (
        q.EventValuesByActivity(attribute=q.SERVICE, edges=q.SERVICE_EDGES, **cells_of),
        q.Durations(pairs=every, are_waiting=True, **cells_of),
        q.Durations(pairs=((0, 0), (0, 1), (1, 0)), are_waiting=True, **(cells_of | {"others": "drop"})),
        q.Durations(pairs=every, **cells_of),
    ):
        assert cells(totals.sums(question)) == plain_sums(question, cases), question


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from("aab\u00e9"), st.integers(0, 40), st.sampled_from(TRANSITIONS)), min_size=1, max_size=9
        ),
        min_size=1, max_size=4,
    ),
    st.sampled_from(("activity", "file")),
)  # fmt: skip
def test_a_completion_has_the_service_time_of_the_start_before_it(log: Events, ties: str) -> None:
    check_pairs(log, totals_of(read(pairs_table(log), attrs.evolve(PAIRS, ties=ties))), ties)


@pytest.mark.parametrize(
    "engine", [*READERS, duckdb, sqlite, *(pytest.param(one, marks=pytest.mark.slow) for one in (postgres, spark))]
)
def test_every_engine_pairs_the_same_events(engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    chance = random.Random(3)
    log = [
        [
            (chance.choice("aab\u00e9"), chance.randrange(400), chance.choice(TRANSITIONS))
            for _ in range(chance.randint(1, 12))
        ]
        for _ in range(40)
    ]
    frame = pairs_table(log).sample(fraction=1, shuffle=True, seed=2)
    check_pairs(log, totals_of(engine(frame, PAIRS, tmp_path, request)))


# --------------------------------------------------------------------------------------------------------- adjacency

LOGS = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from((*ACTIVITIES, "B")),
            st.integers(-(5 * 10**16), 5 * 10**16),
            st.sampled_from(("", "web", "desk")),
            st.one_of(st.none(), st.integers(-(10**6), 10**6).map(lambda n: n / 8)),
        ),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=5,
)
LONDON = "Europe/London"


def rows_of(log: list[list[tuple[str, int, str, float | None]]]) -> list[Row]:
    epoch = datetime(2000, 1, 1, tzinfo=UTC)
    return [
        (f"c{number}", activity, epoch + timedelta(microseconds=time), channel, age, "p")
        for number, case in enumerate(log)
        for activity, time, channel, age in case
    ]


@given(LOGS)
@settings(max_examples=20)
def test_one_case_more_adds_exactly_its_vector_of_bounded_norm(
    log: list[list[tuple[str, int, str, float | None]]],
) -> None:
    rows = rows_of(log)
    more, less = (totals_of(read(table(some), READING)) for some in (rows, rows_of(log[:-1])))
    newcomer = list(plain_cases(rows).values())[-1]
    for question in questions(LONDON):
        change = more.sums(question) - less.sums(question)
        vector = plain_vector(question, newcomer)
        assert cells(change) == Counter({cell: value for cell, value in vector.items() if value})
        assert sum(int(value) ** 2 for value in change.ravel()) <= question.contribution**2
        assert change.min(initial=0) >= 0
    before, after = less.value_sums(VALUES), more.value_sums(VALUES)
    changed = {value: n for value in after if (n := after[value] - before.get(value, 0))}
    assert changed == {newcomer.values["channel"]: VALUES.contribution}
