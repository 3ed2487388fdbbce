"""The mechanism: an immutable public value that states what a release costs, describes itself, and makes the release."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import attrs

from ..errors import CONFIDENTIAL, ParameterError, number_of, shown
from ..log.log import Log
from ..log.plain import plain
from ..log.questions import check_details
from ..releases.release import Kind, details_of
from ..trusted.guarantee import ONE_CASE, Counted, GroupStep, Guarantee, PrivacyUnit, Replacing, Standing, step
from ..trusted.losses import Losses, Step
from ..trusted.numbers import MAX_EPSILON, Number, as_text, exact_delta, exact_epsilon
from ..trusted.samplers import RandomBytes
from ..trusted.tables import Noise

if TYPE_CHECKING:
    from ..releases.release import Release


M = TypeVar("M", bound="Mechanism")

Progress = Callable[[float], None]
"""Called with the completed share of the work, from 0 to 1."""


def is_ours(mechanism: Mechanism) -> bool:
    """Whether a mechanism is part of travas: only then is there a proof of what it promises."""
    return type(mechanism).__module__.startswith("travas.")


References = Literal["follow", "refuse"]
"""Whether a description may refer to code (`package.module:Class`) and files outside of it."""

_NO_OPTIONS = ("epsilon", "delta", "unit", "_random_bytes")


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

    A subclass states `_name`, its name in descriptions, grids and on the command line (a class of another package is
    always called `package.module:Class`); `_kind`, what a release contains; and `_counted`, what must be counted if a unit
    has several cases: `cases` is sound for any mechanism that draws by `_step`, `units` if every count has independent
    noise. None: it protects single cases only. What else is known of a mechanism are functions: `parameters_of`,
    `keep_curve_of`, `estimate_of`, `details_of` and so on.
    """

    _name: ClassVar[str]
    _kind: ClassVar[Kind] = "variants"
    _counted: ClassVar[Counted | None] = None

    epsilon: Fraction = attrs.field(converter=_epsilon)
    delta: Fraction = attrs.field(converter=exact_delta)
    _random_bytes: RandomBytes = attrs.field(default=os.urandom, kw_only=True)
    unit: PrivacyUnit = attrs.field(default=ONE_CASE, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.unit, PrivacyUnit):
            raise ParameterError(f"unit is {shown(self.unit)}; use travas.PrivacyUnit(...)", field="unit")
        if self._counted is None and not self.unit.is_case:
            raise ParameterError(
                f"{self._name} protects single cases only; remove the unit, or use another mechanism", field="unit"
            )

    def __init_subclass__(cls) -> None:
        if not cls.__module__.startswith("travas."):
            cls._name = f"{cls.__module__}:{cls.__qualname__}"

    def describe(self) -> dict[str, Any]:
        """Describe the mechanism as plain values for JSON and TOML, with all options including defaults.

        This is the only encoding of a mechanism: guarantee files, the ledger, experiments and the web app use it. The
        generator of the noise is not part of it.

        Returns:
            `mechanism`, `epsilon`, `delta` and `unit`, followed by the options.
        """
        described: dict[str, Any] = {
            "mechanism": self._name,
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
            reasons.append(f"the mechanism is {self._name}, whose proof is not part of travas")
        if self._random_bytes is not os.urandom:
            reasons.append("the noise was drawn from a seed and can be reproduced by anyone")
        if not reasons:
            return promised
        assumptions = (*promised.assumptions, *reasons)
        return replace(promised, standing=Standing.NOT_ESTABLISHED, assumptions=assumptions)

    def _promise(self) -> Guarantee:
        """The guarantee with noise from the operating system."""
        return self._guarantee(self.delta, Standing.NOT_ESTABLISHED)

    def losses(self) -> Losses:
        """State what one unit can change in a release, step by step: the guarantee, the ledger and the curve follow from it.

        Returns:
            The steps with the noise that they sample; for a mechanism without a proof here, that its (ε, δ) is all there is.
        """
        return (Step(self.epsilon, self.delta),)

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
        check_log(self, variants)
        return self._release(variants)

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
                f"the limit of {number_of(self.unit.max_cases, 'cases')} per person was chosen without looking at the log",
            )
        return Guarantee(
            epsilon=self.epsilon,
            delta=self.delta,
            delta_spent=delta_spent,
            mechanism=self._name,
            standing=standing,
            unit=self.unit,
            replacing=replacing,
            assumptions=assumptions,
        )

    @cached_property
    def _step(self) -> GroupStep:
        """(ε, δ) for one count that changes by one, from which the noise is drawn."""
        return self._part(self.epsilon, self.delta)

    def _part(self, epsilon: Fraction, delta: Fraction) -> GroupStep:
        """What one count that changes by one may spend, so that a whole unit costs this part of (ε, δ)."""
        return step(epsilon, delta, self.unit.max_cases, self._counted or "cases")

    @classmethod
    def _from_plain(cls, option: str, value: Any, references: References) -> Any:
        """Convert an option of a description for the constructor; files that it names are read if references are followed."""
        return value


# -------------------------------------------------------------------------------------------- what is known of a mechanism


@singledispatch
def parameters_of(mechanism: Mechanism) -> dict[str, Any]:
    """The public constants needed to check the guarantee and interpret the counts, options first."""
    return {}


@singledispatch
def check_log(mechanism: Mechanism, log: Log) -> None:
    """Raise ParameterError, before the charge, unless a log was read for a mechanism: its unit, details and alphabet."""
    if log.unit != mechanism.unit or not (mechanism.unit.is_case or log.counted == mechanism._counted):
        raise ParameterError(
            f"the log was counted for the unit {log.unit.name!r} (max_cases {log.unit.max_cases}, {log.counted}), but "
            f"{mechanism._name} protects {mechanism.unit.name!r} (max_cases {mechanism.unit.max_cases}, "
            f"{mechanism._counted}); read it again for this mechanism and unit",
            field="unit",
        )
    check_details(log.totals, details_of(mechanism))
    width, alphabet = len(log.columns), getattr(mechanism, "alphabet", None)
    if any((len(name) if isinstance(name, tuple) else 1) != width for name in alphabet or ()):
        raise ParameterError(
            f"an activity of this log has {width} columns but one of the alphabet does not; use {width} columns in the "
            f"alphabet {CONFIDENTIAL}",
            field="alphabet",
        )
    rules = getattr(mechanism, "rules", None)
    if width > 1 and rules is not None and rules.activities:
        raise ParameterError(
            f"an activity of this log has {width} columns but rules name activities of one; remove the rules "
            f"{CONFIDENTIAL}",
            field="rules",
        )


def with_random_bytes(mechanism: M, random_bytes: RandomBytes) -> M:
    """The mechanism with the same tables but noise from another generator, so without a guarantee."""
    twin = copy(mechanism)
    object.__setattr__(twin, "_random_bytes", random_bytes)
    return twin


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
