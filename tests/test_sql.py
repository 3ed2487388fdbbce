"""Databases: what is said, what is not, and that nothing is written or left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from conftest import Run
from servers import Postgres
from travas import EmptyLogError, LogError, ParameterError, Reading, anonymize, read

TABLE = Reading(table="events")
EVENTS = (
    "SELECT (n / 3)::text AS case_id, CASE n % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END AS activity, "
    "TIMESTAMP '2024-01-01' + n * INTERVAL '1 minute' AS timestamp FROM generate_series(0, 299) AS s(n)"
)
EXPECTED = {("a", "b", "c"): 100}


@pytest.fixture
def database(tmp_path: Path) -> str:
    with duckdb.connect(tmp_path / "log.db") as connection:
        connection.execute(f"CREATE TABLE events AS {EVENTS.replace('n / 3', 'n // 3')}")
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.events AS SELECT * FROM events")
    return f"duckdb://{tmp_path}/log.db"


@pytest.fixture
def server(postgres: Postgres) -> Postgres:
    with postgres.owner() as owner:
        owner.execute(f"CREATE TABLE IF NOT EXISTS events AS {EVENTS}")
        owner.execute(
            "CREATE SEQUENCE IF NOT EXISTS numbers; GRANT ALL ON numbers TO reader; GRANT ALL ON events TO reader"
        )
    return postgres


def test_tables_schemas_and_queries(database: str, server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    for url in (database, server.url):
        assert dict(read(url, TABLE).items()) == EXPECTED
        schema = "other" if url == database else "public"
        assert dict(read(url, Reading(table=f"{schema}.events")).items()) == EXPECTED
        query = (
            "SELECT case_id AS k, activity AS \"the %s {x}\", timestamp AS t FROM events WHERE activity <> 'b' -- all"
        )
        reading = Reading(query=query, case="k", activities=("the %s {x}",), timestamp="t")
        assert dict(read(url, reading).items()) == {("a", "c"): 100}
        assert anonymize(url, epsilon=1, delta="1e-6", reading=TABLE).variants == (("a", "b", "c"),)
    monkeypatch.chdir(Path(database.removeprefix("duckdb://")).parent)
    assert dict(read("duckdb:///log.db", TABLE).items()) == EXPECTED


def test_an_ibis_table(database: str) -> None:
    import ibis

    table = ibis.duckdb.connect(database.removeprefix("duckdb://"), read_only=True).table("events")
    assert dict(read(table).items()) == EXPECTED
    assert dict(read(table.filter(table.activity != "c")).items()) == {("a", "b"): 100}

    sqlite = ibis.sqlite.connect().sql("SELECT 1 AS case_id", schema={"case_id": "int64"})
    for wrong, words in ((sqlite, "not a database I know"), (table.activity, "of Ibis is not an event log")):
        with pytest.raises(LogError, match=words):
            read(wrong)


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        (Reading(), "give --table NAME or --query"),
        (Reading(table="events", order="file"), "order is 'file', but the rows .* have no order"),
        (Reading(table="events", ties="file"), "ties is 'file', but the rows .* have no order"),
        (Reading(table="nothing"), r"table 'nothing': cannot be opened \("),
        (Reading(query="SELEC 1"), r"query: cannot be opened \("),
        (Reading(table="events", case="patient"), "no column 'patient' for the case"),
        (Reading(table="events", timestamp="activity"), "column 'activity' is of type .*, no time; .* --query"),
        (Reading(table="events", activities=("timestamp",)), "column 'timestamp' is of type .*, no name; .* --query"),
        (Reading(query="SELECT * FROM events WHERE false"), "the log is empty"),
    ],
)
def test_one_clear_line(reading: Reading, words: str, database: str, server: Postgres) -> None:
    for url in (database, server.url):
        with pytest.raises((LogError, ParameterError, EmptyLogError), match=words) as error:
            read(url, reading)
        assert "\n" not in str(error.value) and "127.0.0.1" not in str(error.value)


def test_nothing_can_be_written(database: str, server: Postgres) -> None:
    write = "SELECT nextval('numbers')::text AS case_id, 'a' AS activity, now() AS timestamp"
    with pytest.raises(LogError, match="ReadOnlySqlTransaction"):
        read(server.url, Reading(query=write))
    for url in (database, server.url):
        with pytest.raises(LogError, match="cannot be opened"):
            read(url, Reading(query="DROP TABLE events"))
        assert dict(read(url, TABLE).items()) == EXPECTED


def test_a_password_is_never_shown(
    server: Postgres, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    words = ("--dataset", "events", "--epsilon", 1, "--delta", "1e-6", "-o", out / "release.json")
    with_password = server.url.replace("reader@", f"reader:{server.password}@")
    runs = [travas("anonymize", server.url, "--table", "events", *words)]
    monkeypatch.delenv("PGPASSWORD")
    runs += [travas("anonymize", with_password, "--table", "events", *words, "--force")]
    assert [run.code for run in runs] == [0, 0]
    service = tmp_path / "services"
    service.write_text(
        f"[log]\nhost=127.0.0.1\nport={server.port}\nuser=reader\ndbname=postgres\npassword={server.password}\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    runs += [travas("inspect", "postgresql://?service=log", "--table", "events", "--json")]
    assert runs[-1].code == 0
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
    runs += [travas("anonymize", "log.csv", with_password, *words), travas("inspect", with_password)]
    for run in runs:
        assert "CANARY" not in run.out + run.err
    for file in out.iterdir():
        assert b"CANARY" not in file.read_bytes() and b"127.0.0.1" not in file.read_bytes()


def test_an_interrupted_query_is_cancelled_on_the_server(server: Postgres, tmp_path: Path) -> None:
    slow = f"SELECT e.* FROM ({EVENTS}) AS e, (SELECT pg_sleep(600)) AS s"
    words = [
        "anonymize",
        server.url,
        "--query",
        slow,
        "--dataset",
        "events",
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
        "-o",
        str(tmp_path / "out.json"),
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", "import travas.cli; travas.cli.main()", *words],
        env=os.environ | {"PGPASSWORD": server.password}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    running = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'travas' AND state = 'active'"

    def wait_for(number: int) -> None:
        deadline = time.monotonic() + 60
        with server.owner() as owner:
            while owner.execute(running).fetchone() != (number,):
                assert process.poll() is None or number == 0, process.stderr and process.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.1)

    try:
        wait_for(1)
        process.send_signal(signal.SIGINT)
        _, words_said = process.communicate(timeout=30)
        assert (process.returncode, words_said) == (130, "travas: interrupted; nothing was written\n")
        wait_for(0)
        assert not list(tmp_path.iterdir())
    finally:
        process.kill()


def test_a_database_is_charged_under_a_name(database: str, tmp_path: Path, travas: Run) -> None:
    words = ("--table", "events", "--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / "release.json")
    ran = travas("anonymize", database, *words)
    assert ran.code == 2 and "give --dataset NAME" in ran.err
    assert travas("anonymize", database, *words, "--dataset", "events").code == 0
