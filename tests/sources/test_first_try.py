"""Exports as hospitals and offices make them, released in one try with what the doctor proposes.

The variants are counted here again, in plain Python, from the rows that were exported.
"""

import csv
import random
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs
import polars as pl
import pytest

import travas
from conftest import Run
from servers import Postgres
from travas import Ledger, Optimal, anonymize, doctor, read
from travas.log.questions import DetailColumn, Details
from travas.pipeline import Request, run
from travas.sources.columns import person_columns
from travas.sources.example_log import hospital_log

CASES = 400
GERMAN = {
    "register": "Aufnahme", "visit": "Visite", "x-ray": "Röntgen", "blood-test": "Blutbild", "surgery": "Operation",
    "release": "Entlassung", "ultrasound": "Übergabe",
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    case: str
    activity: str
    time: datetime
    patient: str
    cost: float

    @property
    def cells(self) -> list[Any]:
        return [self.case, self.activity, self.time, self.patient, self.cost]


def exported() -> list[Event]:
    """The first cases of the built-in log, with German names; a case has no two events at the same time."""
    events = []
    for row in csv.DictReader(hospital_log().splitlines()):
        if int(row["case_id"][-5:]) <= CASES:
            name, time = GERMAN.get(row["activity"], row["activity"]), datetime.fromisoformat(row["timestamp"])
            events.append(Event(row["case_id"], name, time, row["patient"], 1000.25 + int(row["case_id"][-2:])))
    return events


def shuffled(events: list[Event]) -> list[Event]:
    return random.Random(1).sample(events, len(events))


def by_the_day(events: list[Event]) -> list[Event]:
    """Times without hours, so that many events of a case are at the same time."""
    return [replace(event, time=event.time.replace(hour=0, minute=0)) for event in events]


def with_gaps(events: list[Event]) -> list[Event]:
    """Some activities are missing, and the person of a few cases."""
    lost = {event.case for event in events if event.case.endswith("7")}
    return [
        replace(
            event, activity="" if n % 31 == 0 else event.activity, patient="" if event.case in lost else event.patient
        )
        for n, event in enumerate(events)
    ]


def variants(events: Iterable[Event]) -> Counter[tuple[str, ...]]:
    """Events without an activity are left out; those at the same time are in the order of their names."""
    cases: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    for event in events:
        if event.activity:
            cases[event.case].append((event.time, event.activity))
    return Counter(tuple(activity for _, activity in sorted(trace)) for trace in cases.values())


def text(header: str, time: str, delimiter: str = ",", mark: str = ".", encoding: str = "utf-8") -> Callable[..., Any]:
    """Write a text table."""

    def make(path: Path, events: list[Event], postgres: Any = None) -> Path:
        with path.open("w", encoding=encoding, newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(header.split("|"))
            for event in events:
                cost = f"{event.cost:,.2f}".translate({ord(","): ".", ord("."): ","} if mark == "," else {})
                writer.writerow([event.case, event.activity, event.time.strftime(time), event.patient, cost])
        return path

    return make


def with_states(header: str, time: str, begins: str, ends: str, delimiter: str) -> Callable[..., Any]:
    """Two rows for every event: when it begins and when it ends."""

    def make(path: Path, events: list[Event], postgres: Any = None) -> Path:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(header.split("|"))
            for event in events:
                for state, when in ((begins, event.time - timedelta(seconds=30)), (ends, event.time)):
                    writer.writerow([event.case, event.activity, when.strftime(time), event.patient, state])
        return path

    return make


def months(path: Path, events: list[Event], postgres: Any = None) -> Path:
    """A folder with a file for each month; only some of them have letters above ASCII."""
    path.mkdir()
    write = text("Fallnummer|Tätigkeit|Zeitpunkt|KVNR|Kosten", "%d.%m.%Y %H:%M", ";", ",", "cp1252")
    for month in sorted({event.time.month for event in events}):
        write(path / f"2025-{month:02d}.csv", [event for event in events if event.time.month == month])
    return path


def frame(events: list[Event], *names: str) -> pl.DataFrame:
    return pl.DataFrame([event.cells for event in events], schema=list(names), orient="row")


def sqlite(path: Path, events: list[Event], postgres: Any = None) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE wards (id, name, beds, floor, phone, head)")
        connection.execute('CREATE TABLE "Ereignisse 1" (Fallnummer, Aktivität, Zeitpunkt, Patient, Kosten)')
        rows = [[event.case, event.activity, event.time.isoformat(" "), event.patient, event.cost] for event in events]
        connection.executemany('INSERT INTO "Ereignisse 1" VALUES (?, ?, ?, ?, ?)', rows)
    return path


def duckdb(path: Path, events: list[Event], postgres: Any = None) -> Path:
    import duckdb as library

    rows = frame(events, "Fall-ID", "Maßnahme", "Zeitstempel", "PatNr", "Kosten").to_arrow()  # noqa: F841 (named in SQL)
    with library.connect(path) as connection:
        connection.execute("CREATE TABLE events AS SELECT * FROM rows")
        connection.execute("CREATE TABLE a_departments AS SELECT 1 AS id, 'x' AS name")
    return path


def postgresql(path: Path, events: list[Event], postgres: Postgres) -> str:
    from adbc_driver_postgresql.dbapi import connect

    name = f"hospital_{uuid4().hex}"
    with postgres.owner() as owner:
        owner.execute(f"CREATE DATABASE {name}")
    url = postgres.url.removesuffix("postgres") + name
    table = frame(events, "Fall", "Ereignis", "Zeit", "Patientennummer", "Kosten")
    owner_url = url.replace("reader@", f"postgres:{postgres.password}@")
    with connect(owner_url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("ereignisse", table.to_arrow())
        cursor.adbc_ingest("anbieter", pl.DataFrame({"id": [1], "name": ["x"]}).to_arrow())
        cursor.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    return url


def pandas(path: Path, events: list[Event], postgres: Any = None) -> Any:
    import pandas as library

    made = text("Vorgang|Schritt|Datum|Patienten_Nr|Kosten", "%d.%m.%Y %H:%M", ";", mark=",")(path, events)
    return library.read_csv(made, sep=";")


@dataclass(frozen=True)
class Export:
    """How an export is made of which rows, and which settings the doctor has to find beyond formats and columns."""

    name: str
    make: Callable[..., Any]
    person: str
    rows: Callable[[list[Event]], list[Event]] = list
    found: dict[str, Any] = field(default_factory=dict)
    cost: str = ""


EXPORTS = (
    Export("german.csv", text("Fallnummer|Maßnahme|Zeitpunkt|Patientennummer|Kosten (€)", "%d.%m.%Y %H:%M", ";", ",", "cp1252"),
           "Patientennummer", lambda rows: shuffled(with_gaps(by_the_day(rows))),
           {"on_missing": "drop", "ties": "activity", "decimal": ","}, "Kosten (€)"),
    Export("us.csv", text("Case ID|Activity|Complete Timestamp|MRN|Charges", "%m/%d/%Y %I:%M %p"), "MRN", shuffled,
           {"decimal": "."}, "Charges"),
    Export("states.csv", with_states("Fall-ID|Tätigkeit|Zeitstempel|Pat.-Nr.|Status", "%d.%m.%Y %H:%M:%S", "Beginn", "Ende", ";"),
           "Pat.-Nr.", list, {"where": (("Status", "Ende"),)}),
    Export("months", months, "KVNR", with_gaps, {"on_missing": "drop", "decimal": ","}, "Kosten"),
    Export("kis.sqlite", sqlite, "Patient", shuffled, {"table": "main.Ereignisse 1"}),
    Export("kis.duckdb", duckdb, "PatNr", by_the_day, {"table": "main.events"}),
    Export("postgres", postgresql, "Patientennummer", by_the_day, {"table": "public.ereignisse"}),
    Export("pandas.csv", pandas, "Patienten_Nr", with_gaps, {"on_missing": "drop", "decimal": ","}, "Kosten"),
    Export("ties.csv", text("case_id|activity|timestamp|customer_id|cost", "%Y-%m-%d"), "customer_id",
           lambda rows: shuffled(by_the_day(rows)), {"ties": "activity", "decimal": "."}, "cost"),
)  # fmt: skip


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_an_export_is_released_in_one_try(export: Export, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    events = export.rows(exported())
    server = request.getfixturevalue("postgres") if export.make is postgresql else None
    source = export.make(tmp_path / export.name, events, server)
    diagnosis = doctor(source)
    assert diagnosis.problems == () and not diagnosis.choices, [each.text for each in diagnosis.findings]
    assert diagnosis.people[0] == export.person
    for name in ("on_missing", "ties", "decimal", "where", "table"):
        default = getattr(travas.Reading(), name)
        assert getattr(diagnosis.reading, name) == export.found.get(name, default), name

    assert dict(read(source, diagnosis.reading).items()) == variants(events)

    person = attrs.evolve(diagnosis.reading, unit=export.person, max_cases=2)
    made = travas.anonymize(source, epsilon=8, delta="0.01", reading=person, ledger=None)
    assert made.variants and set(made.variants) <= set(variants(events))
    if export.cost:
        totals: Any = read(
            source, attrs.evolve(diagnosis.reading, details=Details(columns=(DetailColumn(export.cost, "number"),)))
        ).totals
        costs = {each.case: each.cost for each in events if each.activity}
        assert sorted(totals.cases.values[DetailColumn(export.cost, "number", "case")]) == sorted(costs.values())


def test_what_seems_wrong_is_said_on_standard_error_before_the_charge(
    tmp_path: Path, book: Ledger, travas: Run
) -> None:
    path = EXPORTS[0].make(tmp_path / "export.csv", exported())
    reading = doctor(path).reading
    said: list[tuple[str, int]] = []
    request = Request(path, Optimal(8, "0.01"), reading, ledger=book)
    run(request, caution=lambda text: said.append((text, len(book.accounts()))))
    assert len(said) == 1 and "'Patientennummer'" in said[0][0] and said[0][1] == 0 < len(book.accounts())
    with pytest.warns(UserWarning, match="'Patientennummer'.*confidential"):
        anonymize(path, epsilon=8, delta="0.01", reading=reading)
    person = attrs.evolve(reading, unit="Patientennummer", max_cases=2)
    assert read(path, person).cautions == ()

    costs = attrs.evolve(person, details=Details(columns=(DetailColumn("Kosten (€)", "number"),)))
    assert read(path, costs).cautions == ()
    for form in (None, "."):
        [caution] = read(path, attrs.evolve(costs, decimal=form)).cautions
        assert "'Kosten (€)'" in caution and "decimal" in caution


@pytest.mark.parametrize(
    "column",
    ["Patientennummer", "Patienten-ID", "PatientenID", "Patienten_Nr", "Patient-Nr.", "PatNr", "Pat.-Nr.", "PID", "KVNR",
     "Versichertennummer", "MRN", "subject_id", "NHS_Number", "customer", "Kunde", "N° patient", "número de paciente",
     "case:patient", "Bürger-ID"],
)  # fmt: skip
def test_columns_of_persons_are_known_by_name(column: str) -> None:
    assert person_columns([column, "case_id", "Fallnummer", "ward", "Nr", "resource", "Patientenalter"]) == [column]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE a (b);\n", "an SQL dump"),
        (b"PGDMP" + b"\0" * 50, "a dump of PostgreSQL"),
        (b"SQLite format 3\0" + b"\0" * 90, "a SQLite database"),
        (b"\0" * 8 + b"DUCK" + b"\0" * 90, "a DuckDB database"),
        (b"7z\xbc\xaf\x27\x1c" + b"\0" * 90, "an archive"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 90, "an old or encrypted Office file"),
    ],
)
def test_files_that_are_no_logs_are_known_by_their_first_bytes(content: bytes, what: str, tmp_path: Path) -> None:
    for name in ("export.csv", "export.dat"):
        (tmp_path / name).write_bytes(content)
        [problem] = doctor(tmp_path / name).problems
        assert what in problem.text
