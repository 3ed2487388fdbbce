"""The stages of times and attributes: questions to the engine, whose sums leave it with noise only.

What a case adds to each of them is bounded by the question's contribution: Lemmas 5 to 9 of
docs/mechanisms/synthesis.md. Which cells are asked for follows from earlier outputs alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..model.detail_options import Attribute, Times
from ..model.questions import (
    AttributeBins,
    AttributeBinsByLast,
    AttributeValues,
    AttributeValuesByLast,
    CellQuestion,
    Durations,
    EventHours,
    EventWeekdays,
    StartBlocks,
    StartHours,
    StartWeekdays,
    StartWeeks,
    Throughput,
)
from ..model.totals import Totals
from ..synthesis.attribute_measurements import OTHER, AttributeMeasurements, first_stage, second_stage
from ..synthesis.case_attributes import measures_by_last
from ..synthesis.durations import choose_timed_pairs
from ..synthesis.measurements import Measurements
from ..synthesis.time_measurements import (
    DURATIONS,
    EVENT_HOURS,
    EVENT_WEEKDAYS,
    START_BLOCKS,
    START_HOURS,
    START_WEEKDAYS,
    START_WEEKS,
    THROUGHPUT,
    TimeMeasurements,
    choose_blocks,
)
from ..trusted.stages import Stage


class Noisy(Protocol):
    """Adds the noise of a stage to its sums, once."""

    def __call__(
        self, name: str, sums: NDArray[np.int64], where: NDArray[np.bool_] | None = None, /
    ) -> NDArray[np.int64]: ...


StageOf = Callable[[str], Stage]
"""The calibrated stage of a name."""


def measure_times(
    totals: Totals, settings: Times, flow: Measurements, stage: StageOf, noisy: Noisy
) -> TimeMeasurements:
    """D, P, W, H and E: what all cases add, with noise.

    Args:
        totals: Answers questions about the counted cases.
        settings: The public zone and weekend days.
        flow: The measurements of the control flow, which decide the alphabet and the pairs.
        stage: The calibrated stages.
        noisy: Adds noise.

    Returns:
        The measurements.
    """
    activities, zone, weekend = flow.activities, settings.zone, settings.weekend

    def asked(name: str, kind: Callable[..., CellQuestion], **options: Any) -> NDArray[np.int64]:
        question = kind(contribution=stage(name).contribution, activities=activities, **options)
        return noisy(name, totals.sums(question))

    pairs = choose_timed_pairs(flow)
    durations = asked(DURATIONS, Durations, pairs=tuple((int(before), int(after)) for before, after in pairs))
    throughput = asked(THROUGHPUT, Throughput)
    start_blocks = asked(START_BLOCKS, StartBlocks, zone=zone)
    blocks = choose_blocks(start_blocks, stage(START_BLOCKS).contribution, stage(START_BLOCKS).deviation)
    return TimeMeasurements(
        settings=settings,
        pairs=pairs,
        durations=durations,
        throughput=throughput,
        start_blocks=start_blocks,
        blocks=blocks,
        start_weeks=asked(START_WEEKS, StartWeeks, zone=zone, blocks=tuple(map(int, blocks))),
        start_weekdays=asked(START_WEEKDAYS, StartWeekdays, zone=zone),
        start_hours=asked(START_HOURS, StartHours, zone=zone, weekend=weekend),
        event_weekdays=asked(EVENT_WEEKDAYS, EventWeekdays, zone=zone),
        event_hours=asked(EVENT_HOURS, EventHours, zone=zone, weekend=weekend),
    )


def measure_attribute(
    totals: Totals, attribute: Attribute, flow: Measurements, stage: StageOf, noisy: Noisy
) -> AttributeMeasurements:
    """C: the values of an attribute, then the same cells again or by last activity, with noise.

    Args:
        totals: Answers questions about the counted cases.
        attribute: The attribute.
        flow: The measurements of the control flow.
        stage: The calibrated stages.
        noisy: Adds noise.

    Returns:
        The measurements.
    """
    measure = _measure_number if attribute.is_number else _measure_name
    return measure(totals, attribute, flow, stage, noisy)


def _measure_number(
    totals: Totals, attribute: Attribute, flow: Measurements, stage: StageOf, noisy: Noisy
) -> AttributeMeasurements:
    name, edges = attribute.name, attribute.edges
    once, again = stage(first_stage(name)), stage(second_stage(name))
    first = noisy(once.name, totals.sums(AttributeBins(contribution=once.contribution, attribute=name, edges=edges)))
    question: CellQuestion = AttributeBins(contribution=again.contribution, attribute=name, edges=edges)
    if measures_by_last(attribute, first, flow, once, again):
        question = AttributeBinsByLast(
            contribution=again.contribution, attribute=name, edges=edges, activities=flow.activities
        )
    return AttributeMeasurements(attribute, (), first, noisy(again.name, totals.sums(question)))


def _measure_name(
    totals: Totals, attribute: Attribute, flow: Measurements, stage: StageOf, noisy: Noisy
) -> AttributeMeasurements:
    name = attribute.name
    once, again = stage(first_stage(name)), stage(second_stage(name))
    sums = totals.value_sums(AttributeValues(contribution=once.contribution, attribute=name))
    candidates = sorted(value for value in sums if value is not None and value != OTHER)
    with_noise = noisy(once.name, np.array([*(sums[value] for value in candidates), sums.get(None, 0)], dtype=np.int64))
    kept = [index for index in range(len(candidates)) if with_noise[index] > once.threshold]
    values = tuple(candidates[index] for index in kept)
    first = with_noise[[*kept, len(candidates)]]
    if measures_by_last(attribute, first, flow, once, again):
        second = totals.sums(
            AttributeValuesByLast(
                contribution=again.contribution, attribute=name, values=values, activities=flow.activities
            )
        )
    else:
        second = _folded(totals, name, values, again)
    return AttributeMeasurements(attribute, values, first, noisy(again.name, second))


def _folded(totals: Totals, name: str, values: tuple[str, ...], stage: Stage) -> NDArray[np.int64]:
    """Sums of the selected values, of all others together, and of missing ones."""
    sums = totals.value_sums(AttributeValues(contribution=stage.contribution, attribute=name))
    selected = [sums.get(value, 0) for value in values]
    others = sum(added for value, added in sums.items() if value is not None) - sum(selected)
    return np.array([*selected, others, sums.get(None, 0)], dtype=np.int64)
