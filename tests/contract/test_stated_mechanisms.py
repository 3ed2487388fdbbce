"""What a user states means the same mechanism in a project file and in the web app."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import travas
from travas import Mechanism, ParameterError, PrivacyUnit
from travas.log.options import BudgetShares
from travas.settings.project import Project
from travas.trusted.guarantee import ONE_CASE
from travas.web.recipe import Recipe

Stated = dict[str, Any]
PERSON = PrivacyUnit("patient", 3)
RATE: dict[str, Any] = {"epsilon": "1/2", "delta": "1e-6"}
AGE = travas.Attribute("age", bins=(0, 20, 40))
STATED: dict[str, tuple[Stated, PrivacyUnit, Mechanism]] = {
    "default": ({}, ONE_CASE, travas.Optimal(**RATE)),
    "minimum": ({"minimum_cases": "5"}, PERSON, travas.Optimal(**RATE, minimum_cases=5, unit=PERSON)),
    "ladder": ({"mechanism": "ladder", "rungs": "default"}, PERSON, travas.Ladder(**RATE, unit=PERSON)),
    "rungs": (
        {"mechanism": "ladder", "rungs": "full,first", "shares": "adaptive", "minimum_cases": "2"},
        ONE_CASE,
        travas.Ladder(**RATE, rungs="full,first", shares="adaptive", minimum_cases=2),
    ),
    "runs": ({"mechanism": "utravas", "splits": "3"}, ONE_CASE, travas.UTravas(**RATE, splits=3)),
    "tree": (
        {"mechanism": "prefix-tree", "max_length": "7", "prune": "4", "alphabet": ("a", "b c")},
        ONE_CASE,
        travas.PrefixTree(**RATE, max_length=7, prune=4, alphabet=("a", "b c")),
    ),
    "map": (
        {"mechanism": "map", "parts": ("rework", "durations")},
        PERSON,
        travas.ProcessMap(**RATE, parts=("durations", "rework"), unit=PERSON),
    ),
    "times": (
        {
            "mechanism": "synthesis",
            "zone": "Europe/Berlin",
            "attributes": ("age=0,20,40",),
            "shares": "times=0.1,attributes=0.2",
        },
        ONE_CASE,
        travas.Synthesis(
            **RATE,
            times=travas.Times(zone="Europe/Berlin"),
            attributes=(AGE,),
            shares=BudgetShares(times="0.1", attributes="0.2"),
        ),
    ),
    "without times": ({"mechanism": "synthesis", "times": "none"}, ONE_CASE, travas.Synthesis(**RATE)),
}


def by_project(stated: Stated, unit: PrivacyUnit, folder: Path) -> Mechanism:
    protected = {} if unit.is_case else {"unit": unit.name, "max_cases": unit.max_cases}
    return Project(home=folder).with_values(RATE | protected | with_file(stated, folder)).mechanism()


def by_recipe(stated: Stated, unit: PrivacyUnit, _: Path) -> Mechanism:
    options = dict(stated)
    recipe = Recipe(options.pop("mechanism", "optimal"), **RATE)
    if not unit.is_case:
        recipe = replace(recipe, unit=unit.name, max_cases=str(unit.max_cases))
    for option, value in options.items():
        recipe = recipe.with_option(option, "\n".join(value) if option == "alphabet" else value)
    return recipe.build()


def with_file(stated: Stated, folder: Path) -> Stated:
    """Name the activities in a file, as flags and projects do."""
    if "alphabet" not in stated:
        return stated
    (folder / "names.txt").write_text("\n".join(stated["alphabet"]))
    return stated | {"alphabet": "names.txt"}


FRONT_ENDS = [by_project, by_recipe]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize("name", STATED)
def test_every_front_end_builds_the_mechanism_that_is_stated(
    name: str, front_end: Callable[[Stated, PrivacyUnit, Path], Mechanism], tmp_path: Path
) -> None:
    stated, unit, expected = STATED[name]
    assert front_end(stated, unit, tmp_path) == expected


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (
            {"mechanism": "optimal", "zone": "UTC"},
            "zone is set but mechanism is 'optimal'; set mechanism to 'synthesis'",
        ),
        ({"mechanism": "synthesis", "times": "none", "zone": "UTC"}, "zone is set but times are left out"),
        ({"mechanism": "map", "prune": "3"}, "map has no option prune"),
        ({"mechanism": "prefix-tree", "prune": "3"}, "prefix-tree needs max_length"),
        ({"minimum_cases": "many"}, "minimum_cases is 'many': it must be a whole number"),
        ({"mechanism": "ladder", "rungs": "full,first", "shares": "1"}, "shares is '1'"),
    ],
)
def test_every_front_end_refuses_what_is_inconsistent(
    stated: Stated, message: str, front_end: Callable[[Stated, PrivacyUnit, Path], Mechanism], tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        front_end(stated, ONE_CASE, tmp_path)
