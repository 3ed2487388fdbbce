"""A mechanism as an immutable value: ε, δ, unit, options, and what it says about itself without computing anything."""

from __future__ import annotations

import os
from abc import ABC
from collections.abc import Mapping
from copy import copy
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import attrs

from ..errors import ParameterError, shown
from ..log.abstraction import FULL, Abstraction
from ..log.options import Attribute, Times
from ..log.questions import NO_DETAILS, Details
from ..releases.release import ARTIFICIAL_TIMES, Kind, TimestampKind
from ..trusted.guarantee import ONE_CASE, Counted, GroupStep, PrivacyUnit, step
from ..trusted.numbers import MAX_EPSILON, Number, as_text, exact_delta, exact_epsilon
from ..trusted.samplers import RandomBytes

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
class MechanismValue(ABC):
    """What a mechanism is, without what it does: `Mechanism` states what a release costs and makes it."""

    name: ClassVar[str]
    summary: ClassVar[str] = ""
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
        if not isinstance(self.unit, PrivacyUnit):
            raise ParameterError(f"unit is {shown(self.unit)}; use travas.PrivacyUnit(...)", field="unit")
        if self.counted is None and not self.unit.is_case:
            raise ParameterError(
                f"{self.name} protects single cases only; remove the unit, or use another mechanism", field="unit"
            )

    # ------------------------------------------------------------------------------------------- what it says about itself

    @property
    def details(self) -> Details:
        """What has to be read of a log in addition to its variants."""
        return NO_DETAILS

    @property
    def released_times(self) -> Times | None:
        """How times are measured and generated; None if they are not released."""
        return None

    @property
    def released_attributes(self) -> tuple[Attribute, ...]:
        """The case attributes that are measured and generated."""
        return ()

    @property
    def timestamp_kind(self) -> TimestampKind:
        """What the timestamps of a released log are."""
        return "artificial"

    @property
    def timestamps(self) -> str:
        """What the timestamps of a released log mean, in words."""
        return ARTIFICIAL_TIMES

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
        """What one count that changes by one may spend, so that a whole unit costs this part of (ε, δ).

        Args:
            epsilon: The part of ε.
            delta: The part of δ.

        Returns:
            The step.
        """
        return step(epsilon, delta, self.unit.max_cases, self.counted or "cases")

    # -------------------------------------------------------------------------------------------- options and copies

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
    def options(cls) -> tuple[str, ...]:
        """The names of its public inputs beyond ε, δ and the unit.

        Returns:
            The names.
        """
        return tuple(name for name in attrs.fields_dict(cls) if name not in _NO_OPTIONS)

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
