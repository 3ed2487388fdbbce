"""The stages of a synthetic log and their shares of the privacy budget: docs/mechanisms/synthesis.md, "Calibration"."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ..errors import ParameterError
from ..model.detail_options import Attribute, BudgetShares, Times
from ..search.calibration import StagePlan
from ..synthesis.attribute_measurements import first_stage, second_stage
from ..synthesis.measurements import ACTIVITIES, LENGTHS, REFINEMENT, TRANSITIONS, VARIANTS
from ..synthesis.time_measurements import (
    DURATIONS,
    EVENT_HOURS,
    EVENT_WEEKDAYS,
    START_BLOCKS,
    START_HOURS,
    START_WEEKDAYS,
    START_WEEKS,
    THROUGHPUT,
)
from ..trusted.stages import Selection
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
