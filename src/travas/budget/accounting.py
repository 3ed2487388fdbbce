"""The composition of several releases: the sum, and the exact cost from the privacy losses of the noise that they sample.

The exact cost is an upper bound at every step, in exact integers, by the engine of `trusted.losses`: docs/budgets.md.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

from ..errors import ParameterError, VerificationError
from ..log.plain import plain
from ..mechanisms import from_description
from ..mechanisms.mechanism import Mechanism
from ..trusted.guarantee import ONE_CASE, PrivacyUnit, Standing
from ..trusted.losses import FEWEST_CELLS, Losses, Step, delta_curve


@dataclass(frozen=True)
class Spending:
    """The cost of one release for one unit, sufficient to rebuild its mechanism.

    `standing` is that of a charged release; None for a planned one. `description` is what `Mechanism.describe()` returned;
    where it disagrees with the standing, the worst case is assumed.
    """

    mechanism: str
    epsilon: Fraction
    delta: Fraction
    unit: PrivacyUnit = ONE_CASE
    standing: Standing | None = None
    description: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, mechanism: Mechanism) -> Self:
        """Return the cost of a release of this mechanism."""
        promised = mechanism.guarantee()
        described = json.loads(json.dumps(mechanism.describe()))  # as it will be read from the ledger
        return cls(promised.mechanism, promised.epsilon, promised.delta, promised.unit, promised.standing, described)

    def losses(self) -> Losses:
        """Return what one unit changes: as the mechanism states it, or that (ε, δ) is all that is known."""
        if self.standing is Standing.NOT_ESTABLISHED:
            return (Step(self.epsilon, self.delta),)
        unit = plain(self.unit)
        charged = {"mechanism": self.mechanism, "epsilon": self.epsilon, "delta": self.delta, "unit": unit}
        described = json.dumps({**self.description, **charged}, default=str, sort_keys=True)
        return _losses(described, is_charged=self.standing is not None)


@lru_cache(maxsize=256)
def _losses(description: str, *, is_charged: bool) -> Losses:
    described = json.loads(description)
    try:
        mechanism = from_description(described)
        if is_charged or mechanism.guarantee().standing is not Standing.NOT_ESTABLISHED:
            return mechanism.losses()
    except (ParameterError, VerificationError):  # a required option was not recorded, or another table
        pass
    return (Step(Fraction(described["epsilon"]), Fraction(described["delta"])),)


def basic(spendings: Iterable[Spending]) -> tuple[Fraction, Fraction]:
    """Return (Σε, Σδ), which bounds the total cost even if later releases depend on earlier ones."""
    all_ = list(spendings)
    return sum((s.epsilon for s in all_), Fraction(0)), min(sum((s.delta for s in all_), Fraction(0)), Fraction(1))


def compose(spendings: Iterable[Spending], cells: int = FEWEST_CELLS) -> Callable[[Fraction], Fraction]:
    """Return the δ of releases together as a function of ε: never below the exact one, never above that of the sum.

    Fewer cells are faster and give a bound that is less sharp.
    """
    releases = list(spendings)
    total_epsilon, total_delta = basic(releases)
    steps = [(spending.losses(), times) for spending, times in Counter(releases).items()]
    curve = delta_curve(steps, "above", cells) if steps else lambda epsilon: Fraction(0)
    return lambda epsilon: min(curve(epsilon), total_delta if epsilon >= total_epsilon else Fraction(1))
