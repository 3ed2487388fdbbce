"""Dividing a budget among planned releases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import ParameterError
from ..explain import HALF
from ..mechanisms.selection import Optimal
from ..trusted.numbers import MAX_EPSILON, Number, exact_delta, exact_epsilon, rounded_down, whole_number
from .account import as_plain
from .accounting import Spending, compose

MAX_RELEASES = 10_000
_SHARES = (Fraction(1, 2), Fraction(9, 10))
"""Shares of δ for the releases; the rest allows a smaller total ε. Neither is always better, so both are tried."""
_QUICK = 1 << 9  # cells of the search; the result is checked as the ledger does it


@dataclass(frozen=True)
class Plan:
    """What each of `releases` releases may spend, as (ε, δ), so that all together stay within (ε, δ)."""

    releases: int
    epsilon: Fraction
    delta: Fraction
    basic: tuple[Fraction, Fraction]
    exact: tuple[Fraction, Fraction]
    """For `optimal` and a budget with exact composition."""

    @property
    def periods(self) -> tuple[Fraction, Fraction]:
        """If every release counts the cases of another period, each may spend everything: docs/mechanisms/periods.md."""
        return self.epsilon, self.delta

    @property
    def _gain(self) -> Fraction:
        """How much more ε exact composition allows, as a share; below 1 % it is not worth mentioning."""
        return self.exact[0] / self.basic[0] - 1

    def as_json(self) -> dict[str, Any]:
        """Return what a release may spend by each rule, from how many cases on it releases a variant, and a recommendation."""
        total = {"releases": self.releases, **as_plain(self.periods), "recommendation": self.recommendation()}
        for way in ("basic", "exact", "periods"):
            half, most = kept(*getattr(self, way)) or (None, None)
            total[way] = as_plain(getattr(self, way)) | {"cases_for_50_percent": half, "cases_for_95_percent": most}
        return total

    def remarks(self) -> dict[str, str]:
        """Say when each rule holds, and what it gains."""
        gain = f"{float(self._gain):.0%} more ε; for `optimal`, with all releases fixed in advance"
        return {
            "basic": "always valid",
            "exact": gain if self._gain >= Fraction(1, 100) else "no significant gain: use basic",
            "periods": "if every release counts the cases closed in another period; unit: case",
        }

    def recommendation(self) -> str:
        """Say which rule to use."""
        if self.releases == 1:
            return "One release may spend everything."
        exact = "exact composition (travas budget create --composition exact)"
        other = exact if self._gain >= Fraction(1, 100) else "basic composition"
        return (
            "Recommended: releases of periods (--period, travas docs every-month), if cases are closed by an activity or a gap "
            f"and the unit is the case; otherwise {other}, or fewer releases."
        )


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
    return Plan(releases, *total, basic, exact)


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

    def fits(size: Fraction, **precision: int) -> bool:
        return compose([Spending("optimal", size, each)] * releases, **precision)(epsilon) <= delta

    low, high = epsilon / releases, min(epsilon, MAX_EPSILON)
    while high - low > low / 2000:
        middle = rounded_down((low + high) / 2, 6)
        low, high = (middle, high) if fits(middle, cells=_QUICK) else (low, middle)
    largest = max(rounded_down(low, 3), epsilon / releases)
    return (largest if fits(largest) else epsilon / releases), each
