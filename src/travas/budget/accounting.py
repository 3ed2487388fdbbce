"""The composition of several releases: the sum, the exact cost from privacy losses, and disjoint groups of charges.

The exact cost is an upper bound at every step, in exact integers, by the engine of `trusted.losses`: docs/budgets.md.

Releases of different periods under one rule are about different cases: every case is closed in at most one period, so
such releases do not add up for it, they cost the maximum (docs/mechanisms/periods.md, theorem 1). This holds for the unit
*case*. A person may have cases in every period, so charges for persons add up.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from ..errors import ParameterError, VerificationError
from ..log.log import Roles
from ..mechanisms import from_description
from ..mechanisms.mechanism import Mechanism
from ..sources.reading import Reading
from ..trusted.guarantee import ONE_CASE, PrivacyUnit, Standing
from ..trusted.losses import Losses, Step, delta_curve

if TYPE_CHECKING:
    from .account import Entry


@dataclass(frozen=True)
class Spending:
    """The cost of one release for one unit, sufficient to rebuild its mechanism.

    `description` is what `Mechanism.describe()` returned; where no mechanism can be built from it, the worst case is assumed.
    """

    mechanism: str
    epsilon: Fraction
    delta: Fraction
    unit: PrivacyUnit = ONE_CASE
    standing: Standing = Standing.PROVEN
    description: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, mechanism: Mechanism) -> Self:
        """Return the cost of a release of this mechanism."""
        promised = mechanism.guarantee()
        described = json.loads(json.dumps(mechanism.describe()))  # as it will be read from the ledger
        return cls(promised.mechanism, promised.epsilon, promised.delta, promised.unit, promised.standing, described)

    def losses(self) -> Losses:
        """Return what one unit changes: as the mechanism states it, or that (ε, δ) is all that is known."""
        if self.standing is not Standing.NOT_ESTABLISHED:
            with suppress(ParameterError, VerificationError):  # a required option was not recorded, or another table
                return _losses(json.dumps(self.description, sort_keys=True))
        return (Step(self.epsilon, self.delta),)


@lru_cache(maxsize=256)
def _losses(description: str) -> Losses:
    return from_description(json.loads(description)).losses()


def basic(spendings: Iterable[Spending]) -> tuple[Fraction, Fraction]:
    """Return (Σε, Σδ), which bounds the total cost even if later releases depend on earlier ones."""
    all_ = list(spendings)
    return sum((s.epsilon for s in all_), Fraction(0)), min(sum((s.delta for s in all_), Fraction(0)), Fraction(1))


def compose(spendings: Iterable[Spending]) -> Callable[[Fraction], Fraction]:
    """Return the δ of releases together as a function of ε: never below the exact one, never above that of the sum."""
    releases = list(spendings)
    total_epsilon, total_delta = basic(releases)
    steps = [(spending.losses(), times) for spending, times in Counter(releases).items()]
    curve = delta_curve(steps) if steps else lambda epsilon: Fraction(0)
    return lambda epsilon: min(curve(epsilon), total_delta if epsilon >= total_epsilon else Fraction(1))


# ------------------------------------------------------------------------------------------- charges of periods

_INDIFFERENT = {"abstraction", "counted", "max_cases", "on_missing", "order", "period", "query", "ties"}
"""What a reading may change from period to period: none of it decides when a case is closed."""

_COLUMNS = "columns"

Span = tuple[datetime, datetime]
"""The first instant of a period, and the first after it."""


@dataclass(frozen=True)
class ChargedPeriod:
    """The period of a charge and the rule by which cases are closed; `rule` holds plain values.

    Attributes:
        name: The period, such as `2026-02`.
        start: Its first instant.
        end: The first instant after it.
        rule: Everything that decides when a case is closed. Before the log is opened it lacks the columns.
    """

    name: str
    start: datetime
    end: datetime
    rule: Mapping[str, Any]

    @classmethod
    def of(cls, reading: Reading, roles: Roles | None) -> ChargedPeriod | None:
        """Return the period of a reading; None if it has none."""
        if (period := reading.period) is None:
            return None
        described = reading.describe(roles or Roles("", (), None))
        rule = {name: value for name, value in described.items() if name not in _INDIFFERENT}
        if roles is None:
            del rule[_COLUMNS]
        if reading.query is not None:
            rule["query"] = hashlib.sha256(reading.query.encode()).hexdigest()
        return cls(period.name, period.start, period.end, period.rule() | rule)

    def conflict(self, earlier: ChargedPeriod) -> str | None:
        """Return why the releases of both periods do not compose; None if they do."""
        if self.rule != earlier.rule and (changed := self.changed_rules(earlier)):
            return (
                f"the rule by which cases are closed has changed since the period {earlier.name} ({', '.join(changed)}); "
                "a case could be counted in two periods"
            )
        if self.span != earlier.span and self.start < earlier.end and earlier.start < self.end:
            return f"the period {self.name} overlaps {earlier.name}, which was released before"
        return None

    @property
    def span(self) -> Span:
        """Its first instant, and the first after it."""
        return self.start, self.end

    def changed_rules(self, earlier: ChargedPeriod) -> list[str]:
        """Return what differs between the rules of two periods."""
        names = self.rule.keys() | earlier.rule.keys()
        if not (_COLUMNS in self.rule and _COLUMNS in earlier.rule):
            names.discard(_COLUMNS)  # they are compared once they are known
        return sorted(each for each in names if self.rule.get(each) != earlier.rule.get(each))


def alternatives(charges: Sequence[Entry]) -> list[list[Spending]]:
    """Return the charges that add up for one unit: for a case, those of its period and those without a period.

    Charges of periods that overlap, or whose rules differ, may be about the same cases: they always add up.
    """
    disjoint = disjoint_spans(charges)
    common: list[Spending] = []
    own: dict[Span, list[Spending]] = {}
    for charge in charges:
        if charge.period is None or not charge.spending.unit.is_case or charge.period.span not in disjoint:
            common.append(charge.spending)
        else:
            own.setdefault(charge.period.span, []).append(charge.spending)
    groups = [[*common, *spendings] for spendings in own.values()] or [common]
    return list({frozenset(Counter(group).items()): group for group in groups}.values())


def disjoint_spans(charges: Sequence[Entry]) -> set[Span]:
    """Return the periods whose cases are counted in no other one: all follow one rule, and they overlap no other."""
    periods = [each.period for each in charges if each.period is not None and each.spending.unit.is_case]
    return {one.span for one in periods if all(one.conflict(other) is None for other in periods)}
