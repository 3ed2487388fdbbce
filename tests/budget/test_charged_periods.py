"""The ledger and periods: charges of disjoint periods under one rule count once; anything else is refused."""

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import attrs
import pytest

from conftest import Run
from travas import BudgetError, Ledger, ParameterError, Period, Reading, read
from travas.budget.account import Entry
from travas.budget.accounting import ChargedPeriod, Spending, alternatives, basic
from travas.log.log import Roles
from travas.mechanisms import from_description, mechanism
from travas.pipeline import Request, run

ROLES = Roles("case_id", ("activity",), "timestamp")
RULE = Period("2026-01", end_activity=("end",), grace="7d")
ONE = mechanism("optimal", 1, "1e-6")


def charged(name: str, **changed: object) -> ChargedPeriod:
    period = ChargedPeriod.of(Reading(period=attrs.evolve(RULE, name=name), **changed), ROLES)  # type: ignore[arg-type]
    assert period is not None
    return period


def month(number: int, **changed: object) -> ChargedPeriod:
    return charged(f"2026-{number:02}", **changed)


@pytest.fixture
def charge(ledger_path: Path) -> Callable[..., Ledger]:
    def charge(*periods: ChargedPeriod | None, epsilon: object = 1) -> Ledger:
        ledger = Ledger(ledger_path)
        for period in periods:
            ledger.charge(Entry.of("hospital", None, mechanism("optimal", epsilon, "1e-6"), "case_id", period))  # type: ignore[arg-type]
        return ledger

    ledger = Ledger(ledger_path)
    ledger.create_budget("hospital", epsilon=2, delta="2e-6")
    return charge


def test_twelve_months_cost_as_much_as_one(charge: Callable[..., Ledger]) -> None:
    account = charge(*map(month, range(1, 13))).account("hospital")
    assert account.spent == (Fraction(1), Fraction("1e-6"))
    assert account.left == (Fraction(1), Fraction("1e-6"))
    assert [entry.as_json()["period"]["name"] for entry in account.entries] == [f"2026-{n:02}" for n in range(1, 13)]


@pytest.mark.parametrize(
    "period", [month(1), month(2), month(3), None], ids=["the first month", "the second", "another", "the whole log"]
)
def test_what_another_release_would_cost_is_what_it_then_costs(
    period: ChargedPeriod | None, charge: Callable[..., Ledger]
) -> None:
    before = charge(month(1), month(2), epsilon="1/2").account("hospital")
    expected = before.after(Entry.of("hospital", None, ONE, period=period)).spent
    assert before.spent == (Fraction(1, 2), Fraction("1e-6"))
    assert charge(period).account("hospital").spent == expected
    assert expected[0] == (1 if period == month(3) else Fraction(3, 2))


def test_two_releases_of_one_month_add_up_and_so_do_releases_of_the_whole_log(charge: Callable[..., Ledger]) -> None:
    ledger = charge(month(1), month(1), month(2))
    assert ledger.account("hospital").spent == (Fraction(2), Fraction("2e-6"))
    with pytest.raises(BudgetError, match="nothing was released"):
        charge(month(1))
    ledger = charge(month(2), month(3))  # other months have room
    with pytest.raises(BudgetError, match="this release needs"):
        charge(None)
    assert ledger.account("hospital").spent[0] == 2


def test_another_lifecycle_column_is_another_rule(ledger_path: Path, tmp_path: Path) -> None:
    """It is recognised by its name, and its values decide which event closes a case."""
    ledger = Ledger(ledger_path)
    ledger.create_budget("hospital", epsilon=2, delta="2e-6")
    for month_name, column in ("2026-01", "lifecycle:transition"), ("2026-02", "transition"):
        log = tmp_path / f"{month_name}.csv"
        log.write_text(f"case_id,activity,timestamp,{column}\n1,end,{month_name}-05T00:00:00,complete\n")
        reading = Reading(period=attrs.evolve(RULE, name=month_name), lifecycle="complete")
        request = Request(log, ONE, reading, ledger=ledger, dataset="hospital")
        if column == "transition":
            with pytest.raises(BudgetError, match=r"has changed since the period 2026-01 \(columns\)"):
                run(request)
        else:
            release = run(request).release
            assert release.reading is not None and release.reading["columns"]["lifecycle"] == column


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"period": attrs.evolve(RULE, name="2026-02", end_activity=("end", "stop"))}, r"has changed .*end_activity"),
        ({"period": attrs.evolve(RULE, name="2026-02", end_activity=(), gap="30d")}, r"has changed .*gap"),
        ({"period": attrs.evolve(RULE, name="2026-02", grace="1d")}, r"has changed .*grace"),
        ({"period": attrs.evolve(RULE, name="2026-02"), "timestamp": "sent"}, r"has changed .*timestamp"),
        ({"period": attrs.evolve(RULE, name="2026-02"), "activity": ("step",)}, r"has changed .*activity"),
        ({"period": attrs.evolve(RULE, name="2026-02"), "query": "SELECT 2"}, r"has changed .*query"),
        ({"period": attrs.evolve(RULE, name="2026-01-31/2026-02-28")}, "overlaps 2026-01"),
        ({"period": attrs.evolve(RULE, name="2026-Q1")}, "overlaps 2026-01"),
    ],
)
def test_a_changed_rule_or_an_overlapping_range_is_refused(
    charge: Callable[..., Ledger], other: dict[str, object], reason: str
) -> None:
    ledger = charge(month(1))
    period = ChargedPeriod.of(Reading(**other), None)  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match=reason) as refused:
        ledger.check(Entry.of("hospital", None, ONE, "", period))
    wanted = "period" if "overlaps" in reason else reason.rpartition("*")[2]
    assert wanted in (refused.value.field, *refused.value.other_fields)
    period = ChargedPeriod.of(Reading(**other), ROLES)  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match=reason):
        ledger.charge(Entry.of("hospital", None, ONE, "case_id", period))
    assert len(ledger.account("hospital").entries) == 1


def test_what_does_not_decide_the_closing_may_change(charge: Callable[..., Ledger]) -> None:
    account = charge(month(1), month(2, abstraction="first"), month(3, ties="activity")).account("hospital")
    assert account.spent[0] == 1


def test_for_persons_charges_add_up(ledger_path: Path) -> None:
    """The same person may have a case in every month."""
    ledger = Ledger(ledger_path)
    ledger.create_budget("patients", epsilon=2, delta="2e-6")
    persons = from_description(ONE.describe() | {"unit": {"name": "patient", "max_cases": 2}})
    for number in (1, 2):
        reading = Reading(period=attrs.evolve(RULE, name=f"2026-{number:02}"), unit="patient", max_cases=2)
        ledger.charge(Entry.of("patients", None, persons, "case_id", ChargedPeriod.of(reading, ROLES)))
    assert ledger.account("patients").spent == (Fraction(2), Fraction("2e-6"))
    with pytest.raises(BudgetError):
        ledger.charge(Entry.of("patients", None, persons, "case_id", month(3)))


def test_exact_composition_also_takes_the_largest(ledger_path: Path) -> None:
    ledger = Ledger(ledger_path)
    ledger.create_budget("exact", epsilon=1, delta="1e-6", composition="exact")
    for number in range(1, 5):
        ledger.charge(Entry.of("exact", None, ONE, "case_id", month(number)))
    account = ledger.account("exact")
    assert account.delta_used is not None and account.delta_used <= Fraction("1e-6")
    with pytest.raises(BudgetError):
        ledger.charge(Entry.of("exact", None, ONE, "case_id", month(4)))


def test_a_location_with_another_rule_is_not_taken_over_by_a_name(ledger_path: Path) -> None:
    """Otherwise its periods and those of the name would count once, although a case could be in both."""
    ledger = Ledger(ledger_path)
    ledger.create_account("a")
    ledger.charge(Entry.of(None, "/log.csv", ONE, "case_id", month(1)))
    ledger.charge(Entry.of("a", "/log.csv", ONE, "case_id", month(2, timestamp="sent")))
    assert [len(account.entries) for account in ledger.accounts()] == [1, 1]
    with pytest.raises(BudgetError, match="has changed"):
        ledger.charge(Entry.of("a", None, ONE, "case_id", month(1)))


def plain_cost(charges: list[tuple[Fraction, ChargedPeriod]]) -> Fraction:
    """The largest sum of what may be about one case: a charge, and all that conflict with it or with one another."""
    common = [cost for cost, one in charges if any(one.conflict(other) for _, other in charges)]
    own = [(cost, one.name) for cost, one in charges if not any(one.conflict(other) for _, other in charges)]
    largest = max((sum(cost for cost, name in own if name == month) for _, month in own), default=0)
    return Fraction(sum(common) + largest)


def test_the_cost_of_any_history_is_that_of_its_plain_twin() -> None:
    names = ("2026-01", "2026-02", "2026-Q1", "2026-Q2", "2026-03-15/2026-04-15", "2026-05", "2025")
    periods = [*map(charged, names), month(7, timestamp="sent")]
    draw = random.Random(7)
    for _ in range(300):
        history = [(Fraction(draw.randint(1, 9)), draw.choice(periods)) for _ in range(draw.randint(1, 6))]
        groups = alternatives([Entry("x", Spending("optimal", cost, Fraction(0)), period=one) for cost, one in history])
        assert max(basic(group)[0] for group in groups) == plain_cost(history)


def test_a_period_is_not_released_before_its_grace_period_has_passed(travas: Run, small_csv: Path) -> None:
    ran = travas(
        "anonymize", small_csv, "--epsilon", "1", "--delta", "1e-6", "--period", "9000-01", "--gap", "30d", "-o", "x.json"
    )  # fmt: skip
    assert ran.code == 2
    assert "it can be released from 9000-02-01 00:00 UTC on" in ran.err and "(option --period)" in ran.err
    ran = travas("anonymize", small_csv, "--epsilon", "1", "--delta", "1e-6", "--gap", "30d", "-o", "x.json")
    assert ran.code == 2 and "gap is set but period is not" in ran.err


def test_counts_have_no_period(ledger_path: Path, tmp_path: Path) -> None:
    """A list with two periods was charged as two disjoint sets of cases, and was the same cases twice."""
    ledger = Ledger(ledger_path)
    ledger.create_budget("hospital", epsilon=2, delta="2e-6")
    release = run(Request([("a",)] * 50, ONE)).release
    released = release.write(tmp_path / "release.json")
    for source in ({("a",): 1}, [("a",), ("b",)], release, str(released), released, read(tmp_path / "release.json")):
        with pytest.raises(ParameterError, match="counts, which have no times"):
            run(Request(source, ONE, reading=Reading(period=RULE), ledger=ledger, dataset="hospital"))
    assert ledger.account("hospital").entries == ()
