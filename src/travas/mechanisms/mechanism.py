"""The mechanism: an immutable public value that states what a release costs, describes itself, and makes the release."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import attrs

from ..errors import ParameterError, shown
from ..log.log import Log
from ..log.plain import plain
from ..log.questions import NO_DETAILS, Details
from ..releases.estimate import Estimate, KeepCurve, measured
from ..releases.release import Kind
from ..trusted.guarantee import ONE_CASE, Counted, GroupStep, Guarantee, PrivacyUnit, Replacing, Standing, step
from ..trusted.losses import Losses, Step
from ..trusted.numbers import MAX_EPSILON, Number, as_text, exact_delta, exact_epsilon
from ..trusted.samplers import RandomBytes
from ..trusted.tables import Noise

if TYPE_CHECKING:
    from ..releases.release import Release


Progress = Callable[[float], None]
"""Called with the completed share of the work, from 0 to 1."""


def is_ours(mechanism: Mechanism) -> bool:
    """Whether a mechanism is part of travas: only then is there a proof of what it promises."""
    return type(mechanism).__module__.startswith("travas.")


References = Literal["follow", "refuse"]
"""Whether a description may refer to code (`package.module:Class`) and files outside of it."""

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
        name: Its name in descriptions, grids and on the command line. A class of another package is always called
            `package.module:Class`.
        kind: What a release contains.
        counted: What must be counted if a unit has several cases: `cases` is sound for any mechanism that draws by
            `step`, `units` if every count has independent noise. None: it protects single cases only.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind] = "variants"
    counted: ClassVar[Counted | None] = None

    epsilon: Fraction = attrs.field(converter=_epsilon)
    delta: Fraction = attrs.field(converter=exact_delta)
    random_bytes: RandomBytes = attrs.field(default=os.urandom, kw_only=True)
    unit: PrivacyUnit = attrs.field(default=ONE_CASE, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.unit, PrivacyUnit):
            raise ParameterError(f"unit is {shown(self.unit)}; use travas.PrivacyUnit(...)", field="unit")
        if self.counted is None and not self.unit.is_case:
            raise ParameterError(
                f"{self.name} protects single cases only; remove the unit, or use another mechanism", field="unit"
            )

    def __init_subclass__(cls) -> None:
        if not cls.__module__.startswith("travas."):
            cls.name = f"{cls.__module__}:{cls.__qualname__}"

    def describe(self) -> dict[str, Any]:
        """Describe the mechanism as plain values for JSON and TOML, with all options including defaults.

        This is the only encoding of a mechanism: guarantee files, the ledger, experiments and the web app use it. The
        generator of the noise is not part of it.

        Returns:
            `mechanism`, `epsilon`, `delta` and `unit`, followed by the options.
        """
        described: dict[str, Any] = {
            "mechanism": self.name,
            "epsilon": as_text(self.epsilon),
            "delta": as_text(self.delta),
            "unit": plain(self.unit),
        }
        return described | self._options()

    def _options(self) -> dict[str, Any]:
        names = (name for name in attrs.fields_dict(type(self)) if name not in _NO_OPTIONS)
        return {name: plain(getattr(self, name)) for name in names}

    def guarantee(self) -> Guarantee:
        """Compute what a release costs, from the tables that `release` samples, before any data are read.

        Returns:
            The guarantee. Its standing is *not established* for a mechanism that is not part of travas, and for noise
            that does not come from the operating system.
        """
        promised = self._promise()
        reasons = []
        if not is_ours(self):
            reasons.append(f"the mechanism is {self.name}, whose proof is not part of travas")
        if self.random_bytes is not os.urandom:
            reasons.append("the noise was drawn from a seed and can be reproduced by anyone")
        if not reasons:
            return promised
        assumptions = (*promised.assumptions, *reasons)
        return replace(promised, standing=Standing.NOT_ESTABLISHED, assumptions=assumptions)

    def _promise(self) -> Guarantee:
        """The guarantee with noise from the operating system."""
        return self._guarantee(self.delta, Standing.NOT_ESTABLISHED)

    def parameters(self) -> dict[str, Any]:
        """Return the public constants needed to check the guarantee and interpret the counts, options first.

        Returns:
            The constants by name.
        """
        return {}

    def keep_curve(self) -> KeepCurve | None:
        """Return the probability of release by case count; None if it depends on more than the case count."""
        return None

    def losses(self) -> Losses:
        """State what one unit can change in a release, step by step: the guarantee, the ledger and the curve follow from it.

        Returns:
            The steps with the noise that they sample; for a mechanism without a proof here, that its (ε, δ) is all there is.
        """
        return (Step(self.epsilon, self.delta),)

    def unit_terms(self) -> dict[str, Any]:
        """How (ε, δ) is kept for a unit of several cases, as plain values for the guarantee file.

        Returns:
            The values by name.
        """
        return {"step_epsilon": as_text(self.step.epsilon), "step_delta": as_text(self.step.delta)}

    # --------------------------------------------------------------------------------------------------- the release

    @abstractmethod
    def _release(self, variants: Log) -> Release:
        """Draw the noise once and select what is released."""

    def release(self, variants: Log) -> Any:
        """Draw the noise once and make the release.

        Args:
            variants: The log, counted for the unit of the mechanism.

        Returns:
            The release.
        """
        self.check(variants)
        return self._release(variants)

    def check(self, variants: Log) -> None:
        """Raise ParameterError unless the variants were counted for the unit of the mechanism.

        Args:
            variants: The log.
        """
        if variants.unit != self.unit or not (self.unit.is_case or variants.counted == self.counted):
            raise ParameterError(
                f"the log was counted for the unit {variants.unit.name!r} (max_cases {variants.unit.max_cases}, "
                f"{variants.counted}), but {self.name} protects {self.unit.name!r} (max_cases {self.unit.max_cases}, "
                f"{self.counted}); read it again for this mechanism and unit",
                field="unit",
            )

    def estimate(self, noisy: tuple[int, ...], rungs: tuple[int, ...] = (), cases: int | None = None) -> Estimate:
        """Estimate true counts from noisy counts and public constants, by post-processing.

        Args:
            noisy: The noisy counts of the released variants.
            rungs: The index of the rule of each variant, on a ladder.
            cases: The noisy number of all cases, if it is released.

        Returns:
            The estimated counts with their intervals; here the noisy counts themselves.
        """
        return measured(noisy, None)

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
                f"the column {name!r} identifies the person of every case; each person has exactly one value",
                f"at most {self.unit.max_cases} cases per person are counted; this number was chosen without looking at the log",
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

    # ------------------------------------------------------------------------------------------- what it says about itself

    @property
    def details(self) -> Details:
        """What has to be read of a log in addition to its variants."""
        return NO_DETAILS

    @cached_property
    def step(self) -> GroupStep:
        """(ε, δ) for one count that changes by one, from which the noise is drawn."""
        return self._part(self.epsilon, self.delta)

    def _part(self, epsilon: Fraction, delta: Fraction) -> GroupStep:
        """What one count that changes by one may spend, so that a whole unit costs this part of (ε, δ)."""
        return step(epsilon, delta, self.unit.max_cases, self.counted or "cases")

    # ------------------------------------------------------------------------------------------------------- copies

    def with_random_bytes(self, random_bytes: RandomBytes) -> Self:
        """Return the mechanism with the same tables but noise from another generator, so without a guarantee.

        Args:
            random_bytes: The other generator.

        Returns:
            The mechanism, whose guarantee is not established.
        """
        twin = copy(self)
        object.__setattr__(twin, "random_bytes", random_bytes)
        return twin

    @classmethod
    def _from_plain(cls, option: str, value: Any, references: References) -> Any:
        """Convert an option of a description for the constructor; files that it names are read if references are followed."""
        return value


def tables_of(mechanism: Mechanism) -> tuple[Noise, ...]:
    """The verified tables that a release samples; empty if the noise needs no table."""
    return tuple(step.noise for step in mechanism.losses() if isinstance(step, Step) and step.noise is not None)


def protecting(mechanism: Mechanism, unit: PrivacyUnit) -> Mechanism:
    """The mechanism for the unit that a log is read for; refused if it protects another one."""
    if mechanism.unit == unit:
        return mechanism
    if not mechanism.unit.is_case:
        raise ParameterError(
            f"the mechanism protects the unit {mechanism.unit.name!r} (max_cases {mechanism.unit.max_cases}) but the log "
            f"is read for {unit.name!r} (max_cases {unit.max_cases}); set the unit in the reading only",
            field="unit",
        )
    return attrs.evolve(mechanism, unit=unit)
