"""What share of the cases of a log each kind of release would cover, for several ε. Confidential.

Nothing is released and nothing is charged. See docs/forecast.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import EmptyLogError
from ..maps.map_release import map_release
from ..model.mechanism import Mechanism
from ..model.release_kind import KINDS, Kind
from ..model.variants import Variants
from ..sources.engine import read
from ..sources.reading import DEFAULT_READING, Reading
from ..trusted.samplers import Seeded
from . import metrics
from .alternatives import mechanisms
from .map_comparison import compare_map

EPSILONS = ("0.5", "1", "2", "4")

RUNS = 2


@dataclass(frozen=True)
class CoverageCell:
    """The share of cases whose variant is in a release; of a map, the share of steps whose pair is in it."""

    kind: Kind
    epsilon: str
    share: float


@dataclass(frozen=True)
class Coverage:
    """Shares for every kind of release and several ε, as means of runs with seeded noise. Confidential.

    Attributes:
        reading: How the log was read.
        delta: The δ of all cells.
        cells: One cell for each kind and ε.
    """

    reading: Reading
    delta: str
    cells: tuple[CoverageCell, ...]

    def share(self, kind: Kind, epsilon: str) -> float:
        """Return the share of one cell."""
        return next(cell.share for cell in self.cells if (cell.kind, cell.epsilon) == (kind, epsilon))


def coverage(
    source: Any,
    delta: str,
    reading: Reading = DEFAULT_READING,
    *,
    watch: Callable[[float], None] = lambda _: None,
) -> Coverage:
    """Try every kind of release on a log at each of `EPSILONS`. Confidential: nothing is released and nothing is charged.

    Args:
        source: The log.
        delta: δ of all releases.
        reading: The rule from events to variants, and whom it protects.
        watch: Called with the share of the work that is done.

    Returns:
        The share of cases that each kind covers at each ε. That of a ladder would depend on how much of a trace counts.

    Raises:
        EmptyLogError: The log has no cases.
    """
    made = {epsilon: mechanisms(epsilon, delta, reading.privacy_unit) for epsilon in EPSILONS}
    cells: list[CoverageCell] = []
    for kind in KINDS:
        variants = _read(source, reading, made[EPSILONS[0]][kind])
        for epsilon in EPSILONS:
            cells.append(CoverageCell(kind, epsilon, _share(made[epsilon][kind], variants)))
            watch(len(cells) / (len(KINDS) * len(EPSILONS)))
    return Coverage(reading, delta, tuple(cells))


def _read(source: Any, reading: Reading, rule: Mechanism) -> Variants:
    variants = read(source, reading.for_counts_of(rule.counted))
    if not len(variants):
        raise EmptyLogError("the log is empty: there is nothing to forecast")
    return variants


def _share(rule: Mechanism, variants: Variants) -> float:
    """Return the mean share of runs with seeded noise."""
    seeded = [rule.with_random_bytes(Seeded(seed)) for seed in range(RUNS)]
    if rule.kind == "process map":
        return sum(compare_map(variants, map_release(each.release(variants))).kept_mass for each in seeded) / RUNS
    return sum(metrics.case_coverage(variants, each.release(variants)) for each in seeded) / RUNS
