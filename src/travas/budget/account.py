"""Budgets and accounts: what a data set may spend, what was spent, and whether another release fits."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal
from unicodedata import normalize

import attrs

from .._version import __version__
from ..errors import BudgetError, ParameterError, check_encodable, one_of, shown
from ..explain import numbers
from ..log.log import EVERY_TRACE
from ..log.plain import plain
from ..mechanisms.mechanism import Mechanism
from ..trusted.guarantee import PrivacyUnit, Standing
from ..trusted.numbers import as_text, exact_delta, exact_epsilon, rounded_up
from .accounting import ChargedPeriod, Spending, alternatives, basic, compose, disjoint_spans

CompositionRule = Literal["basic", "exact"]
"""How releases compose: by Σε and Σδ, or by the privacy losses of their noise tables."""

BudgetSpan = Literal["all", "year"]
"""The releases that a budget is for: all of a data set, or those of each calendar year (UTC)."""


@attrs.frozen
class Budget:
    """(ε, δ) that all releases of a data set together may spend, in all or in every calendar year."""

    epsilon: Fraction = attrs.field(converter=exact_epsilon)
    delta: Fraction = attrs.field(converter=exact_delta)
    composition: CompositionRule = attrs.field(default="basic", validator=one_of(CompositionRule))
    span: BudgetSpan = attrs.field(default="all", validator=one_of(BudgetSpan))

    def __str__(self) -> str:
        return numbers(self.epsilon, self.delta)

    def delta_used(self, spendings: Iterable[Spending]) -> Fraction:
        """Return an upper bound of the δ of these releases together, at the ε and composition of the budget.

        Args:
            spendings: What the releases spend.

        Returns:
            The bound.
        """
        releases = list(spendings)
        epsilon, delta = basic(releases)
        if epsilon <= self.epsilon and (self.composition == "basic" or delta <= self.delta):
            return delta  # the sum is valid under either rule
        return Fraction(1) if self.composition == "basic" else compose(releases)(self.epsilon)

    def allows(self, spendings: Iterable[Spending]) -> bool:
        """Return whether these releases together stay within the budget. Exact composition accepts all that basic does.

        Args:
            spendings: What the releases spend.

        Returns:
            True if they stay within the budget.
        """
        return self.delta_used(spendings) <= self.delta


def is_text(_: object, attribute: attrs.Attribute[str], value: str) -> None:
    """The validator of an attrs field of text that can be written to a file."""
    if not isinstance(value, str):
        raise ParameterError(f"{attribute.name} is {shown(value)}; use text", field=attribute.name)
    check_encodable(attribute.name, value)


@attrs.frozen
class Approval:
    """Why a release is made, and who has signed it off; recorded with the charge.

    `reference` is a name by which its maker finds the release again, such as its folder in the archive of the web app.
    """

    reason: str = attrs.field(default="", validator=is_text)
    signed_off_by: str = attrs.field(default="", validator=is_text)
    reference: str = attrs.field(default="", validator=is_text)


NO_APPROVAL = Approval()


@dataclass(frozen=True)
class Entry:
    """One charge, or one that is not made yet. `time` is the system time; charges are ordered by their numbers.

    `case` is the case column or attribute; None if it was not recorded. `period` is that of a release of one period.
    `location` is the path of the log, if it has one. `policy` holds the rules that the release was checked against in the
    moment of the charge, as plain values; None if there was no policy.
    """

    dataset: str | None
    spending: Spending
    location: str | None = None
    case: str | None = None
    period: ChargedPeriod | None = None
    approval: Approval = NO_APPROVAL
    policy: Mapping[str, Any] | None = None
    number: int = 0
    time: str = ""
    software: str = f"travas {__version__}"

    @classmethod
    def of(
        cls,
        dataset: str | None,
        location: str | None,
        mechanism: Mechanism,
        case: str = "",
        period: ChargedPeriod | None = None,
        approval: Approval = NO_APPROVAL,
    ) -> Entry:
        """Return the charge of a release by this mechanism, which is not made yet.

        Args:
            dataset: The name of the data set, or None to charge the account of the file.
            location: The path of the log, `location_of`; None if it is not a file.
            mechanism: The mechanism of the release.
            case: What a case is, `Roles.defined_case`; empty if it is not known.
            period: The period of a release of one period: `ChargedPeriod.of`.
            approval: The reason of the release, and who has signed it off.
        """
        return cls(dataset, Spending.of(mechanism), location, case or None, period, approval)

    def as_json(self) -> dict[str, Any]:
        """Return all fields as plain values. The location is only for the owner of the ledger."""
        return {**plain(self), "location": readable(self.location) or None}


@dataclass(frozen=True)
class UnitName:
    """What the persons of a data set are called, and the columns that identify one of them, in any of its logs."""

    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Account:
    """The budget of a data set, if any, and everything that was charged to it.

    An account without a name has a `location` instead, the path of its log, which is never published.
    """

    dataset: str | None
    budget: Budget | None
    entries: tuple[Entry, ...]
    location: str | None = None
    unit: UnitName | None = None

    @property
    def label(self) -> str:
        """The name or location of the account. Guarantees and reports must use `dataset`."""
        return readable(self.dataset or self.location)

    @cached_property
    def unit_columns(self) -> tuple[str, ...]:
        """The columns that identify one person: those that the owner has stated, and those of the releases."""
        stated = () if self.unit is None else self.unit.columns
        charged = (entry.spending.unit for entry in self.entries)
        return tuple(dict.fromkeys((*stated, *(unit.name for unit in charged if not unit.is_case))))

    @cached_property
    def alternatives(self) -> list[list[Spending]]:
        """The charges that add up for one unit: one list for each period, of which a case is in one."""
        return alternatives(self.entries)

    @cached_property
    def spent(self) -> tuple[Fraction, Fraction]:
        """(Σε, Σδ) for one unit: of different periods only the largest one counts."""
        sums = [basic(spendings) for spendings in self.alternatives]
        return max(epsilon for epsilon, _ in sums), max(delta for _, delta in sums)

    def after(self, release: Entry) -> Account:
        """Return the account with another release."""
        return replace(self, entries=(*self.entries, release))

    @property
    def has_periods(self) -> bool:
        """Whether charges of different periods count once."""
        return len(disjoint_spans(self.entries)) > 1

    def of_year(self, time: str) -> Account:
        """Return the account with the charges of the calendar year (UTC) of this time alone."""
        return replace(self, entries=tuple(entry for entry in self.entries if entry.time.startswith(time[:5])))

    @cached_property
    def this_year(self) -> Account:
        """The account with the charges of this calendar year (UTC) alone."""
        return self.of_year(now())

    @cached_property
    def _counted(self) -> Account:
        """The account with the charges that count against its budget."""
        return self.this_year if self.budget is not None and self.budget.span == "year" else self

    @cached_property
    def delta_used(self) -> Fraction | None:
        """δ used at the budget's ε, rounded conservatively; None without a budget."""
        return max(map(self.budget.delta_used, self._counted.alternatives)) if self.budget else None

    @property
    def left(self) -> tuple[Fraction, Fraction] | None:
        """The remaining (ε, δ) of a budget with basic composition; None for others, which no such pair describes."""
        if self.budget is None or self.budget.composition != "basic":
            return None
        epsilon, delta = self._counted.spent
        return max(self.budget.epsilon - epsilon, Fraction(0)), max(self.budget.delta - delta, Fraction(0))

    @property
    def remainder(self) -> str:
        """A description of what is left."""
        if self.budget is None:
            return "recorded; no budget"
        span = " in this year" if self.budget.span == "year" else ""
        if self.left is not None:
            return f"{numbers(*self.left)} left of {self.budget}{span}"
        used = rounded_up(self.delta_used or Fraction(0), 4)
        return f"δ = {used} used of {self.budget}, exactly composed{span}"

    def as_json(self) -> dict[str, Any]:
        """Return what was spent and what is left, as plain values. The location is only for the owner of the ledger."""
        budget = self.budget
        return {
            "dataset": self.dataset,
            "location": self.location,
            "unit": self.unit and self.unit.name,
            "unit_columns": list(self.unit_columns),
            "releases": len(self.entries),
            "spent": as_plain(self.spent),
            "spent_this_year": as_plain(self.this_year.spent),
            "budget": budget and plain(budget) | {"delta_used": rounded_up(self.delta_used or Fraction(0))},
            "left": self.left and as_plain(self.left),
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the sum of its releases assumes, beyond what each of them does; the report lists it."""
        if self.budget is None or self.budget.composition != "exact":
            return ()
        return ("ε and δ of all releases of the data set were fixed without looking at earlier releases",)

    @property
    def has_unknown_cost(self) -> bool:
        """Whether a release without an established guarantee was charged."""
        return any(entry.spending.standing is Standing.NOT_ESTABLISHED for entry in self.entries)

    @property
    def total(self) -> str:
        """What was spent, in words."""
        unknown = "unknown: the guarantee of a release is not established"
        return unknown if self.has_unknown_cost else numbers(*self.spent)

    def adds_up(self, earlier: Entry, release: Entry) -> bool:
        """Whether a charge is about the same units as a release to this account, so that their costs add up."""
        unit, before = release.spending.unit, earlier.spending.unit
        if self.unit is not None:
            columns = self.unit_columns or (() if unit.is_case else (unit.name,))
            return {before.name, unit.name} <= {*columns}
        return self._objection(earlier, release) is None

    def admit(self, release: Entry) -> None:
        """Raise BudgetError unless another release can be charged to this account.

        Guarantees compose only if they protect the same unit and define a case in the same way. `max_cases` may differ,
        because each guarantee holds for all cases of a unit, regardless of how many are counted. With a unit name the
        columns may differ too, and the definition of a case: each guarantee holds for all that is recorded of a person.
        Periods must be disjoint, or the same, under one rule.
        """
        if self.unit is not None:
            self._check_column(self.unit, release.spending.unit)
        else:
            for earlier in self.entries:
                if refusal := self._objection(earlier, release):
                    raise refusal
        if self.budget is not None:
            self._check_budget(self.budget, release)

    def _check_budget(self, budget: Budget, release: Entry) -> None:
        """Refuse a release that the budget does not allow."""
        spending = release.spending
        if spending.standing is Standing.NOT_ESTABLISHED:
            why = "the guarantee of this release is not established, so its cost is not known"
            raise self._refused(why, "use another mechanism, or a data set without a budget", "mechanism")
        if self._counted.has_unknown_cost:
            why = "the guarantee of an earlier release is not established, so what was spent is not known"
            raise self._refused(why, "use a data set without a budget", "dataset")
        together = self._counted.after(release).alternatives
        if all(map(budget.allows, together)):
            return
        asked = numbers(spending.epsilon, spending.delta)
        if budget.composition == "exact":
            asked += f", for a total of δ = {rounded_up(max(map(budget.delta_used, together)), 4)}"
        remedy = "release nothing more about the same people" + (" in this year" if budget.span == "year" else "")
        if self.left is None or self.left[0]:
            remedy = f"use a smaller epsilon or delta, or {remedy}"
        raise BudgetError(f"{self.label}: {self.remainder}; this release needs {asked}; nothing was released; {remedy}")

    def _objection(self, earlier: Entry, release: Entry) -> BudgetError | None:
        """Why the costs of two releases do not add up: another unit, definition of a case, or rule of periods."""
        before, now = earlier.spending.unit, release.spending.unit
        why = "its releases have the {} {!r}, this one has {!r}; such guarantees do not compose"
        if before.name != now.name:
            remedy = "use the unit of the earlier releases, or another data set"
            if self.dataset is not None and not before.is_case and not now.is_case:
                remedy += f"; if both identify the same persons, run {_naming_command(self, 'person', now.name)}"
            return self._refused(why.format("unit", before.name, now.name), remedy, "unit")
        if earlier.case and release.case and earlier.case != release.case:
            field = "duplicate_cases" if EVERY_TRACE in (earlier.case, release.case) else "case"
            remedy = f"use the {field} of the earlier releases, or another data set"
            return self._refused(why.format("case", earlier.case, release.case), remedy, field)
        period = release.period if now.is_case else None
        if period is not None and earlier.period is not None and (reason := period.conflict(earlier.period)):
            remedy = "use the rule and the periods of the earlier releases, or another data set"
            return self._refused(reason, remedy, *(period.changed_rules(earlier.period) or ["period"]))
        return None

    def _check_column(self, unit: UnitName, protected: PrivacyUnit) -> None:
        """Refuse a unit that is not known to be that of the data set. The first release may use any column."""
        known = ", ".join(map(repr, self.unit_columns))
        if protected.is_case:
            why = f"its releases protect one {unit.name}, this one a single case"
            remedy = f"set unit to the column that identifies the {unit.name}{f': {known}' if known else ''}"
            raise self._refused(why, remedy, "unit")
        if known and protected.name not in self.unit_columns:
            why = f"{protected.name!r} is not known as a column that identifies one {unit.name} (known: {known})"
            raise self._refused(why, f"if it does, run {_naming_command(self, unit.name, protected.name)}", "unit")

    def _refused(self, why: str, remedy: str, *fields: str) -> BudgetError:
        message = f"{self.label}: {why}; nothing was released; {remedy}"
        return BudgetError(message, field=fields[0], other_fields=fields[1:])


def as_plain(values: tuple[Fraction, Fraction]) -> dict[str, str]:
    """Return (ε, δ) as exact text."""
    return {"epsilon": as_text(values[0]), "delta": as_text(values[1])}


def _naming_command(account: Account, noun: str, column: str) -> str:
    """The command that states that a column identifies a person of a data set."""
    words = ["travas", "budget", "create", account.label, "--unit-name", noun, "--unit-columns", column]
    return f"`{shlex.join(words)}`"


def now() -> str:
    """Return the system time, to seconds, as records state it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def readable(text: str | None) -> str:
    """Return a path as it is shown: what is not valid UTF-8 is escaped."""
    return (text or "").encode(errors="backslashreplace").decode()


def check_name(name: str, field: str = "dataset") -> str:
    """Check the name of a new data set, or of its unit."""
    composed = normalize("NFC", name) if isinstance(name, str) else ""
    if not composed or composed != composed.strip() or len(composed) > 200 or not composed.isprintable():
        raise ParameterError(f"{field} is {shown(name)}: it must have 1 to 200 printable characters", field=field)
    return composed


def check_unit_name(name: str) -> str:
    """Check what the persons of a data set are called."""
    if name == "case":
        raise ParameterError("unit_name is 'case', which needs no name; use the noun for a person", field="unit_name")
    return check_name(name, "unit_name")


def comparable(dataset: str) -> str:
    """Return a form in which names that differ only in case, width or encoding of accents are equal."""
    return normalize("NFKC", dataset).casefold()
