"""Process maps: case counts of directly-follows pairs with intervals, and optionally durations, rework and throughput.

Proof, line by line: docs/mechanisms/map.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import attrs
import numpy as np

from ..errors import ParameterError, shown
from ..log.log import Log
from ..log.questions import SERVICE as SERVICE_TIME
from ..log.questions import SERVICE_EDGES, EventValuesByActivity, Throughput
from ..log.questions import Durations as StepDurations
from ..log.traces import Activity
from ..releases import map_numbers
from ..releases.map_numbers import ACTIVITIES, DURATIONS, PAIRS, REWORK, SERVICE, SIZES, THROUGHPUT, MapMeasurements
from ..releases.process_map import MapRelease
from ..releases.release import Kind
from ..search.calibration import StagePlan
from ..trusted.contributions import SIZE_CELLS, CodedTraces, pairs_of, rework_of, size_sums, with_other
from ..trusted.samplers import Integers
from ..trusted.stage_check import Draws
from ..trusted.stages import Selection
from .gaussian import MOST_ACTIVITIES, MOST_KEYS, GaussianMechanism, answered, by_size, coded, coded_for
from .mechanism import parameters_of

PARTS = (DURATIONS, REWORK, THROUGHPUT, SERVICE)
"""What a map can have beyond counts."""

SHARES = {ACTIVITIES: Fraction(20, 100), SIZES: Fraction(5, 100)}
SHARES_WITH_DURATIONS = {ACTIVITIES: Fraction(15, 100), SIZES: Fraction(3, 100)}
SHARES_OF_PARTS = {
    DURATIONS: Fraction(40, 100), REWORK: Fraction(7, 100), THROUGHPUT: Fraction(3, 100), SERVICE: Fraction(10, 100)
}  # fmt: skip
"""The parts of μ² of the measurements; the pairs have what is left."""

_SELECTIONS = {ACTIVITIES: Selection(1, MOST_KEYS)}
_MOST_CELLS = {PAIRS: SIZE_CELLS[-1], REWORK: map_numbers.rework_cap(SIZE_CELLS[-1], MOST_ACTIVITIES)}


def _parts(value: Sequence[str]) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ParameterError(f"parts is {shown(value)}: it must be a list of {', '.join(PARTS)}", field="parts")
    for part in value:
        if part not in PARTS:
            raise ParameterError(f"parts contains {shown(part)}; use {', '.join(PARTS)}", field="parts")
    stated = {*value, DURATIONS} if SERVICE in value else value
    return tuple(part for part in PARTS if part in stated)


@attrs.frozen(slots=False)
class ProcessMap(GaussianMechanism):
    """Measure activities, numbers of distinct pairs, and directly-follows pairs with Gaussian noise.

    Input      a log's variants and their true counts; optionally a public alphabet; durations if asked for
    Output     noisy numbers of cases of pairs with intervals; activities that were not selected are one node `other`
    Neighbours adding or removing one case adds a vector of bounded norm to every measurement; a person at most `max_cases`
    Guarantee  (ε, δ) by the theorem, with every inequality verified on the constants that are used
    """

    _name = "map"
    _kind: ClassVar[Kind] = "process map"

    parts: tuple[str, ...] = attrs.field(default=(), converter=_parts)

    def plans(self) -> tuple[StagePlan, ...]:
        """A, M, F and the parts that are asked for; the pairs have every share that is not used."""
        shares = dict(SHARES_WITH_DURATIONS if DURATIONS in self.parts else SHARES)
        if self.alphabet is not None:
            del shares[ACTIVITIES]
        of_parts = {part: SHARES_OF_PARTS[part] for part in self.parts}
        shares[PAIRS] = 1 - sum((*shares.values(), *of_parts.values()), start=Fraction(0))
        shares |= of_parts
        return tuple(
            StagePlan(name, share, _SELECTIONS.get(name), cells=_MOST_CELLS.get(name, 1))
            for name, share in shares.items()
        )

    def _release(self, variants: Log) -> MapRelease:
        rules = (variants.abstraction,)
        return MapRelease(self, columns=variants.columns, abstractions=rules, measurements=self.measure(variants))

    # ------------------------------------------------------------------------------------------- the measurements

    def measure(self, variants: Log) -> MapMeasurements:
        """Draw the noise, once, and measure the log: stages A, M, F, R, P, D and T of the proof, in this order.

        Args:
            variants: The log.

        Returns:
            The noisy measurements.
        """
        draws, log = self._draws(), coded(variants)
        selected = self._select_activities(variants, log, draws, np.empty(0, dtype=np.int64))
        activities = self._activities(selected)
        codes, log = coded_for(activities, variants.alphabet, log)
        labelled = with_other(log, codes)
        case_pairs = pairs_of(labelled)
        stage = draws.stage(SIZES)
        sizes = draws.noisy(SIZES, size_sums(case_pairs, stage))
        in_cases = (sizes / stage.contribution).tolist()
        cap = map_numbers.choose_cap(in_cases, stage.deviation, draws.stage(PAIRS).deviation, len(activities))
        cells = map_numbers.pair_cells(len(activities))
        sums = case_pairs.sums(draws.stage(PAIRS), cap, cells.size)
        pairs = draws.noisy(PAIRS, sums.reshape(cells.shape), cells)
        rework = _measure_rework(labelled, cap, draws) if REWORK in self.parts else None
        timed = map_numbers.timed_pairs(pairs) if DURATIONS in self.parts else None
        throughput = durations = service = None
        if variants.totals is not None:  # `check` has made sure of it where it is asked
            ask = partial(answered, variants.totals, draws, activities=activities, others="node")
            if THROUGHPUT in self.parts:  # P: from the first to the last event of a case, whatever their activities are
                throughput = ask(THROUGHPUT, Throughput)
            if timed is not None:  # D: between the nodes of pairs that F's output has selected
                measured = tuple((int(before), int(after)) for before, after in timed.tolist())
                durations = ask(DURATIONS, StepDurations, pairs=measured, are_waiting=SERVICE in self.parts)
            if SERVICE in self.parts:  # T: from the start to the end of events, by node
                service = ask(SERVICE, EventValuesByActivity, attribute=SERVICE_TIME, edges=SERVICE_EDGES)
        return MapMeasurements(
            contributions=self.contributions,
            activities=activities,
            activity_sums={name: selected[name] for name in activities if name in selected},
            sizes=sizes,
            cap=cap,
            pairs=pairs,
            rework=rework,
            duration_pairs=timed,
            durations=durations,
            throughput=throughput,
            service=service,
        )

    def _activities(self, selected: dict[Activity, int]) -> tuple[Activity, ...]:
        """The activities that have their own node: a rule on outputs, which keeps the largest of too many."""
        return tuple(sorted(by_size(selected)[:MOST_ACTIVITIES])) if self.alphabet is None else self.alphabet


def _measure_rework(labelled: CodedTraces, cap: int, draws: Draws) -> Integers:
    """R: cases that have an activity, and cases that repeat it."""
    activities = labelled.activities - 1
    most = map_numbers.rework_cap(cap, activities)
    sums = rework_of(labelled).sums(draws.stage(REWORK), most, 2 * activities)
    return draws.noisy(REWORK, sums.reshape(2, activities))


@parameters_of.register
def _parameters(mechanism: ProcessMap) -> dict[str, Any]:
    return mechanism._options() | mechanism._constants()
