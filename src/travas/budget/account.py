"""Budgets and accounts: what a data set may spend, what it has spent, and whether one release more fits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args
from unicodedata import name as unicode_name
from unicodedata import normalize

from ..errors import BudgetError, ParameterError
from ..privacy.guarantee import Standing
from ..privacy.numbers import as_text, exact_delta, exact_epsilon, rounded_up
from .accounting import Spending, basic, compose

CompositionRule = Literal["basic", "exact"]
"""How releases add up: Σε and Σδ, or by the privacy losses of their tables."""


@dataclass(frozen=True)
class Budget:
    """(ε, δ) that all releases of a data set together may spend."""

    epsilon: Fraction
    delta: Fraction
    composition: CompositionRule = "basic"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact_delta(self.delta))
        if self.composition not in get_args(CompositionRule):
            known = ", ".join(get_args(CompositionRule))
            raise ParameterError(f"composition is {self.composition!r}: use one of {known}")

    def __str__(self) -> str:
        return f"ε = {as_text(self.epsilon)}, δ = {as_text(self.delta)}"

    def delta_used(self, spendings: Iterable[Spending]) -> Fraction:
        """An upper bound of δ of these releases together at the budget's ε, under the budget's composition."""
        chosen = list(spendings)
        epsilon, delta = basic(chosen)
        if epsilon <= self.epsilon and (self.composition == "basic" or delta <= self.delta):
            return delta  # the sum is valid under either rule; where it fits, nothing finer is needed
        return Fraction(1) if self.composition == "basic" else compose(chosen).delta(self.epsilon)

    def allows(self, spendings: Iterable[Spending]) -> bool:
        """Whether these releases together stay within it. Exact composition accepts whatever the sum accepts."""
        return self.delta_used(spendings) <= self.delta


@dataclass(frozen=True)
class Entry:
    """One charge. `time` is what the clock said: charges count in the order of their numbers.

    `case` says what a case was: the column or attribute that names it; None if that was not recorded.
    """

    number: int
    time: str
    dataset: str | None
    spending: Spending
    minimum_cases: int | None
    standing: Standing
    software: str
    case: str | None = None
    location: str | None = None

    def as_json(self) -> dict[str, int | str | None]:
        """All fields, for the owner of the ledger: a location is not for others."""
        return {
            "number": self.number,
            "time": self.time,
            "dataset": self.dataset,
            "location": self.location,
            "mechanism": self.spending.mechanism,
            "epsilon": as_text(self.spending.epsilon),
            "delta": as_text(self.spending.delta),
            "unit": self.spending.unit.name,
            "max_cases": self.spending.unit.max_cases,
            "case": self.case,
            "minimum_cases": self.minimum_cases,
            "standing": str(self.standing),
            "software": self.software,
        }


@dataclass(frozen=True)
class Account:
    """A data set's budget, if it has one, and everything that was charged to it.

    An account without a name has a `location` instead, the path of a file for instance: it is never published.
    """

    dataset: str | None
    budget: Budget | None
    entries: tuple[Entry, ...]
    location: str | None = None

    @property
    def name(self) -> str | None:
        """The name the owner gave, if any; accounts that version 1 derived from the content of a log have none."""
        return None if self.dataset is None or self.dataset.startswith(CONTENT_PREFIX) else self.dataset

    @property
    def label(self) -> str:
        """What the owner of the ledger knows the account by. Not for guarantees and reports: see `name`."""
        return self.dataset or self.location or ""

    @property
    def spendings(self) -> list[Spending]:
        return [entry.spending for entry in self.entries]

    @cached_property
    def spent(self) -> tuple[Fraction, Fraction]:
        """(Σε, Σδ)."""
        return basic(self.spendings)

    @cached_property
    def delta_used(self) -> Fraction | None:
        """δ used at the budget's ε, rounded conservatively; None without a budget."""
        return self.budget.delta_used(self.spendings) if self.budget else None

    @property
    def left(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ) that a budget of basic composition has left; None for others, for which no such pair is complete."""
        if self.budget is None or self.budget.composition != "basic":
            return None
        epsilon, delta = self.spent
        return max(self.budget.epsilon - epsilon, Fraction(0)), max(self.budget.delta - delta, Fraction(0))

    @property
    def remainder(self) -> str:
        """What is left, in words."""
        if self.budget is None:
            return "recorded; no budget"
        if self.left is not None:
            epsilon, delta = map(as_text, self.left)
            return f"ε = {epsilon}, δ = {delta} left of {self.budget}"
        used = rounded_up(self.delta_used or Fraction(0), 4)
        return (
            f"δ = {used} used of {as_text(self.budget.delta)} at ε = {as_text(self.budget.epsilon)}, exactly composed"
        )

    def admit(self, spending: Spending, standing: Standing, case: str | None) -> None:
        """Raise BudgetError unless one more release can be added to this account.

        Guarantees add up only if they are about the same thing being added or removed: one unit, one kind of case.
        `max_cases` may differ, as each guarantee holds for all cases of one unit, however many count.
        """
        for entry in self.entries:
            if entry.spending.unit.name != spending.unit.name:
                raise self._does_not_add_up("unit", entry.spending.unit.name, spending.unit.name)
            if entry.case is not None and case is not None and entry.case != case:
                raise self._does_not_add_up("case", entry.case, case)
        if self.budget is None:
            return
        if standing is Standing.NOT_ESTABLISHED:
            raise BudgetError(
                f"{self.label}: the guarantee of this release is not established, so its cost is not known and cannot be "
                "counted against a budget; nothing was released; use another mechanism, or a data set without a budget"
            )
        if self.has_unknown_cost:
            raise BudgetError(
                f"{self.label}: the guarantee of an earlier release is not established, so what was spent is not known; "
                "nothing was released; use another data set"
            )
        together = [*self.spendings, spending]
        if self.budget.allows(together):
            return
        asked = f"ε = {as_text(spending.epsilon)}, δ = {as_text(spending.delta)}"
        if self.budget.composition == "exact":
            asked += f", which makes it δ = {rounded_up(self.budget.delta_used(together), 4)}"
        raise BudgetError(f"{self.label}: {self.remainder}; this release asks for {asked}; nothing was released")

    @property
    def has_unknown_cost(self) -> bool:
        """Whether a release without an established guarantee was charged."""
        return any(entry.standing is Standing.NOT_ESTABLISHED for entry in self.entries)

    def _does_not_add_up(self, what: str, before: str, now: str) -> BudgetError:
        return BudgetError(
            f"{self.label}: the {what} of its releases is {before!r}, of this one {now!r}; such guarantees do not add up, "
            f"so nothing was released; use {what}={before!r}, or another dataset"
        )


CONTENT_PREFIX = "log:"
"""Version 1 derived the names of accounts from the content of logs; they remain, but no new name may look like one."""


def check_name(dataset: str) -> str:
    """The name of a new data set, in its composed form (NFC): the owner's own word."""
    name = normalize("NFC", dataset)
    if not name or name != name.strip() or len(name) > 200 or not name.isprintable():
        raise ParameterError(f"dataset is {name[:40]!r}: it must be a name of 1 to 200 printable characters")
    if name.startswith(CONTENT_PREFIX):
        raise ParameterError(f"dataset is {name[:40]!r}: names that start with log: are reserved; use another")
    for word in re.findall(r"[^\W\d_]+", name):
        if len(scripts := {unicode_name(letter, "").partition(" ")[0] for letter in word} & _ALIKE) > 1:
            raise ParameterError(
                f"dataset is {name[:40]!r}: {word[:40]!r} mixes {' and '.join(sorted(scripts))} letters that look alike; "
                "use one alphabet"
            )
    return name


_ALIKE = {"LATIN", "GREEK", "CYRILLIC"}


def comparable(dataset: str) -> str:
    """Equal for names that differ only in case, width or accents' encoding: such names are refused as ambiguous."""
    return normalize("NFKC", normalize("NFKC", dataset).casefold())
