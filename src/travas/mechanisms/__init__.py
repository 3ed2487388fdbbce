"""Mechanisms by name."""

from __future__ import annotations

from difflib import get_close_matches

from ..errors import ParameterError
from ..privacy import Number, exact_delta, exact_epsilon
from .optimal import Optimal
from .selection import PartitionSelection
from .travas import Travas

MECHANISMS: dict[str, type[PartitionSelection]] = {kind.name: kind for kind in (Optimal, Travas)}


def mechanism(name: str, epsilon: Number, delta: Number, minimum_cases: int = 1) -> PartitionSelection:
    """The mechanism of this name at (ε, δ)."""
    if name not in MECHANISMS:
        near = get_close_matches(name, MECHANISMS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "take one of: " + ", ".join(MECHANISMS)
        raise ParameterError(f"mechanism is {name!r}, which does not exist: {hint}")
    return MECHANISMS[name](exact_epsilon(epsilon), exact_delta(delta), minimum_cases)
