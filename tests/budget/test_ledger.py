"""The ledger: what it counts, what it refuses, what it never holds. Crashes and races: e2e/test_ledger_faults.py."""

from __future__ import annotations

import json
import sqlite3
import stat
import sys
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from conftest import Run
from travas import (
    Budget,
    BudgetError,
    ChargedError,
    Ledger,
    LedgerError,
    LogError,
    MissingExtraError,
    OutputError,
    ParameterError,
    PrivacyUnit,
    Standing,
    anonymize,
    mechanism,
)
from travas.budget import ledger, ledger_file
from travas.budget.account import Account, Entry
from travas.budget.accounting import Spending, compose
from travas.budget.book import entry_of
from travas.budget.ledger import default_path
from travas.budget.ledger_file import open_ledger
from travas.budget.ledger_schema import VERSION
from travas.budget.records import Charged, decode, encode
from travas.model.mechanism import Mechanism
from travas.privacy.person_tables import Gaussian

LOG = {("register", "visit", "release"): 20, ("register", "release"): 2}
HALF = mechanism("optimal", "0.5", "1e-6")


@pytest.fixture
def book(ledger_path: Path) -> Ledger:
    return Ledger(ledger_path)


def charge(book: Ledger, dataset: str, chosen: Mechanism, case: str = "case_id") -> Account:
    """A release of a log in memory."""
    return book.charge(dataset, None, chosen, case)


def test_a_budget_is_spent_release_by_release(book: Ledger) -> None:
    book.create_budget("hospital", epsilon=1, delta="5e-6")
    for spent in (1, 2):
        anonymize(LOG, epsilon="0.5", delta="1e-6", ledger=book, dataset="hospital")
        assert book.account("hospital").spent == (Fraction(spent, 2), Fraction(spent, 10**6))
    assert book.account("hospital").left == (Fraction(0), Fraction(3, 10**6))
    with pytest.raises(
        BudgetError, match="ε = 0, δ = 3e-6 left of ε = 1, δ = 5e-6; this release needs ε = 0.5, δ = 1e-6"
    ):
        anonymize(LOG, epsilon="0.5", delta="1e-6", ledger=book, dataset="hospital")
    assert len(book.account("hospital").entries) == 2


def test_numbers_are_exact(book: Ledger) -> None:
    """Ten tenths are one, and three thirds: as floats neither would be."""
    book.create_budget("tenths", epsilon=1, delta="1e-5")
    for _ in range(10):
        charge(book, "tenths", mechanism("optimal", "0.1", "1e-6"))
    assert book.account("tenths").left == (Fraction(0), Fraction(0))
    book.create_budget("thirds", epsilon=1, delta="1e-5")
    for _ in range(3):
        charge(book, "thirds", mechanism("optimal", "1/3", "1/300000"))
    with pytest.raises(BudgetError):
        charge(book, "thirds", mechanism("optimal", "1/1000", "1e-15"))


def test_delta_counts_too(book: Ledger) -> None:
    book.create_budget("x", epsilon=10, delta="1.5e-6")
    charge(book, "x", HALF)
    with pytest.raises(BudgetError):
        charge(book, "x", HALF)


def test_without_a_budget_it_is_recorded_and_not_limited(book: Ledger) -> None:
    book.create_account("free")
    for _ in range(30):
        account = charge(book, "free", mechanism("optimal", 20, "0.9"))
    assert (
        account.spent == (Fraction(600), Fraction(1))
        and account.left is None
        and account.remainder == "recorded; no budget"
    )


def test_a_budget_made_later_counts_what_was_charged_before(book: Ledger) -> None:
    book.create_account("x")
    charge(book, "x", HALF)
    assert book.create_budget("x", epsilon=1, delta="2e-6").left == (Fraction(1, 2), Fraction(1, 10**6))
    charge(book, "x", HALF)
    with pytest.raises(BudgetError):
        charge(book, "x", HALF)


def test_a_budget_is_never_changed(book: Ledger) -> None:
    book.create_budget("x", epsilon=1, delta="1e-6")
    with pytest.raises(ParameterError, match="already has a budget, ε = 1, δ = 1e-6"):
        book.create_budget("x", epsilon=2, delta="1e-6")
    assert book.account("x").budget == Budget(Fraction(1), Fraction(1, 10**6))


def test_exact_composition_affords_more_and_stays_within(book: Ledger) -> None:
    for rule in ("basic", "exact"):
        book.create_budget(rule, epsilon=2, delta="1e-4", composition=rule)
    weekly = mechanism("optimal", "0.1", "1e-7")
    afforded = dict.fromkeys(("basic", "exact"), 0)
    for rule in afforded:
        while afforded[rule] < 500:
            try:
                charge(book, rule, weekly)
            except BudgetError as error:
                assert ("left of" if rule == "basic" else "for a total of δ = ") in str(error)
                break
            afforded[rule] += 1
    assert afforded["basic"] == 20 and 25 < afforded["exact"] < 500
    spendings = book.account("exact").spendings
    assert compose(spendings).delta(Fraction(2)) <= Fraction(1, 10**4)
    assert compose([*spendings, spendings[0]]).delta(Fraction(2)) > Fraction(1, 10**4)
    assert book.account("exact").left is None and "used of 0.0001 at ε = 2" in book.account("exact").remainder


def test_exact_composition_accepts_whatever_the_sum_accepts() -> None:
    budget = Budget(Fraction(1), Fraction(1, 10**15), "exact")  # below what floating point can tell
    assert budget.allows([Spending("optimal", Fraction(1, 2), Fraction(1, 2 * 10**15))] * 2)
    assert not budget.allows([Spending("optimal", Fraction(1, 2), Fraction(1, 2 * 10**15))] * 3)


@pytest.mark.parametrize("budget", [None, Budget(Fraction(10), Fraction(1, 10))])
def test_units_and_cases_that_do_not_add_up_are_refused(budget: Budget | None) -> None:
    def spend(unit: PrivacyUnit) -> Spending:
        return Spending("optimal", Fraction(1), Fraction(1, 10**6), unit)

    entry = Entry(1, "", "x", spend(PrivacyUnit()), 1, Standing.VERIFIED, "", "visit")
    account = Account("x", budget, (entry,))
    account.admit(spend(PrivacyUnit()), Standing.VERIFIED, "visit")
    with pytest.raises(
        BudgetError, match="its releases have the unit 'case', this one has 'patient'; .* use unit='case'"
    ):
        account.admit(spend(PrivacyUnit("patient", 3)), Standing.VERIFIED, "visit")
    with pytest.raises(BudgetError, match="its releases have the case 'visit', this one has 'patient'"):
        account.admit(spend(PrivacyUnit()), Standing.VERIFIED, "patient")
    old = Account("x", budget, (replace(entry, case=None),))
    old.admit(spend(PrivacyUnit()), Standing.VERIFIED, "patient")  # version 1 did not record what a case is
    persons = Account("x", budget, (replace(entry, spending=spend(PrivacyUnit("patient", 3))),))
    persons.admit(spend(PrivacyUnit("patient", 5)), Standing.VERIFIED, "visit")  # both are about all cases of a patient


def test_a_visit_and_a_patient_are_not_one_kind_of_case(travas: Run, tmp_path: Path, book: Ledger) -> None:
    """Nothing is read: the refusal comes before the log is opened."""
    log = tmp_path / "visits.csv"
    log.write_text("visit,patient,activity,timestamp\n1,p,a,2020-01-01\n2,p,b,2020-01-02\n")
    for name in ("limited", "free"):
        limit = ("--epsilon", 2, "--delta", "2e-6") if name == "limited" else ("--no-limit",)
        assert travas("budget", "create", name, *limit).code == 0
        words = ("--epsilon", 1, "--delta", "1e-6", "--dataset", name, "-o", tmp_path / f"{name}.json")
        assert travas("anonymize", log, "--case", "visit", *words).code == 0
        ran = travas("anonymize", tmp_path / "gone.csv", "--case", "patient", *words, "--force")
        assert ran.code == 3 and "its releases have the case 'visit', this one has 'patient'" in ran.err
    assert [entry.case for entry in book.history()] == ["visit", "visit"]


def test_what_costs_nobody_knows_what_has_no_place_in_a_budget(book: Ledger) -> None:
    published = mechanism("utravas-published", 1, "1e-3")
    book.create_budget("x", epsilon=10, delta="0.1")
    for refused in (book.check, book.charge):
        with pytest.raises(
            BudgetError, match="x: the guarantee of this release is not established, so its cost is not"
        ):
            refused("x", None, published, "case_id")
    assert book.account("x").entries == ()
    book.create_account("free")
    charge(book, "free", published)
    with pytest.raises(ParameterError, match="free: the guarantee of a release charged to it is not established"):
        book.create_budget("free", epsilon=10, delta="0.1")


def test_a_budget_of_persons(book: Ledger) -> None:
    book.create_budget("x", epsilon=1, delta="1e-3")
    account = charge(book, "x", mechanism("optimal", "0.5", "1e-4", unit=PrivacyUnit("patient", 4)))
    assert account.entries[0].spending.unit == PrivacyUnit("patient", 4)
    assert account.left == (Fraction(1, 2), Fraction(9, 10**4))
    with pytest.raises(BudgetError, match="its releases have the unit 'patient', this one has 'case'"):
        charge(book, "x", mechanism("optimal", "0.1", "1e-6"))


def test_nothing_is_charged_when_it_fails_before_the_noise(
    book: Ledger, tmp_path: Path, travas: Run, small_csv: Path
) -> None:
    book.create_account("x")
    with pytest.raises(ParameterError):
        anonymize(LOG, epsilon=1, delta="1e-6", frequencies="wrong", ledger=book, dataset="x")  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="no ledger"):
        anonymize(LOG, epsilon=1, delta="1e-6", dataset="hospital")
    parameters = ("--epsilon", 1, "--delta", "1e-6", "-o")
    (tmp_path / "there.json").write_text("")
    for words in (
        (tmp_path / "gone.csv", *parameters, tmp_path / "a.json"),
        (small_csv, *parameters, tmp_path / "a.doc"),
        (small_csv, *parameters, tmp_path / "there.json"),
        (small_csv, *parameters, tmp_path / "no" / "a.json"),
        (small_csv, *parameters, tmp_path / "a.json", "--dataset", "log:1"),
        (small_csv, *parameters, tmp_path / "a.json", "--frequencies", "wrong"),
        (small_csv, *parameters, tmp_path / "a.json", "--ledger", tmp_path / "no" / "l.db"),
        (small_csv, *parameters, book.path, "--force"),
    ):
        assert travas("anonymize", *words).code == 2
    assert book.history() == []


def test_nothing_is_charged_when_an_extra_is_missing(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    book.create_account("x")
    with pytest.raises(MissingExtraError, match="metrics"):
        anonymize(LOG, mechanism("utravas-published", 1, "1e-2"), ledger=book, dataset="x", guarantee="not required")
    assert book.history() == []


def test_the_charge_comes_before_the_noise(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn_and_dead(*_: object) -> None:
        assert len(book.history()) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("travas.privacy.noise.Noise.draw", drawn_and_dead)
    book.create_account("x")
    with pytest.raises(ChargedError, match="interrupted; the charge to .* stands") as failed:
        anonymize(LOG, epsilon=1, delta="1e-6", ledger=book, dataset="x")
    assert failed.value.interrupted and failed.value.account == book.history()[0].dataset
    assert len(book.history()) == 1


def test_a_charge_records_the_table_for_all_counts_of_a_person(book: Ledger) -> None:
    book.create_account("clinic")
    for most in (3, 10):
        charge(book, "clinic", mechanism("optimal", 1, "1e-6", unit=PrivacyUnit("patient", most)))
    assert [entry.spending.person_table for entry in book.history()] == [None, Gaussian(Fraction("13.515625"), 73)]
    with closing(sqlite3.connect(book.path)) as connection:
        contents = [content for (content,) in connection.execute("SELECT content FROM record ORDER BY number")]
    assert ["person_table" in content for content in contents] == [False, False, True]  # else as earlier versions did
    charged = decode(contents[-1])
    assert isinstance(charged, Charged)
    former = replace(charged, person_table=None, standing="proven")  # a charge of an earlier version has no such field
    assert "person_table" not in encode(former) and decode(encode(former)) == former
    assert entry_of(1, former, "clinic", None).spending.person_table is None
    with pytest.raises(ValueError, match="person_table"):
        entry_of(1, replace(charged, person_table={"table": "other"}), "clinic", None)


@pytest.mark.parametrize("kind", [OutputError, LogError])
def test_what_fails_after_the_charge_says_so(
    kind: type[Exception], book: Ledger, travas: Run, small_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise kind("out.json: cannot be written, no space left")

    monkeypatch.setattr("travas.outputs.write.ReservedRelease.write", full)
    ran = travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / "out.json")
    assert (
        ran.code == 4
        and "no space left; the charge to" in ran.err
        and "stands" in ran.err
        and len(ran.err.splitlines()) == 1
    )
    assert len(book.history()) == 1


# ------------------------------------------------------------------------------------------------------------- the file


def test_only_its_owner_may_read_it(book: Ledger) -> None:
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    assert list(book.path.parent.iterdir()) == [book.path]


def test_it_is_append_only_in_the_file_itself(book: Ledger) -> None:
    book.create_budget("x", epsilon=1, delta="1e-6")
    charge(book, "x", HALF)
    connection = sqlite3.connect(book.path)
    for statement in (
        "DELETE FROM record", "UPDATE record SET content = ''", "DELETE FROM head", "UPDATE head SET digest = x'00'",
        "UPDATE head SET number = 1",
    ):  # fmt: skip
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


def test_order_is_that_of_the_lines_whatever_the_clock_says(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    book.create_budget("x", epsilon=1, delta="1e-5")
    for moment in ("2031-01-01T00:00:00+00:00", "1999-01-01T00:00:00+00:00"):
        monkeypatch.setattr(ledger, "_now", lambda moment=moment: moment)
        charge(book, "x", HALF)
    assert [entry.time[:4] for entry in book.history()] == ["2031", "1999"]
    assert [entry.number for entry in book.history()] == [1, 2]
    with pytest.raises(BudgetError):
        charge(book, "x", HALF)


def fill(book: Ledger) -> None:
    """Hundreds of charges at once."""
    book.create_account("x")
    charge(book, "x", HALF)
    with open_ledger(book.path) as opened, opened.locked() as there:
        opened.append(*[there.records[-1]] * 500)


def refused(path: Path, travas: Run, small_csv: Path) -> str:
    """What the command line says; nothing is released and the file stays as it is."""
    before = path.read_bytes() if path.is_file() else None
    out = small_csv.parent / "out.json"
    ran = travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", out, "--ledger", path)
    assert ran.code == 2 and not out.exists() and ran.out == ""
    assert len(ran.err.splitlines()) == 1 and "Traceback" not in ran.err
    assert before is None or path.read_bytes() == before
    with pytest.raises(LedgerError):
        Ledger(path)
    return ran.err


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"case_id,activity\n1,a\n", b"SQLite format 3\0" + b"x" * 8000])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(
    content: bytes, tmp_path: Path, travas: Run, small_csv: Path
) -> None:
    (tmp_path / "notes.db").write_bytes(content)
    assert "not a ledger" in refused(tmp_path / "notes.db", travas, small_csv)


def test_another_programs_database_is_refused(tmp_path: Path, travas: Run, small_csv: Path) -> None:
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE charge (number INTEGER)")
    connection.close()
    assert "not a ledger" in refused(tmp_path / "other.db", travas, small_csv)


@pytest.mark.parametrize(
    "path", ["/dev/null", "/dev/full", "/proc/ledger.db", "/", "/no/such/directory/ledger.db", "nul\0.db"]
)
def test_impossible_places(path: str, travas: Run, small_csv: Path) -> None:
    refused(Path(path), travas, small_csv)


def test_a_truncated_ledger_is_refused(book: Ledger, tmp_path: Path, travas: Run, small_csv: Path) -> None:
    fill(book)
    whole = book.path.read_bytes()
    for length in (0, 1, 100, 4095, 4096, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        path = tmp_path / f"{length}.db"
        path.write_bytes(whole[:length])
        refused(path, travas, small_csv)


def test_damaged_pages_and_values_are_refused(book: Ledger, tmp_path: Path, travas: Run, small_csv: Path) -> None:
    fill(book)
    whole = bytearray(book.path.read_bytes())
    whole[4096 * 3 : 4096 * 5] = b"\xff" * 8192
    (tmp_path / "torn.db").write_bytes(whole)
    assert "damaged" in refused(tmp_path / "torn.db", travas, small_csv)


def test_a_newer_ledger_asks_for_a_newer_travas(book: Ledger, travas: Run, small_csv: Path) -> None:
    connection = sqlite3.connect(book.path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    assert "update travas" in refused(book.path, travas, small_csv)


def test_a_ledger_in_use_is_waited_for_and_then_an_error(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    book.create_account("x")
    monkeypatch.setattr(ledger_file, "BUSY_SECONDS", 0.2)
    other = sqlite3.connect(book.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="another process"):
        anonymize(LOG, epsilon=1, delta="1e-6", ledger=book, dataset="x")
    other.execute("ROLLBACK")
    other.close()
    anonymize(LOG, epsilon=1, delta="1e-6", ledger=book, dataset="x")
    assert len(book.history()) == 1


def test_a_ledger_that_is_gone_is_no_new_start(book: Ledger) -> None:
    book.create_budget("x", epsilon=1, delta="1e-6")
    book.path.unlink()
    with pytest.raises(LedgerError, match="is missing"):
        anonymize(LOG, epsilon=9, delta="1e-6", ledger=book, dataset="x")
    assert not book.path.exists()


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, travas: Run, small_csv: Path) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_path() == tmp_path / "data" / "travas" / "ledger.db"
    assert travas("demo", "-o", tmp_path / "demo").code == 0
    assert not default_path().exists()  # the demo touches no ledger
    anonymize(LOG, epsilon=1, delta="1e-6")
    assert not default_path().exists()  # nor does Python, unless it is asked to
    assert travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / "a.json").code == 0
    assert len(Ledger.default().history()) == 1
    assert stat.S_IMODE(default_path().parent.stat().st_mode) == 0o700
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".local" / "share" / "travas" / "ledger.db"
    monkeypatch.setenv("TRAVAS_LEDGER", "mine.db")
    assert default_path() == Path("mine.db")
    monkeypatch.setenv("TRAVAS_LEDGER", "/proc/no/mine.db")
    with pytest.raises(LedgerError, match="use another ledger"):
        Ledger.default()


def test_python_uses_the_ledger_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, book: Ledger, small_csv: Path
) -> None:
    anonymize(small_csv, epsilon=1, delta="1e-6")
    assert book.history() == []
    monkeypatch.setenv("TRAVAS_LEDGER", str(book.path))
    anonymize(small_csv, epsilon=1, delta="1e-6")
    assert len(book.history()) == 1
    with pytest.raises(ParameterError, match="a log in memory, from standard input or from a query only by name"):
        anonymize(LOG, epsilon=1, delta="1e-6")


# ----------------------------------------------------------------------------------------------------- the command line


def test_budgets_on_the_command_line(travas: Run, small_csv: Path, tmp_path: Path, ledger_path: Path) -> None:
    assert "no such ledger" in travas("budget", "show").err and not ledger_path.exists()
    assert travas("budget", "create", "hospital", "--epsilon", 1, "--delta", "2e-6").code == 0
    release = ("anonymize", small_csv, "--epsilon", "0.5", "--delta", "1e-6", "--dataset", "hospital", "-o")
    first = travas(*release, tmp_path / "1.json")
    assert first.code == 0 and "ε = 0.5, δ = 1e-6 left of ε = 1, δ = 2e-6" in first.out
    second = json.loads(travas(*release, tmp_path / "2.json", "--json").out)
    assert second["ledger"] == {"dataset": "hospital", "releases": 2, "state": "ε = 0, δ = 0 left of ε = 1, δ = 2e-6"}
    third = travas(*release, tmp_path / "3.json")
    assert third.code == 3 and third.out == "" and len(third.err.splitlines()) == 1
    assert "ε = 0, δ = 0 left" in third.err and "needs ε = 0.5, δ = 1e-6" in third.err
    assert not (tmp_path / "3.json").exists()
    assert travas("budget", "create", "hospital", "--epsilon", 1, "--delta", "2e-6").code == 2
    shown = json.loads(travas("budget", "show", "hospital", "--json").out)["datasets"][0]
    assert shown["releases"] == 2 and shown["left"] == {"epsilon": "0", "delta": "0"}
    history = json.loads(travas("budget", "history", "--json").out)["charges"]
    assert [charge["number"] for charge in history] == [1, 2] and history[0]["minimum_cases"] == 1
    assert "hospital" in travas("budget", "history").out and "hospital" in travas("budget", "show").out
    assert "similar names: 'hospital'" in travas("budget", "show", "hopsital").err
    assert travas("budget", "export").out.splitlines()[1].startswith("1,2")
    for name in ("charges.csv", "charges.json"):
        assert travas("budget", "export", "-o", tmp_path / name).code == 0
        assert travas("budget", "export", "-o", tmp_path / name).code == 2  # exists
    assert json.loads((tmp_path / "charges.json").read_text())["charges"] == history


def test_a_log_without_a_name_is_explained_once(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    said = [
        "only releases of this file or table are added up"
        in travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / f"{run}.json").out
        for run in range(3)
    ]
    assert said == [True, False, False]


def test_planning_on_the_command_line(travas: Run) -> None:
    facts = json.loads(travas("budget", "plan", "--releases", 50, "--epsilon", 2, "--delta", "1e-6", "--json").out)
    assert (facts["basic"]["epsilon"], facts["basic"]["delta"]) == ("0.04", "2e-8")
    assert Fraction(facts["exact"]["epsilon"]) > Fraction(facts["basic"]["epsilon"])
    none = json.loads(travas("budget", "plan", "--releases", 2, "--epsilon", 100, "--delta", 0, "--json").out)
    assert none["basic"]["cases_for_50_percent"] is None and none["basic"]["epsilon"] == "50"
    assert "50 releases" in travas("budget", "plan", "--releases", 50, "--epsilon", 2, "--delta", "1e-6").out
    for wrong in ("0", "-1", "x", "1.5", "9" * 30):
        ran = travas("budget", "plan", f"--releases={wrong}", "--epsilon", 2, "--delta", "1e-6")
        assert ran.code == 2 and "releases is" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("", "--epsilon", 1, "--delta", 0), (" x", "--epsilon", 1, "--delta", 0), ("x\n", "--epsilon", 1, "--delta", 0),
        ("log:x", "--epsilon", 1, "--delta", 0), ("x" * 201, "--epsilon", 1, "--delta", 0), ("x", "--epsilon", 0, "--delta", 0),
        ("x", "--epsilon", "inf", "--delta", 0), ("x", "--epsilon", 1, "--delta", 1), ("x", "--epsilon", 1),
        ("x", "--epsilon", 1, "--delta", 0, "--composition", "wishful"),
    ],
)  # fmt: skip
def test_budgets_that_make_no_sense(words: tuple[object, ...], travas: Run, ledger_path: Path) -> None:
    ran = travas("budget", "create", *words)
    assert ran.code == 2 and len(ran.err.splitlines()) == 1
    assert not ledger_path.exists() or Ledger(ledger_path).accounts() == []
