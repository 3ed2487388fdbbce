"""Synthetic logs with times and attributes in every format: types, marks, pm4py, and files that were changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from timed_log import timed_frame
from travas import Attribute, LogError, SyntheticRelease, Times, synthesize, verify
from travas.errors import VerificationError
from travas.outputs.guarantee_file import file_digest, guarantee_path
from travas.releases.release import Profile
from travas.verification.opened import open_synthetic

ZONE = "America/New_York"


@pytest.fixture(scope="module")
def release() -> SyntheticRelease:
    return synthesize(
        timed_frame(),
        epsilon=2,
        delta="1e-6",
        times=Times(ZONE),
        attributes=["sex", Attribute("age", [0, 20, 40, 60, 80])],
    )


def test_frames_have_typed_columns(release: SyntheticRelease) -> None:
    frame = release.to_polars()
    assert frame.schema["time:timestamp"] == pl.Datetime("us", ZONE)
    assert frame.schema["case:sex"] == pl.String and frame.schema["case:age"] == pl.Int64
    assert set(frame["case:sex"]) <= {"f", "m", "other", None} and frame["case:sex"].null_count() > 0
    cases = frame.group_by("case:concept:name").agg(pl.col("case:age").n_unique(), pl.col("time:timestamp").is_sorted())
    assert cases["case:age"].max() == 1 and cases["time:timestamp"].all()
    assert set(frame["case:travas:origin"]) <= {"released", "generated"}


@pytest.mark.parametrize("suffix", [".xes", ".xes.gz", ".csv", ".parquet", ".json"])
def test_every_format_can_be_verified(release: SyntheticRelease, tmp_path: Path, suffix: str) -> None:
    path = release.write(tmp_path / f"log{suffix}")
    assert verify(guarantee_path(path), path).digest_checked
    text = guarantee_path(path).read_text()
    assert '"timestamps": "generated from noisy measurements' in text and '"control_flow": "0.65"' in text


def test_a_release_read_back_has_the_same_times(release: SyntheticRelease, tmp_path: Path) -> None:
    again = open_synthetic(release.write(tmp_path / "log.json"))
    assert again.to_polars().equals(release.to_polars())
    more = again.regenerate(cases=10, seed=1)
    assert more.event_times is not None and sum(more.counts) == 10 and len(more.case_columns[0].values) == 10


def test_xes_states_its_standard_and_has_the_same_times_in_utc(release: SyntheticRelease, tmp_path: Path) -> None:
    text = release.write(tmp_path / "log.xes").read_text()
    assert '<log xes.version="1849.2023" ' in text and 'xmlns="http://www.xes-standard.org/"' in text
    dates = re.findall(r'<date key="time:timestamp" value="([^"]*)\.000\+00:00"/>\n</event>', text)
    moments = pl.Series(dates).str.to_datetime("%Y-%m-%dT%H:%M:%S", time_unit="us", time_zone="UTC")
    assert moments.to_list() == release.to_polars()["time:timestamp"].dt.convert_time_zone("UTC").to_list()


def test_csv_and_parquet_hold_the_same_events(release: SyntheticRelease, tmp_path: Path) -> None:
    table = pl.read_parquet(release.write(tmp_path / "log.parquet"))
    text = pl.read_csv(release.write(tmp_path / "log.csv"), infer_schema=False)
    assert re.fullmatch(
        r"2020-\d\d-\d\dT\d\d:\d\d:\d\d-0[45]:00",
        text.filter(pl.col("time:timestamp").str.starts_with("2020"))["time:timestamp"][0],
    )
    times = text["time:timestamp"].str.to_datetime("%Y-%m-%dT%H:%M:%S%:z", time_unit="us")
    assert times.dt.convert_time_zone(ZONE).equals(table["time:timestamp"])
    assert text["case:age"].cast(pl.Int64).equals(table["case:age"])


def _change(path: Path, write: Callable[[Path], object]) -> None:
    """Give the file another content, which its guarantee file states."""
    before = file_digest(path)
    write(path)
    guarantee = guarantee_path(path)
    guarantee.write_text(guarantee.read_text().replace(before, file_digest(path)))


@pytest.mark.parametrize(
    "change",
    [
        pl.lit("x").alias("case:added"),
        pl.when(pl.int_range(pl.len()) == 1).then(pl.lit(99)).otherwise(pl.col("case:age")).alias("case:age"),
        pl.col("time:timestamp").cast(pl.Int64),
        pl.struct("time:timestamp").alias("time:timestamp"),
        pl.concat_list("case:sex").alias("case:sex"),
        pl.col("case:age").cast(pl.String),
        pl.concat_list("case:travas:origin").alias("case:travas:origin"),
    ],
    ids=lambda change: str(change)[:40],
)
def test_a_changed_table_is_detected(release: SyntheticRelease, tmp_path: Path, change: pl.Expr) -> None:
    path = release.write(tmp_path / "log.parquet")
    _change(path, pl.read_parquet(path).with_columns(change).write_parquet)
    with pytest.raises((VerificationError, LogError)):
        verify(guarantee_path(path), path)


ODD = ('q"', '""', "ctl\x01", r"\u{41}")


@pytest.fixture(scope="module")
def odd() -> SyntheticRelease:
    """Attributes with names that formats escape."""
    table = timed_frame(1_000).with_columns(pl.col("sex").alias(name) for name in ODD)
    return synthesize(table, epsilon=8, delta="1e-3", times=None, attributes=list(ODD))


@pytest.mark.parametrize(
    ("suffix", "profile"),
    [
        *((suffix, "travas") for suffix in (".xes", ".csv", ".parquet", ".json")),
        (".parquet", "pm4py"),
    ],
)
def test_odd_attributes_verify(odd: SyntheticRelease, suffix: str, profile: Profile, tmp_path: Path) -> None:
    path = odd.write(tmp_path / f"log{suffix}", profile=profile)
    assert verify(guarantee_path(path), path).digest_checked


def test_times_of_the_hour_that_a_clock_shows_twice_verify(tmp_path: Path) -> None:
    start = datetime(2024, 10, 26, 22, tzinfo=UTC)
    rows = [
        (str(case), name, start + timedelta(minutes=case % 240 + 20 * step))
        for case in range(2_000)
        for step, name in enumerate("abc")
    ]
    table = pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row")
    made = synthesize(table, epsilon=5, delta="1e-3", times=Times("Europe/Berlin"))
    path = made.write(tmp_path / "log.csv")
    assert verify(guarantee_path(path), path).digest_checked


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_pm4py_computes_performance_on_it(release: SyntheticRelease, tmp_path: Path) -> None:
    pm4py = pytest.importorskip("pm4py")
    path = release.write(tmp_path / "log.xes")
    for log in (pm4py.read_xes(str(path), return_legacy_log_object=False), release.to_pandas()):
        performance, starts, _ = pm4py.discover_performance_dfg(log)
        assert 200 < performance["register", "visit"]["median"] < 2500 and "register" in starts
        durations = sorted(pm4py.get_all_case_durations(log))
        assert 1000 < durations[len(durations) // 2] < 200_000
        assert 1000 < pm4py.get_case_arrival_average(log) < 20_000  # 4,000 cases in a year: one in about 7,900 s
        female = pm4py.filter_trace_attribute_values(log, "case:sex", ["f"])
        assert 0.4 < female["case:concept:name"].nunique() / log["case:concept:name"].nunique() < 0.8
        assert log["time:timestamp"].dt.tz is not None and log["time:timestamp"].min().tz_convert(UTC).year in (
            2018,
            2019,
            2020,
        )
