"""One table of a database has one account, however its name is spelled, and keeps what earlier versions charged."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from servers import Postgres
from travas import BudgetError, Ledger, ParameterError, PrivacyUnit, Reading, TravasError, anonymize, mechanism
from travas.sources.log_location import database_of
from travas.sources.table_location import Catalogue

ONE = mechanism("optimal", 1, "1e-6")
EVENTS = "SELECT 'c' || n AS case_id, 'register' AS activity, n AS timestamp FROM generate_series(1, 50) AS s(n)"
SPELLINGS = ("ev", "EV", "main.ev", "MAIN.Ev", "d.ev", "d.main.ev", "D.Main.EV")


@pytest.fixture
def database(tmp_path: Path) -> str:
    import duckdb

    with duckdb.connect(tmp_path / "d.db") as connection:
        connection.execute(f"CREATE TABLE Ev AS {EVENTS}")
        connection.execute("CREATE SCHEMA other")
        connection.execute(f"CREATE TABLE other.ev AS {EVENTS}")
    return f"duckdb://{tmp_path}/d.db"


def release(source: str, table: str, book: Ledger, dataset: str | None = None) -> None:
    anonymize(source, epsilon=1, delta="1e-6", reading=Reading(table=table), ledger=book, dataset=dataset)


def counted(book: Ledger) -> dict[str, int]:
    return {account.label: len(account.entries) for account in book.accounts()}


def test_all_spellings_of_a_table_are_charged_to_one_account(database: str, book: Ledger) -> None:
    for table in (*SPELLINGS, "other.ev"):
        release(database, table, book)
    assert counted(book) == {f"{database} main.ev": len(SPELLINGS), f"{database} other.ev": 1}


@pytest.mark.parametrize("table", SPELLINGS)
def test_a_spent_budget_is_spent_for_every_spelling(database: str, table: str, book: Ledger) -> None:
    book.create_budget("hospital", epsilon=1, delta="1e-6")
    release(database, "ev", book, "hospital")
    with pytest.raises(BudgetError, match="hospital: ε = 0"):
        release(database, table, book)
    assert counted(book) == {"hospital": 1}


@pytest.mark.parametrize("table", ["ev", "EV", "d.main.ev"])
def test_charges_of_earlier_versions_count_under_all_their_spellings(database: str, table: str, book: Ledger) -> None:
    for former in ("ev", "EV", "MAIN.Ev", "d.ev", "other.ev"):
        book.charge(None, f"{database} {former}", ONE, "case_id")
    release(database, table, book)
    assert counted(book) == {f"{database} main.ev": 5, f"{database} other.ev": 1}
    book.create_account("hospital")
    book.assign(f"{database} EV", "hospital")  # moves what was charged to any of the spellings
    assert counted(book) == {"hospital": 5, f"{database} other.ev": 1}
    release(database, table, book)
    assert counted(book) == {"hospital": 6, f"{database} other.ev": 1}


@pytest.mark.parametrize("named", ["ev", "EV"])
def test_a_name_of_one_spelling_is_that_of_all(database: str, named: str, book: Ledger) -> None:
    book.create_budget("hospital", epsilon=3, delta="1e-5")
    for former in ("ev", "EV"):
        book.charge("hospital" if former == named else None, f"{database} {former}", ONE, "case_id")
    release(database, "d.main.Ev", book)
    assert counted(book) == {"hospital": 3}
    with pytest.raises(BudgetError, match="hospital: ε = 0"):
        release(database, "ev", book)


@pytest.mark.parametrize("former", [("ev", "EV"), ("EV", "ev"), ("main.ev", "EV"), ("EV", "main.ev")])
@pytest.mark.parametrize("table", ["ev", "EV"])
def test_a_table_with_two_names_is_charged_only_by_name(
    database: str, table: str, former: tuple[str, str], book: Ledger
) -> None:
    """Otherwise a release of a spelling whose budget is spent could be charged to the other name."""
    book.create_account("free")
    book.create_budget("strict", epsilon=1, delta="1e-5")
    for name, spelling in zip(("free", "strict"), former, strict=True):
        book.charge(name, f"{database} {spelling}", ONE, "case_id")
    before = book.path.read_bytes()
    with pytest.raises(ParameterError, match=r"this table belongs to '(free' and 'strict|strict' and 'free)'"):
        release(database, table, book)
    with pytest.raises(BudgetError, match="strict: ε = 0"):
        release(database, table, book, "strict")
    assert book.path.read_bytes() == before
    release(database, table, book, "free")
    assert counted(book) == {"free": 2, "strict": 1}


def test_any_name_takes_over_the_releases_of_other_spellings_without_a_name(database: str, book: Ledger) -> None:
    for name in ("first", "second"):
        book.create_account(name)
    book.charge("first", f"{database} EV", ONE, "case_id")
    book.charge(None, f"{database} ev", ONE, "case_id")
    release(database, "ev", book, "second")
    assert counted(book) == {"first": 1, "second": 2}


def test_a_refused_release_unites_nothing_and_its_remedy_works(database: str, book: Ledger) -> None:
    """Charges without a name that do not compose with those of the name would make the name unusable."""
    book.create_budget("patients", epsilon=10, delta="1e-5")
    book.create_account("cases")
    persons = mechanism("optimal", 1, "1e-6", unit=PrivacyUnit("patient", 3))
    book.charge("patients", f"{database} EV", persons, "case_id")
    book.charge(None, f"{database} ev", ONE, "case_id")
    before = book.path.read_bytes()
    remedy = f"ev: the releases would have the unit 'case' and 'patient'; .*travas budget assign '{database} ev' NAME"
    table = Catalogue("d", "main", "main", ignores_case=True).locate(database, "ev")
    for dataset in ("patients", None):
        for refused in (book.check, book.charge):
            with pytest.raises(ParameterError, match=remedy):
                refused(dataset, table, persons, "case_id")
    assert book.path.read_bytes() == before
    book.assign(f"{database} ev", "cases")
    book.charge("patients", table, persons, "case_id")
    release(database, "ev", book, "cases")
    assert counted(book) == {"cases": 2, "patients": 2}


def test_spellings_without_a_name_that_do_not_compose_are_assigned_first(database: str, book: Ledger) -> None:
    persons = mechanism("optimal", 1, "1e-6", unit=PrivacyUnit("patient", 3))
    book.charge(None, f"{database} EV", persons, "case_id")
    book.charge(None, f"{database} ev", ONE, "case_id")
    before = book.path.read_bytes()
    with pytest.raises(ParameterError, match=f"travas budget assign '{database} (EV|ev)' NAME"):
        release(database, "ev", book)
    assert book.path.read_bytes() == before
    for name in ("patients", "cases"):
        book.create_account(name)
    book.assign(f"{database} EV", "patients")
    release(database, "ev", book, "cases")
    assert counted(book) == {"cases": 2, "patients": 1}


def test_a_cost_that_is_not_known_is_not_taken_over_by_a_budget(database: str, book: Ledger) -> None:
    book.create_budget("hospital", epsilon=3, delta="1e-5")
    book.charge("hospital", f"{database} EV", ONE, "case_id")
    book.charge(None, f"{database} ev", mechanism("utravas-published", 1, "1e-3"), "case_id")
    before = book.path.read_bytes()
    with pytest.raises(ParameterError, match="ev: .* not established.* assign it to a data set without a budget"):
        release(database, "EV", book, "hospital")
    assert book.path.read_bytes() == before


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("duckdb:///log.db", "duckdb: neither table nor query is set"),
        ("spark:", "spark: needs exactly one of"),
        ("mysql://host/log", "mysql://: unsupported URL scheme"),
    ],
)
def test_a_missing_table_is_named_before_the_account(source: str, words: str, book: Ledger) -> None:
    with pytest.raises(TravasError, match=words):
        anonymize(source, epsilon=1, delta="1e-6", ledger=book)


def test_nothing_but_the_charge_is_recorded_where_there_is_one_spelling(database: str, book: Ledger) -> None:
    for table in ("ev", "EV"):
        release(database, table, book)
    with sqlite3.connect(book.path) as connection:
        kinds = [json.loads(content)["kind"] for (content,) in connection.execute("SELECT content FROM record")]
    connection.close()
    assert kinds == ["charge", "charge"]


def test_the_search_path_of_postgresql_decides_what_a_name_refers_to(postgres: Postgres, book: Ledger) -> None:
    with postgres.owner() as owner:
        owner.execute("CREATE SCHEMA clinic")
        owner.execute(f"CREATE TABLE clinic.visits AS {EVENTS}")
        owner.execute(f'CREATE TABLE clinic."Visits" AS {EVENTS}')
        owner.execute(f"CREATE TABLE public.visits AS {EVENTS}")
        owner.execute("GRANT USAGE ON SCHEMA clinic TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA clinic TO reader")
        owner.execute("ALTER ROLE reader SET search_path = clinic, public")
    server = str(database_of(postgres.url))
    try:
        for table in ("visits", "clinic.visits", "postgres.clinic.visits", "Visits", "public.visits"):
            release(postgres.url, table, book)
        here = {f"{server} clinic.visits": 3, f"{server} clinic.Visits": 1}
        assert counted(book) == here | {f"{server} public.visits": 1}
        book.charge(None, f"{server} visits", ONE, "case_id")  # an earlier version left out both schemas:
        for table in ("clinic.visits", "public.visits"):  # it counts for both tables, so they have one account
            release(postgres.url, table, book)
        assert counted(book) == {f"{server} public.visits": 7, f"{server} clinic.Visits": 1}
    finally:
        with postgres.owner() as owner:
            owner.execute("ALTER ROLE reader RESET search_path")
            owner.execute("DROP SCHEMA clinic CASCADE; DROP TABLE public.visits")


def test_the_session_of_spark_decides_what_a_name_refers_to(spark: Any, book: Ledger) -> None:
    rows = spark.createDataFrame([("c1", "register", 1), ("c2", "visit", 2)], ["case_id", "activity", "timestamp"])
    rows.createOrReplaceTempView("Visits_view")
    rows.write.saveAsTable("visits_table")
    try:
        book.charge(None, "spark: visits_table", ONE, "case_id")
        for table in ("VISITS_TABLE", "default.visits_table", "spark_catalog.`default`.visits_table", "visits_VIEW"):
            release("spark:", table, book)
        assert counted(book) == {"spark: default.visits_table": 4, "spark: visits_view": 1}
    finally:
        spark.sql("DROP TABLE visits_table")
        spark.catalog.dropTempView("visits_view")


def test_a_table_of_another_catalogue_is_another_table() -> None:
    catalogue = Catalogue("lake", "raw", "", ignores_case=True)
    here, there = catalogue.locate("trino://host", "Events"), catalogue.locate("trino://host", "events", "raw", "sea")
    assert (here.table, there.table) == ("raw.events", "sea.raw.events")
    assert here.is_spelled("trino://host Lake.raw.events") and here.is_spelled("trino://host events")
    assert not here.is_spelled(there.text) and not here.is_spelled("trino://host2 events")
    assert not there.is_spelled(here.text) and there.is_spelled(there.text)
