"""The mechanism: an immutable public value that states what a release costs, describes itself, and makes the release."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, final

import attrs

from ..errors import ParameterError
from ..privacy.gaussian_losses import GaussianLoss
from ..privacy.group_privacy import GroupStep, step
from ..privacy.guarantee import ONE_CASE, Counted, Guarantee, PrivacyUnit, Replacing, Standing
from ..privacy.noise import Noise, RandomBytes
from ..privacy.noise_tables import MAX_EPSILON
from ..privacy.numbers import Number, as_text, exact_delta, exact_epsilon
from ..privacy.person_tables import Gaussian
from .abstraction import FULL, Abstraction
from .detail_options import Attribute, BudgetShares, Times
from .estimate import Estimate
from .keep_curve import KeepCurve
from .other_packages import dotted_name, failures_named, is_ours
from .totals import NO_DETAILS, Details
from .traces import Trace
from .variants import Variants

if TYPE_CHECKING:
    from .release import Release


Progress = Callable[[float], None]
"""Called with the completed share of the work, from 0 to 1."""

Pair = tuple[int, int]
"""Probabilities of one outcome with and without one unit, times 2^128."""

References = Literal["follow", "refuse"]
"""Whether a description may refer to code (`package.module:Class`) and files outside of it."""

Kind = Literal["variants", "synthetic log", "process map"]
"""What a release contains: variants of the log with their counts, traces generated from noisy measurements, or pairs of
activities with the numbers of cases that have them."""

ARTIFICIAL_TIMES = "artificial: only their order within a case means anything"
"""What a released log says about its timestamps, unless times are released."""

NO_TIMES = "none: events are in order but have no times"
"""What a released log says if it was written without timestamps."""

_NO_OPTIONS = ("epsilon", "delta", "unit", "random_bytes")


def _epsilon(value: Number) -> Fraction:
    epsilon = exact_epsilon(value)
    if epsilon > MAX_EPSILON:
        raise ParameterError(
            f"epsilon is {as_text(epsilon)}: above {MAX_EPSILON} there is no meaningful protection; use a smaller value",
            field="epsilon",
        )
    return epsilon


@attrs.frozen(slots=False)
class Mechanism(ABC):
    """An immutable value that states what a release costs and makes it. `from_description(m.describe()) == m`.

    A subclass is decorated with `attrs.frozen(slots=False)`; every field that it adds is a public option with a
    converter. Noise from anything but the operating system's generator has no guarantee.

    Attributes:
        name: Its name in descriptions, grids and on the command line.
        proof: The page with the proof of its guarantee.
        kind: What a release contains.
        counted: What must be counted if a unit has several cases: `cases` is sound for any mechanism that draws by
            `step`, `units` if every count has independent noise. None: it protects single cases only.
        invents_variants: Whether a release may contain sequences that do not occur in the log.
        generalises: Whether it generalises traces itself, by `abstractions`.
        extra: The extra of travas that has to be installed, if any.
        former_options: Options that descriptions of earlier versions do not have, with the values that they had then, as
            plain values. A description never changes its meaning: there, these are the values.
    """

    name: ClassVar[str]
    proof: ClassVar[str] = ""
    kind: ClassVar[Kind] = "variants"
    counted: ClassVar[Counted | None] = None
    invents_variants: ClassVar[bool] = False
    generalises: ClassVar[bool] = False
    extra: ClassVar[str | None] = None
    former_options: ClassVar[Mapping[str, Any]] = {}

    epsilon: Fraction = attrs.field(converter=_epsilon)
    delta: Fraction = attrs.field(converter=exact_delta)
    random_bytes: RandomBytes = attrs.field(default=os.urandom, kw_only=True)
    unit: PrivacyUnit = attrs.field(default=ONE_CASE, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.counted is None and not self.unit.is_case:
            raise ParameterError(
                f"{self.name} protects single cases only; remove the unit, or use another mechanism", field="unit"
            )

    # ------------------------------------------------------------------------------------------- what it says of itself

    @property
    def details(self) -> Details:
        """What has to be read of a log beside its variants."""
        return NO_DETAILS

    def settled(self, variants: Variants) -> Self:
        """Return the mechanism with everything decided that was left open until the columns of the log were known.

        Args:
            variants: The log. Only its columns decide, never its values.

        Returns:
            The mechanism itself, unless something was left open.
        """
        return self

    @property
    def timestamps(self) -> str:
        """What the timestamps of a released log mean, in words."""
        return ARTIFICIAL_TIMES

    def protecting(self, unit: PrivacyUnit) -> Self:
        """Return the mechanism for a unit.

        Args:
            unit: The unit that the log is read for.

        Returns:
            The mechanism itself if it already protects this unit, otherwise a copy that does.

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
        return attrs.evolve(self, unit=unit)

    def with_random_bytes(self, random_bytes: RandomBytes) -> Self:
        """Return the mechanism with the same tables but noise from another generator, hence without a guarantee."""
        twin = copy(self)
        object.__setattr__(twin, "random_bytes", random_bytes)
        return twin

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """The names of its public inputs beyond ε, δ and the unit."""
        return tuple(name for name in attrs.fields_dict(cls) if name not in _NO_OPTIONS)

    @final
    def describe(self) -> dict[str, Any]:
        """Describe the mechanism as plain values for JSON and TOML, with all options including defaults.

        This is the only encoding of a mechanism: guarantee files, the ledger, experiments and the web app use it. The
        generator of the noise is not part of it, nor are `former_options` that have their former value.

        Returns:
            `mechanism`, `epsilon`, `delta` and `unit`, followed by the options.
        """
        unit = {"name": self.unit.name, "max_cases": self.unit.max_cases}
        options = {name: _plain(getattr(self, name)) for name in self.options()}
        return {
            "mechanism": self.name,
            "epsilon": as_text(self.epsilon),
            "delta": as_text(self.delta),
            "unit": unit,
        } | {name: value for name, value in options.items() if not self._is_former(name, value)}

    def _is_former(self, option: str, value: Any) -> bool:
        return option in self.former_options and value in (None, self.former_options[option])

    @classmethod
    def from_plain(cls, option: str, value: Any, references: References) -> Any:
        """Convert an option from a description for the constructor.

        Args:
            option: The name of the option.
            value: The value in the description.
            references: Whether a file that the value names may be read.

        Returns:
            A value that the constructor accepts.
        """
        return value

    @final
    def guarantee(self) -> Guarantee:
        """Compute what a release costs, from the tables that `release` samples, before any data are read.

        Returns:
            The guarantee. Its standing is *not established* for a mechanism that is not part of travas, and for noise
            that does not come from the operating system.
        """
        with failures_named(self):
            promised = self._promise()
        if not is_ours(self):
            reason = f"the mechanism is {dotted_name(self)}, whose proof is not part of travas"
            promised = _not_established(promised, reason)
        if self.random_bytes is not os.urandom:
            promised = _not_established(promised, "the noise was drawn from a seed and can be reproduced by anyone")
        return promised

    @abstractmethod
    def _promise(self) -> Guarantee:
        """Return the guarantee with noise from the operating system."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the public constants needed to check the guarantee and interpret the counts, options first."""

    @abstractmethod
    def tables(self) -> tuple[Noise, ...]:
        """Return the verified tables that a release samples; empty if the noise needs no table."""

    def noise_in_words(self) -> tuple[str, ...]:
        """The noise and how it was checked, one line for each part, for people."""
        tables = self.tables()
        checked = (
            f"table of {noise.table.length:,} entries of 128 bits, each checked in exact integers" for noise in tables
        )
        return tuple(checked) if tables else ("discrete Laplace, sampled exactly, without a table",)

    def keep_curve(self) -> KeepCurve | None:
        """Return the probability of release by case count; None if it depends on more than the case count."""
        return None

    def loss_pairs(self) -> list[Pair] | None:
        """Probabilities of all outcomes of one count with and without a unit, times 2^128; None: only (ε, δ) is known."""
        return None

    def gaussian_loss(self) -> GaussianLoss | None:
        """What its Gaussian noise costs, the same for all options; None where there is none."""
        return None

    @property
    def loss_counts(self) -> int:
        """How many counts of independent noise one unit changes at most, each with the losses of `loss_pairs`."""
        return 1

    @property
    def verified_units(self) -> bool:
        """Whether the tables were verified for a whole unit, not for one step of one count."""
        return self.unit.max_cases == 1

    def unit_terms(self) -> dict[str, Any]:
        """How (ε, δ) is kept for a unit of several cases, as plain values for the guarantee file."""
        return {"step_epsilon": as_text(self.step.epsilon), "step_delta": as_text(self.step.delta)}

    @property
    def abstractions(self) -> tuple[Abstraction, ...]:
        """The rules by which it generalises traces, from fine to coarse."""
        return (FULL,)

    @property
    def noun(self) -> str:
        """What a count is a number of."""
        by_case = self.unit.is_case or self.counted == "cases"
        return "cases" if by_case else f"different {self.unit.name} values"

    @cached_property
    def step(self) -> GroupStep:
        """(ε, δ) for one count that changes by one, from which the noise is drawn."""
        return self.part(self.epsilon, self.delta)

    def part(self, epsilon: Fraction, delta: Fraction) -> GroupStep:
        """What one count that changes by one may spend, so that a whole unit costs this part of (ε, δ)."""
        return step(epsilon, delta, self.unit.max_cases, self.counted or "cases")

    def keep_probability(self, cases: int) -> Fraction | None:
        """Return the probability that a variant of this many cases is released; None if it depends on more than that.

        Args:
            cases: The number of cases of the variant.

        Returns:
            The exact probability.
        """
        curve = self.keep_curve()
        return None if curve is None or curve.rungs else curve.probability(cases)

    # --------------------------------------------------------------------------------------------------- the release

    @abstractmethod
    def _release(self, variants: Variants) -> Release:
        """Draw the noise once and select what is released."""

    @final
    def release(self, variants: Variants) -> Release:
        """Draw the noise once and make the release.

        Args:
            variants: The log, counted for the unit of the mechanism.

        Returns:
            The release.
        """
        self.check(variants)
        return self._release(variants)

    def check(self, variants: Variants) -> None:
        """Raise ParameterError unless the variants were counted for the unit of the mechanism."""
        if variants.unit != self.unit or not (self.unit.is_case or variants.counted == self.counted):
            raise ParameterError(
                f"the log was counted for the unit {variants.unit.name!r} (max_cases {variants.unit.max_cases}, "
                f"{variants.counted}), but {self.name} protects {self.unit.name!r} (max_cases {self.unit.max_cases}, "
                f"{self.counted}); read it again for this mechanism and unit",
                field="unit",
            )

    @abstractmethod
    def estimate(self, noisy: tuple[int, ...]) -> Estimate:
        """Estimate true counts from noisy counts and public constants, by post-processing."""

    def least_count(self, rung: int) -> int:
        """Return the smallest noisy count that a release can have on a rung; without a ladder, the rung is 0."""
        return 1

    def impossible(self, variants: tuple[Trace, ...], rungs: tuple[int, ...]) -> str | None:
        """Return why no release of this mechanism can have these variants on these rungs; None if one can."""
        return None

    def estimate_release(self, release: Release) -> Estimate:
        """Estimate from a complete release, which may contain more than noisy counts."""
        return self.estimate(release.noisy)

    def _guarantee(
        self,
        delta_spent: Fraction,
        standing: Standing,
        replacing: Replacing = "two counts",
        assumptions: tuple[str, ...] = (),
    ) -> Guarantee:
        """The guarantee with this standing; δ is what is spent on a whole unit."""
        if not self.unit.is_case:
            name = self.unit.name
            assumptions = (
                *assumptions,
                f"the column {name!r} identifies the {name} of every case; each {name} has exactly one value",
                f"at most {self.unit.max_cases} cases per {name} are counted; this number was chosen without looking at the log",
            )
        return Guarantee(
            epsilon=self.epsilon,
            delta=self.delta,
            delta_spent=delta_spent,
            mechanism=self.name,
            standing=standing,
            unit=self.unit,
            replacing=replacing,
            assumptions=assumptions,
        )


def _not_established(guarantee: Guarantee, reason: str) -> Guarantee:
    return replace(guarantee, standing=Standing.NOT_ESTABLISHED, assumptions=(*guarantee.assumptions, reason))


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return as_text(value)
    if isinstance(value, Abstraction):
        return value.as_json()
    if isinstance(value, Gaussian | Times | Attribute | BudgetShares):
        return value.describe()
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
