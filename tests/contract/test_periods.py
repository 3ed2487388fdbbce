"""Periods in every engine: the cases closed in a period, each up to its closing, and nothing of the others."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import polars as pl
import pytest
from compared_engines import MOST, Engine
from period_cases import IDS, RULES, START, closing, in_month, random_cases, table

from travas import ParameterError, Period, Reading, read


@pytest.mark.parametrize("kind", [pl.Datetime("us", "UTC"), pl.Datetime("us", "America/New_York"), pl.Datetime("us")])
@pytest.mark.parametrize("rule", RULES, ids=IDS)
@pytest.mark.parametrize("engine", MOST)
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
    found = engine(frame, Reading(ties="activity", period=attrs.evolve(rule, name="2026-03")), tmp_path, request)
    assert dict(found.items()) == expected


@pytest.mark.parametrize("engine", MOST)
def test_every_engine_selects_the_cases_of_a_person_among_those_of_the_period(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Cases of other periods do not use up what is counted of a person."""
    cases, rule = random_cases(2, 90), RULES[1]
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
        ties="activity", period=attrs.evolve(rule, name="2026-03"), unit="person", max_cases=2, counted="cases"
    )
    assert dict(engine(frame, reading, tmp_path, request).items()) == expected


def test_a_date_is_its_first_instant_and_a_finer_time_is_rounded_down(tmp_path: Path) -> None:
    rows = [
        ("1", "a", "2026-01-30"),
        ("1", "end", "2026-02-01"),
        ("2", "end", "2026-01-31"),
        ("3", "end", "2026-03-01"),
    ]
    texts = pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row")
    period = attrs.evolve(RULES[0], name="2026-02")
    dates = texts.with_columns(pl.col("timestamp").str.to_date())
    for frame in (texts, dates, dates.to_pandas(date_as_object=False)):
        assert dict(read(frame, Reading(period=period)).items()) == {("a", "end"): 1}
    finer = pl.DataFrame({"case_id": ["1"], "activity": ["end"], "timestamp": ["2026-01-31T23:59:59.999999999"]})
    nanoseconds = finer.with_columns(pl.col("timestamp").str.to_datetime(time_unit="ns"))
    for frame in (finer, nanoseconds):
        assert not len(read(frame, Reading(period=period)))
        assert len(read(frame, Reading(period=attrs.evolve(period, name="2026-01")))) == 1


@pytest.mark.parametrize("rule", RULES, ids=IDS)
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pl.Date, 2**31 - 1),
        (pl.Date, -(2**31)),
        (pl.Datetime("ms"), 2**63 - 1),
        (pl.Datetime("ms", "Europe/Berlin"), -(2**62)),
        (pl.Datetime("us"), -(2**63) + 1),
        (pl.Datetime("ns", "Asia/Tokyo"), 2**63 - 1),
    ],
)
def test_an_extreme_time_of_one_case_does_not_prevent_the_release_of_a_period(
    kind: Any, value: int, rule: Period, tmp_path: Path
) -> None:
    times = pl.Series([*(START.replace(tzinfo=None) for _ in range(9)), None]).cast(kind).to_physical()
    frame = pl.DataFrame({"case_id": [str(case) for case in range(10)], "activity": ["end"] * 10})
    path, period = tmp_path / "log.parquet", attrs.evolve(rule, name="2026-01-01/2026-02-15")
    frame.with_columns(timestamp=times.fill_null(value).cast(kind)).write_parquet(path)
    assert dict(read(path, Reading(period=period)).items()) == {("end",): 9}


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
    assert "/" not in period.folder


@pytest.mark.parametrize(
    "options",
    [
        {"name": "2026-13"}, {"name": "2026-02-30"}, {"name": "2026-02-02/2026-02-02"}, {"name": "9999-12"}, {"gap": None},
        {"end_activity": ("end",)}, {"gap": "0d"}, {"gap": "a month"}, {"grace": "-1d"},
        {"gap": None, "end_activity": ("",)},
    ],
)  # fmt: skip
def test_a_period_is_checked_when_it_is_made(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Period(**({"name": "2026-02", "gap": "30d"} | options))
