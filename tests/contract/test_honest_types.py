"""Values with conversion at the border: mypy sees what a constructor accepts (no `type: ignore` is needed here)."""

from fractions import Fraction
from pathlib import Path

import travas
from travas.budget.account import Budget
from travas.log.options import Attribute, Times
from travas.sources.period import Period

LISTED = {"mechanism": ["optimal"]}


def test_a_constructor_converts_what_its_types_say(tmp_path: Path) -> None:
    reading = travas.Reading(abstraction="first | prefix:8", delimiter="tab")
    assert reading.abstraction == travas.Abstraction.parse("first | prefix:8") and reading.delimiter == "\t"
    assert travas.Reading(activity="concept:name").activity == ("concept:name",)
    assert hash(travas.Reading(activity=["a", "b"])) == hash(travas.Reading(activity=("a", "b")))
    budget = Budget(1, "1e-6")
    assert (budget.epsilon, budget.delta) == (Fraction(1), Fraction(1, 10**6))
    assert travas.Ledger(str(tmp_path / "ledger.db")) == travas.Ledger(tmp_path / "ledger.db")
    assert Period("2026-02", end_activity=["end"]).end_activity == ("end",)
    assert Times(weekend=[6, 5, 5]).weekend == (5, 6)
    assert Attribute("age", bins=["0", 18, 65]).bins == (Fraction(0), Fraction(18), Fraction(65))
