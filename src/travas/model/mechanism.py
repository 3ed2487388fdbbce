"""A mechanism: an immutable value with two functions, what a release would cost and the release itself."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..errors import ParameterError
from ..privacy.group_privacy import Step, step
from ..privacy.guarantee import ONE_CASE, Counted, Guarantee, PrivacyUnit, Replacing, Standing
from ..privacy.noise import Noise, RandomBytes
from ..privacy.numbers import as_text, exact_delta, exact_epsilon
from ..privacy.tables import MAX_EPSILON
from .estimate import Estimate
from .variants import Variants

if TYPE_CHECKING:
    from .release import Release


Progress = Callable[[float], None]

"""Called with the share of the work that is done, from 0 to 1."""


@dataclass(frozen=True)
class Mechanism(ABC):
    """An immutable value with two functions: what it would cost, and the release.

    `options` names its public inputs beyond ε and δ. Noise from anything but the operating system's generator has no
    guarantee. `counted` says what it must be given counts of where a unit has several cases: `cases` is sound for any
    mechanism that draws by `step`, `units` where every count has noise of its own. None: it knows no unit but the case.
    """

    name: ClassVar[str]
    options: ClassVar[tuple[str, ...]]
    counted: ClassVar[Counted | None] = None

    epsilon: Fraction
    delta: Fraction
    random_bytes: RandomBytes = field(default=os.urandom, kw_only=True)
    unit: PrivacyUnit = field(default=ONE_CASE, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact_delta(self.delta))
        if self.epsilon > MAX_EPSILON:
            raise ParameterError(
                f"epsilon is {as_text(self.epsilon)}: above {MAX_EPSILON} it protects nobody; take less"
            )
        if self.counted is None and not self.unit.is_case:
            raise ParameterError(f"{self.name} protects cases only: leave out the unit, or take another mechanism")

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What a release costs. Computed from the very tables that `release` samples, before any data are seen."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The public constants a reader needs to check the guarantee and to interpret the counts; all `options` first."""

    @abstractmethod
    def tables(self) -> tuple[Noise, ...]:
        """The verified tables that a release draws from; none where noise needs no table."""

    @abstractmethod
    def estimate(self, noisy: tuple[int, ...]) -> Estimate:
        """What noisy counts tell about the log: post-processing, from nothing but them and public constants."""

    @abstractmethod
    def _release(self, variants: Variants) -> Release:
        """Draw the noise, once, and keep what may be kept."""

    def release(self, variants: Variants) -> Release:
        """Draw the noise, once, and keep what may be kept. Refuses variants that were counted for another unit."""
        self.check(variants)
        return self._release(variants)

    def protecting(self, unit: PrivacyUnit) -> Self:
        """The mechanism for this unit.

        Args:
            unit: Whom the log is read for.

        Returns:
            The mechanism itself if it protects this unit already, else a copy that does.

        Raises:
            ParameterError: It protects another unit.
        """
        if self.unit == unit:
            return self
        if not self.unit.is_case:
            raise ParameterError(
                f"the mechanism protects the unit {self.unit.name!r} (max_cases {self.unit.max_cases}) but the log is read "
                f"for {unit.name!r} (max_cases {unit.max_cases}); set the unit in the reading only",
                field="unit",
            )
        return replace(self, unit=unit)

    def check(self, variants: Variants) -> None:
        """Raise ParameterError unless these variants were counted for the unit that is protected here."""
        if variants.unit != self.unit or not (self.unit.is_case or variants.counted == self.counted):
            raise ParameterError(
                f"the log was counted for the unit {variants.unit.name!r} (max_cases {variants.unit.max_cases}, "
                f"{variants.counted}), but {self.name} is to protect {self.unit.name!r} (max_cases {self.unit.max_cases}, "
                f"{self.counted}): read it again for this mechanism and unit"
            )

    @property
    def noun(self) -> str:
        """What a count is a number of, in words."""
        by_case = self.unit.is_case or self.counted == "cases"
        return "cases" if by_case else f"different {self.unit.name} values"

    @cached_property
    def step(self) -> Step:
        """(ε, δ) for one count that changes by one: what noise is drawn with."""
        return step(self.epsilon, self.delta, self.unit.max_cases, self.counted or "cases")

    def estimate_release(self, release: Release) -> Estimate:
        """The same for a whole release, where more than the noisy counts was released."""
        return self.estimate(release.noisy)

    def keep_probability(self, cases: int) -> Fraction | None:
        """The chance that a variant of so many cases is released; None where it depends on more than that number."""
        return None

    def surely_kept(self) -> int | None:
        """The least number of cases with which a variant is always released, if there is one."""
        return None

    def _guarantee(
        self,
        step_delta_spent: Fraction,
        standing: Standing,
        replacing: Replacing = "two counts",
        assumptions: tuple[str, ...] = (),
    ) -> Guarantee:
        """The guarantee with this standing if the noise is fair, and none if it is not; δ is what a step spends."""
        if not self.unit.is_case:
            name = self.unit.name
            assumptions = (
                *assumptions,
                f"the column {name!r} tells whose a case is: one {name} has one value there",
                f"of the cases of one {name} at most {self.unit.max_cases} count: fixed without looking at the log",
            )
        if self.unit.max_cases > 1 and standing is Standing.VERIFIED:
            standing = Standing.PROVEN  # of verified steps, by composition
        if self.random_bytes is not os.urandom:
            standing = Standing.NOT_ESTABLISHED
            assumptions = (*assumptions, "the noise was drawn from a seed and can be drawn again by anyone")
        return Guarantee(
            epsilon=self.epsilon,
            delta=self.delta,
            delta_spent=step_delta_spent * self.step.factor,
            mechanism=self.name,
            standing=standing,
            unit=self.unit,
            replacing=replacing,
            assumptions=assumptions,
        )
