"""Exact privacy parameters, the unit they protect, and the guarantee.

There are no floats: ε and δ are converted to fractions on input.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from ..errors import ParameterError
from .numbers import GROWTH_BITS, as_text, growth_bounds, rounded_down, rounded_up, whole_number

MAX_CASES = 1000

Counted = Literal["units", "cases"]
"""What is counted: units, each at most once per variant, or cases."""


@dataclass(frozen=True)
class PrivacyUnit:
    """The unit that a guarantee protects; by default one case.

    `name` is the column that identifies the person of a case, `max_cases` the maximum number of cases counted per
    person: a public number, not the maximum of the log.

    >>> PrivacyUnit("patient", 3)
    PrivacyUnit(name='patient', max_cases=3)
    """

    name: str = "case"
    max_cases: int = 1

    def __post_init__(self) -> None:
        name, most = self.name, self.max_cases
        if not isinstance(name, str) or not 0 < len(name) <= 200 or not name.isprintable() or name != name.strip():
            raise ParameterError(
                f"unit is {str(name)[:40]!r}: it must be the name of a column, of printable characters", field="unit"
            )
        whole_number(most, "max_cases", 1, MAX_CASES)
        if name == "case" and most != 1:
            raise ParameterError(
                f"max_cases is {most} but the unit is the case itself; set unit to the column that identifies the person",
                field="unit",
            )

    @property
    def is_case(self) -> bool:
        return self.name == "case"

    @property
    def noun(self) -> str:
        """The noun for one unit. Its name is the column that identifies people, often a heading such as `PID`."""
        return "case" if self.is_case else "person"


ONE_CASE = PrivacyUnit()


def _whole_unit(unit: PrivacyUnit) -> str:
    return "one case" if unit.is_case else f"all cases of one person (column {unit.name})"


Replacing = Literal["two counts", "any mechanism"] | Fraction
"""How the cost of replacing one unit by another is known: by two steps of the relation, or ε by the mechanism's own proof."""


class Standing(StrEnum):
    """How the guarantee is known to hold."""

    VERIFIED = "verified"
    """Checked in exact arithmetic on the table that was sampled."""
    PROVEN = "proven"
    """Follows from verified parts by composition."""
    NOT_ESTABLISHED = "not established"
    """There is no proof: do not rely on it."""


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of one release, and how it was established.

    `delta_spent` is the part of `delta` that the mechanism uses. Two logs are neighbours if one is the other plus one
    unit with all its cases. `replacing` determines the cost of replacing a unit: two neighbouring steps on independent
    counts, two steps of an arbitrary mechanism, or what the mechanism's own proof shows.
    """

    epsilon: Fraction
    delta: Fraction
    delta_spent: Fraction
    mechanism: str
    standing: Standing
    unit: PrivacyUnit = ONE_CASE
    replacing: Replacing = "two counts"
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.delta_spent > self.delta:
            raise ParameterError(
                f"delta spent is {rounded_up(self.delta_spent, 6)}, more than the requested delta of {as_text(self.delta)}",
                field="delta_spent",
            )

    @property
    def neighbours(self) -> str:
        """The relation under which the guarantee holds, regardless of the number of cases of a unit."""
        return f"add or remove {_whole_unit(self.unit)}"

    @property
    def holds_for(self) -> str:
        """The change of the log for which the guarantee holds, in words."""
        return f"adding or removing {_whole_unit(self.unit)}"

    @property
    def replace_one(self) -> tuple[Fraction, Fraction]:
        """Return (ε, δ) for replacing one unit by another: two steps of the relation.

        On different counts by composition (2ε, 2δ); by the mechanism's own proof; else by group privacy
        (2ε, (1 + e^ε)δ), rounded up.
        """
        if isinstance(self.replacing, Fraction):
            return self.replacing, self.delta
        above = Fraction(growth_bounds(self.epsilon)[1], 1 << GROWTH_BITS)
        factor = Fraction(2) if self.replacing == "two counts" else 1 + above
        return 2 * self.epsilon, min(factor * self.delta, Fraction(1))


@dataclass(frozen=True)
class GroupStep:
    """The cost of one count changing by one such that a whole unit costs (ε, δ).

    `factor`: the δ of the whole is at most `factor` times the δ of a step.
    """

    epsilon: Fraction
    delta: Fraction
    factor: Fraction


def step(epsilon: Fraction, delta: Fraction, max_cases: int, counted: Counted) -> GroupStep:
    """Return the step of a unit of at most `max_cases` counts: different counts if units are counted, any if cases are.

    Different counts: by composition (ε/m, δ/m). Anywhere: by group privacy ε' = ε/m, δ' = δ/(1 + e^ε' + … + e^((m−1)ε')),
    with an upper bound of e^ε', rounded down.

    >>> step(Fraction(1), Fraction(1, 100), 4, "units")
    GroupStep(epsilon=Fraction(1, 4), delta=Fraction(1, 400), factor=Fraction(4, 1))
    """
    if max_cases == 1 or counted == "units":
        return GroupStep(epsilon / max_cases, delta / max_cases, Fraction(max_cases))
    _, growth = growth_bounds(epsilon / max_cases)
    total = 0
    for _ in range(max_cases):
        total = (1 << GROWTH_BITS) - (-total * growth >> GROWTH_BITS)  # 1 + e^ε'·total, rounded up
    factor = Fraction(total, 1 << GROWTH_BITS)
    return GroupStep(epsilon / max_cases, rounded_down(delta / factor), factor)
