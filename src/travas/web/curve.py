"""The keep-probability curve while the sliders move: from the recipe alone, without any data.

A picture needs no verified table, so the table is built and not checked: that is fast. What is sampled always is checked.
On a ladder it is the curve of the first rung, or of the one that will be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ..errors import ParameterError
from ..model.mechanism import Mechanism
from ..plots.charts import keep_curve
from ..privacy.numbers import exact
from .recipe import Recipe

MOST_ENTRIES = 60_000
"""Longer tables take longer than a picture may."""

EPSILONS = ("0.01", "0.02", "0.03", "0.05", "0.07", "0.1", "0.15", "0.2", "0.3", "0.4", "0.5", "0.7", "0.8", "1", "1.2",
            "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10")  # fmt: skip
DELTAS = (*(f"{digit}e-{power}" for power in range(12, 1, -1) for digit in (1, 2, 5)), "0.1")
"""The stops of the sliders: exact numbers, as they would be typed."""


def nearest(stops: tuple[str, ...], value: str) -> int:
    """The stop of a slider that is nearest to a number."""
    try:
        wanted = exact(value, "value")  # bounded: a person may type 1e999999999
    except ParameterError:
        return 0
    return min(range(len(stops)), key=lambda place: abs(Fraction(stops[place]) - wanted) / Fraction(stops[place]))


@dataclass(frozen=True)
class View:
    """What the page shows of a recipe: why it is impossible, or the mechanism and its curve, as numbers and as a picture.

    `rung` names the rung of a ladder that the curve is about. `weak` says why ε and δ protect only weakly, if they do.
    """

    why: str = ""
    mechanism: Mechanism | None = None
    rung: str = ""
    points: tuple[tuple[int, float], ...] = ()
    picture: str = ""
    weak: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def view(recipe: Recipe) -> View:
    """Look at a recipe. Some are slow: not to be called where others wait."""
    try:
        weak = recipe.weak_protection()
        chosen = recipe.build()
        found = points(chosen)
    except ParameterError as error:
        return View(why=str(error))
    curve = chosen.keep_curve()
    rung = "" if curve is None else curve.rung if len(curve.rungs) < 2 else "the one that will be chosen"
    return View("", chosen, rung, found, keep_curve(found, chosen.noun) if found else "", weak)


def points(chosen: Mechanism) -> tuple[tuple[int, float], ...]:
    """The curve of a mechanism; none for mechanisms or sizes that have no picture."""
    curve = chosen.keep_curve()
    return () if curve is None or curve.longest > MOST_ENTRIES else tuple(curve.points())
