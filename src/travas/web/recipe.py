"""What a release will be made with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..mechanisms import MECHANISMS
from ..mechanisms import mechanism as mechanism_by_name
from ..release import Mechanism

OFFERED = tuple(name for name in MECHANISMS if not name.endswith("-published"))
"""Mechanisms with a guarantee: the page offers no others."""


@dataclass(frozen=True)
class Recipe:
    """Mechanism and parameters as they were typed in: exact text and whole numbers, never a float."""

    mechanism: str = "optimal"
    epsilon: str = "1"
    delta: str = "1e-6"
    options: tuple[tuple[str, int], ...] = ()

    def build(self) -> Mechanism:
        """The mechanism, its tables not yet built; ParameterError where the recipe makes no sense."""
        return mechanism_by_name(self.mechanism, self.epsilon, self.delta, **dict(self.options))  # type: ignore[arg-type]

    def with_mechanism(self, name: str) -> Recipe:
        """Another mechanism, and of the options those that it has."""
        known = MECHANISMS[name].options
        return replace(self, mechanism=name, options=tuple(pair for pair in self.options if pair[0] in known))

    def with_option(self, name: str, value: int | None) -> Recipe:
        """The recipe with an option set, or left to its default."""
        rest = {key: number for key, number in self.options if key != name}
        return replace(self, options=tuple(sorted((rest if value is None else rest | {name: value}).items())))
