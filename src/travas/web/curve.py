"""The keep-probability curve for the sliders, from the recipe alone, without any data.

A figure needs no verified table, so the table is built but not checked, which is fast. Sampled tables are always checked.
On a ladder it is the curve of the first or the selected rung.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from .. import explain
from ..errors import ParameterError
from ..mechanisms.mechanism import Mechanism
from ..plots.charts import keep_curve
from ..releases.release import count_noun
from ..trusted.numbers import exact
from .failures import in_words
from .recipe import Recipe

MOST_ENTRIES = 60_000
"""Longer tables take too long for a figure."""

EPSILONS = ("0.01", "0.02", "0.03", "0.05", "0.07", "0.1", "0.15", "0.2", "0.3", "0.4", "0.5", "0.7", "0.8", "1", "1.2",
            "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10")  # fmt: skip
DELTAS = (*(f"{digit}e-{power}" for power in range(12, 1, -1) for digit in (1, 2, 5)), "0.1")
"""The stops of the sliders: exact numbers as text."""


def nearest(stops: tuple[str, ...], value: str) -> int:
    """Return the index of the slider stop closest to a number."""
    try:
        wanted = exact(value, "value")  # bounded: a person may type 1e999999999
    except ParameterError:
        return 0
    return min(range(len(stops)), key=lambda stop: abs(Fraction(stops[stop]) - wanted) / Fraction(stops[stop]))


@dataclass(frozen=True)
class View:
    """What the page shows of a recipe: why it is invalid, or the mechanism and its curve as numbers and figure.

    `rung`: the rung of the curve on a ladder. `half`: the smallest number of cases with a probability above one half, which
    need not be one of the points. `weak`: why ε and δ protect only weakly, if they do.
    """

    why: str = ""
    mechanism: Mechanism | None = None
    rung: str = ""
    points: tuple[tuple[int, float], ...] = ()
    half: int | None = None
    picture: str = ""
    weak: tuple[str, ...] = ()


def view(recipe: Recipe) -> View:
    """Build the view of a recipe. It may be slow the first time and must not run in the event loop then."""
    try:
        weak = recipe.weak_protection()
    except ParameterError as error:
        return View(why=in_words(error))
    return replace(_view(replace(recipe, stated_cases="", looked_at=())), weak=weak)


@lru_cache(maxsize=256)
def _view(recipe: Recipe) -> View:
    """The view without what depends on the stated number of cases."""
    try:
        mechanism = recipe.build()
        curve_points = points(mechanism)
    except ParameterError as error:
        return View(why=in_words(error))
    curve = mechanism.keep_curve()
    rung = "" if curve is None else curve.rung if len(curve.rungs) < 2 else "the one that will be selected"
    if curve is None or not curve_points:
        return View("", mechanism, rung)
    half = curve.first_above(explain.HALF)
    return View("", mechanism, rung, curve_points, half, keep_curve(curve_points, half, count_noun(mechanism)))


def points(mechanism: Mechanism) -> tuple[tuple[int, float], ...]:
    """Return the curve of a mechanism; empty for mechanisms or sizes without a figure."""
    curve = mechanism.keep_curve()
    return () if curve is None or curve.longest > MOST_ENTRIES else tuple(curve.points())
