"""The ledger: what it counts, what it refuses, what it never holds. Crashes and races: e2e/test_ledger_faults.py."""

from __future__ import annotations

import json
import sqlite3
import stat
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    Variants,
    anonymize,
    mechanism,
    read,
)
from travas.budget import ledger
from travas.budget.account import Account, Entry
from travas.budget.accounting import Spending, compose
from travas.budget.fingerprint import fingerprint
from travas.budget.ledger import MIGRATIONS, default_path

LOG = {("register", "visit", "release"): 20, ("register", "release"): 2}
HALF = mechanism("optimal", "0.5", "1e-6")


@pytest.fixture
def book(ledger_path: Path) -> Ledger:
    return Ledger(ledger_path)


def test_a_budget_is_spent_release_by_release(book: Ledger) -> None:
    book.create_budget("hospital", epsilon=1, delta="5e-6")
    for spent in (1, 2):
        anonymize(LOG, epsilon="0.5", delta="1e-6", ledger=book, dataset="hospital")
        assert book.account("hospital").spent == (Fraction(spent, 2), Fraction(spent, 10**6))
    assert book.account("hospital").left == (0, Fraction(3, 10**6))
    with pytest.raises(
        BudgetError, match="ε = 0, δ = 3e-6 left of ε = 1, δ = 5e-6; this release asks for ε = 0.5, δ = 1e-6"
    ):
        anonymize(LOG, epsilon="0.5", delta="1e-6", ledger=book, dataset="hospital")
    assert len(book.account("hospital").entries) == 2


def test_numbers_are_exact(book: Ledger) -> None:
    """Ten tenths are one, and three thirds: as floats neither would be."""
    book.create_budget("tenths", epsilon=1, delta="1e-5")
    for _ in range(10):
        book.charge("tenths", mechanism("optimal", "0.1", "1e-6"))
    assert book.account("tenths").left == (0, 0)
    book.create_budget("thirds", epsilon=1, delta="1e-5")
    for _ in range(3):
        book.charge("thirds", mechanism("optimal", "1/3", "1/300000"))
    with pytest.raises(BudgetError):
        book.charge("thirds", mechanism("optimal", "1/1000", "1e-15"))


def test_delta_counts_too(book: Ledger) -> None:
    book.create_budget("x", epsilon=10, delta="1.5e-6")
    book.charge("x", HALF)
    with pytest.raises(BudgetError):
        book.charge("x", HALF)


def test_without_a_budget_it_is_recorded_and_not_limited(book: Ledger) -> None:
    for _ in range(30):
        account = book.charge("free", mechanism("optimal", 20, "0.9"))
    assert account.spent == (600, 1) and account.left is None and account.remainder == "recorded; no budget"


def test_a_budget_made_later_counts_what_was_charged_before(book: Ledger) -> None:
    book.charge("x", HALF)
    assert book.create_budget("x", epsilon=1, delta="2e-6").left == (Fraction(1, 2), Fraction(1, 10**6))
    book.charge("x", HALF)
    with pytest.raises(BudgetError):
        book.charge("x", HALF)


def test_a_budget_is_never_changed(book: Ledger) -> None:
    book.create_budget("x", epsilon=1, delta="1e-6")
    with pytest.raises(ParameterError, match="has a budget already, ε = 1, δ = 1e-6"):
        book.create_budget("x", epsilon=2, delta="1e-6")
    assert book.account("x").budget == Budget(Fraction(1), Fraction(1, 10**6))


def test_exact_composition_affords_more_and_stays_within(book: Ledger) -> None:
    for rule in ("basic", "exact"):
        book.create_budget(rule, epsilon=2, delta="1e-4", composition=rule)  # type: ignore[arg-type]
    weekly = mechanism("optimal", "0.1", "1e-7")
    afforded = dict.fromkeys(("basic", "exact"), 0)
    for rule in afforded:
        while afforded[rule] < 500:
            try:
                book.charge(rule, weekly)
            except BudgetError as error:
                assert ("left of" if rule == "basic" else "which makes it δ = ") in str(error)
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


def test_units_that_do_not_add_up_are_refused() -> None:
    def spend(unit: PrivacyUnit) -> Spending:
        return Spending("optimal", Fraction(1), Fraction(1, 10**6), unit)

    entry = Entry(1, "", "x", spend(PrivacyUnit()), 1, Standing.VERIFIED, "")
    account = Account("x", Budget(Fraction(10), Fraction(1, 10)), (entry,))
    account.admit(spend(PrivacyUnit()), Standing.VERIFIED)
    with pytest.raises(BudgetError, match="protect the unit 'case', this one 'patient': they do not add up"):
        account.admit(spend(PrivacyUnit("patient", 3)), Standing.VERIFIED)
    persons = Account("x", account.budget, (replace(entry, spending=spend(PrivacyUnit("patient", 3))),))
    persons.admit(spend(PrivacyUnit("patient", 5)), Standing.VERIFIED)  # both are about all cases of one patient


def test_what_costs_nobody_knows_what_has_no_place_in_a_budget(book: Ledger) -> None:
    published = mechanism("utravas-published", 1, "1e-3")
    book.create_budget("x", epsilon=10, delta="0.1")
    for refused in (book.check, book.charge):
        with pytest.raises(
            BudgetError, match="x: the guarantee of this release is not established, so its cost is not"
        ):
            refused("x", published)
    assert book.account("x").entries == ()
    book.charge("free", published)
    with pytest.raises(ParameterError, match="free: the guarantee of a release charged to it is not established"):
        book.create_budget("free", epsilon=10, delta="0.1")


def test_a_budget_of_persons(book: Ledger) -> None:
    book.create_budget("x", epsilon=1, delta="1e-3")
    account = book.charge("x", mechanism("optimal", "0.5", "1e-4", unit=PrivacyUnit("patient", 4)))
    assert account.entries[0].spending.unit == PrivacyUnit("patient", 4)
    assert account.left == (Fraction(1, 2), Fraction(9, 10**4))
    with pytest.raises(BudgetError, match="protect the unit 'patient', this one 'case'"):
        book.charge("x", mechanism("optimal", "0.1", "1e-6"))


def test_nothing_is_charged_when_it_fails_before_the_noise(
    book: Ledger, tmp_path: Path, travas: Run, small_csv: Path
) -> None:
    with pytest.raises(ParameterError):
        anonymize(LOG, epsilon=1, delta="1e-6", frequencies="wrong", ledger=book)  # type: ignore[arg-type]
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
    with pytest.raises(MissingExtraError, match="metrics"):
        anonymize(LOG, mechanism("utravas-published", 1, "1e-2"), ledger=book, guarantee="not required")
    assert book.history() == []


def test_the_charge_comes_before_the_noise(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn_and_dead(*_: object) -> None:
        assert len(book.history()) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("travas.privacy.noise.Noise.draw", drawn_and_dead)
    with pytest.raises(ChargedError, match="interrupted; the charge to .* stands") as failed:
        anonymize(LOG, epsilon=1, delta="1e-6", ledger=book)
    assert failed.value.interrupted and failed.value.account == book.history()[0].dataset
    assert len(book.history()) == 1


@pytest.mark.parametrize("kind", [OutputError, LogError])
def test_what_fails_after_the_charge_says_so(
    kind: type[Exception], book: Ledger, travas: Run, small_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise kind("out.json: cannot be written, no space left")

    monkeypatch.setattr("travas.Release.write", full)
    ran = travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / "out.json")
    assert (
        ran.code == 4
        and "no space left; the charge to" in ran.err
        and "stands" in ran.err
        and len(ran.err.splitlines()) == 1
    )
    assert len(book.history()) == 1


# ------------------------------------------------------------------------------------------------- logs without a name


def test_xes_and_csv_of_one_log_are_one_data_set(book: Ledger, small_csv: Path, tmp_path: Path) -> None:
    cases = "".join(
        "<trace>" + f'<string key="concept:name" value="{n}"/>'
        + "".join(f'<event><string key="concept:name" value="{a}"/></event>' for a in trace) + "</trace>"
        for n, trace in enumerate([("register", "release")] * 5 + [("register", "visit", "release")] * 20 + [("visit",)])
    )  # fmt: skip
    (tmp_path / "small.xes").write_text(f"<log>{cases}</log>")
    csv, xes = read(small_csv), read(tmp_path / "small.xes")
    assert book.dataset_of(csv) == book.dataset_of(xes)
    (tmp_path / "more.xes").write_text(
        f"<log>{cases.replace('<trace>', '<trace >', 1)}</log>".replace("visit", "visits")
    )
    assert book.dataset_of(read(tmp_path / "more.xes")) != book.dataset_of(xes)


traces = st.lists(st.sampled_from(["a", "b", "ab", "ba", "é"]), min_size=1, max_size=4).map(tuple)
logs = st.dictionaries(traces, st.integers(1, 5), max_size=8)


@given(logs, logs)
def test_the_fingerprint_is_the_log_and_nothing_else(one: dict, other: dict) -> None:  # type: ignore[type-arg]
    key = b"k" * 32

    def taken(log: dict, columns: tuple[str, ...] = ()) -> str:  # type: ignore[type-arg]
        return fingerprint(Variants.from_mapping(log, columns), key)

    assert taken(one) == taken(dict(reversed(one.items()))) == taken(one, ("activity",))
    assert (taken(one) == taken(other)) == (one == other)
    unused = Variants.from_mapping({("never",): 1, **one})
    assert fingerprint(Variants(unused.alphabet, unused.keys[1:], unused.counts[1:]), key) == taken(one)
    assert fingerprint(Variants.from_mapping(one), b"another key") != taken(one)


def test_tuples_and_names_are_not_confused() -> None:
    def taken(log: dict) -> str:  # type: ignore[type-arg]
        return fingerprint(Variants.from_mapping(log), b"")

    assert taken({(("a", "bc"),): 1}) != taken({(("ab", "c"),): 1}) != taken({("abc",): 1})
    assert taken({("a", "b"): 1}) != taken({("a",): 1, ("b",): 1})


def test_two_ledgers_know_a_log_by_different_digests(book: Ledger, tmp_path: Path) -> None:
    variants = Variants.from_mapping(LOG)  # type: ignore[arg-type]
    name = book.dataset_of(variants)
    assert name == Ledger(book.path).dataset_of(variants) != Ledger(tmp_path / "other.db").dataset_of(variants)
    anonymize(LOG, epsilon=1, delta="1e-6", ledger=book)
    assert [entry.dataset for entry in book.history()] == [name]


# ------------------------------------------------------------------------------------------------------------- the file


def test_only_its_owner_may_read_it(book: Ledger) -> None:
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    assert list(book.path.parent.iterdir()) == [book.path]


def test_it_is_append_only_in_the_file_itself(book: Ledger) -> None:
    book.create_budget("x", epsilon=1, delta="1e-6")
    book.charge("x", HALF)
    connection = sqlite3.connect(book.path)
    for statement in (
        "DELETE FROM charge", "UPDATE charge SET epsilon = '0'", "DELETE FROM budget",
        "UPDATE budget SET epsilon = '9'", "DELETE FROM identity", "UPDATE identity SET key = x'00'",
    ):  # fmt: skip
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


def test_order_is_that_of_the_lines_whatever_the_clock_says(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    book.create_budget("x", epsilon=1, delta="1e-5")
    for moment in ("2031-01-01T00:00:00+00:00", "1999-01-01T00:00:00+00:00"):
        monkeypatch.setattr(ledger, "_now", lambda moment=moment: moment)
        book.charge("x", HALF)
    assert [entry.time[:4] for entry in book.history()] == ["2031", "1999"]
    assert [entry.number for entry in book.history()] == [1, 2]
    with pytest.raises(BudgetError):
        book.charge("x", HALF)


def fill(book: Ledger) -> None:
    """Hundreds of charges at once."""
    book.charge("x", HALF)
    connection = sqlite3.connect(book.path)
    rest = "dataset, time, mechanism, epsilon, delta, unit, max_cases, minimum_cases, standing, software"
    for _ in range(9):
        connection.execute(f"INSERT INTO charge ({rest}) SELECT {rest} FROM charge")
    connection.commit()
    connection.close()


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
    connection = sqlite3.connect(book.path)
    connection.execute("INSERT INTO budget VALUES ('y', 'now', '1e999999999', '0', 'basic')")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerError, match="damaged"):
        book.charge("y", HALF)


def test_a_newer_ledger_asks_for_a_newer_travas(book: Ledger, travas: Run, small_csv: Path) -> None:
    connection = sqlite3.connect(book.path)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    assert "update travas" in refused(book.path, travas, small_csv)


def test_an_older_ledger_is_migrated_and_keeps_its_charges(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is one version yet: the next is made up here, first one that fails half-way."""
    book.create_budget("x", epsilon=1, delta="1e-5")
    book.charge("x", HALF)
    before = book.path.read_bytes()
    broken = ("ALTER TABLE charge ADD COLUMN place TEXT", "INSERT INTO nowhere VALUES (1)")
    monkeypatch.setattr(ledger, "MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(LedgerError):
        book.history()
    assert book.path.read_bytes() == before
    monkeypatch.setattr(ledger, "MIGRATIONS", (*MIGRATIONS, broken[:1]))
    assert len(book.charge("x", HALF).entries) == 2
    with pytest.raises(BudgetError):
        book.charge("x", HALF)
    monkeypatch.undo()
    with pytest.raises(LedgerError, match="version 2, I know 1"):
        Ledger(book.path)


def test_a_ledger_in_use_is_waited_for_and_then_an_error(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "BUSY_SECONDS", 0.2)
    other = sqlite3.connect(book.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="another process"):
        anonymize(LOG, epsilon=1, delta="1e-6", ledger=book)
    other.execute("ROLLBACK")
    other.close()
    anonymize(LOG, epsilon=1, delta="1e-6", ledger=book)
    assert len(book.history()) == 1


def test_a_ledger_that_is_gone_is_no_new_start(book: Ledger) -> None:
    book.create_budget("x", epsilon=1, delta="1e-6")
    book.path.unlink()
    with pytest.raises(LedgerError, match="is gone"):
        anonymize(LOG, epsilon=9, delta="1e-6", ledger=book, dataset="x")
    assert not book.path.exists()


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, travas: Run, small_csv: Path) -> None:
    monkeypatch.delenv("TRAVAS_LEDGER")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_path() == tmp_path / "data" / "travas" / "ledger.db"
    assert travas("demo", "-o", tmp_path / "demo").code == 0
    assert not default_path().exists()  # the demo touches no ledger
    anonymize(LOG, epsilon=1, delta="1e-6")
    assert not default_path().exists()  # nor does Python, unless asked
    assert travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / "a.json").code == 0
    assert len(Ledger.default().history()) == 1
    assert stat.S_IMODE(default_path().parent.stat().st_mode) == 0o700
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".local" / "share" / "travas" / "ledger.db"
    monkeypatch.setenv("TRAVAS_LEDGER", "mine.db")
    assert default_path() == Path("mine.db")
    monkeypatch.setenv("TRAVAS_LEDGER", "/proc/no/mine.db")
    with pytest.raises(LedgerError, match="give --ledger FILE"):
        Ledger.default()


# ----------------------------------------------------------------------------------------------------- the command line


def test_budgets_on_the_command_line(travas: Run, small_csv: Path, tmp_path: Path, ledger_path: Path) -> None:
    assert "no ledger yet" in travas("budget", "show").err and not ledger_path.exists()
    assert travas("budget", "create", "hospital", "--epsilon", 1, "--delta", "2e-6").code == 0
    release = ("anonymize", small_csv, "--epsilon", "0.5", "--delta", "1e-6", "--dataset", "hospital", "-o")
    first = travas(*release, tmp_path / "1.json")
    assert first.code == 0 and "ε = 0.5, δ = 1e-6 left of ε = 1, δ = 2e-6" in first.out
    second = json.loads(travas(*release, tmp_path / "2.json", "--json").out)
    assert second["ledger"] == {"dataset": "hospital", "releases": 2, "state": "ε = 0, δ = 0 left of ε = 1, δ = 2e-6"}
    third = travas(*release, tmp_path / "3.json")
    assert third.code == 3 and third.out == "" and len(third.err.splitlines()) == 1
    assert "ε = 0, δ = 0 left" in third.err and "asks for ε = 0.5, δ = 1e-6" in third.err
    assert not (tmp_path / "3.json").exists()
    assert travas("budget", "create", "hospital", "--epsilon", 1, "--delta", "2e-6").code == 2
    shown = json.loads(travas("budget", "show", "hospital", "--json").out)["datasets"][0]
    assert shown["releases"] == 2 and shown["left"] == {"epsilon": "0", "delta": "0"}
    history = json.loads(travas("budget", "history", "--json").out)["charges"]
    assert [charge["number"] for charge in history] == [1, 2] and history[0]["minimum_cases"] == 1
    assert "hospital" in travas("budget", "history").out and "hospital" in travas("budget", "show").out
    assert "it knows: hospital" in travas("budget", "show", "hopsital").err
    assert travas("budget", "export").out.splitlines()[1].startswith("1,2")
    for name in ("charges.csv", "charges.json"):
        assert travas("budget", "export", "-o", tmp_path / name).code == 0
        assert travas("budget", "export", "-o", tmp_path / name).code == 2  # exists
    assert json.loads((tmp_path / "charges.json").read_text())["charges"] == history


def test_a_log_without_a_name_is_explained_once(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    said = [
        "a changed one counts as a new data set"
        in travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / f"{run}.json").out
        for run in range(3)
    ]
    assert said == [True, False, False]


def test_planning_on_the_command_line(travas: Run) -> None:
    facts = json.loads(travas("budget", "plan", "--releases", 50, "--epsilon", 2, "--delta", "1e-6", "--json").out)
    assert facts["basic"] == {"epsilon": "0.04", "delta": "2e-8"}
    assert Fraction(facts["exact"]["epsilon"]) > Fraction(facts["basic"]["epsilon"])
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
