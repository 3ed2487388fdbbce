"""Synthetic logs with times and attributes in every format: types, marks and the same events."""

import re
from pathlib import Path

import polars as pl
import pytest

from timed_log import timed_frame
from travas import Attribute, SyntheticRelease, Times, synthesize

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
