"""Synthetic logs with times and attributes in every format: types, marks and the same events."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import polars as pl
import pytest

from timed_log import timed_frame
from travas import (
    Attribute,
    ParameterError,
    Reading,
    Rules,
    SyntheticRelease,
    Times,
    process_map,
    read,
    synthesize,
    verify,
)
from travas.evaluation.details import event_attribute_distance, fetched_cases, released_cases
from travas.log.options import SERVICE_TIMES
from travas.log.questions import LIFECYCLE, SERVICE, SERVICE_COLUMN
from travas.outputs.guarantee_file import guarantee_path
from travas.plots.map_graph import release_graph
from travas.releases.release import details_of

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


# ------------------------------------------------------------------------------------------- starts and completions

PAIRS = Reading(lifecycle="pairs")


@lru_cache
def pairs_frame() -> pl.DataFrame:
    """A visit is served for a third of the time since the event before, a test for a tenth; others have no start."""
    ends = timed_frame().sort("case_id", "timestamp", maintain_order=True)
    step = pl.col("timestamp").diff().over("case_id")
    part = pl.col("activity").replace_strict({"visit": 1 / 3, "test": 0.1}, default=None, return_dtype=pl.Float64)
    starts = ends.with_columns(pl.col("timestamp") - step * part).drop_nulls("timestamp")
    marked = (
        rows.with_columns(pl.lit(kind).alias(LIFECYCLE)) for rows, kind in ((starts, "start"), (ends, "complete"))
    )
    return pl.concat(marked).sort("timestamp", maintain_order=True)


@pytest.fixture(scope="module")
def paired() -> SyntheticRelease:
    return synthesize(pairs_frame(), epsilon=2, delta="1e-6", times=Times(ZONE), reading=PAIRS)


def test_service_times_follow_the_activity(paired: SyntheticRelease) -> None:
    frame = paired.to_polars()
    service = (pl.col("time:timestamp") - pl.col("start_timestamp")).dt.total_seconds()
    found = {name: (median, given) for name, median, given in frame.group_by("concept:name").agg(
        service.median(), service.is_not_null().mean().alias("given")
    ).iter_rows()}  # fmt: skip
    assert found["visit"][0] == pytest.approx(200, rel=0.5) and found["test"][0] == pytest.approx(4_000, rel=0.5)
    assert (
        found["visit"][1] > 0.95
        and found["test"][1] > 0.95
        and max(found[name][1] for name in ("register", "release")) < 0.05
    )
    assert frame.select(service.min()).item() >= 0
    early = pl.col("start_timestamp") < pl.col("time:timestamp").shift().over("case:concept:name")
    assert frame.select(early.mean()).item() < 0.2
    distance = event_attribute_distance(
        fetched_cases(read(pairs_frame(), attrs.evolve(PAIRS, details=details_of(paired.mechanism))).totals),  # type: ignore[arg-type]
        released_cases(paired), SERVICE_TIMES,
    )  # fmt: skip
    assert distance.by_activity < 0.1 < distance.baseline


def test_starts_keep_the_hours_of_rules() -> None:
    rules = Rules(hours="Mon-Sun 09-17")
    made = synthesize(pairs_frame(), epsilon=2, delta="1e-6", times=Times(ZONE), reading=PAIRS, rules=rules)
    starts = made.to_polars()["start_timestamp"].drop_nulls()
    assert len(starts) > 1000 and starts.dt.hour().is_between(9, 16).all()


@pytest.mark.parametrize("suffix", [".json", ".xes", ".xes.gz", ".csv", ".parquet"])
def test_starts_are_verified(paired: SyntheticRelease, tmp_path: Path, suffix: str) -> None:
    path = paired.write(tmp_path / f"log{suffix}")
    verify(guarantee_path(path), path)


def test_pm4py_sees_starts_and_completions_in_order(paired: SyntheticRelease, tmp_path: Path) -> None:
    import pm4py

    path = paired.write(tmp_path / "log.xes")
    rows = pl.from_pandas(pm4py.read_xes(str(path), variant="iterparse")).select(
        "case:concept:name", "time:timestamp", LIFECYCLE
    )
    assert rows.group_by("case:concept:name").agg(pl.col("time:timestamp").is_sorted())["time:timestamp"].all()
    numbers = dict(rows.group_by(LIFECYCLE).len().iter_rows())
    frame = paired.to_polars()
    assert numbers == {"complete": frame.height, "start": frame["start_timestamp"].count()}
    again = read(path, attrs.evolve(PAIRS, details=details_of(paired.mechanism)))
    made = released_cases(paired)
    assert dict(again.items()) == dict(zip(paired.variants, paired.counts, strict=True))
    one, other = (np.nansum(log.values[SERVICE_COLUMN]) for log in (fetched_cases(again.totals), made))  # type: ignore[arg-type]
    assert one == other


def test_a_log_without_times_has_no_starts() -> None:
    untimed = pairs_frame().drop("timestamp")
    made = synthesize(untimed, epsilon=2, delta="1e-6", reading=attrs.evolve(PAIRS, order="file"))
    assert made.event_times is None and made.event_starts is None


def test_a_map_has_service_and_waiting_times(tmp_path: Path) -> None:
    made = process_map(pairs_frame(), epsilon=2, delta="1e-6", parts=["durations"], reading=PAIRS)
    assert made.parts == ("durations", "service")
    service = {each.activity: each.service and each.service.median for each in made.activities}
    assert service["visit"] == pytest.approx(200, rel=0.5) and service["test"] == pytest.approx(4_000, rel=0.5)
    assert service["register"] is None
    waiting = {(pair.before.activity, pair.after.activity): pair.duration for pair in made.pairs}["register", "visit"]
    assert waiting is not None and waiting.median == pytest.approx(400, rel=0.5)
    path = made.write(tmp_path / "map.json")
    verify(guarantee_path(path), path)
    model = release_graph(made).model()
    assert model["is_paired"] and "waiting time" in (tmp_path / "map.json.README.txt").read_text()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"event_attributes": [SERVICE_TIMES], "times": None}, "times"),
        ({"event_attributes": [SERVICE_TIMES]}, "lifecycle"),
        ({"event_attributes": [LIFECYCLE]}, "event_attributes"),
        ({"event_attributes": [SERVICE]}, "event_attributes"),
    ],
)
def test_service_times_need_pairs_and_times(options: dict[str, Any], field: str) -> None:
    with pytest.raises(ParameterError) as refused:
        synthesize(pairs_frame(), epsilon=2, delta="1e-6", **options)
    assert refused.value.field == field


def test_an_attribute_may_have_any_name(tmp_path: Path) -> None:
    """A release with an attribute of events named code was charged and could not be written."""
    log = timed_frame().with_columns(code=pl.col("activity"))
    release = synthesize(log, epsilon=5, delta="1e-3", event_attributes=["code"])
    path = release.write(tmp_path / "r.csv")
    assert pl.read_csv(path).columns.count("code") == 1 and verify(f"{path}.guarantee.json", path).digest_checked
