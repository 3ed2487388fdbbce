"""Dividing a budget among planned releases."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import ParameterError
from ..explain import HALF
from ..mechanisms.selection import Optimal
from ..trusted.losses import FEWEST_CELLS, delta_curve
from ..trusted.numbers import MAX_EPSILON, Number, exact_delta, exact_epsilon, rounded_down, whole_number
from .account import as_plain

MAX_RELEASES = 10_000
_SHARES = (Fraction(1, 2), Fraction(9, 10))
"""Shares of δ for the releases; the rest allows a smaller total ε. Neither is always better, so both are tried."""
_QUICK = 1 << 9  # cells of the search; the result is checked as the ledger does it


WAYS = {
    "basic": "always valid",
    "exact": "for `optimal`, with all releases fixed in advance: travas budget create --composition exact",
    "periods": "if the unit is a case, and every release counts those closed in another period: travas docs every-month",
}
"""The rules by which releases add up, and when each of them holds."""


@dataclass(frozen=True)
class Plan:
    """What each of `releases` releases may spend, as (ε, δ), so that all together stay within a budget."""

    releases: int
    basic: tuple[Fraction, Fraction]
    exact: tuple[Fraction, Fraction]
    """For `optimal` and a budget with exact composition."""
    periods: tuple[Fraction, Fraction]
    """If every release counts the cases of another period, each may spend everything: docs/mechanisms/periods.md."""

    def as_json(self) -> dict[str, Any]:
        """Return what a release may spend by each rule, and from how many cases on it releases a variant."""
        total: dict[str, Any] = {"releases": self.releases, **as_plain(self.periods)}
        for way in WAYS:
            half, most = kept(*getattr(self, way)) or (None, None)
            total[way] = as_plain(getattr(self, way)) | {"cases_for_50_percent": half, "cases_for_95_percent": most}
        return total


def plan(releases: int, *, epsilon: Number, delta: Number) -> Plan:
    """Divide a budget of (ε, δ) equally among releases. No log is read.

    Args:
        releases: The number of releases.
        epsilon: ε of all releases together.
        delta: δ of all releases together.

    Returns:
        What each release may spend, under basic and exact composition.

    >>> plan(12, epsilon=3, delta="1.2e-5").basic
    (Fraction(1, 4), Fraction(1, 1000000))
    """
    whole_number(releases, "releases", 1, MAX_RELEASES)
    total = exact_epsilon(epsilon), exact_delta(delta)
    basic = total[0] / releases, total[1] / releases
    candidates = [_largest(releases, *total, rounded_down(basic[1] * share, 3)) for share in _SHARES if basic[1]]
    # a little more ε does not make up for half of δ: what is kept decides, and basic if that is the same
    exact = min([basic, *candidates], key=lambda share: kept(*share) or (math.inf, math.inf))
    return Plan(releases, basic, exact, total)


MOST = Fraction(95, 100)


def kept(epsilon: Fraction, delta: Fraction) -> tuple[int, int] | None:
    """Return from how many cases on `optimal` releases a variant with a probability above 50 % and above 95 %.

    None if `optimal` does not support ε or δ, such as δ = 0.

    >>> kept(Fraction(1), Fraction("1e-6"))
    (14, 16)
    """
    try:
        curve = Optimal(epsilon=epsilon, delta=delta).curve
    except ParameterError:
        return None
    return curve.first_above(HALF), curve.first_above(MOST)


def _largest(releases: int, epsilon: Fraction, delta: Fraction, each: Fraction) -> tuple[Fraction, Fraction]:
    """Return the largest ε of a release at δ = `each`, to three digits, such that all releases fit."""

    def fits(size: Fraction, cells: int = FEWEST_CELLS) -> bool:
        with suppress(ParameterError):  # `optimal` does not support them
            return delta_curve([(Optimal(size, each).losses(), releases)], cells)(epsilon) <= delta
        return False

    low, high = epsilon / releases, min(epsilon, MAX_EPSILON)
    while high - low > low / 2000:
        middle = rounded_down((low + high) / 2, 6)
        low, high = (middle, high) if fits(middle, _QUICK) else (low, middle)
    largest = max(rounded_down(low, 3), epsilon / releases)
    return (largest if fits(largest) else epsilon / releases), each
