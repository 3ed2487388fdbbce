"""Disjoint groups of charges: releases of different periods under one rule are about different cases.

Every case is closed in at most one period, so the releases of different periods do not add up for it: they cost the
maximum (docs/mechanisms/periods.md, theorem 1). This holds for the unit *case*. A person may have cases in every period,
so charges for persons add up.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Any

from ..log.log import Roles
from ..sources.reading import Reading

if TYPE_CHECKING:
    from .account import Entry
    from .accounting import Spending

_INDIFFERENT = {"abstraction", "counted", "max_cases", "on_missing", "order", "period", "query", "recognised", "ties"}
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
        if changed := self.changed_rules(earlier):
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
        changed = sorted(each for each in names if self.rule.get(each, _MISSING) != earlier.rule.get(each, _MISSING))
        if _COLUMNS in changed and (_COLUMNS in self.rule) != (_COLUMNS in earlier.rule):
            changed.remove(_COLUMNS)  # they are compared once they are known
        return changed


_MISSING = object()
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


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
    rules: list[ChargedPeriod] = []
    for period in periods:
        if all(period.rule != other.rule for other in rules):
            rules.append(period)
    if any(one.changed_rules(other) for one, other in combinations(rules, 2)):
        return set()
    spans = sorted({period.span for period in periods})
    latest_ends = [_FIRST, *accumulate((end for _, end in spans), max)]  # of all that start before a span
    next_starts = [*(start for start, _ in spans[1:]), _LAST]
    return {
        (start, end)
        for (start, end), latest_end, next_start in zip(spans, latest_ends, next_starts, strict=False)
        if latest_end <= start and end <= next_start
    }
