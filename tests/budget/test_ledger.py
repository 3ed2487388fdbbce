"""The ledger: what it counts, what it refuses, what it never holds. Crashes and races: contract/test_ledger_faults.py."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from small_charges import HALF, LOG, charge

from travas import Budget, BudgetError, Ledger, ParameterError, PrivacyUnit, anonymize, from_description
from travas.budget.account import Account, Entry
from travas.budget.accounting import Spending
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import Mechanism
from travas.releases.release import name_of


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


def test_exact_composition_affords_more_and_stays_within() -> None:
    weekly = Spending.of(mechanism("optimal", "0.1", "1e-7"))
    basic, exact = (Budget(2, "1e-4", rule) for rule in ("basic", "exact"))
    assert basic.allows([weekly] * 20) and not basic.allows([weekly] * 21)
    assert exact.allows([weekly] * 25) and not exact.allows([weekly] * 100)


@pytest.mark.parametrize(("rule", "words"), [("basic", "left of"), ("exact", "for a total of δ = ")])
def test_a_budget_that_is_spent_refuses_by_its_rule(book: Ledger, rule: Any, words: str) -> None:
    book.create_budget("x", epsilon=1, delta="1e-6", composition=rule)
    charge(book, "x", mechanism("optimal", 1, "1e-6"))
    with pytest.raises(BudgetError, match=words):
        charge(book, "x", mechanism("optimal", 1, "1e-6"))
    if rule == "exact":
        assert book.account("x").left is None and "used of ε = 1, δ = 1e-6" in book.account("x").remainder


def test_exact_composition_accepts_whatever_the_sum_accepts() -> None:
    budget = Budget(Fraction(1), Fraction(1, 10**15), "exact")  # below what floating point can tell
    half = Spending.of(mechanism("optimal", "1/2", Fraction(1, 2 * 10**15)))
    assert budget.allows([half] * 2) and not budget.allows([half] * 3)


@pytest.mark.parametrize("budget", [None, Budget(Fraction(10), Fraction(1, 10))])
def test_units_and_cases_that_do_not_add_up_are_refused(budget: Budget | None) -> None:
    def spend(unit: PrivacyUnit) -> Spending:
        return Spending("optimal", Fraction(1), Fraction(1, 10**6), unit)

    def release(unit: PrivacyUnit, case: str) -> Entry:
        return Entry("x", spend(unit), case=case, number=1)

    entry = release(PrivacyUnit(), "visit")
    account = Account("x", budget, (entry,))
    account.admit(release(PrivacyUnit(), "visit"))
    with pytest.raises(
        BudgetError, match="its releases have the unit 'case', this one has 'patient'; .* use the unit of the earlier"
    ) as refused:
        account.admit(release(PrivacyUnit("patient", 3), "visit"))
    assert refused.value.field == "unit"
    with pytest.raises(BudgetError, match="its releases have the case 'visit', this one has 'patient'") as refused:
        account.admit(release(PrivacyUnit(), "patient"))
    assert refused.value.field == "case"
    counts = Account("x", budget, (replace(entry, case=None),))
    counts.admit(release(PrivacyUnit(), "patient"))  # counts do not say what a case is
    persons = Account("x", budget, (replace(entry, spending=spend(PrivacyUnit("patient", 3))),))
    persons.admit(release(PrivacyUnit("patient", 5), "visit"))  # both are about all cases of a patient


def test_a_release_of_unknown_cost_is_not_charged_to_a_budget(book: Ledger) -> None:
    published = mechanism("utravas-published", 1, "1e-3")
    book.create_budget("x", epsilon=10, delta="0.1")
    for refused in (book.check, book.charge):
        with pytest.raises(
            BudgetError, match="x: the guarantee of this release is not established, so its cost is not"
        ):
            refused(Entry.of("x", None, published, "case_id"))
    assert book.account("x").entries == ()
    book.create_account("free")
    charge(book, "free", published)
    with pytest.raises(ParameterError, match="free: the guarantee of a release charged to it is not established"):
        book.create_budget("free", epsilon=10, delta="0.1")


@pytest.mark.parametrize(
    "rule",
    [
        mechanism("optimal", 1, "1e-6", minimum_cases=5),
        mechanism("optimal", 1, "1e-6", unit=PrivacyUnit("patient", 10)),
        mechanism("ladder", "1/3", "1e-6", rungs="default"),
        mechanism("prefix-tree", 1, "0", max_length=7, prune=3, alphabet=["a", "bé"]),
        mechanism("map", 1, "1e-6", parts=["rework"]),
    ],
    ids=lambda rule: f"{name_of(rule)}, {rule.unit.name}",
)
def test_a_charge_records_the_mechanism_with_all_its_options(rule: Mechanism, book: Ledger) -> None:
    book.create_account("clinic")
    charge(book, "clinic", rule)
    spending = book.history()[0].spending
    assert spending == Spending.of(rule) and from_description(spending.description) == rule
