"""Databases: what is said, what is not, and that nothing is written or left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import duckdb
import pytest

from conftest import Run
from servers import Postgres
from travas import Ledger, LogError, ParameterError, Period, Reading, anonymize, read, synthesize
from travas.sources.reading import BY_QUERY

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
    for wrong, words in ((sqlite, "unsupported backend"), (table.activity, "of Ibis is not an event log")):
        with pytest.raises(LogError, match=words):
            read(wrong)


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        (Reading(), "neither table nor query is set"),
        (Reading(table="events", order="file"), "order is 'file' but the rows .* have no order"),
        (Reading(table="events", ties="file"), "ties is 'file' but the rows .* have no order"),
        (Reading(table="nothing"), r"table 'nothing': cannot be opened \("),
        (Reading(query="SELEC 1"), "query cannot be parsed"),
        (Reading(query="SELECT * FROM nothing"), r"query: cannot be opened \("),
        (Reading(query="SELECT case_id, case_id, activity FROM events"), "two columns have the same name"),
        (Reading(table="events", case="patient"), "no column 'patient' for the case"),
        (Reading(table="events", timestamp="activity"), "column 'activity' has type .*, which is not a time; .* query"),
        (
            Reading(table="events", activities=("timestamp",)),
            "column 'timestamp' has type .*, which is not a name; .* query",
        ),
    ],
)
def test_one_clear_line(reading: Reading, words: str, database: str, server: Postgres) -> None:
    for url in (database, server.url):
        with pytest.raises((LogError, ParameterError), match=words) as error:
            read(url, reading)
        assert "\n" not in str(error.value) and "127.0.0.1" not in str(error.value)


def test_nothing_can_be_written(database: str, server: Postgres) -> None:
    write = "SELECT nextval('numbers')::text AS case_id, 'a' AS activity, now() AS timestamp"
    with pytest.raises(LogError, match="ReadOnlySqlTransaction"):
        read(server.url, Reading(query=write))
    for query in (
        "SELECT set_config('transaction_read_only', 'off', false)::text AS case_id, 'a' AS activity, now() AS timestamp",
        "SELECT * FROM events FOR UPDATE",
    ):
        with pytest.raises(LogError, match=r"the query failed \(|cannot be opened \("):
            read(server.url, Reading(query=query))
    assert dict(read(server.url, TABLE).items()) == EXPECTED


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE events",
        "SELECT 1; SELECT 2",
        "SELECT * FROM events; COPY (SELECT 42) TO 'written.csv'",
        "COPY (SELECT 42) TO 'written.csv'",
        "SELECT * FROM events) AS e LIMIT 0; COMMIT; BEGIN READ WRITE; DROP TABLE events; COMMIT; SELECT * FROM (SELECT 1",
        "WITH gone AS (DELETE FROM events RETURNING *) SELECT * FROM gone",
        "SELECT * INTO other FROM events",
        "CREATE TABLE other AS SELECT * FROM events",
        "INSERT INTO events SELECT * FROM events",
        "EXPLAIN ANALYZE DELETE FROM events",
        "SET search_path TO other",
        ";",
    ],
)
def test_a_query_is_one_statement_that_reads(
    query: str, database: str, server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is checked before it runs, described without being run, and never pasted into another text."""
    monkeypatch.chdir(tmp_path)
    for url in (database, server.url, "spark:"):
        with pytest.raises(
            ParameterError, match="query (must be one read-only SELECT statement|cannot be parsed)"
        ) as error:
            read(url, Reading(query=query))
        assert "\n" not in str(error.value)
    for url in (database, server.url):
        assert dict(read(url, TABLE).items()) == EXPECTED
    assert not (tmp_path / "written.csv").exists()


@pytest.mark.parametrize("ending", [";;", "; -- all of them"])
def test_text_after_a_query_is_named_as_the_problem(ending: str, database: str) -> None:
    with pytest.raises(ParameterError, match="query has text after the statement; remove"):
        read(database, Reading(query=f"SELECT * FROM events{ending}"))


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


def test_spellings_that_a_database_takes_for_equal_are_two_names(tmp_path: Path, server: Postgres) -> None:
    """Else one case could rename the variant of all others, and change two counts by a thousand."""
    rows = "SELECT n::text AS case_id, CASE n WHEN 0 THEN 'PAY' ELSE 'pay' END AS activity, 1 AS timestamp FROM "
    with duckdb.connect(tmp_path / "loose.db") as connection:
        connection.execute("CREATE TABLE loose(case_id text, activity text COLLATE NOCASE, timestamp int)")
        connection.execute(f"INSERT INTO loose {rows} range(9) AS s(n)")
    with server.owner() as owner:
        owner.execute("CREATE EXTENSION IF NOT EXISTS citext")
        owner.execute(
            "CREATE COLLATION IF NOT EXISTS ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        for table, kind in (("loose", "text COLLATE ci"), ("looser", "citext")):
            owner.execute(f"CREATE TABLE IF NOT EXISTS {table}(case_id text, activity {kind}, timestamp int)")
            owner.execute(f"TRUNCATE {table}; INSERT INTO {table} {rows} generate_series(0, 8) AS s(n)")
            owner.execute(f"GRANT SELECT ON {table} TO reader")
    for url, table in ((f"duckdb://{tmp_path}/loose.db", "loose"), (server.url, "loose"), (server.url, "looser")):
        for reading in (Reading(table=table), Reading(table=table, unit="case_id", max_cases=1, counted="units")):
            assert dict(read(url, reading).items()) == {("pay",): 8, ("PAY",): 1}


def test_duckdb_can_be_interrupted(database: str) -> None:
    slow = "SELECT e.* FROM events e, (SELECT count(*) AS n FROM range(20_000_000_000) t(i) WHERE hash(i) = 0) s"
    assert dict(read(database, TABLE).items()) == EXPECTED  # all is imported
    begun = time.monotonic()
    Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        read(database, Reading(query=slow))
    assert 1 < time.monotonic() - begun < 15
    assert dict(read(database, TABLE).items()) == EXPECTED


def test_an_interrupted_query_is_cancelled_on_the_server(server: Postgres, tmp_path: Path) -> None:
    Ledger.default().create_account("events")
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
        [sys.executable, "-c", "import travas.cli.main; travas.cli.main.main()", *words],
        env=os.environ | {"PGPASSWORD": server.password}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    running = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'travas' AND state = 'active'"

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
        _, words_said = process.communicate(timeout=30)
        assert (process.returncode, words_said) == (130, "travas: interrupted\n")
        wait_for(0)
        assert not list(tmp_path.iterdir())
    finally:
        process.kill()


def test_a_table_and_a_query_need_a_name(database: str, tmp_path: Path, travas: Run) -> None:
    words = ("--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / "release.json")
    assert travas("budget", "create", "events", "--no-limit").code == 0
    for log in (("--table", "events"), ("--query", "SELECT * FROM events")):
        ran = travas("anonymize", database, *log, *words, "--force")
        assert ran.code == 2 and "set dataset (option --dataset)" in ran.err
        assert travas("anonymize", database, *log, *words, "--force", "--dataset", "events").code == 0
    assert [len(account.entries) for account in Ledger.default().accounts()] == [2]


CLINIC = (
    "SELECT 'CANARY-' || n / 2 AS case_id, CASE n % 2 WHEN 0 THEN 'register' ELSE 'visit' END AS activity, n AS timestamp, "
    "CASE n % 2 WHEN 0 THEN 'CANARY-' || n / 8 ELSE '' END AS patient FROM generate_series(0, 2399) AS s(n) UNION ALL "
    "SELECT 'CANARY-case-' || n, 'CANARY-' || n, n, 'CANARY-person' FROM generate_series(1, 30) AS s(n)"
)


def test_persons_from_the_command_line(server: Postgres, tmp_path: Path, travas: Run) -> None:
    """300 patients of four equal cases each; one more with unique secrets."""
    with duckdb.connect(tmp_path / "clinic.db") as connection:
        connection.execute(f"CREATE TABLE clinic AS {CLINIC.replace(' / ', ' // ')}")
    with server.owner() as owner:
        owner.execute(f"CREATE TABLE IF NOT EXISTS clinic AS {CLINIC}; GRANT SELECT ON clinic TO reader")
    person = ("--unit", "patient", "--max-cases", 3)
    for name in ("duckdb", "postgr", "other"):
        assert travas("budget", "create", name, "--no-limit").code == 0
    for url in (f"duckdb://{tmp_path}/clinic.db", server.url):
        out = tmp_path / f"{url[:6]}.json"
        words = (url, "--table", "clinic", "--dataset", url[:6], "--delta", "1e-3", *person)
        ran = travas("anonymize", *words, "--epsilon", 1, "--minimum-cases", 2, "-o", out)
        assert ran.code == 0, ran.err
        assert "for adding or removing all cases of one patient: proven" in " ".join(ran.out.split())
        checked = travas("verify", f"{out}.guarantee.json", out)
        assert checked.code == 0 and "adding or removing all cases of one patient" in checked.out
        assert dict(read(out).items()) == {("register", "visit"): pytest.approx(300, abs=100)}
        promise = json.loads(Path(f"{out}.guarantee.json").read_text())
        assert (promise["unit"]["max_cases"], promise["unit"]["counted"]) == (3, "units")
        for shown in (ran.out, ran.err, checked.out, out.read_text(), json.dumps(promise)):
            assert "CANARY" not in shown
        facts = json.loads(travas("inspect", url, "--table", "clinic", *person, "--json").out)
        assert (facts["cases"], facts["unit"], facts["counted"]) == (303, "patient", "units")
        names = tmp_path / "names.txt"
        names.write_text("a\nb\n")
        tree = ("--mechanism", "prefix-tree", "--max-length", 2, "--prune", 100, "--epsilon", 10, "--alphabet", names)
        ran = travas("anonymize", *words, *tree, "-o", out, "--force", "--json")
        assert ran.code == 0 and json.loads(ran.out)["counted"] == "cases", ran.err
        refused = travas(
            "anonymize", *words[:3], "--dataset", "other", "--delta", "1e-3", "--unit", "activity", "--max-cases", 2,
            "--epsilon", 1, "-o", "no.json",
        )  # fmt: skip
        assert refused.code == 2 and "has several values of the unit 'activity'" in refused.err
        assert "[confidential: about the original log]" in refused.err and refused.err.count("\n") == 1


@pytest.mark.parametrize("name", ["bigquery", "snowflake", "trino"])
def test_the_query_by_unit_compiles_for_the_others(name: str) -> None:
    import ibis

    from travas.sources.engines.databases import as_bytes_in
    from travas.sources.engines.variants_expression import Query

    kinds = {"case_id": "int64", "activity": "string", "timestamp": "timestamp", "patient": "uuid"}
    for counted in ("units", "cases"):
        reading = Reading(unit="patient", max_cases=2, counted=counted)
        query = Query(ibis.table(kinds, name="events"), reading, "table", as_bytes=as_bytes_in(name))
        assert "MD5(" in ibis.to_sql(query.variants(), dialect=name)


EXTREME = [
    ("timestamp", "infinity"), ("timestamp", "-infinity"), ("timestamptz", "infinity"), ("timestamptz", "-infinity"),
    ("date", "infinity"), ("date", "-infinity"), ("date", "5000000-01-01"), ("timestamp", "294246-12-31"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), EXTREME)
def test_an_extreme_time_of_one_case_does_not_prevent_a_release(
    kind: str, value: str, server: Postgres, tmp_path: Path
) -> None:
    made = (
        f"CREATE TABLE extreme AS SELECT n::text AS case_id, 'a' AS activity, "
        f"CASE n WHEN 7 THEN '{value}' ELSE '2024-01-05' END::{kind} AS timestamp FROM generate_series(0, 299) AS s(n)"
    )
    with duckdb.connect(tmp_path / "extreme.db") as connection:
        connection.execute(made)
    with server.owner() as owner:
        owner.execute(f"DROP TABLE IF EXISTS extreme; {made}; GRANT ALL ON extreme TO reader")
    for url in (f"duckdb://{tmp_path}/extreme.db", server.url):
        released = synthesize(url, epsilon=5, delta="1e-3", reading=Reading(table="extreme"))
        assert released.mechanism.describe()["times"]
        for rule in (Period("2024-01", end_activities=("a",)), Period("2024-01", gap="3d")):
            assert sum(dict(read(url, Reading(table="extreme", period=rule)).items()).values()) == 299


def test_the_guarantee_says_that_an_expression_is_a_query(tmp_path: Path) -> None:
    import ibis

    with duckdb.connect(tmp_path / "log.db") as connection:
        connection.execute("CREATE TABLE events AS SELECT 'c' AS case_id, 'a' AS activity, 1 AS timestamp")
    backend = ibis.duckdb.connect(tmp_path / "log.db", read_only=True)
    table = backend.table("events")
    frequent = table.activity.count().over(ibis.window(group_by=table.activity)) >= 100
    for source in (
        table.filter(frequent),
        table.select("case_id", "activity", "timestamp"),
        table.filter(frequent).alias("frequent"),
        backend.sql("FROM events", schema=table.schema()),
    ):
        assert anonymize(source, epsilon=1, delta="1e-6").guarantee.assumptions == (BY_QUERY,)
    assert anonymize(table, epsilon=1, delta="1e-6").guarantee.assumptions == ()
    backend.disconnect()


def test_a_file_that_is_not_a_duckdb_file_is_named(tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    table.write_text("case_id,activity\n1,a\n")
    with pytest.raises(LogError, match=r"log\.csv: not a DuckDB file"):
        read(f"duckdb://{table}", TABLE)


def test_the_guarantee_says_that_a_query_was_used(database: str, tmp_path: Path, travas: Run) -> None:
    """A query may look across cases, and it cannot be checked that it does not."""
    across = (
        "SELECT * FROM events WHERE activity IN (SELECT activity FROM events GROUP BY activity HAVING count(*) > 99)"
    )
    for reading, expected in ((TABLE, 0), (Reading(query=across), 1)):
        out = tmp_path / f"{expected}.json"
        release = anonymize(database, epsilon=1, delta="1e-6", reading=reading)
        release.write(out)
        assumed = json.loads(Path(f"{out}.guarantee.json").read_text())["assumed_public"]
        for said in (release.guarantee.assumptions, assumed):
            assert sum("read by a query, which must work case by case" in text for text in said) == expected
        assert travas("verify", f"{out}.guarantee.json", out).code == 0
