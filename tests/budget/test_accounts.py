"""Which account a release is charged to: by name or by location, never by content."""

import io
import json
import os
from pathlib import Path

import pytest
from small_charges import charge as charge_rule

from conftest import Run
from travas import BudgetError, Ledger, ParameterError, PrivacyUnit, Reading, anonymize
from travas.budget.account import Entry
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import Mechanism
from travas.sources.files import location_of
from travas.sources.reading import DuplicateCases

ONE = mechanism("optimal", 1, "1e-6")
SIGNED = ("--epsilon", 1, "--delta", "1e-6")


def charge(book: Ledger, dataset: str | None, location: str | None, case: str = "case_id") -> None:
    book.charge(Entry.of(dataset, location, ONE, case))


def counted(book: Ledger) -> dict[str, int]:
    return {account.label: len(account.entries) for account in book.accounts()}


def test_a_changed_log_and_other_reading_options_share_the_account(
    travas: Run, small_csv: Path, tmp_path: Path, book: Ledger
) -> None:
    out = ("-o", tmp_path / "out.json", "--force")
    for options in (
        (),
        ("--order", "time"),
        ("--on-missing", "drop"),
        ("--abstraction", "first"),
        ("--ties", "activity"),
    ):
        assert travas("anonymize", small_csv, *SIGNED, *out, *options).code == 0
    small_csv.write_text(f"{small_csv.read_text()}anna,visit,2025-01-01 08:00:00\n")
    assert travas("anonymize", small_csv, *SIGNED, *out).code == 0
    assert counted(book) == {str(small_csv.resolve()): 6}


def test_the_first_name_takes_over_what_was_charged_without_one(book: Ledger) -> None:
    for _ in range(2):
        charge(book, None, "/data/a.csv")
    charge(book, None, "/data/b.csv")
    book.create_budget("hospital", epsilon=4, delta="1e-5")
    book.create_account("other")
    charge(book, "hospital", "/data/a.csv")
    assert counted(book) == {"hospital": 3, "other": 0, "/data/b.csv": 1}
    charge(book, "other", "/data/a.csv")  # a later name takes over nothing
    assert counted(book) == {"hospital": 3, "other": 1, "/data/b.csv": 1}
    charge(book, None, "/data/a.csv")  # and the location stays with the first
    assert counted(book) == {"hospital": 4, "other": 1, "/data/b.csv": 1}
    with pytest.raises(BudgetError, match="hospital: ε = 0"):
        charge(book, None, "/data/a.csv")


def test_a_refused_release_takes_over_nothing(book: Ledger) -> None:
    for _ in range(2):
        charge(book, None, "/data/a.csv")
    book.create_budget("hospital", epsilon=2, delta="1e-5")
    for refused in (book.check, book.charge):
        with pytest.raises(BudgetError, match=r"ε = 0, .* \(counting 2 releases of /data/a.csv without a name\)"):
            refused(Entry.of("hospital", "/data/a.csv", ONE, "case_id"))
    assert counted(book) == {"hospital": 0, "/data/a.csv": 2}


def test_charges_of_a_file_that_do_not_add_up_with_a_data_set_stay_with_the_file(book: Ledger) -> None:
    charge(book, None, "/data/a.csv")
    persons = mechanism("optimal", 1, "1e-6", unit=PrivacyUnit("patient", 3))
    with pytest.raises(BudgetError, match="its releases have the unit 'case', .* or another data set"):
        book.charge(Entry.of(None, "/data/a.csv", persons, "case_id"))
    book.create_budget("patients", epsilon=1, delta="1e-6")
    book.charge(Entry.of("patients", "/data/a.csv", persons, "case_id"))
    assert counted(book) == {"patients": 1, "/data/a.csv": 1}
    with pytest.raises(BudgetError, match="patients: "):  # a forgotten unit and data set do not evade the budget
        charge(book, None, "/data/a.csv")
    book.create_account("cases")
    charge(book, "cases", "/data/a.csv")
    charge(book, None, "/data/a.csv")
    assert counted(book) == {"patients": 1, "cases": 3}


def patients(column: str) -> Mechanism:
    return mechanism("optimal", 1, "1e-6", unit=PrivacyUnit(column, 3))


def test_the_columns_of_one_unit_add_up(book: Ledger) -> None:
    """Exports name the column of a patient differently; the cost for one patient is the sum over all of them."""
    book.create_budget("hospital", epsilon=3, delta="1e-5")
    book.name_unit("hospital", "patient")
    book.charge(Entry.of("hospital", "/data/a.csv", patients("Patient"), "visit"))
    with pytest.raises(
        BudgetError, match="travas budget create hospital --unit-name patient --unit-columns Patientennummer"
    ) as refused:
        book.charge(Entry.of("hospital", "/data/b.csv", patients("Patientennummer"), "Fall"))
    assert refused.value.field == "unit"
    book.name_unit("hospital", "patient", ["Patientennummer", "patient_id"])
    book.charge(Entry.of("hospital", "/data/b.csv", patients("Patientennummer"), "Fall"))
    account = book.charge(Entry.of("hospital", "/data/c.csv", patients("patient_id"), "case_id"))
    assert account.spent[0] == 3 and account.as_json()["unit"] == "patient"
    assert set(account.unit_columns) == {"Patient", "Patientennummer", "patient_id"}
    with pytest.raises(BudgetError, match="ε = 0.* nothing was released; release nothing more"):  # no ε is small enough
        book.charge(Entry.of("hospital", "/data/a.csv", patients("Patient"), "visit"))
    with pytest.raises(BudgetError, match="protect one patient, this one a single case"):
        charge(book, "hospital", "/data/a.csv")


def test_a_unit_name_can_be_given_later_and_counts_what_was_charged(book: Ledger) -> None:
    book.create_account("hospital")
    book.charge(Entry.of("hospital", "/data/a.csv", patients("Patient"), "visit"))
    book.charge(Entry.of(None, "/data/b.csv", patients("patient_id"), "visit"))
    with pytest.raises(BudgetError, match="travas budget create hospital --unit-name person --unit-columns patient_id"):
        book.charge(Entry.of("hospital", "/data/b.csv", patients("patient_id"), "visit"))
    book.name_unit("hospital", "patient", ["patient_id"])
    assert book.charge(Entry.of("hospital", "/data/b.csv", patients("patient_id"), "visit")).spent[0] == 3
    for wrong in ("person", "case", "", 5):
        with pytest.raises(ParameterError) as refused:
            book.name_unit("hospital", wrong)  # type: ignore[arg-type]
        assert refused.value.field == "unit_name"
    book.create_account("cases")
    charge(book, "cases", None)
    with pytest.raises(ParameterError, match="protect single cases"):
        book.name_unit("cases", "patient")


@pytest.mark.parametrize("name", ["Hospital", "HOSPITAL", "\uff48ospital", "hospita\u217c"])
def test_names_that_look_alike_are_refused(name: str, book: Ledger) -> None:
    book.create_account("hospital")
    for create in (book.create_account, lambda name: book.create_budget(name, epsilon=1, delta=0)):
        with pytest.raises(ParameterError, match="differs from the existing 'hospital' only in case or width"):
            create(name)
    with pytest.raises(ParameterError, match="similar names: 'hospital'"):
        book.account(name)


def test_composed_and_decomposed_letters_are_one_name(book: Ledger) -> None:
    book.create_account("Cafe\u0301")
    charge(book, "Caf\u00e9", None)
    charge(book, "Cafe\u0301", None)
    assert counted(book) == {"Caf\u00e9": 2}
    assert book.create_account("больница ward A").dataset == "больница ward A"


TWICE = """<log xmlns="http://www.xes-standard.org/">
<trace><string key="concept:name" value="p1"/><event><string key="concept:name" value="a"/></event></trace>
<trace><string key="concept:name" value="p1"/><event><string key="concept:name" value="b"/></event></trace>
</log>"""


@pytest.mark.parametrize(("first", "second"), [("merge", "separate"), ("separate", "merge"), ("separate", "fail")])
def test_traces_of_one_name_are_one_case_or_several_in_all_releases(
    book: Ledger, tmp_path: Path, first: DuplicateCases, second: DuplicateCases
) -> None:
    """Σε would hold neither for a trace nor for all traces with the same name."""
    log = tmp_path / "twice.xes"
    log.write_text(TWICE)
    book.create_budget("hospital", epsilon=3, delta="1e-5")

    def release(path: Path, reading: Reading) -> None:
        anonymize(path, epsilon=1, delta="1e-6", ledger=book, dataset="hospital", reading=reading)

    for case in (None, "concept:name"):  # set or not, it is the same case
        release(log, Reading(case=case, duplicate_cases=first))
    if second == "fail":
        log.write_text(TWICE.replace("p1", "p2", 1))
    with pytest.raises(BudgetError, match=r"'every trace'.*use the duplicate_cases of the earlier releases"):
        release(log, Reading(duplicate_cases=second))
    assert len(book.history()) == 2


def test_a_log_without_a_location_needs_a_name(book: Ledger, small_csv: Path) -> None:
    import polars as pl

    frame = pl.read_csv(small_csv)
    assert location_of("postgresql://host/log") is None and location_of("spark:s3a://lake/events") is None
    for source in ({("a",): 3}, frame, frame.to_pandas()):
        assert location_of(source) is None
        with pytest.raises(ParameterError, match="set dataset"):
            anonymize(source, epsilon=1, delta="1e-6", ledger=book)
    assert book.history() == []
    assert location_of(io.StringIO("")) is None
    assert location_of("-") is None and location_of("/dev/stdin") is None and location_of("nul\0.csv") is None


def test_one_file_has_one_location(tmp_path: Path, small_csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.csv").symlink_to(small_csv)
    (tmp_path / "folder").mkdir()
    (tmp_path / "shortcut").symlink_to(tmp_path / "folder")
    ways = ("small.csv", "./small.csv", "folder/../small.csv", "link.csv", small_csv, str(small_csv))
    assert {location_of(way) for way in ways} == {str(small_csv.resolve())}
    assert location_of("folder") == location_of("shortcut/") == location_of("shortcut/../folder")
    assert location_of("folder/*.csv") == location_of("shortcut/*.csv") == str(tmp_path.resolve() / "folder" / "*.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    assert location_of("pipe.csv") is None


def test_a_database_server_has_no_location_and_a_database_file_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert location_of("postgresql://reader:secret@host/hospital") is None and location_of("spark:x") is None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.db").write_bytes(b"")
    ways = ("a.db", "duckdb:///a.db", "duckdb://a.db", f"duckdb://{tmp_path}/a.db", f"sqlite://{tmp_path}/a.db")
    assert {location_of(way) for way in ways} == {str(tmp_path.resolve() / "a.db")}


@pytest.mark.parametrize("composition", ["basic", "exact"])
def test_a_budget_per_year_begins_again_every_year(
    composition: str, book: Ledger, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--epsilon", 1, "--delta", "1e-5", "--composition", composition)
    assert travas("budget", "create", "ward", *words, "--per-year").code == 0
    with monkeypatch.context() as earlier:
        earlier.setattr("travas.budget.ledger.now", lambda: "2019-12-31T23:59:59+00:00")
        charge_rule(book, "ward", mechanism("optimal", 1, "1e-6"))
    (shown,) = json.loads(travas("budget", "show", "ward", "--json").out)["datasets"]
    assert shown["budget"]["span"] == "year" and shown["spent"]["epsilon"] == "1"
    assert shown["spent_this_year"] == {"epsilon": "0", "delta": "0"}
    charge_rule(book, "ward", mechanism("optimal", "1/2", "1e-6"))
    charge_rule(book, "ward", mechanism("optimal", "1/2", "1e-6"))
    with pytest.raises(BudgetError):
        charge_rule(book, "ward", mechanism("optimal", "1/2", "1e-6"))
    assert book.account("ward").spent[0] == 2  # the years add up
