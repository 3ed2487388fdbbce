"""Times of synthetic logs: shrinkage, durations, calendars and clocks."""

from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timed_log import FIRST_DAY, timed_frame
from travas import Synthesis, SyntheticRelease, Times, read
from travas.log.options import weeks_of
from travas.log.questions import Details
from travas.mechanisms.mechanism import with_random_bytes
from travas.sources.reading import Reading
from travas.synthesis.arrivals import Arrivals
from travas.synthesis.durations import DurationShares
from travas.synthesis.event_times import CalendarShares, bucket_of_throughput, hour_of_week, week_of, zone_of
from travas.synthesis.shrinkage import smoothed, walked
from travas.trusted.samplers import Seeded

ZONE = "Europe/Berlin"


@lru_cache
def release(resolution: str = "second", seed: int = 1, epsilon: int = 4) -> SyntheticRelease:
    log = read(timed_frame(), Reading(details=Details("read")))
    settings = Times(ZONE, resolution)  # type: ignore[arg-type]
    made = with_random_bytes(Synthesis(epsilon, "1e-6", times=settings), Seeded(seed)).release(log)
    assert isinstance(made, SyntheticRelease)
    return made


def cases(made: SyntheticRelease) -> list[list[int]]:
    """The times of every case."""
    lengths = np.repeat([len(trace) for trace in made.variants], made.counts)
    assert made.event_times is not None
    return [part.tolist() for part in np.split(made.event_times, np.cumsum(lengths)[:-1])]


# ----------------------------------------------------------------------------------------------------- shrinkage


@pytest.mark.parametrize("size", [1, 2, 7, 24])
def test_without_noise_a_curve_is_what_was_measured(size: int) -> None:
    noisy = np.arange(1.0, size + 1) ** 2 * 1000
    assert walked(noisy, 1e-3) == pytest.approx(noisy)


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=70), st.floats(0.1, 1e3))
def test_a_curve_has_no_negative_numbers(noisy: list[float], deviation: float) -> None:
    for curve in (walked(np.array(noisy), deviation), smoothed(np.array(noisy), deviation)):
        assert len(curve) == len(noisy) and (curve >= 0).all()


# ------------------------------------------------------------------------------------------------ zones and calendars


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe"])
def test_wall_clocks_agree_with_the_standard_library(zone: str) -> None:
    moments = np.arange(0, 1.9e9, 86_400 * 3.37)
    local = zone_of(zone).to_local(moments)
    for moment, shown in list(zip(moments.tolist(), local.tolist(), strict=True))[::97]:
        there = datetime.fromtimestamp(moment, ZoneInfo(zone))
        assert timedelta(seconds=shown - moment).total_seconds() == pytest.approx(there.utcoffset().total_seconds())  # type: ignore[union-attr]
    back = zone_of(zone).to_local(zone_of(zone).to_utc(local))
    assert np.mean(back == local) > 0.99  # hours that a change skips or repeats are the exception


def test_generated_cases_start_when_cases_start() -> None:
    made = release()
    starts = zone_of("UTC").to_local(np.array([case[0] for case in cases(made)], dtype=float))
    hours = hour_of_week(starts)
    assert np.mean(hours >= 120) < 0.05  # no weekends
    assert np.mean((hours % 24 >= 8) & (hours % 24 < 16)) > 0.8
    year = (starts >= FIRST_DAY) & (starts < FIRST_DAY + 52 * 604_800)
    assert np.mean(year) > 0.95


def test_a_stated_period_and_longest_case_bound_what_is_generated_and_cost_nothing() -> None:
    stated = Times(ZONE, recorded="2020-02-03/2020-06-28", longest_case=1)
    log = read(timed_frame(), Reading(details=Details("read")))
    assert Synthesis(1, "1e-6", times=stated).noise == Synthesis(1, "1e-6", times=Times(ZONE)).noise
    made = with_random_bytes(Synthesis(1, "1e-6", times=stated), Seeded(4)).release(log)
    assert isinstance(made, SyntheticRelease)
    begin, end = weeks_of(stated.recorded)
    starts = week_of(zone_of(ZONE).to_local(np.array([case[0] for case in cases(made)], dtype=float)))
    assert end - begin == 21 and set(starts.tolist()) == set(range(begin, end))
    times = made.measurements.times
    assert times is not None and times.blocks.tolist() == [begin // 64, (end - 1) // 64]
    durations = DurationShares.of(made.measurements, times, Arrivals.of(made.measurements, times))
    assert (
        durations.longest == 86_400
        and durations.throughput.argmax() < bucket_of_throughput(np.array([86_400.0]))[0] + 1
    )


def test_the_calendar_of_noise_alone_is_even() -> None:
    made = release(epsilon=1)
    assert made.measurements.times is not None
    calendar = CalendarShares.of(made.measurements, made.measurements.times)
    for shares in (calendar.weeks.shares, calendar.start_hours, calendar.event_hours):
        assert shares.min() >= 0 and shares.sum() == pytest.approx(1)


# ------------------------------------------------------------------------------------------------------------- times


def test_times_never_decrease_and_are_the_same_for_a_seed() -> None:
    made = release()
    assert all(case == sorted(case) for case in cases(made))
    again = made.regenerate(seed=made.seed)
    assert np.array_equal(made.event_times, again.event_times)  # type: ignore[arg-type]
    assert not np.array_equal(made.event_times[:50], made.regenerate(seed=9).event_times[:50])  # type: ignore[index]


def test_the_throughput_agrees_with_the_measured_one() -> None:
    made = release()
    assert made.measurements.times is not None
    times = made.measurements.times
    durations = DurationShares.of(made.measurements, times, Arrivals.of(made.measurements, times))
    seconds = np.array([case[-1] - case[0] for case in cases(made)], dtype=float)
    found = np.bincount(bucket_of_throughput(seconds), minlength=len(durations.throughput)) / len(seconds)
    assert np.abs(np.cumsum(found) - np.cumsum(durations.throughput)).max() < 0.1
    assert seconds.max() < 1.6 * durations.longest  # the ceiling: the end of a step may be moved beyond it


def test_steps_last_as_long_as_the_measured_ones() -> None:
    made = release()
    steps = {"visit": [], "test": []}  # type: dict[str, list[int]]
    index = 0
    times = cases(made)
    for trace, count in zip(made.variants, made.counts, strict=True):
        for case in times[index : index + count]:
            for position, activity in enumerate(trace[1:], start=1):
                if activity in steps:
                    steps[str(activity)].append(case[position] - case[position - 1])
        index += count
    assert 300 <= np.median(steps["visit"]) <= 1200 and 16_384 <= np.median(steps["test"]) <= 65_536


@pytest.mark.parametrize(("resolution", "unit"), [("minute", 60), ("day", 86_400)])
def test_times_are_rounded_to_the_resolution(resolution: str, unit: int) -> None:
    made = release(resolution)
    local = zone_of(ZONE).to_local(np.array(made.event_times, dtype=float))
    assert (local % unit == 0).all() and all(case == sorted(case) for case in cases(made))


def test_quality_has_intervals_and_says_what_is_backoff() -> None:
    quality = release().quality()
    visit = next(row for row in quality.durations if (row.before, row.after) == ("register", "visit"))
    assert visit.median.low <= 600 <= visit.median.high and visit.median.low <= visit.median.value <= visit.median.high
    assert not visit.backoff and any(row.backoff for row in release(seed=3, epsilon=1).quality().durations)
    assert quality.throughput is not None and quality.throughput.low < 43_000 < quality.throughput.high


def test_quality_knows_how_many_cases_start_in_eight_weeks() -> None:
    starts = timed_frame().group_by("case_id").agg(pl.col("timestamp").min())["timestamp"].dt.date().to_list()
    for seed in range(3):
        inside = [
            row.cases.low <= sum(0 <= (start - row.first).days < 56 for start in starts) <= row.cases.high
            for row in release(seed=seed).quality().arrivals
        ]
        assert len(inside) >= 7 and sum(inside) >= len(inside) - 2
