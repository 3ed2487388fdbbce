"""Disjoint groups of charges: releases of different periods under one rule are about different cases.

Every case is closed in at most one period, so the releases of different periods do not add up for it: they cost the
maximum (docs/mechanisms/periods.md, theorem 1). This holds for the unit *case*. A person may have cases in every period,
so charges for persons add up.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..model.variants import Roles
from ..sources.reading import Reading
from .accounting import Spending

_INDIFFERENT = {"abstraction", "counted", "max_cases", "on_missing", "order", "period", "query", "recognised", "ties"}
"""What a reading may change from period to period: none of it decides when a case is closed."""

_COLUMNS = "columns"


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
        """Return the period of a reading; None if it has none.

        Args:
            reading: The rule from events to variants.
            roles: The columns that were read; None before the log is opened.

        Returns:
            The period, for the ledger.
        """
        if (period := reading.period) is None:
            return None
        described = reading.describe(roles or Roles("", (), None))
        rule = {name: value for name, value in described.items() if name not in _INDIFFERENT}
        if roles is None:
            del rule[_COLUMNS]
        if reading.query is not None:
            rule["query"] = hashlib.sha256(reading.query.encode()).hexdigest()
        return cls(period.name, period.start, period.end, period.rule() | rule)

    def describe(self) -> dict[str, Any]:
        """Return the period as plain values, for the record of a charge."""
        return {
            "name": self.name,
            "start": self.start.isoformat(),
            "end": self.end.isoformat(),
            "rule": dict(self.rule),
        }

    @classmethod
    def from_plain(cls, described: Mapping[str, Any]) -> ChargedPeriod:
        """Rebuild a period from the record of a charge. Raises ValueError, TypeError or LookupError if it is damaged."""
        start, end = (datetime.fromisoformat(described[name]) for name in ("start", "end"))
        if start.tzinfo is None or not start < end or not isinstance(described["rule"], dict):
            raise ValueError("not a period")
        return cls(described["name"], start, end, described["rule"])

    def conflict(self, earlier: ChargedPeriod) -> str | None:
        """Return why the releases of both periods do not compose; None if they do."""
        changed = sorted(
            name
            for name in {*self.rule, *earlier.rule}
            if self.rule.get(name, _MISSING) != earlier.rule.get(name, _MISSING)
        )
        if _COLUMNS in changed and (_COLUMNS in self.rule) != (_COLUMNS in earlier.rule):
            changed.remove(_COLUMNS)  # they are compared once they are known
        if changed:
            return (
                f"the rule by which cases are closed has changed since the period {earlier.name} ({', '.join(changed)}); "
                "a case could be counted in two periods"
            )
        same = (self.start, self.end) == (earlier.start, earlier.end)
        if not same and self.start < earlier.end and earlier.start < self.end:
            return f"the period {self.name} overlaps {earlier.name}, which was released before"
        return None


_MISSING = object()


def alternatives(charges: Iterable[tuple[Spending, ChargedPeriod | None]]) -> list[list[Spending]]:
    """Return the charges that add up for one unit: for a case, those of its period and those without a period.

    Args:
        charges: All charges of an account, each with its period.

    Returns:
        One list of charges for every period; a unit is affected by one of them. The cost is their maximum.
    """
    common: list[Spending] = []
    own: dict[tuple[datetime, datetime], list[Spending]] = {}
    for spending, period in charges:
        if period is None or not spending.unit.is_case:
            common.append(spending)
        else:
            own.setdefault((period.start, period.end), []).append(spending)
    groups = [[*common, *spendings] for spendings in own.values()] or [common]
    return list({frozenset(Counter(group).items()): group for group in groups}.values())
