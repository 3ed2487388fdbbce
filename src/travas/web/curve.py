"""The keep-probability curve while the sliders move: from the recipe alone, without any data.

A picture needs no verified table, so the table is built and not checked: that is fast. What is sampled always is checked.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from ..errors import ParameterError
from ..noise import Table, optimal_table, predicted_length, travas_table
from ..privacy import exact_delta, exact_epsilon
from ..svg import keep_curve, sampled
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
        wanted = Fraction(value)
        return min(range(len(stops)), key=lambda place: abs(Fraction(stops[place]) / wanted - 1))
    except (ValueError, ZeroDivisionError):
        return 0


@lru_cache(maxsize=256)
def points(recipe: Recipe) -> tuple[tuple[int, float], ...]:
    """The curve of a recipe; none for mechanisms or sizes that have no picture. ParameterError for an impossible recipe."""
    epsilon, delta = exact_epsilon(recipe.epsilon), exact_delta(recipe.delta)
    chosen = recipe.build()
    if recipe.mechanism not in ("optimal", "travas", "utravas") or predicted_length(epsilon, delta) > MOST_ENTRIES:
        return ()
    parameters = dict(recipe.options)
    least = parameters.get("minimum_cases", 1)
    if recipe.mechanism == "utravas":
        runs = int(getattr(chosen, "splits"))  # noqa: B009
        table = _table("travas", epsilon / runs, delta / runs)
        return tuple(sampled(lambda cases: 1 - (1 - table.keep_probability(cases)) ** runs, table.length))
    table = _table(recipe.mechanism, epsilon, delta)
    last = least - 1 + table.length
    return tuple(sampled(lambda cases: table.keep_probability(cases - least + 1), last))


@lru_cache(maxsize=256)
def curve(recipe: Recipe) -> str:
    """The picture, or nothing."""
    found = points(recipe)
    return keep_curve(found) if found else ""


@lru_cache(maxsize=64)
def _table(name: str, epsilon: Fraction, delta: Fraction) -> Table:
    return (optimal_table if name == "optimal" else travas_table)(epsilon, delta)


def refusal(recipe: Recipe) -> str:
    """Why a recipe cannot be carried out, in one line; empty if it can."""
    try:
        recipe.build()
    except ParameterError as error:
        return str(error)
    return ""
