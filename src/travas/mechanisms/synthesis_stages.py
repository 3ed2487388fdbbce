"""The stages of a synthetic log: their shares of the privacy budget, and the questions of times and attributes.

The sums that answer them leave the engine with noise only. What a case adds to each is bounded by the question's
contribution: Lemmas 5 to 9 of docs/mechanisms/synthesis.md. Which cells are asked for follows from earlier outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..log.options import Attribute, BudgetShares, Times
from ..log.questions import (
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
    Totals,
)
from ..search.calibration import StagePlan
from ..synthesis.case_attributes import measures_by_last
from ..synthesis.durations import choose_timed_pairs
from ..synthesis.measurements import (
    ACTIVITIES,
    DURATIONS,
    EVENT_HOURS,
    EVENT_WEEKDAYS,
    LENGTHS,
    OTHER,
    REFINEMENT,
    START_BLOCKS,
    START_HOURS,
    START_WEEKDAYS,
    START_WEEKS,
    THROUGHPUT,
    TRANSITIONS,
    VARIANTS,
    AttributeMeasurements,
    Measurements,
    TimeMeasurements,
    choose_blocks,
    first_stage,
    second_stage,
)
from ..trusted.stages import Selection, Stage
from .gaussian_mechanism import MOST_KEYS

CONTROL_FLOW = {
    VARIANTS: Fraction(15, 100),
    ACTIVITIES: Fraction(20, 100),
    LENGTHS: Fraction(5, 100),
    TRANSITIONS: Fraction(35, 100),
    REFINEMENT: Fraction(25, 100),
}
"""How the control flow's part of μ² is divided."""

TIMES = {
    DURATIONS: Fraction(130, 250),
    THROUGHPUT: Fraction(40, 250),
    START_BLOCKS: Fraction(15, 250),
    START_WEEKS: Fraction(15, 250),
    START_WEEKDAYS: Fraction(12, 250),
    START_HOURS: Fraction(28, 250),
    EVENT_WEEKDAYS: Fraction(3, 250),
    EVENT_HOURS: Fraction(7, 250),
}
"""How the part of times is divided."""

SHARE_OF_TIMES = Fraction(1, 4)
SHARE_OF_ATTRIBUTES = Fraction(1, 10)

_SELECTIONS = {VARIANTS: Selection(), ACTIVITIES: Selection(1, MOST_KEYS)}


def used_shares(times: Times | None, attributes: tuple[Attribute, ...], shares: BudgetShares | None) -> BudgetShares:
    """The shares of what is measured: those that are set, or the defaults; nothing for what is not measured.

    Args:
        times: Which times are measured, if any.
        attributes: Which attributes are measured.
        shares: The shares that were set.

    Returns:
        The shares.
    """
    stated = shares or BudgetShares(SHARE_OF_TIMES, SHARE_OF_ATTRIBUTES)
    used = BudgetShares(stated.times if times else 0, stated.attributes if attributes else 0)
    for name, share, wanted in (("times", used.times, times), ("attributes", used.attributes, attributes)):
        if wanted and not share:
            raise ParameterError(f"{name} are measured but their share is 0; use a larger share", field="shares")
    return used


def stage_plans(
    alphabet: tuple[object, ...] | None, times: Times | None, attributes: tuple[Attribute, ...], shares: BudgetShares
) -> tuple[StagePlan, ...]:
    """All stages in the order in which they are measured.

    Args:
        alphabet: The public activities, if they are: then none are selected.
        times: Which times are measured, if any.
        attributes: Which attributes are measured.
        shares: How the budget is divided.

    Returns:
        The stages, with their parts of μ² and of δ.
    """
    flow = {name: share for name, share in CONTROL_FLOW.items() if name != ACTIVITIES or alphabet is None}
    plans = [
        StagePlan(name, share, _SELECTIONS.get(name)) for name, share in _divided(flow, shares.control_flow).items()
    ]
    if times is not None:
        plans += [StagePlan(name, share) for name, share in _divided(TIMES, shares.times).items()]
    names = sum(not attribute.is_number for attribute in attributes)
    for attribute in attributes:
        share = shares.attributes / len(attributes) / 2
        if attribute.is_number:
            plans.append(StagePlan(first_stage(attribute.name), share))
        else:
            plans.append(StagePlan(first_stage(attribute.name), share, Selection(), Fraction(1, names)))
        plans.append(StagePlan(second_stage(attribute.name), share))
    return tuple(plans)


def _divided(parts: Mapping[str, Fraction], share: Fraction) -> dict[str, Fraction]:
    total = sum(parts.values())
    return {name: part / total * share for name, part in parts.items()}


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
