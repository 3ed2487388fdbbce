"""Every engine gives the variants and counts of a plain twin, for the same events in any order of the rows."""

from pathlib import Path

import attrs
import polars as pl
import pytest
from compared_engines import MOST, Engine, each_log
from engine_twins import DEFAULT, NAMES, ODD, ODD_COLUMNS, PERSON, PERSONS, log, persons_twin, random_log, twin

from travas import Log, LogError, PrivacyUnit, Reading
from travas.log.questions import Details
from travas.mechanisms import mechanism
from travas.trusted.guarantee import Counted

MICROSECONDS = "holds microseconds: nanoseconds do not fit in it"
GAPS: dict[tuple[str, str], str] = {
    ("nanoseconds", "postgres"): f"PostgreSQL {MICROSECONDS}",
    ("nanoseconds", "spark"): f"Spark {MICROSECONDS}",
    ("nanoseconds", "csv"): "text is read to microseconds",
    ("nanoseconds", "sqlite"): "text is read to microseconds",
    ("floats as times", "pandas"): "pandas makes floats of whole numbers where one is missing; they are refused",
    ("numbers as times", "csv"): "a number in CSV is a text, and as a time it needs a format",
    ("floats as times", "csv"): "a number in CSV is a text, and as a time it needs a format",
    ("numbers as times", "sqlite"): "a number in SQLite is a text, and as a time it needs a format",
    ("floats as times", "sqlite"): "a number in SQLite is a text, and as a time it needs a format",
}


def lifecycle_log() -> pl.DataFrame:
    """Start and complete events in several spellings, some without; most rows twice; values of other columns."""
    transitions = ["start", "complete", "COMPLETE", "Start", None, "", "completed", "suspend"]
    wards = ["A", "a", "é", None, "B", ""]
    rows = [(f"c{n % 7}", "abc"[n % 3], n // 4 % 5) for n in range(96)]
    return log(
        rows * 2,
        lifecycle=[transitions[n % 8] for n in range(192)],
        ward=[wards[n // 5 % 6] for n in range(192)],
        number=[7 if n % 4 else n for n in range(192)],
    )


LOGS: dict[str, tuple[pl.DataFrame, Reading]] = {
    "ties by name": (log([("1", name, 0) for name in NAMES] + [("2", name, 0) for name in NAMES[::-1]]), DEFAULT),
    "ties by number": (log([("1", a, 0) for a in "dcba"], tie=[10, 9, None, -3]), Reading(ties="tie")),
    "ties by text": (
        log([("1", a, 0) for a in "hgfedcba"], tie=["10", "9", "x", "", None, "-3", "1\n", "X"]),
        Reading(ties="tie"),
    ),
    "ties twice": (log([("1", a, 0) for a in "abab"], tie=[2, 2, 1, 1]).sort("tie", "activity"), Reading(ties="tie")),
    "missing": (
        log([("1", "a", 0), ("1", None, 1), ("1", "", 2), (None, "b", 3), ("", "b", 4), ("2", "c", None), ("1", "d", 5)]),
        attrs.evolve(DEFAULT, on_missing="drop"),
    ),
    "NA": (log([(c, a, 0) for c in ("NA", "nan", "None", "null", "NULL") for a in ("NA", "null", "x")]), DEFAULT),
    "zones": (log([("1", n, 30 * i) for i, n in enumerate("abcdef")], pl.Datetime("us", "Europe/Berlin")), DEFAULT),
    "no zone": (log([("1", n, 30 * i) for i, n in enumerate("fedcba")], pl.Datetime("us")), DEFAULT),
    "milliseconds": (log([("1", n, i) for i, n in enumerate("fedcba")], pl.Datetime("ms", "Asia/Tokyo")), DEFAULT),
    "nanoseconds": (
        log([("1", n, 0) for n in "cba"]).with_columns(
            timestamp=pl.Series([10**18 + 3, 10**18 + 1, 10**18 + 2]).cast(pl.Datetime("ns"))
        ),
        DEFAULT,
    ),
    "dates": (log([("1", n, i * 1440) for i, n in enumerate("cba")], pl.Date()), DEFAULT),
    "numbers as times": (log([("1", n, 0) for n in "cba"], None).with_columns(timestamp=pl.Series([3, 1, 2])), DEFAULT),
    "floats as times": (
        log([("1", n, 0) for n in "cba"]).with_columns(timestamp=pl.Series([0.3, float("nan"), -0.2])),
        attrs.evolve(DEFAULT, on_missing="drop"),
    ),
    "numbers as cases": (log([(case, "a", 0) for case in (1, -1, 2**62, 2**62 + 1, 1)]), DEFAULT),
    "texts as cases": (log([(case, "a", 0) for case in ("1", "01", "1.0", " 1", "1 ", "é", "é")]), DEFAULT),
    "numbers as names": (log([("1", n, n) for n in (3, 1, 2)]), DEFAULT),
    "truths as names": (log([("1", n == 1, n) for n in (3, 1, 2)]), DEFAULT),
    "odd names": (log([(str(n), name, n) for n in range(3) for name in ODD[n:]]), DEFAULT),
    "not joined": (log([("1", "a,b", 0), ("1", "c", 1), ("2", "a", 0), ("2", "b,c", 1), ("3", "a,b,c", 0)]), DEFAULT),
    "odd columns": (
        log([("1", "b", 0), ("1", "a", 1)]).rename(ODD_COLUMNS),
        Reading(*(ODD_COLUMNS["case_id"], (ODD_COLUMNS["activity"],), ODD_COLUMNS["timestamp"]), ties="activity"),
    ),
    "tuples": (
        log([("1", "a", 0), ("1", "a", 0), ("2", "a", 0), ("2", "b", 1)], phase=["start", "end", "x", None]),
        Reading(activity=("activity", "phase"), ties="activity", on_missing="drop"),
    ),
    "random": (random_log(), DEFAULT),
    "complete events": (lifecycle_log(), attrs.evolve(DEFAULT, lifecycle="complete")),
    "ends of pairs": (lifecycle_log(), attrs.evolve(DEFAULT, lifecycle="pairs", details=Details("read", service=True))),
    "start events": (lifecycle_log(), attrs.evolve(DEFAULT, lifecycle="start")),
    "values": (lifecycle_log(), attrs.evolve(DEFAULT, where=(("ward", "A"), ("ward", "é"), ("number", "7")), on_missing="drop")),
    "duplicates": (lifecycle_log(), attrs.evolve(DEFAULT, duplicate_events="drop")),
    "duplicates by tie": (lifecycle_log(), Reading(ties="number", duplicate_events="drop")),
    "all rules": (
        lifecycle_log(),
        attrs.evolve(DEFAULT, lifecycle="complete", where=(("ward", "A"),), duplicate_events="drop", on_missing="drop"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("engine", "name"), each_log(LOGS))
def test_every_engine_gives_the_variants_of_a_plain_twin(
    engine: Engine, name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if reason := GAPS.get((name, engine.__name__)):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    frame, reading = LOGS[name]
    times = frame.get_column(reading.timestamp or "timestamp").alias("instant")
    exact = times.to_physical() if isinstance(times.dtype, pl.Datetime) else times
    expected = twin(frame.with_columns(exact), reading)
    found = engine(frame, reading, tmp_path, request)
    assert dict(found.items()) == expected
    assert len(found) == len(expected) and found.counts.sum() == sum(expected.values())
    assert sorted(found.alphabet) == sorted({activity for trace in expected for activity in trace})
    assert repr(found) == "Log(confidential)"


@pytest.mark.parametrize("engine", MOST)
def test_every_engine_reads_a_log_without_events(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Else one case would decide between a release and an error."""
    frame, reading = LOGS["missing"]
    found = engine(frame.filter(pl.col("activity").is_null()), reading, tmp_path, request)
    assert not len(found) and not found.counts.sum() and not list(found.alphabet)
    assert found.notes == ("1 event without an activity was left out",)
    release = mechanism("optimal", 1, "1e-6").release(found)
    assert release.variants == ()


# ---- Every engine counts the same of every person as a plain twin, and refuses the same.


@pytest.mark.parametrize("counted", ["units", "cases"])
@pytest.mark.parametrize(("engine", "name"), each_log(PERSONS))
def test_every_engine_counts_the_same_of_every_person(
    engine: Engine, counted: Counted, name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame, reading = PERSONS[name]
    for most in (1, 3):
        reading = attrs.evolve(reading, max_cases=most, counted=counted)
        place = tmp_path / str(most)
        place.mkdir()
        found = engine(frame, reading, place, request)
        assert dict(found.items()) == persons_twin(frame, reading)
        assert (found.unit, found.counted) == (PrivacyUnit(str(reading.unit), most), counted)


@pytest.mark.parametrize("engine", MOST)
def test_every_engine_refuses_cases_without_a_unit_or_with_two(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame, dropping = PERSONS["missing"]
    whole = frame.filter(pl.col("case_id").is_not_null(), pl.col("activity") != "")
    places = iter(tmp_path / str(number) for number in range(9))

    def run(events: pl.DataFrame, reading: Reading) -> Log:
        place = next(places)
        place.mkdir()
        return engine(events, reading, place, request)

    nobody = r"2 cases without the unit 'patient'; .*set on_missing to 'drop' \[confidential"
    with pytest.raises(LogError, match=nobody):
        run(whole, PERSON)
    found = run(whole, dropping)
    assert dict(found.items()) == {("a",): 1}
    assert found.notes == ("2 cases without the unit 'patient' were left out",)
    nobody_at_all = run(whole.with_columns(pl.lit("").alias("patient")), dropping)
    assert not len(nobody_at_all)
    assert nobody_at_all.notes == ("3 cases without the unit 'patient' were left out",)
    two = whole.with_columns(
        pl.when(pl.col("activity") == "b").then(pl.lit("q")).otherwise(pl.lit("p")).alias("patient")
    )
    for reading in (PERSON, dropping):
        with pytest.raises(
            LogError, match=r"the case '2' has several values of the unit 'patient'.*\[confidential"
        ) as error:
            run(two, reading)
        assert "\n" not in str(error.value)
    with pytest.raises(LogError, match=r"no column 'patnt' for the unit; did you mean 'patient'.*\[confidential"):
        run(whole, attrs.evolve(PERSON, unit="patnt"))
