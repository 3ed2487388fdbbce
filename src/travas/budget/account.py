"""Budgets and accounts: what a data set may spend, what was spent, and whether another release fits."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args
from unicodedata import name as unicode_name
from unicodedata import normalize

import attrs

from ..errors import BudgetError, ParameterError, check_encodable, shown
from ..model.variants import EVERY_TRACE
from ..trusted.guarantee import ONE_CASE, Standing
from ..trusted.numbers import as_text, exact_delta, exact_epsilon, rounded_up
from .accounting import Spending, basic, compose
from .periods import ChargedPeriod, alternatives, disjoint_spans

CompositionRule = Literal["basic", "exact"]
"""How releases compose: by Σε and Σδ, or by the privacy losses of their noise tables."""


@attrs.frozen
class Budget:
    """(ε, δ) that all releases of a data set together may spend."""

    epsilon: Fraction = attrs.field(converter=exact_epsilon)
    delta: Fraction = attrs.field(converter=exact_delta)
    composition: CompositionRule = "basic"

    def __attrs_post_init__(self) -> None:
        if self.composition not in get_args(CompositionRule):
            rules = ", ".join(get_args(CompositionRule))
            raise ParameterError(f"composition is {self.composition!r}; use one of {rules}", field="composition")

    def __str__(self) -> str:
        return f"ε = {as_text(self.epsilon)}, δ = {as_text(self.delta)}"

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
        return Fraction(1) if self.composition == "basic" else compose(releases).delta(self.epsilon)

    def allows(self, spendings: Iterable[Spending]) -> bool:
        """Return whether these releases together stay within the budget. Exact composition accepts all that basic does.

        Args:
            spendings: What the releases spend.

        Returns:
            True if they stay within the budget.
        """
        return self.delta_used(spendings) <= self.delta


@dataclass(frozen=True)
class Approval:
    """Why a release is made, and who has signed it off; recorded with the charge.

    `reference` is a name by which its maker finds the release again, such as its folder in the archive of the web app.
    """

    reason: str = ""
    signed_off_by: str = ""
    reference: str = ""

    def __post_init__(self) -> None:
        for name in ("reason", "signed_off_by", "reference"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise ParameterError(f"{name} is {shown(value)}; use text", field=name)
            check_encodable(name, value)


NO_APPROVAL = Approval()


@dataclass(frozen=True)
class Entry:
    """One charge. `time` is the system time; charges are ordered by their numbers.

    `case` is the case column or attribute; None if it was not recorded. `period` is that of a release of one period.
    """

    number: int
    time: str
    dataset: str | None
    spending: Spending
    minimum_cases: int | None
    software: str
    case: str | None = None
    location: str | None = None
    period: ChargedPeriod | None = None
    approval: Approval = NO_APPROVAL

    @property
    def standing(self) -> Standing | None:
        """How the guarantee of the release is known to hold."""
        return self.spending.standing

    def as_json(self) -> dict[str, int | str | None]:
        """Return all fields. The location is only for the owner of the ledger.

        Returns:
            The fields by name, as JSON types.
        """
        return {
            "number": self.number,
            "time": self.time,
            "dataset": self.dataset,
            "location": readable(self.location) or None,
            "mechanism": self.spending.mechanism,
            "epsilon": as_text(self.spending.epsilon),
            "delta": as_text(self.spending.delta),
            "unit": self.spending.unit.name,
            "max_cases": self.spending.unit.max_cases,
            "case": readable(self.case) or None,
            "period": None if self.period is None else self.period.name,
            "minimum_cases": self.minimum_cases,
            "standing": str(self.standing),
            "software": self.software,
            "reason": self.approval.reason or None,
            "signed_off_by": self.approval.signed_off_by or None,
            "reference": self.approval.reference or None,
        }


@dataclass(frozen=True)
class Account:
    """The budget of a data set, if any, and everything that was charged to it.

    An account without a name has a `location` instead, such as the path of a file, which is never published.
    """

    dataset: str | None
    budget: Budget | None
    entries: tuple[Entry, ...]
    location: str | None = None

    @property
    def name(self) -> str | None:
        """The name set by the owner, if any; accounts that version 1 derived from the content of a log have none."""
        return None if self.dataset is None or is_content_name(self.dataset) else self.dataset

    @property
    def label(self) -> str:
        """The name or location of the account. Guarantees and reports must use `name`."""
        return readable(self.dataset or self.location)

    @property
    def assignment(self) -> str:
        """The command that moves its charges to a data set."""
        return f"travas budget assign {shlex.quote(self.label)} NAME"

    @property
    def spendings(self) -> list[Spending]:
        return [entry.spending for entry in self.entries]

    @cached_property
    def alternatives(self) -> list[list[Spending]]:
        """The charges that add up for one unit: one list for each period, of which a case is in one."""
        return alternatives((entry.spending, entry.period) for entry in self.entries)

    @cached_property
    def spent(self) -> tuple[Fraction, Fraction]:
        """(Σε, Σδ) for one unit: of different periods only the largest one counts."""
        return _largest_sums(self.alternatives)

    def spent_with(self, spending: Spending, period: ChargedPeriod | None) -> tuple[Fraction, Fraction]:
        """Return (Σε, Σδ) for one unit after another release.

        Args:
            spending: The cost of the release.
            period: Its period, if it has one.

        Returns:
            The sums; of different periods, the largest counts.
        """
        return _largest_sums(self._alternatives_with(spending, period))

    def _alternatives_with(self, spending: Spending, period: ChargedPeriod | None) -> list[list[Spending]]:
        return alternatives([*((entry.spending, entry.period) for entry in self.entries), (spending, period)])

    @property
    def has_periods(self) -> bool:
        """Whether charges of different periods count once."""
        return len(disjoint_spans((entry.spending, entry.period) for entry in self.entries)) > 1

    @cached_property
    def delta_used(self) -> Fraction | None:
        """δ used at the budget's ε, rounded conservatively; None without a budget."""
        return max(map(self.budget.delta_used, self.alternatives)) if self.budget else None

    @property
    def left(self) -> tuple[Fraction, Fraction] | None:
        """The remaining (ε, δ) of a budget with basic composition; None for others, which no such pair describes."""
        if self.budget is None or self.budget.composition != "basic":
            return None
        epsilon, delta = self.spent
        return max(self.budget.epsilon - epsilon, Fraction(0)), max(self.budget.delta - delta, Fraction(0))

    @property
    def remainder(self) -> str:
        """A description of what is left."""
        if self.budget is None:
            return "recorded; no budget"
        if self.left is not None:
            epsilon, delta = map(as_text, self.left)
            return f"ε = {epsilon}, δ = {delta} left of {self.budget}"
        used = rounded_up(self.delta_used or Fraction(0), 4)
        return (
            f"δ = {used} used of {as_text(self.budget.delta)} at ε = {as_text(self.budget.epsilon)}, exactly composed"
        )

    def admit(self, spending: Spending, case: str | None, period: ChargedPeriod | None = None) -> None:
        """Raise BudgetError unless another release can be charged to this account.

        Guarantees compose only if they protect the same unit and define a case in the same way. `max_cases` may differ,
        because each guarantee holds for all cases of a unit, regardless of how many are counted. Periods must be
        disjoint, or the same, under one rule.

        Args:
            spending: What the release spends.
            case: The column that identifies cases; None if it is not known.
            period: The period whose cases it counts; None for the whole log.
        """
        for entry in self.entries:
            if entry.spending.unit.name != spending.unit.name:
                raise self._does_not_add_up("unit", entry.spending.unit.name, spending.unit.name)
            if entry.case is not None and case is not None and entry.case != case:
                raise self._does_not_add_up("case", entry.case, case)
            if period is not None and entry.period is not None and spending.unit.is_case:
                self._check_period(period, entry.period)
        if self.budget is None:
            return
        if spending.standing is Standing.NOT_ESTABLISHED:
            raise BudgetError(
                f"{self.label}: the guarantee of this release is not established, so its cost is not known and cannot be "
                "charged to a budget; nothing was released; use another mechanism, or a data set without a budget",
                field="mechanism",
            )
        if self.has_unknown_cost:
            raise BudgetError(
                f"{self.label}: the guarantee of an earlier release is not established, so what was spent is not known; "
                "nothing was released; use another data set",
                field="dataset",
            )
        together = self._alternatives_with(spending, period)
        if all(map(self.budget.allows, together)):
            return
        asked = f"ε = {as_text(spending.epsilon)}, δ = {as_text(spending.delta)}"
        if self.budget.composition == "exact":
            asked += f", for a total of δ = {rounded_up(max(map(self.budget.delta_used, together)), 4)}"
        raise BudgetError(f"{self.label}: {self.remainder}; this release needs {asked}; nothing was released")

    @property
    def has_unknown_cost(self) -> bool:
        """Return whether a release without an established guarantee was charged."""
        return any(entry.standing is Standing.NOT_ESTABLISHED for entry in self.entries)

    def _check_period(self, period: ChargedPeriod, earlier: ChargedPeriod) -> None:
        if (reason := period.conflict(earlier)) is not None:
            changed = period.changed_rules(earlier) or ["period"]
            raise BudgetError(
                f"{self.label}: {reason}; nothing was released; use the rule and the periods of the earlier releases, or "
                f"{self._elsewhere}",
                field=changed[0],
                other_fields=tuple(changed[1:]),
            )

    def _does_not_add_up(self, what: str, before: str, now: str) -> BudgetError:
        remedy, field = f"{what}={before!r}", what
        if what == "case" and EVERY_TRACE in (before, now):
            remedy, field = "the duplicate_cases of the earlier releases", "duplicate_cases"
        if what == "unit" and before == ONE_CASE.name:
            remedy = "no unit and no max_cases"
        return BudgetError(
            f"{self.label}: its releases have the {what} {before!r}, this one has {now!r}; such guarantees do not compose; "
            f"nothing was released; use {remedy}, or {self._elsewhere}",
            field=field,
        )

    @property
    def _elsewhere(self) -> str:
        """The other remedy: charges without a name count under the first name that their location is given."""
        if self.dataset is not None:
            return "another dataset"
        return f"first assign its releases, which have no name, to a separate data set ({self.assignment})"


def _largest_sums(groups: Iterable[Iterable[Spending]]) -> tuple[Fraction, Fraction]:
    sums = [basic(spendings) for spendings in groups]
    return max(epsilon for epsilon, _ in sums), max(delta for _, delta in sums)


def readable(text: str | None) -> str:
    """Return recorded text as it is shown: what is not valid UTF-8, which earlier versions recorded, is escaped."""
    return (text or "").encode(errors="backslashreplace").decode()


def is_content_name(dataset: str) -> bool:
    """Return whether version 1 derived this name from the content of a log; no new name may look like one."""
    return dataset.startswith("log:")


def check_text(dataset: str) -> str:
    """Return the name of a data set; raises ParameterError if it is not text."""
    if not isinstance(dataset, str):
        raise ParameterError(f"dataset is {shown(dataset)}; use the name of a data set", field="dataset")
    return dataset


def check_name(dataset: str) -> str:
    """Check the name of a new data set.

    Args:
        dataset: The name.

    Returns:
        The name in composed form (NFC).
    """
    name = normalize("NFC", check_text(dataset))
    if not name or name != name.strip() or len(name) > 200 or not name.isprintable():
        raise ParameterError(f"dataset is {name[:40]!r}: it must have 1 to 200 printable characters", field="dataset")
    if is_content_name(name):
        raise ParameterError(
            f"dataset is {name[:40]!r}: names that start with log: are reserved; use another", field="dataset"
        )
    for word in re.findall(r"[^\W\d_]+", name):
        if len(scripts := {unicode_name(letter, "").partition(" ")[0] for letter in word} & _ALIKE) > 1:
            raise ParameterError(
                f"dataset is {name[:40]!r}: {word[:40]!r} mixes {' and '.join(sorted(scripts))} letters that look alike; "
                "use one alphabet",
                field="dataset",
            )
    return name


_ALIKE = {"LATIN", "GREEK", "CYRILLIC"}


def comparable(dataset: str) -> str:
    """Return a form in which names that differ only in case, width or encoding of accents are equal."""
    return normalize("NFKC", normalize("NFKC", dataset).casefold())
