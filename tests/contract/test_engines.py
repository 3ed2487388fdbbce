"""Every engine gives the variants and counts of a plain twin, for the same events in any order of the rows."""

from __future__ import annotations

import gzip
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
from lxml import etree

from conftest import DATA
from travas import LogError, PrivacyUnit, Reading, Variants, mechanism, read
from travas.privacy.guarantee import Counted

START = datetime(2024, 3, 31, 0, 30, tzinfo=UTC)  # half an hour before the clocks change in Berlin
DEFAULT = Reading(ties="activity")

# ----------------------------------------------------------------------------------------------------- the engines


def parquet(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    frame.write_parquet(tmp_path / "log.parquet")
    return read(tmp_path / "log.parquet", reading)


def folder(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    """Several files, several passes; cases lie across both."""
    for place, part in enumerate(frame.iter_slices(-(-frame.height // 3))):
        part.write_parquet(tmp_path / f"{place}.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("travas.sources.events.EVENTS_PER_PART", max(frame.height // 3, 1))
        return read(tmp_path, reading)


def csv(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    frame.with_columns(pl.selectors.boolean().cast(pl.String)).write_csv(
        tmp_path / "log.csv", quote_style="non_numeric"
    )
    return read(tmp_path / "log.csv", reading)


def pandas(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    whole = {name: "Int64" for name, kind in frame.schema.items() if kind.is_integer()}
    return read(frame.to_pandas().astype(whole), reading)


def duckdb(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    import duckdb as library

    with library.connect(tmp_path / "log.db") as connection:
        connection.execute("CREATE TABLE events AS SELECT * FROM frame")
    return read(f"duckdb://{tmp_path}/log.db", replace(reading, table="events"))


def postgres(frame: pl.DataFrame, reading: Reading, _: Path, request: pytest.FixtureRequest) -> Variants:
    server = request.getfixturevalue("postgres")
    name = load(frame, server)
    return read(server.url, replace(reading, table=name))


def postgres_query(frame: pl.DataFrame, reading: Reading, _: Path, request: pytest.FixtureRequest) -> Variants:
    server = request.getfixturevalue("postgres")
    name = load(frame, server)
    return read(server.url, replace(reading, query=f"SELECT * FROM {name} WHERE true;"))


def load(frame: pl.DataFrame, server: Any) -> str:
    """The frame as a table of PostgreSQL, by COPY."""
    kinds = {pl.String: "text", pl.Int64: "bigint", pl.Float64: "float8", pl.Boolean: "boolean", pl.Date: "date"}
    name = f"log_{uuid4().hex}"
    types = [
        ("timestamptz" if kind.time_zone else "timestamp") if isinstance(kind, pl.Datetime) else kinds[kind.base_type()]
        for kind in frame.dtypes
    ]
    columns = ", ".join(
        f'"{c.replace(chr(34), chr(34) * 2)}" {kind}' for c, kind in zip(frame.columns, types, strict=True)
    )
    with server.owner() as owner, owner.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in frame.iter_rows():
                copy.write_row(row)
    return name


def spark(frame: pl.DataFrame, reading: Reading, tmp_path: Path, request: pytest.FixtureRequest) -> Variants:
    request.getfixturevalue("spark")
    frame.write_parquet(tmp_path / "log.parquet")
    return read(f"spark:{tmp_path}/log.parquet", reading)


def spark_frame(frame: pl.DataFrame, reading: Reading, tmp_path: Path, request: pytest.FixtureRequest) -> Variants:
    session = request.getfixturevalue("spark")
    frame.write_parquet(tmp_path / "log.parquet")
    return read(session.read.parquet(f"{tmp_path}/log.parquet").repartition(5), reading)


Engine = Callable[[pl.DataFrame, Reading, Path, pytest.FixtureRequest], Variants]
FILES = (parquet, folder, csv, pandas)
DATABASES = (duckdb, postgres, postgres_query)
SPARK = (spark, spark_frame)
ALL: list[Any] = [
    *FILES,
    *DATABASES,
    *(pytest.param(engine, marks=pytest.mark.xdist_group("spark")) for engine in SPARK),
]

MICROSECONDS = "holds microseconds: nanoseconds do not fit in it"
GAPS: dict[tuple[str, str], str] = {
    ("nanoseconds", "postgres"): f"PostgreSQL {MICROSECONDS}",
    ("nanoseconds", "postgres_query"): f"PostgreSQL {MICROSECONDS}",
    ("nanoseconds", "spark"): f"Spark {MICROSECONDS}",
    ("nanoseconds", "spark_frame"): f"Spark {MICROSECONDS}",
    ("floats as times", "pandas"): "pandas makes floats of whole numbers where one is missing; they are refused",
    ("numbers as times", "csv"): "a number in CSV is a text, and as a time it needs a format",
    ("floats as times", "csv"): "a number in CSV is a text, and as a time it needs a format",
    ("odd columns", "csv"): "a header is one line",
}

# -------------------------------------------------------------------------------------------------------- the logs


def log(rows: list[tuple[Any, ...]], kind: pl.DataType | None = None, **more: list[Any]) -> pl.DataFrame:
    """Rows of case, activity, time; a whole number is minutes after START. The rows are shuffled."""
    times = [START + timedelta(minutes=time) if isinstance(time, int) else time for _, _, time in rows]
    columns = {"case_id": [row[0] for row in rows], "activity": [row[1] for row in rows], "timestamp": times}
    frame = pl.DataFrame(columns | more, strict=False)
    if kind is not None:
        frame = frame.with_columns(pl.col("timestamp").cast(kind))
    return frame.sample(fraction=1, shuffle=True, seed=7)


NAMES = ["b", "B", "a", "A", "ä", "z", "é", "_", "-", " a", "a ", "€", "😀", "Z", "aa", "1", "10", "9"]
ODD = [
    '"',
    "'",
    "a,b",
    "a|b",
    "a→b",
    "x\ny",
    "x\r\ny",
    "\t",
    "\\",
    "\\N",
    "{events}",
    "%s",
    "$1",
    "NULL",
    "--",
    ";",
    "`",
    "[]",
]
ODD_COLUMNS = {"case_id": 'ca"se {id}', "activity": "acti`vity\n'", "timestamp": "%time:stamp?"}


def random_log() -> pl.DataFrame:
    """Two thousand events in few times, so that most are tied."""
    numbers = [(n * 2654435761) % 2**32 for n in range(2000)]
    return log([(f"c{n % 211}", NAMES[n // 7 % len(NAMES)], n // 1009 % 4) for n in numbers])


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
        replace(DEFAULT, on_missing="drop"),
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
        replace(DEFAULT, on_missing="drop"),
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
        Reading(activities=("activity", "phase"), ties="activity", on_missing="drop"),
    ),
    "random": (random_log(), DEFAULT),
    "complete events": (lifecycle_log(), replace(DEFAULT, lifecycle="complete")),
    "start events": (lifecycle_log(), replace(DEFAULT, lifecycle="start")),
    "values": (lifecycle_log(), replace(DEFAULT, where=(("ward", "A"), ("ward", "é"), ("number", "7")), on_missing="drop")),
    "duplicates": (lifecycle_log(), replace(DEFAULT, duplicate_events="drop")),
    "duplicates by tie": (lifecycle_log(), Reading(ties="number", duplicate_events="drop")),
    "all rules": (
        lifecycle_log(),
        replace(DEFAULT, lifecycle="complete", where=(("ward", "A"),), duplicate_events="drop", on_missing="drop"),
    ),
}  # fmt: skip


def twin(frame: pl.DataFrame, reading: Reading) -> dict[Any, int]:
    """Sorting and counting with nothing but dicts."""
    activities = reading.activities or ("activity",)
    cases: dict[Any, list[tuple[Any, Any]]] = {}
    for row in frame.iter_rows(named=True):
        if not is_read(row, reading):
            continue
        case, time = row[reading.case or "case_id"], row[reading.timestamp or "timestamp"]
        if isinstance(frame[reading.timestamp or "timestamp"].dtype, pl.Datetime) and time is not None:
            time = row["instant"]
        names = tuple(
            str(v).lower() if isinstance(v, bool) else v if v is None else str(v) for v in (row[a] for a in activities)
        )
        if case in (None, "") or time is None or time != time or None in names or "" in names:
            continue
        key = (
            time,
            tie(row[column]) if (column := reading.tie_column()) else (),
            tuple(str(name).encode() for name in names),
        )
        cases.setdefault(case, []).append((key, names if len(names) > 1 else names[0]))
    for case, events in cases.items():
        events.sort(key=lambda event: event[0])
        if reading.duplicate_events == "drop":
            first = {(event[0][0], event[1]): event for event in reversed(events)}
            cases[case] = [event for event in events if first[event[0][0], event[1]] is event]
    return Counter(tuple(name for _, name in events) for events in cases.values())


def is_read(row: dict[str, Any], reading: Reading) -> bool:
    """The rule of sources/row_selection.py for one row."""
    transition = row.get("lifecycle") or "complete"
    if reading.lifecycle != "all" and transition.lower() != reading.lifecycle:
        return False
    columns = {column for column, _ in reading.where}
    return all(str(row[column]) in [value for name, value in reading.where if name == column] for column in columns)


def tie(value: Any) -> tuple[Any, ...]:
    if value in (None, ""):
        return (2,)
    text = str(value)
    return (0, int(text)) if text.removeprefix("-").isdigit() and "\n" not in text else (1, text.encode())


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("engine", ALL)
def test_every_engine_gives_the_variants_of_a_plain_twin(
    engine: Engine, name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if reason := GAPS.get((name, engine.__name__)):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    frame, reading = LOGS[name]
    times = frame[reading.timestamp or "timestamp"]
    exact = times.to_physical() if isinstance(times.dtype, pl.Datetime) else times
    expected = twin(frame.with_columns(exact.alias("instant")), reading)
    found = engine(frame, reading, tmp_path, request)
    assert dict(found.items()) == expected
    assert len(found) == len(expected) and found.counts.sum() == sum(expected.values())
    assert sorted(found.alphabet) == sorted({activity for trace in expected for activity in trace})
    assert repr(found) == "Variants(confidential)"


@pytest.mark.parametrize("engine", ALL)
def test_every_engine_refuses_what_is_missing_with_the_number(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame, reading = LOGS["missing"]
    with pytest.raises(LogError, match=r"2 events without a case.* on_missing to 'drop' .*\[confidential") as error:
        engine(frame, replace(reading, on_missing="fail"), tmp_path, request)
    assert "\n" not in str(error.value)
    notes = engine(frame, reading, tmp_path / "", request).notes if engine not in (duckdb, folder) else ()
    assert not notes or sorted(note[:22] for note in notes) == [
        "1 event without a time",
        "2 events without a cas",
        "2 events without an ac",
    ]


@pytest.mark.parametrize("engine", ALL)
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


# ------------------------------------------------------------------------------------------------------- the persons

PERSON = Reading(ties="activity", unit="patient", max_cases=2)


def persons_log() -> pl.DataFrame:
    """One with many cases of few variants, one with many variants, one with one case; events without, but no cases."""
    cases = {f"{n}": ("many", ["ab", "ba", "abc"][n % 3]) for n in range(20)}
    cases |= {f"é {n}\N{MUSICAL SYMBOL G CLEF}": ("NA", "abcdefgh"[n:]) for n in range(8)}
    cases |= {"007": ("Many", "ab"), "7 ": ("many ", "ab"), "A": ("x", "aa"), "a": ("x", "aa"), "b": ("é", "ab")}
    rows = [
        (case, activity, len(trace) % 2 * time)
        for case, (_, trace) in cases.items()
        for time, activity in enumerate(trace)
    ]
    patients: list[str | None] = []
    for place, (patient, trace) in enumerate(cases.values()):
        shown = [patient] * len(trace) if place % 3 == 0 else [patient, *([None, ""] * len(trace))[: len(trace) - 1]]
        patients += shown if place % 2 else shown[::-1]
    return log(rows, patient=patients)


def numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """Cases and patients as whole numbers, some of them negative or long."""
    cases = {case: n * (-1) ** n * (2**40 + 1) ** (n % 2) for n, case in enumerate(sorted(frame["case_id"].unique()))}
    patients = {patient: n for n, patient in enumerate(sorted(set(frame["patient"].drop_nulls()) - {""}))}
    return frame.with_columns(
        pl.col("case_id").replace_strict(cases, return_dtype=pl.Int64),
        pl.col("patient").replace_strict(patients, default=None, return_dtype=pl.Int64),
    )


PERSONS: dict[str, tuple[pl.DataFrame, Reading]] = {
    "texts": (persons_log(), PERSON),
    "numbers": (numbered(persons_log()), PERSON),
    "random": (random_log().with_columns(pl.col("case_id").str.slice(1, 1).alias("patient")), PERSON),
    "the case itself": (random_log(), replace(PERSON, unit="case_id")),
    "missing": (
        log(
            [("1", "a", 0), ("1", None, 1), ("2", "a", 0), ("2", "b", 1), ("3", "a", 0), ("4", "", 0), (None, "a", 0)],
            patient=["p", "other", None, "", None, "q", "r"],
        ),
        replace(PERSON, on_missing="drop"),
    ),
}


def persons_twin(frame: pl.DataFrame, reading: Reading) -> Counter[Any]:
    """The rule of logs/units.py with nothing but dicts."""
    owners: dict[Any, Any] = {}
    for row in frame.filter(pl.col("case_id").is_not_null(), pl.col("activity") != "").iter_rows(named=True):
        if row[str(reading.unit)] not in (None, ""):
            owners[row["case_id"]] = row[str(reading.unit)]
    own: dict[Any, list[tuple[str, Any]]] = {}
    for case, patient in owners.items():
        [trace] = twin(
            frame.filter(pl.col("case_id") == case).with_columns(pl.col("timestamp").alias("instant")), reading
        )
        own.setdefault(patient, []).append((hashlib.md5(str(case).encode()).hexdigest(), trace))
    counts: Counter[Any] = Counter()
    for cases in own.values():
        if reading.counts_of == "units":
            smallest = {trace: digest for digest, trace in sorted(cases, reverse=True)}
            cases = [(digest, trace) for trace, digest in smallest.items()]
        counts.update(trace for _, trace in sorted(cases)[: reading.max_cases])
    return counts


@pytest.mark.parametrize("name", PERSONS)
@pytest.mark.parametrize("counted", ["units", "cases"])
@pytest.mark.parametrize("engine", ALL)
def test_every_engine_counts_the_same_of_every_person(
    engine: Engine, counted: Counted, name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame, reading = PERSONS[name]
    for most in (1, 3):
        reading = replace(reading, max_cases=most, counted=counted)
        place = tmp_path / str(most)
        place.mkdir()
        found = engine(frame, reading, place, request)
        assert dict(found.items()) == persons_twin(frame, reading)
        assert (found.unit, found.counted) == (PrivacyUnit(str(reading.unit), most), counted)


@pytest.mark.parametrize("engine", ALL)
def test_every_engine_refuses_cases_of_nobody_or_of_two(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame, dropping = PERSONS["missing"]
    whole = frame.filter(pl.col("case_id").is_not_null(), pl.col("activity") != "")
    places = iter(tmp_path / str(number) for number in range(9))

    def run(events: pl.DataFrame, reading: Reading) -> Variants:
        place = next(places)
        place.mkdir()
        return engine(events, reading, place, request)

    nobody = r"2 cases without the unit 'patient', the first at case '2'; .*set on_missing to 'drop' \[confidential"
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
        run(whole, replace(PERSON, unit="patnt"))


@pytest.mark.parametrize("engine", ALL[len(FILES) :])
def test_cases_whose_text_differs_by_engine_are_refused_with_a_unit(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame = PERSONS["numbers"][0].cast({"case_id": pl.Float64})
    with pytest.raises(
        LogError, match=r"column 'case_id' has type float64, by which the cases of a unit cannot be selected"
    ):
        engine(frame, PERSON, tmp_path, request)


def test_cases_that_are_equal_to_the_database_have_the_smallest_digest_of_their_texts(tmp_path: Path) -> None:
    """Else the order of the rows, which others can change, would decide which case of a person counts."""
    import duckdb as library

    rows = [(case, "a", case.lower()) for case in ("ab", "Ab", "aB", "AB", "cd", "Cd", "ef", "eF")]
    digests = {text: min(hashlib.md5(c.encode()).hexdigest() for c, _, t in rows if t == text) for _, _, text in rows}
    expected = min(digests, key=digests.__getitem__)
    for place, order in enumerate((rows, rows[::-1])):
        with library.connect(tmp_path / f"{place}.db") as connection:
            connection.execute(
                "CREATE TABLE events (case_id VARCHAR COLLATE NOCASE, step VARCHAR, activity VARCHAR, timestamp INT)"
            )
            connection.executemany("INSERT INTO events VALUES (?, ?, ?, 0)", order)
            connection.execute("ALTER TABLE events ADD COLUMN patient VARCHAR DEFAULT 'p'")
        reading = Reading(unit="patient", max_cases=1, counted="cases", table="events")
        [(trace, _)] = read(f"duckdb://{tmp_path}/{place}.db", reading).items()
        assert trace == (expected,) * sum(text == expected for _, _, text in rows)


# --------------------------------------------------------------------------------------------------- the public logs


def events_of(path: Path) -> pl.DataFrame:
    """The events of a public log as a typed table."""
    if path.name.endswith(".csv.gz"):
        table = pl.read_csv(gzip.decompress(path.read_bytes()), infer_schema=False)
        return table.select("case_id", "activity", pl.col("timestamp").str.to_datetime(time_unit="us"))
    return pl.DataFrame(
        rows_of(path), schema={"case_id": pl.String, "activity": pl.String, "timestamp": pl.String}, orient="row"
    ).with_columns(pl.col("timestamp").str.to_datetime(time_unit="us", time_zone="UTC"))


def rows_of(path: Path) -> Iterator[tuple[str, ...]]:
    with gzip.open(path) as stream:
        for _, trace in etree.iterparse(stream, tag="{*}trace", huge_tree=True):
            case = value(trace, "concept:name")
            for event in trace.iterchildren("{*}event"):
                yield case, value(event, "concept:name"), value(event, "time:timestamp")
            trace.clear()


def value(element: Any, key: str) -> str:
    return str(next(child.get("value") for child in element if child.get("key") == key))


SMALL = ("bpic2013-closed-problems.xes.gz", "sepsis.xes.gz")
PUBLIC = sorted(path.name for path in DATA.glob("*.gz")) if DATA.is_dir() else []


@pytest.mark.parametrize("engine", [parquet, folder, *ALL[len(FILES) :]])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SMALL else [pytest.mark.slow]) for name in PUBLIC]
)
def test_every_engine_gives_the_same_for_a_public_log(
    engine: Engine, name: str, data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    expected = read(data / name, Reading(order="time", ties="activity"))
    found = engine(events_of(data / name), DEFAULT, tmp_path, request)
    assert dict(found.items()) == dict(expected.items())
