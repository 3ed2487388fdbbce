"""What a release at (ε, δ) would keep: without any log, or, in expectation and confidential, for one. docs/forecast.md."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import EmptyLogError, ParameterError
from ..model import explain
from ..model.abstraction import Abstraction
from ..model.estimate import intervals
from ..model.keep_curve import KeepCurve
from ..model.mechanism import Mechanism
from ..model.variants import CODE_BYTES, Variants
from ..privacy.numbers import as_text
from ..privacy.tables import ONE
from ..sources.columns import DEFAULT_READING, Reading
from ..sources.engine import read

EPSILONS = ("0.5", "1", "2", "4")
DELTAS = ("1e-4", "1e-6", "1e-8")
ABSTRACTIONS = "full,fold,first,prefix:16,prefix:8,prefix:4,set"
PREFERRED = (Fraction(1), Fraction(1, 10**6))
"""What can be defended before anybody: the recommendation is the nearest on the grid that is not laxer."""

HALF = Fraction(1, 2)

LOOKING = (
    "This forecast has read the original log. Choosing parameters, or an abstraction, by it is itself a use of the log that no "
    "guarantee covers. The sound ways: fix them before you look; forecast on last year's log; or on a public log of the "
    "same kind."
)


@dataclass(frozen=True)
class Chance:
    """A variant of so many `cases`: the probability that it is kept, and a typical interval of its frequency then.

    The interval is the one that goes with the median of the noisy counts such a variant can have.
    """

    cases: int
    kept: Fraction
    low: int
    high: int


def chances(mechanism: Mechanism, numbers: Sequence[int] | None = None) -> list[Chance]:
    """How likely variants are kept, by their number of cases, and how well their frequencies are then known. No log."""
    curve = _curve(mechanism)
    numbers = [n for n in (numbers or curve.numbers_of_cases()) if curve.probability(n)]
    table, least = curve.table, curve.minimum_cases

    def median(cases: int) -> int:
        """Of N, given that it is at most so many."""
        most = min(cases - least + 1, table.length)
        half = -(-table.cumulative(most) // 2)
        return least + bisect_left(range(1, most + 1), half, key=table.cumulative)

    found = intervals(curve, tuple(cases - median(cases) + curve.centre for cases in numbers))
    return [Chance(n, curve.probability(n), low, high) for n, (low, high) in zip(numbers, found, strict=True)]


@dataclass(frozen=True)
class Expected:
    """What a release of one log would keep, in expectation, exactly: shares of its cases, variants and events. Confidential.

    Variants are those under the abstraction; cases and events are those of the whole log.
    """

    epsilon: Fraction
    delta: Fraction
    abstraction: Abstraction
    cases: Fraction
    variants: Fraction
    events: Fraction


@dataclass(frozen=True)
class Forecast:
    """Expected shares for a grid of (ε, δ) and abstractions, the number of cases of the log, who is protected. Confidential."""

    cells: tuple[Expected, ...]
    cases: int
    unit: str = "case"

    def recommendation(self) -> tuple[str, ...]:
        """Parameters in words for whoever has to sign. ε and δ come from what can be defended, not from the log."""
        epsilon = _nearest({cell.epsilon for cell in self.cells}, PREFERRED[0])
        delta = _nearest({cell.delta for cell in self.cells}, PREFERRED[1])
        there = [cell for cell in self.cells if (cell.epsilon, cell.delta) == (epsilon, delta)]
        good = next((cell for cell in there if cell.cases >= HALF), None)
        if good is None:
            best = max(there, key=lambda cell: cell.cases)
            which = (
                f"No abstraction here keeps half of the cases; {best.abstraction} keeps most, {_percent(best.cases)}."
            )
        elif not good.abstraction.steps:
            which = f"Full variants keep {_percent(good.cases)} of the cases: no abstraction is needed."
        else:
            finest = there[0]
            which = (
                f"{finest.abstraction} keeps {_percent(finest.cases)} of the cases; the first abstraction here that keeps half "
                f"of them is {good.abstraction}, with {_percent(good.cases)}."
            )
        return (
            f"ε = {as_text(epsilon)}, δ = {as_text(delta)}.",
            *explain.meaning(epsilon, delta, self.unit),
            f"For all {self.cases:,} cases together: the chance that even one whose variant nobody shares is visible is at "
            f"most {float(min(delta * self.cases, Fraction(1))):.2g}.",
            which,
            "With --ladder default the release finds its own abstraction, within ε and δ: then nothing need be chosen here.",
        )


def forecast(
    source: Any,
    mechanisms: Sequence[Mechanism],
    abstractions: Sequence[Abstraction],
    reading: Reading = DEFAULT_READING,
) -> Forecast:
    """What each of these mechanisms would keep of a log under each of these abstractions, in expectation. Confidential."""
    variants = read(source, reading)
    if not len(variants):
        raise EmptyLogError("the log is empty: there is nothing to forecast")
    under = [(abstraction, abstraction.of(variants)) for abstraction in abstractions]
    for mechanism in mechanisms:
        _curve(mechanism)  # refused before anything is computed
    events = _events(variants)
    cases = int(variants.counts.sum())
    return Forecast(
        tuple(_expected(rule, abstraction, keys, cases, events) for rule in mechanisms for abstraction, keys in under),
        cases,
        variants.unit.name,
    )


def _expected(
    mechanism: Mechanism, abstraction: Abstraction, keys: Variants, all_cases: int, all_events: int
) -> Expected:
    """Σ n·π(n), Σ π(n) and Σ n·length·π(n), in integers, over the numbers of cases that occur."""
    import numpy as np

    lengths = np.fromiter(map(len, keys.keys), np.int64, len(keys)) // CODE_BYTES
    sizes, place, times = np.unique(keys.counts, return_inverse=True, return_counts=True)
    total_lengths = np.zeros(len(sizes), dtype=np.int64)
    np.add.at(total_lengths, place, lengths)
    curve = _curve(mechanism)
    cases = variants = events = 0
    for size, number, length in zip(sizes.tolist(), times.tolist(), total_lengths.tolist(), strict=True):
        kept = curve.table.cumulative(size - curve.minimum_cases + 1)
        variants += number * kept
        cases += number * size * kept
        events += length * size * kept
    return Expected(
        mechanism.epsilon,
        mechanism.delta,
        abstraction,
        cases=Fraction(cases, ONE * all_cases),
        variants=Fraction(variants, ONE * max(len(keys), 1)),
        events=Fraction(events, ONE * all_events),
    )


def _events(variants: Variants) -> int:
    return sum(
        len(key) // CODE_BYTES * count for key, count in zip(variants.keys, variants.counts.tolist(), strict=True)
    )


def _curve(mechanism: Mechanism) -> KeepCurve:
    curve = mechanism.keep_curve()
    if curve is None or curve.rungs or curve.runs > 1:
        raise ParameterError(
            f"no forecast for {mechanism.name}: what it keeps depends on more than the number of cases; use optimal or travas",
            field="mechanism",
        )
    return curve


def _nearest(offered: set[Fraction], preferred: Fraction) -> Fraction:
    """The largest that is not above the preferred; else the least."""
    return max((value for value in offered if value <= preferred), default=min(offered))


def _percent(share: Fraction) -> str:
    return f"{float(share):.0%}"
