"""Budgets and accounts: what a data set may spend, what it has spent, and whether one release more fits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args

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
            raise ParameterError(f"composition is {self.composition!r}: take one of {known}")

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
    """One line of the ledger. `time` is what the clock said: lines count in the order of their numbers."""

    number: int
    time: str
    dataset: str
    spending: Spending
    minimum_cases: int | None
    standing: Standing
    software: str

    def as_json(self) -> dict[str, int | str | None]:
        return {
            "number": self.number,
            "time": self.time,
            "dataset": self.dataset,
            "mechanism": self.spending.mechanism,
            "epsilon": as_text(self.spending.epsilon),
            "delta": as_text(self.spending.delta),
            "unit": self.spending.unit.name,
            "max_cases": self.spending.unit.max_cases,
            "minimum_cases": self.minimum_cases,
            "standing": str(self.standing),
            "software": self.software,
        }


@dataclass(frozen=True)
class Account:
    """A data set's budget, if it has one, and everything that was charged to it."""

    dataset: str
    budget: Budget | None
    entries: tuple[Entry, ...]

    @property
    def spendings(self) -> list[Spending]:
        return [entry.spending for entry in self.entries]

    @cached_property
    def spent(self) -> tuple[Fraction, Fraction]:
        """(Σε, Σδ)."""
        return basic(self.spendings)

    @cached_property
    def delta_used(self) -> Fraction | None:
        """δ used at the budget's ε, rounded against us; None without a budget."""
        return self.budget.delta_used(self.spendings) if self.budget else None

    @property
    def left(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ) that a budget of basic composition has left; None for others, where no such pair says it all."""
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

    def admit(self, spending: Spending, standing: Standing) -> None:
        """Raise BudgetError unless one release more fits."""
        if self.budget is None:
            return
        if standing is Standing.NOT_ESTABLISHED:
            raise BudgetError(
                f"{self.dataset}: the guarantee of this release is not established, so its cost is not known, and a budget "
                "cannot hold it; nothing was released; take another mechanism, or a data set without a budget"
            )
        for name in {entry.spending.unit.name for entry in self.entries} - {spending.unit.name}:
            raise BudgetError(
                f"{self.dataset}: its releases protect the unit {name!r}, this one {spending.unit.name!r}: they do not add "
                "up, so nothing was released; take the same unit, or another data set"
            )
        together = [*self.spendings, spending]
        if self.budget.allows(together):
            return
        asked = f"ε = {as_text(spending.epsilon)}, δ = {as_text(spending.delta)}"
        if self.budget.composition == "exact":
            asked += f", which makes it δ = {rounded_up(self.budget.delta_used(together), 4)}"
        raise BudgetError(f"{self.dataset}: {self.remainder}; this release asks for {asked}; nothing was released")


def check_name(dataset: str) -> str:
    """The name of a data set: the owner's own word, and the only word about the log that the ledger holds."""
    if not dataset or dataset != dataset.strip() or len(dataset) > 200 or not dataset.isprintable():
        raise ParameterError(f"dataset is {dataset[:40]!r}: it must be a name of 1 to 200 printable characters")
    if dataset.startswith("log:"):
        raise ParameterError(f"dataset is {dataset[:40]!r}: names in log: are for logs without a name; take another")
    return dataset
