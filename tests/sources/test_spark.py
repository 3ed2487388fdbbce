"""Spark: the release is the mechanism's, and of the traces only those released leave the cluster."""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

import polars as pl
import pytest

from conftest import Run
from servers import missing
from travas import Log, LogError, ParameterError, PrivacyUnit, Reading, anonymize, read
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.sources.reading import BY_QUERY
from travas.sources.spark import RemoteVariants, Report
from travas.trusted.guarantee import Counted
from travas.trusted.samplers import Seeded

pytestmark = pytest.mark.slow  # contract/test_adjacency.py has the quick run
SINGLETONS = 5000
LONG = 40


@pytest.fixture(scope="module")
def singletons(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thousands of long traces that one case each has, and one that a hundred have."""
    rows = [(f"s{case}", f"{case}-{step}", step) for case in range(SINGLETONS) for step in (0, 1)]
    rows += [(f"s{case}", "x" * LONG, step) for case in range(SINGLETONS) for step in (2, 3)]
    rows += [(f"c{case}", "common", 0) for case in range(100)]
    path = tmp_path_factory.mktemp("spark") / "log.parquet"
    pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row").write_parquet(path)
    return path


def in_memory(remote: Log) -> Log:
    """The same variants in the same order, wholly here."""
    return Log(list(remote.alphabet), list(remote.keys), remote.counts, remote.columns)


@pytest.mark.parametrize("name", ["optimal", "travas"])
def test_the_release_is_the_one_from_memory(name: str, singletons: Path) -> None:
    """The same bytes over the same order of keys give the same release, draw by draw."""
    remote = read(f"spark:{singletons}")
    local = in_memory(remote)
    assert isinstance(remote, RemoteVariants) and not isinstance(local, RemoteVariants)
    for minimum_cases in (1, 3):
        chosen = mechanism(name, "1/2", "1/20", minimum_cases=minimum_cases)
        releases = [with_random_bytes(chosen, Seeded(9)).release(variants) for variants in (remote, local)]
        assert releases[0].variants == releases[1].variants and releases[0].noisy == releases[1].noisy
        assert bool(len(releases[0].variants) > 10) == (minimum_cases == 1)


def test_only_what_is_kept_travels(singletons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql.classic.dataframe import DataFrame

    travelled: list[Any] = []

    def noted(original: Callable[[DataFrame], Any]) -> Callable[[DataFrame], Any]:
        def wrapper(self: DataFrame) -> Any:
            travelled.append(original(self))
            return travelled[-1]

        return wrapper

    monkeypatch.setattr(DataFrame, "toArrow", noted(DataFrame.toArrow))
    monkeypatch.setattr(DataFrame, "collect", noted(DataFrame.collect))
    release = anonymize(f"spark:{singletons}", epsilon=1, delta="1/100")
    columns, others, counts, traces = travelled
    assert not columns.num_rows and all(pickle.loads(row.report) == Report() for row in others)
    assert counts.column_names == ["digest", "count", "length"] and counts.num_rows == SINGLETONS + 1
    assert counts.nbytes < 40 * counts.num_rows
    assert traces.num_rows == len(release.variants) < SINGLETONS / 20


@pytest.mark.parametrize("counted", ["units", "cases"])
def test_a_release_for_persons(counted: Counted, spark: Any) -> None:
    """400 patients of three cases each, two alike, and one with a thousand unique cases."""
    query = (
        "SELECT string(id) AS case_id, if(id % 3 = 0, 'a', 'b') AS activity, 0 AS timestamp, id div 3 AS patient "
        "FROM range(1200) UNION ALL SELECT concat('x', id), concat('CANARY', id), 0, -1 FROM range(1000)"
    )
    reading = Reading(unit="patient", max_cases=2, counted=counted, query=query)
    found = read("spark:", reading)
    assert (found.unit, found.counted) == (PrivacyUnit("patient", 2), counted)
    assert len(found) == 4 and found.counts.sum() == 802  # two of the thousand
    if counted == "units":
        release = anonymize(found, epsilon=4, delta="1e-6")
        assert release.guarantee.unit == PrivacyUnit("patient", 2)
        assert dict(zip(release.variants, release.noisy, strict=True)) == {
            (name,): pytest.approx(400, abs=40) for name in "ab"
        }
    else:
        with pytest.raises(ParameterError, match="read it again"):
            anonymize(found, epsilon=4, delta="1e-6")


def test_a_log_that_changes_meanwhile_is_not_released(singletons: Path) -> None:
    variants = read(f"spark:{singletons}")
    assert isinstance(variants, RemoteVariants)
    variants.__dict__["frame"] = variants.frame.where("size(activity_0) > 1")
    for changed in (lambda: variants.traces(range(len(variants))), lambda: variants.keys):
        with pytest.raises(LogError, match="changed while it was being read; nothing was released"):
            changed()


def test_the_guarantee_says_that_a_frame_is_a_query(spark: Any, singletons: Path) -> None:
    frame = spark.createDataFrame([("c1", "register", 1)], ["case_id", "activity", "timestamp"])
    assert anonymize(frame, epsilon=1, delta="1e-6").guarantee.assumptions == (BY_QUERY,)
    assert anonymize(f"spark:{singletons}", epsilon=1, delta="1e-6").guarantee.assumptions == ()


def test_frames_tables_and_queries(spark: Any, singletons: Path, travas: Run, tmp_path: Path) -> None:
    frame = spark.read.parquet(str(singletons)).where("case_id LIKE 'c%'")
    frame.createOrReplaceTempView("events")
    try:
        for source, reading in (
            (frame, Reading()),
            ("spark:", Reading(table="events")),
            ("spark:", Reading(query="SELECT * FROM events WHERE activity = 'common'")),
        ):
            assert dict(read(source, reading).items()) == {("common",): 100}
        out, asked = tmp_path / "out.xes.gz", ("--dataset", "events", "--epsilon", 1, "--delta", "1e-6")
        travas("budget", "create", "events", "--no-limit")
        ran = travas("anonymize", "spark:", "--table", "events", *asked, "-o", out)
        assert ran.code == 0 and not ran.err, ran.err
        assert dict(read(out).items()) == {("common",): pytest.approx(100, abs=40)}
    finally:
        spark.catalog.dropTempView("events")


@pytest.mark.parametrize(
    ("source", "reading", "words"),
    [
        ("spark:", Reading(), "needs exactly one of spark:PATH"),
        ("spark://cluster:7077", Reading(), "set the master with spark-submit"),
        ("spark:/no/such", Reading(), r"the Spark job failed \(PATH_NOT_FOUND\)"),
        ("spark:", Reading(query="DROP TABLE nothing"), "PARSE_SYNTAX_ERROR"),
        ("spark:", Reading(query="SELECT 1; SELECT 2"), "PARSE_SYNTAX_ERROR"),
        ("spark:", Reading(query="SELECT 1 AS case_id, 'a' AS activity, now() AS timestamp", ties="file"), "no order"),
        ("spark:", Reading(query="SELECT 1 AS case_id, 'a' AS activity, 'x' AS timestamp"), "is not a timestamp"),
        (
            "spark:",
            Reading(query="SELECT raise_error('CANARY') AS case_id, 'a' AS activity, now() AS timestamp"),
            "Spark",
        ),
    ],
)
def test_one_clear_line(spark: Any, source: str, reading: Reading, words: str) -> None:
    with pytest.raises((LogError, ParameterError), match=words) as error:
        read(source, reading)
    assert "\n" not in str(error.value) and "CANARY" not in str(error.value)


def test_the_name_of_a_folder_is_text_whatever_the_others_are(spark: Any, tmp_path: Path) -> None:
    def counted(*activities: str) -> dict[Any, int]:
        for activity in activities:
            folder = tmp_path / f"activity={activity}"
            folder.mkdir()
            pl.DataFrame({"case": [f"{activity} 1"], "timestamp": [1]}).write_parquet(folder / "part.parquet")
        return dict(read(f"spark:{tmp_path}").items())

    assert counted("01", "02") == {("01",): 1, ("02",): 1}
    assert counted("x") == {("01",): 1, ("02",): 1, ("x",): 1}


def test_a_person_is_in_one_partition_whatever_rows_are_left_out(spark: Any) -> None:
    """Rows that are not read must not decide where a case goes: else a person counts once in every partition."""
    query = (
        "SELECT string(id) AS case_id, concat('a', id) AS activity, 0 AS timestamp, 'p' AS patient, 'complete' AS lifecycle "
        "FROM range(200) UNION ALL SELECT string(id), 'b', 1, concat('z', id), 'start' FROM range(200)"
    )
    found = read("spark:", Reading(unit="patient", max_cases=2, query=query, lifecycle="complete"))
    assert found.counts.sum() == 2


def test_spark_connect(singletons: Path) -> None:
    """A separate server, and a client in a separate process that gets SPARK_REMOTE only."""
    if find_spec("grpc") is None:
        missing("grpcio")
    script = (
        "import sys, travas\nfound = travas.read(f'spark:{sys.argv[1]}')\n"
        "release = travas.anonymize(found, epsilon=1, delta='1/100')\n"
        "print(type(found.frame).__module__, len(found), ('common',) in release.variants)"
    )
    command = [sys.executable, "-c", script, str(singletons)]
    ran = subprocess.run(
        command, env={**os.environ, "SPARK_REMOTE": "local[2]"}, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["pyspark.sql.connect.dataframe", str(SINGLETONS + 1), "True"]


SLOW = (  # hours of work, and not a row of it, or the arrays of events would fill the memory
    "SELECT string(a.id % 9) AS case_id, 'a' AS activity, b.id AS timestamp FROM range(1000000) a, range(1000000) b "
    "WHERE a.id * b.id = -1"
)


def test_an_interrupted_query_is_cancelled_on_the_cluster(spark: Any) -> None:
    jobs = spark.sparkContext.statusTracker()
    Timer(4, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        read("spark:", Reading(query=SLOW))
    deadline = time.monotonic() + 30
    while jobs.getActiveJobsIds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
