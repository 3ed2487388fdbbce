"""Classes on which guarantees rely have no subclasses outside travas."""

from __future__ import annotations

import pytest

import travas
from travas import Abstraction, Optimal, ParameterError, Reading, Release, Variants
from travas.maps.map_release import MapRelease
from travas.model.totals import Details
from travas.privacy.guarantee import Guarantee, PrivacyUnit
from travas.privacy.person_tables import GaussianTable
from travas.sources.remote import RemoteVariants
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
