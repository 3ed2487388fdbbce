"""Databases: what is read, what is said, what is not, and that nothing is written or left running."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from threading import Timer
from typing import Any

import duckdb
import pytest

from conftest import Run
from servers import Postgres
from travas import Ledger, LogError, ParameterError, Period, Reading, anonymize, read, synthesize
from travas.sources.reading import BY_QUERY

TABLE = Reading(table="events")
EVENTS = (
    "SELECT CAST(n / 3 AS varchar) AS case_id, CASE n % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END AS activity, "
    "TIMESTAMP '2024-01-01' + n * INTERVAL '1 minute' AS timestamp FROM generate_series(0, 299) AS s(n)"
)
EXPECTED = {("a", "b", "c"): 100}


def make_duckdb(path: Path, *statements: str) -> Path:
    with duckdb.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def make_sqlite(path: Path, statement: str, rows: list[tuple[Any, ...]]) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
        if rows:
            connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(rows[0]))})", rows)
    return path


@pytest.fixture
def in_duckdb(tmp_path: Path) -> Path:
    return make_duckdb(tmp_path / "log.duckdb", f"CREATE TABLE events AS {EVENTS.replace('n / 3', 'n // 3')}")


@pytest.fixture
def in_sqlite(tmp_path: Path) -> Path:
    rows = [(n // 3, "abc"[n % 3], f"2024-01-01 {n // 60:02}:{n % 60:02}:00") for n in range(300)]
    return make_sqlite(tmp_path / "log.sqlite", "CREATE TABLE events (case_id int, activity text, timestamp)", rows)


@pytest.fixture
def server(postgres: Postgres) -> Postgres:
    with postgres.owner() as owner:
        owner.executescript(
            f"CREATE TABLE IF NOT EXISTS events AS {EVENTS}; CREATE SEQUENCE IF NOT EXISTS numbers; "
            "GRANT ALL ON numbers TO reader; GRANT ALL ON events TO reader"
        )
    return postgres


@pytest.fixture(params=["files", pytest.param("server", marks=pytest.mark.slow)])
def sources(request: pytest.FixtureRequest, in_duckdb: Path, in_sqlite: Path) -> tuple[Path | str, ...]:
    """Files of databases; the server in `make test-slow`."""
    return (in_duckdb, in_sqlite) if request.param == "files" else (request.getfixturevalue("server").url,)


def test_tables_and_queries(sources: tuple[Path | str, ...], in_duckdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for source in sources:
        schema = "main" if isinstance(source, Path) else "public"
        assert dict(read(source, TABLE).items()) == EXPECTED
        assert dict(read(source, Reading(table=f"{schema}.events")).items()) == EXPECTED
        query = (
            "SELECT case_id AS k, activity AS \"the %s {x}\", timestamp AS t FROM events WHERE activity <> 'b' -- all"
        )
        reading = Reading(query=query, case="k", activity=("the %s {x}",), timestamp="t")
        assert dict(read(source, reading).items()) == {("a", "c"): 100}
        assert dict(read(source, Reading(query="SELECT * FROM events;\n")).items()) == EXPECTED
        assert anonymize(source, epsilon=1, delta="1e-6", reading=TABLE).variants == (("a", "b", "c"),)
    monkeypatch.chdir(in_duckdb.parent)
    for url in ("duckdb:///log.duckdb", f"duckdb://{in_duckdb}", "log.duckdb", "sqlite:///log.sqlite"):
        assert dict(read(url).items()) == EXPECTED


def test_the_only_table_needs_no_name_and_of_several_one_must_be_named(in_duckdb: Path, in_sqlite: Path) -> None:
    assert dict(read(in_sqlite).items()) == EXPECTED
    make_duckdb(in_duckdb, "CREATE VIEW also AS SELECT * FROM events")
    with pytest.raises(ParameterError) as error:
        read(in_duckdb)
    assert error.value.field == "table"


@pytest.mark.parametrize(
    "reading",
    [
        Reading(table="events", order="file"),
        Reading(table="events", ties="file"),
        Reading(table="nothing"),
        Reading(query="SELECT * FROM nothing"),
        Reading(table="events", case="patient"),
        Reading(query="DROP TABLE events"),
        Reading(query="SELECT 1; SELECT 2"),
        Reading(query="COPY (SELECT 42) TO 'written.csv'"),
        Reading(query="WITH gone AS (DELETE FROM events RETURNING *) SELECT * FROM gone"),
        Reading(query="SELECT * INTO other FROM events"),
        Reading(query="CREATE TABLE other AS SELECT * FROM events"),
        Reading(query="SET search_path TO other"),
        Reading(query=";"),
    ],
)
def test_one_clear_line_and_nothing_is_written(
    reading: Reading, sources: tuple[Path | str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query is part of our SELECT, where nothing but a SELECT can be, and a connection can only read."""
    monkeypatch.chdir(tmp_path)
    for source in sources:
        with pytest.raises((LogError, ParameterError)) as error:
            read(source, reading)
        assert "\n" not in str(error.value) and "127.0.0.1" not in str(error.value)
        assert dict(read(source, TABLE).items()) == EXPECTED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.duckdb", "log.sqlite"]


@pytest.mark.parametrize("second", ["COPY (SELECT 42) TO 'written.csv'", "COMMIT; BEGIN; DROP TABLE events"])
def test_a_second_statement_is_not_run(
    second: str, sources: tuple[Path | str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    query = Reading(query=f"SELECT * FROM events) AS e; {second}; SELECT * FROM (SELECT 1")
    for source in sources:
        with suppress(LogError):  # SQLite runs the first statement
            read(source, query)
        assert dict(read(source, TABLE).items()) == EXPECTED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.duckdb", "log.sqlite"]


@pytest.mark.slow
def test_functions_of_a_query_cannot_write(server: Postgres) -> None:
    for value in ("nextval('numbers')::text", "set_config('transaction_read_only', 'off', false)"):
        with pytest.raises(LogError, match="the query failed"):
            read(server.url, Reading(query=f"SELECT {value} AS case_id, 'a' AS activity, now() AS timestamp"))


def test_duckdb_writes_no_part_of_the_log_if_memory_is_short(in_duckdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails, before anything is charged: issue 30."""
    connect = duckdb.connect

    def with_little_memory(path: Path, read_only: bool, config: dict[str, Any]) -> Any:
        return connect(path, read_only=read_only, config=config | {"memory_limit": "60MB"})

    large = (
        "SELECT (n % 9)::text || e.case_id AS case_id, activity, timestamp FROM events e, range(20_000) r(n) ORDER BY 1"
    )
    monkeypatch.setattr(duckdb, "connect", with_little_memory)
    with pytest.raises(LogError, match="OutOfMemory"):
        anonymize(in_duckdb, epsilon=1, delta="1e-6", reading=Reading(query=large), ledger=Ledger.default())
    assert not Ledger.default().history()


@pytest.mark.slow
def test_a_password_is_never_shown(
    server: Postgres, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    words = ("--dataset", "events", "--epsilon", 1, "--delta", "1e-6", "-o", out / "release.json")
    travas("budget", "create", "events", "--no-limit")
    with_password = server.url.replace("reader@", f"reader:{server.password}@")
    runs = [travas("anonymize", server.url, "--table", "events", *words)]
    monkeypatch.delenv("PGPASSWORD")
    runs += [travas("anonymize", with_password, "--table", "events", *words, "--force")]
    runs += [travas("doctor", with_password, "--table", "events")]
    service = tmp_path / "services"
    service.write_text(
        f"[log]\nhost=127.0.0.1\nport={server.port}\nuser=reader\ndbname=postgres\npassword={server.password}\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    runs += [travas("doctor", "postgresql://?service=log", "--table", "events", "--json")]
    assert [run.code for run in runs] == [0, 0, 0, 0]
    for wrong in (
        with_password.replace(server.password, "CANARY-wr0ng"),
        with_password.replace(server.password, "CANARY/p@ss?w#rd:x"),
        with_password.replace(str(server.port), "1"),
        with_password.replace("127.0.0.1", "CANARY.invalid"),
        f"postgresql://127.0.0.1:{server.port}/postgres?user=reader&password=CANARY",
        with_password.replace("postgresql", "mysql"),
        server.url,
    ):
        runs += [travas("anonymize", wrong, "--table", "events", *words, "--force")]
        assert runs[-1].code == 2 and runs[-1].err.count("\n") == 1, runs[-1].err
    runs += [travas("anonymize", "log.csv", with_password, *words), travas("doctor", with_password)]
    for run in runs:
        assert "CANARY" not in run.out + run.err
    for file in out.iterdir():
        assert b"CANARY" not in file.read_bytes() and b"127.0.0.1" not in file.read_bytes()


SPELLINGS = "SELECT n::text AS case_id, CASE n WHEN 0 THEN 'PAY' ELSE 'pay' END AS activity, 1 AS timestamp FROM "


def check_spellings(source: Path | str, table: str) -> None:
    """Else one case could rename the variant of all others, and change two counts by a thousand."""
    for reading in (Reading(table=table), Reading(table=table, unit="case_id", max_cases=1, counted="units")):
        assert dict(read(source, reading).items()) == {("pay",): 8, ("PAY",): 1}


def test_spellings_that_duckdb_takes_for_equal_are_two_names(tmp_path: Path) -> None:
    columns = "case_id text, activity text COLLATE NOCASE, timestamp int"
    rows = f"INSERT INTO loose {SPELLINGS} range(9) AS s(n)"
    check_spellings(make_duckdb(tmp_path / "loose.db", f"CREATE TABLE loose({columns})", rows), "loose")


@pytest.mark.slow
def test_spellings_that_postgresql_takes_for_equal_are_two_names(server: Postgres) -> None:
    with server.owner() as owner:
        owner.executescript(
            "CREATE EXTENSION IF NOT EXISTS citext; DROP TABLE IF EXISTS loose, looser; "
            "CREATE COLLATION IF NOT EXISTS ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        for table, kind in (("loose", "text COLLATE ci"), ("looser", "citext")):
            owner.executescript(
                f"CREATE TABLE {table}(case_id text, activity {kind}, timestamp int); "
                f"INSERT INTO {table} {SPELLINGS} generate_series(0, 8) AS s(n); GRANT SELECT ON {table} TO reader"
            )
    for table in ("loose", "looser"):
        check_spellings(server.url, table)


@pytest.mark.slow
def test_types_that_arrow_does_not_have_are_read_as_their_text(server: Postgres) -> None:
    with server.owner() as owner:
        owner.executescript(
            "CREATE EXTENSION IF NOT EXISTS citext; DROP TABLE IF EXISTS kinds; DROP TYPE IF EXISTS ward; "
            "CREATE TYPE ward AS ENUM ('A', 'B'); "
            "CREATE TABLE kinds(case_id uuid, activity ward, timestamp timestamptz, tie numeric, at time); "
            "INSERT INTO kinds SELECT ('00000000-0000-0000-0000-00000000000' || n / 2)::uuid, "
            "(CASE n % 2 WHEN 0 THEN 'A' ELSE 'B' END)::ward, '2024-01-01', CASE n % 2 WHEN 0 THEN 10.5 ELSE 9 END, "
            "time '10:00' FROM generate_series(0, 9) AS s(n); "
            "GRANT SELECT ON kinds TO reader"
        )
    assert dict(read(server.url, Reading(table="kinds", ties="tie")).items()) == {("B", "A"): 5}
    reading = Reading(table="kinds", activity=("activity", "at"))
    assert dict(read(server.url, reading).items()) == {(("A", "10:00:00"), ("B", "10:00:00")): 5}


ODD_VALUES = [None, "", 7, -1.5, b"blob", "2024-01-01T00:00:00", "7", 10**18]


@pytest.mark.parametrize("kind", ["", "int", "real", "text", "numeric", "blob"])
@pytest.mark.parametrize("place", ["first", "last"])
def test_in_sqlite_no_value_of_one_case_changes_another(kind: str, place: str, tmp_path: Path) -> None:
    """Docs/reading.md, lemma 9: SQLite has types of values, not of columns, and its driver infers one from the first."""
    own: list[tuple[Any, ...]] = [
        (str(case), name, f"2024-01-0{day}") for case in range(2000) for day, name in enumerate("ab", start=1)
    ]
    table = f"CREATE TABLE events (case_id {kind}, activity {kind}, timestamp text)"
    expected = dict(read(make_sqlite(tmp_path / "own.db", table, own)).items())
    assert expected == {("a", "b"): 2000}
    for number, value in enumerate(ODD_VALUES):
        more: list[tuple[Any, ...]] = [("one more", value, "2024-01-01"), ("one more", "c", "2024-01-02")]
        rows = more + own if place == "first" else own + more
        reading = Reading(on_missing="drop")
        found = dict(read(make_sqlite(tmp_path / f"{number}.db", table, rows), reading).items())
        assert {trace: found.pop(trace) for trace in expected} == expected
        assert list(found.values()) == [1]


def test_an_empty_sqlite_table_is_an_empty_log_and_text_must_be_utf8(tmp_path: Path) -> None:
    table = "CREATE TABLE events (case_id, activity, timestamp)"
    empty = make_sqlite(tmp_path / "empty.db", table, [])
    assert not len(read(empty)) and synthesize(empty, epsilon=1, delta="1e-3").mechanism.describe()["times"]
    broken = make_sqlite(tmp_path / "broken.db", table, [("1", b"\xff", "2024-01-01")])
    with pytest.raises(LogError, match="the query failed"):
        read(broken)


EXTREME = [
    ("timestamp", "infinity"), ("timestamp", "-infinity"), ("timestamptz", "infinity"), ("timestamptz", "-infinity"),
    ("date", "infinity"), ("date", "-infinity"), ("date", "5000000-01-01"), ("timestamp", "294246-12-31"),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("kind", "value"), EXTREME)
def test_an_extreme_time_is_the_first_or_last_of_its_case_and_does_not_prevent_a_release(
    kind: str, value: str, engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = (
        f"CREATE TABLE extreme AS SELECT n::text AS case_id, 'a' AS activity, '2024-01-05'::{kind} AS timestamp "
        f"FROM generate_series(0, 298) AS s(n) UNION ALL SELECT 'x', 'b', '{value}'::{kind} UNION ALL "
        f"SELECT 'x', 'a', '2024-01-05'::{kind}"
    )
    source: Path | str
    if engine == "duckdb":
        source = make_duckdb(tmp_path / "extreme.db", made)
    else:
        server = request.getfixturevalue("server")
        source = server.url
        with server.owner() as owner:
            owner.executescript(f"DROP TABLE IF EXISTS extreme; {made}; GRANT ALL ON extreme TO reader")
    reading = Reading(table="extreme")
    trace = ("b", "a") if value.startswith("-") else ("a", "b")
    assert dict(read(source, reading).items()) == {("a",): 299, trace: 1}
    assert synthesize(source, epsilon=5, delta="1e-3", reading=reading).mechanism.describe()["times"]
    for rule in (Period("2024-01", end_activity=("a",)), Period("2024-01", gap="3d")):
        counted = sum(dict(read(source, Reading(table="extreme", period=rule)).items()).values())
        assert counted - 299 in (0, 1)


def test_the_guarantee_says_that_a_query_was_used(in_duckdb: Path, tmp_path: Path, travas: Run) -> None:
    """A query may look across cases, and it cannot be checked that it does not."""
    across = (
        "SELECT * FROM events WHERE activity IN (SELECT activity FROM events GROUP BY activity HAVING count(*) > 99)"
    )
    for reading, expected in ((TABLE, ()), (Reading(query=across), (BY_QUERY,))):
        out = tmp_path / f"{len(expected)}.json"
        release = anonymize(in_duckdb, epsilon=1, delta="1e-6", reading=reading)
        release.write(out)
        assert release.guarantee.assumptions == expected
        assert (BY_QUERY in json.loads(Path(f"{out}.guarantee.json").read_text())["assumed_public"]) == bool(expected)
        assert travas("verify", f"{out}.guarantee.json", out).code == 0


@pytest.mark.slow
def test_duckdb_can_be_interrupted(in_duckdb: Path) -> None:
    slow = "SELECT e.* FROM events e, (SELECT count(*) AS n FROM range(200_000_000_000) t(i) WHERE hash(i) = 0) s"
    assert dict(read(in_duckdb, TABLE).items()) == EXPECTED  # all is imported
    Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        read(in_duckdb, Reading(query=slow))
    assert dict(read(in_duckdb, TABLE).items()) == EXPECTED


@pytest.mark.slow
def test_an_interrupted_query_is_cancelled_on_the_server(server: Postgres, tmp_path: Path) -> None:
    Ledger.default().create_account("events")
    slow = f"SELECT e.* FROM ({EVENTS}) AS e, (SELECT pg_sleep(600)) AS s"
    words = ["anonymize", server.url, "--query", slow, "--dataset", "events", "--epsilon", "1", "--delta", "1e-6"]
    process = subprocess.Popen(
        [sys.executable, "-c", "import travas.cli.main; travas.cli.main.main()", *words, "-o", str(tmp_path / "out.json")],
        env=os.environ | {"PGPASSWORD": server.password}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()"

    def wait_for(number: int) -> None:
        deadline = time.monotonic() + 180  # on a machine with many other tasks, importing alone takes a minute
        with server.owner() as owner:
            while owner.execute(running).fetchone() != (number,):
                assert process.poll() is None or number == 0, process.stderr and process.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.1)

    try:
        wait_for(1)
        process.send_signal(signal.SIGINT)
        _, words_said = process.communicate(timeout=180)
        assert (process.returncode, words_said) == (130, "travas: interrupted\n")
        wait_for(0)
        assert not list(tmp_path.iterdir())
    finally:
        process.kill()
