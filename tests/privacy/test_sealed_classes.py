"""Classes on which guarantees rely have no subclasses outside travas."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import travas
from travas import Abstraction, Ladder, Optimal, ParameterError, Reading, Release, Standing, Synthesis, Variants
from travas.maps.map_release import MapRelease
from travas.model.totals import Details
from travas.privacy.guarantee import Guarantee, PrivacyUnit
from travas.privacy.person_tables import GaussianTable
from travas.request import Request
from travas.sources.engines.remote import RemoteVariants
from travas.synthesis.synthetic_release import SyntheticRelease

FINAL = (
    Abstraction, travas.Attribute, travas.BudgetShares, Details, GaussianTable, Guarantee, MapRelease, travas.Period,
    PrivacyUnit, Reading, SyntheticRelease, travas.Times,
)  # fmt: skip


@pytest.mark.parametrize("made", [*FINAL, Release, Variants])
def test_no_other_package_extends_them(made: type) -> None:
    with pytest.raises(TypeError, match=f"Rare extends {made.__name__}, on which guarantees rely; use {made.__name__}"):
        type("Rare", (made,), {})
    with pytest.raises(TypeError, match=f"Rare extends {made.__name__}"):
        type("Rare", (type("Mixed", (), {}), made), {})


@pytest.mark.parametrize("made", FINAL)
def test_nor_does_travas(made: type) -> None:
    assert made.__final__  # type: ignore[attr-defined] # so mypy says it, too
    with pytest.raises(TypeError, match="Rare extends"):
        type("Rare", (made,), {"__module__": "travas.model.rare"})


def test_only_travas_has_other_releases_and_variants() -> None:
    assert issubclass(MapRelease, Release) and issubclass(RemoteVariants, Variants)


def test_what_looks_like_a_unit_is_none() -> None:
    class Unit:
        name, max_cases, is_case = "case", 1, True

    with pytest.raises(ParameterError, match=r"unit is a Unit; use travas.PrivacyUnit\(...\)") as refused:
        Optimal(1, "1e-6", unit=Unit())  # type: ignore[arg-type]
    assert refused.value.field == "unit"


class Mixin:
    """It keeps the classes after it from knowing about their subclasses."""

    def __init_subclass__(cls) -> None:
        """Call no other."""


def heir(made: type, *values: Any) -> Any:
    """A value of a class that extends a sealed one unnoticed."""
    return type("Rare", (Mixin, made), {})(*values)


COUNTS = np.array([5])
ONE = Fraction(1)
BORDERS: dict[str, tuple[str, Callable[[], Any]]] = {
    "abstraction": ("abstraction", lambda: Reading(abstraction=heir(Abstraction))),
    "period": ("period", lambda: Reading(period=heir(travas.Period, "2025-01", ("a",)))),
    "details": ("details", lambda: Reading(details=heir(Details))),
    "rung": ("rungs", lambda: Ladder(1, "1e-6", rungs=[heir(Abstraction)])),
    "unit": ("unit", lambda: Optimal(1, "1e-6", unit=heir(PrivacyUnit))),
    "times": ("times", lambda: Synthesis(1, "1e-6", times=heir(travas.Times))),
    "attribute": ("attributes", lambda: Synthesis(1, "1e-6", attributes=[heir(travas.Attribute, "age")])),
    "shares": ("shares", lambda: Synthesis(1, "1e-6", shares=heir(travas.BudgetShares))),
    "table": ("person_table", lambda: Optimal(1, "1e-6", person_table=heir(GaussianTable, ONE, 9))),
    "reading": ("reading", lambda: Request({("a",): 5}, Optimal(1, "1e-6"), heir(Reading))),
    "variants": ("source", lambda: Request(heir(Variants, ["a"], [b""], COUNTS), Optimal(1, "1e-6"))),
    "rule of variants": ("abstraction", lambda: Variants(["a"], [b""], COUNTS, abstraction=heir(Abstraction))),
    "unit of a guarantee": ("unit", lambda: Guarantee(ONE, ONE, ONE, "x", Standing.PROVEN, heir(PrivacyUnit))),
}


@pytest.mark.parametrize("border", BORDERS)
def test_a_subclass_that_nobody_noticed_is_not_accepted(border: str) -> None:
    field, use = BORDERS[border]
    with pytest.raises(ParameterError, match="is a Rare") as refused:
        use()
    assert refused.value.field == field
