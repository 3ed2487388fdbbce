"""Times and attributes as files hold them: zones, dates, precisions, unsorted and missing timestamps, odd values."""

from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from travas import LogError, Reading, TravasError, read
from travas.log import questions as q
from travas.log.questions import DetailColumn, Details, Totals

TIMES = Reading(details=Details("read"))
ACTIVITIES = ("a", "b", "c")


def totals_of(source: Any, reading: Reading = TIMES) -> Totals:
    totals = read(source, reading).totals
    assert totals is not None
    return totals


def frame(times: list[Any], kind: Any = None, **more: list[Any]) -> pl.DataFrame:
    """One case of activities a, b, c, …"""
    names = [chr(ord("a") + place) for place in range(len(times))]
    series = pl.Series("timestamp", times, dtype=kind)
    return pl.DataFrame({"case_id": ["1"] * len(times), "activity": names, "timestamp": series, **more})


def hours(totals: Totals, zone: str = "Europe/Berlin") -> list[tuple[int, int]]:
    """Kind of day and hour of all events."""
    sums = totals.sums(q.EventHours(activities=ACTIVITIES, zone=zone, contribution=100))
    return [(int(kind), int(hour)) for kind, hour in zip(*sums.nonzero(), strict=True)]


def buckets(totals: Totals) -> list[int]:
    """Buckets of the durations from a to b and from b to c."""
    question = q.Durations(activities=ACTIVITIES, pairs=((0, 1), (1, 2)), contribution=100)
    return [int(bucket) for bucket in totals.sums(question).nonzero()[1]]


TEXTS = ["2024-03-31T02:30:00Z", "2024-03-31T05:30:00", "2024-03-31 06:30:00+02:00"]
"""In Berlin 04:30, wall clock 05:30, and 06:30, which is 04:30 in UTC: the last two are a step back in time."""


def xes_of(events: list[dict[str, str]], trace: str = "") -> str:
    lines = [
        "<event>" + "".join(f'<string key="{key}" value="{value}"/>' for key, value in event.items()) + "</event>"
        for event in events
    ]
    return f'<log><trace><string key="concept:name" value="1"/>{trace}{"".join(lines)}</trace></log>'


def test_zones_are_decided_value_by_value_in_text(tmp_path: Path) -> None:
    table, log = tmp_path / "log.csv", tmp_path / "log.xes"
    frame(TEXTS).write_csv(table)
    names = zip("abc", TEXTS, strict=True)
    log.write_text(xes_of([{"concept:name": name, "time:timestamp": text} for name, text in names]))
    for path in (table, log):
        totals = totals_of(path, Reading(order="file", details=Details("read")))
        assert hours(totals) == [(1, 4), (1, 5), (1, 6)]
        assert buckets(totals) == [7, 0]  # three hours; one hour back


def test_a_format_with_a_zone_is_converted_and_one_without_is_the_wall_clock(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    for text, form, hour in (
        ("01.07.2024 08:00 +0000", "%d.%m.%Y %H:%M %z", 10),
        ("01.07.2024 08:00", "%d.%m.%Y %H:%M", 8),
    ):
        frame([text]).write_csv(path)
        totals = totals_of(path, Reading(timestamp_format=form, details=Details("read")))
        assert hours(totals) == [(0, hour)]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_all_precisions_give_the_same_buckets(unit: Any) -> None:
    times = [datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 999_000), datetime(2024, 1, 1, 0, 0, 4, 999_000)]
    assert buckets(totals_of(frame(times, pl.Datetime(unit)))) == [0, 2]


def test_less_than_a_microsecond_orders_events_but_is_not_a_duration() -> None:
    times = pl.Series([10**18 + 1, 10**18 + 10**9]).cast(pl.Datetime("ns"))
    assert buckets(totals_of(frame(times.to_list()).with_columns(timestamp=times))) == [1]
    assert buckets(totals_of(frame(times.to_list()).with_columns(timestamp=times.dt.offset_by("-2ns")))) == [1]


def test_years_that_python_does_not_have_count_as_the_nearest() -> None:
    times = pl.Series([-(2**62), 0, 2**62]).cast(pl.Datetime("us"))
    totals = totals_of(frame([None] * 3).with_columns(timestamp=times))
    assert buckets(totals) == [15, 15]
    in_ms = frame([None] * 3).with_columns(timestamp=times.to_physical().cast(pl.Datetime("ms")))
    assert buckets(totals_of(in_ms)) == [15, 15]
    assert hours(totals_of(in_ms), "UTC") == hours(totals, "UTC") == [(0, 0), (0, 23)]


def test_times_need_a_timestamp_of_every_event_even_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log.xes"
    timed = [{"concept:name": name, "time:timestamp": f"2024-01-01T00:00:0{second}Z"} for name, second in ("a0", "b4")]
    path.write_text(xes_of([timed[0], {"concept:name": "x"}, timed[1]]))
    table = frame(["2024-01-01T00:00:00Z", "2024-01-01T00:00:04Z", ""])
    for source, kept in ((path, ("a", "b")), (table, ("a", "b"))):
        with pytest.raises(LogError, match="1 event without a timestamp"):
            read(source, Reading(order="file", details=Details("read")))
        found = read(source, Reading(order="file", on_missing="drop", details=Details("read")))
        assert dict(found.items()) == {kept: 1}
        assert found.totals is not None and buckets(found.totals) == [2]
    assert sum(read(path, Reading()).counts) == 1


def test_every_event_without_a_timestamp_is_judged_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.xes"
    untimed = [{"concept:name": "a"}]
    drop = Reading(on_missing="drop", details=Details("read"))
    path.write_text(xes_of(untimed))
    assert sum(read(path, drop).counts) == 0
    path.write_text(xes_of([*untimed, {"concept:name": "b", "time:timestamp": "2024-01-01"}]))
    assert dict(read(path, drop).items()) == {("b",): 1}
    with pytest.raises(LogError, match=r"1 event without a timestamp.*times=None"):
        read(path, TIMES)


NUMBERS = ["1.5", " 2", "2,5", "1e3", "1e400", "0x10", "inf", "nan", "1_000", "٣", "-0", "+7.25", "", "1\n"]
"""Numbers are 1.5, 1e3, -0 and +7.25; the rest is missing."""


def test_only_plain_decimal_numbers_are_numbers() -> None:
    size = len(NUMBERS)
    table = pl.DataFrame(
        {
            "case_id": [str(n) for n in range(size)],
            "activity": ["a"] * size,
            "timestamp": ["2024-01-01"] * size,
            "n": NUMBERS,
        }
    )
    totals = totals_of(table, Reading(details=Details(columns=(DetailColumn("n", "number"),))))
    sums = totals.sums(q.AttributeCells(attribute="n", edges=(0, 2, 1000), contribution=1))
    assert sums.tolist() == [0, 2, 1, 1, size - 4]


def test_an_attribute_of_the_trace_comes_before_those_of_its_events(tmp_path: Path) -> None:
    path = tmp_path / "log.xes"
    events = [{"concept:name": "a"}, {"concept:name": "b", "channel": "desk"}, {"concept:name": "c", "channel": "web"}]
    question = q.AttributeValues(attribute="channel", contribution=3)
    for trace, expected in (('<string key="channel" value="phone"/>', "phone"), ("", "desk")):
        path.write_text(xes_of(events, trace))
        totals = totals_of(path, Reading(details=Details(columns=(DetailColumn("channel"), DetailColumn("absent")))))
        assert totals.value_sums(question) == {expected: 3}
        assert totals.value_sums(q.AttributeValues(attribute="absent", contribution=3)) == {None: 3}


def test_in_the_order_of_the_file_the_first_value_counts() -> None:
    table = frame(["2024-01-02", "2024-01-01", "2024-01-01"], None, channel=[None, "web", "desk"])
    question = q.AttributeValues(attribute="channel", contribution=1)
    details = Details(columns=(DetailColumn("channel"),))
    assert totals_of(table, Reading(details=details)).value_sums(question) == {"web": 1}
    assert totals_of(table, Reading(order="file", details=details)).value_sums(question) == {"web": 1}
    assert totals_of(table.reverse(), Reading(order="file", details=details)).value_sums(question) == {"desk": 1}


def test_an_event_that_is_dropped_as_a_duplicate_keeps_its_attributes_of_the_case() -> None:
    table = frame(["2024-01-01"] * 2, None, channel=[None, "web"]).with_columns(activity=pl.lit("a"))
    reading = Reading(details=Details(columns=(DetailColumn("channel"),)), duplicate_events="drop")
    assert dict(read(table, reading).items()) == {("a",): 1}
    question = q.AttributeValues(attribute="channel", contribution=1)
    assert totals_of(table, reading).value_sums(question) == {"web": 1}


REFUSED: dict[str, tuple[Any, Reading, str]] = {
    "numbers as times": (frame([1, 2]), TIMES, "'timestamp' has type Int64, whose values are not dates or timestamps"),
    "unknown attribute": (
        frame(["2024-01-01"], None, chanel=["x"]),
        Reading(details=Details(columns=(DetailColumn("channel"),))),
        "no column 'channel' for the attribute; did you mean 'chanel'",
    ),
    "floats as names": (
        frame(["2024-01-01"], None, age=[1.5]),
        Reading(details=Details(columns=(DetailColumn("age"),))),
        "column 'age' has type Float64, whose values are not exact names",
    ),
    "a mapping": ({("a",): 3}, TIMES, "is to be measured: it was read without timestamps"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_measured_is_refused_by_the_schema(name: str) -> None:
    source, reading, message = REFUSED[name]
    with pytest.raises(TravasError, match=message) as error:
        read(source, reading)
    assert "\n" not in str(error.value)
    assert name != "unknown attribute" or error.value.field == "attributes"


def test_a_log_without_events_adds_nothing(tmp_path: Path) -> None:
    details = Details("read", (DetailColumn("channel"), DetailColumn("age", "number")))
    table = frame(["2024-01-01"], None, channel=["x"], age=["1"]).clear()
    table.write_csv(tmp_path / "log.csv")
    table.write_parquet(tmp_path / "log.parquet")
    (tmp_path / "log.xes").write_text("<log></log>")
    for source in (table, *(tmp_path / f"log.{suffix}" for suffix in ("csv", "parquet", "xes"))):
        totals = totals_of(source, Reading(details=details))
        assert hours(totals) == [] and buckets(totals) == []
        assert not totals.sums(q.Throughput(activities=("a",), others="node", contribution=1)).any()
        assert not totals.sums(q.AttributeCells(attribute="age", edges=(1,), contribution=1)).any()
        assert totals.value_sums(q.AttributeValues(attribute="channel", contribution=1)) == {}
