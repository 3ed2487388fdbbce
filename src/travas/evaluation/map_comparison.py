"""A process map compared with the original log: how far its numbers are from the true ones. Confidential."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..errors import confidential_repr
from ..log.log import Log
from ..log.traces import Activity
from ..releases.process_map import MapRelease

StepPair = tuple[Activity | None, Activity | None]
"""Two activities that follow each other; None is the start or the end of a case."""


@dataclass(frozen=True)
class MapComparison:
    """How far a process map is from the original log. Confidential.

    Attributes:
        count_error: Σ|released − true|/Σ true of the numbers of cases of pairs; pairs of `other` count as missing.
        kept_mass: The share of the true numbers whose pair is in the map.
        total_variation: The distance of the shares of pairs: 0 the same, 1 nothing in common.
        false_pairs: The number of pairs that no case has.
        coverage: The share of the pairs whose interval contains the true number; None for a map without pairs.
        fitness: How much of the original the model of the map can replay; None if it was not asked for.
        precision: How little behaviour beyond the original that model allows; None if it was not asked for.
    """

    count_error: float
    kept_mass: float
    total_variation: float
    false_pairs: int
    coverage: float | None
    fitness: float | None = None
    precision: float | None = None

    def __repr__(self) -> str:
        return confidential_repr(self)

    def as_json(self) -> dict[str, Any]:
        """The values as plain values."""
        return asdict(self)

    def in_words(self) -> list[tuple[str, str]]:
        """Names and sentences."""
        covered = "there are no pairs" if self.coverage is None else f"{self.coverage:.0%} contain the true number"
        model = (
            [] if self.fitness is None else [("model", f"fitness {self.fitness:.3f}, precision {self.precision:.3f}")]
        )
        return [
            ("numbers of cases", f"off by {self.count_error:.1%} in total, including missing pairs"),
            ("kept", f"{self.kept_mass:.1%} of the directly-follows mass has its pair in the map"),
            ("shares of pairs", f"total variation {self.total_variation:.3f}"),
            ("false pairs", f"{self.false_pairs:,}"),
            ("95 % intervals", covered),
            *model,
        ]


def compare_map(original: Log, released: MapRelease) -> MapComparison:
    """Compare a process map with the original log. Confidential."""
    truth = cases_of_pairs(original)
    numbers = {
        (pair.before.activity, pair.after.activity): pair.cases
        for pair in released.pairs
        if "other" not in (pair.before.kind, pair.after.kind)
    }
    total, mass = max(sum(truth.values()), 1), max(sum(number.value for number in numbers.values()), 1.0)
    covered = [number.low <= truth[pair] <= number.high for pair, number in numbers.items()]
    values = {pair: number.value for pair, number in numbers.items()}
    every = {*truth, *values}
    return MapComparison(
        count_error=sum(abs(values.get(pair, 0.0) - truth[pair]) for pair in every) / total,
        kept_mass=sum(truth[pair] for pair in values) / total,
        total_variation=sum(abs(values.get(pair, 0.0) / mass - truth[pair] / total) for pair in every) / 2,
        false_pairs=sum(not truth[pair] for pair in values),
        coverage=sum(covered) / len(covered) if covered else None,
    )


def with_model(comparison: MapComparison, original: Log, released: MapRelease) -> MapComparison:
    """Add fitness and precision of the original log on the model of a process map. Confidential."""
    from .pm4py_models import map_fitness_and_precision

    fitness, precision = map_fitness_and_precision(original, released)
    return replace(comparison, fitness=fitness, precision=precision)


def cases_of_pairs(log: Log) -> Counter[StepPair]:
    """In how many cases each pair occurs. Confidential."""
    pairs: Counter[StepPair] = Counter()
    for trace, cases in log.items():
        for pair in set(zip((None, *trace), (*trace, None), strict=True)):
            pairs[pair] += cases
    return pairs
