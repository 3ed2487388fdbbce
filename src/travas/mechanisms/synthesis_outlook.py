"""What can be expected of a synthetic log, from ε, δ and the number of cases that the owner states. docs/forecast.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ..model.detail_options import Attribute, Times
from ..model.questions import DURATION_BUCKETS
from ..synthesis.attribute_measurements import first_stage, second_stage
from ..synthesis.durations import STANDS_OUT
from ..synthesis.measurements import LENGTHS, TRANSITIONS, VARIANTS
from ..synthesis.time_measurements import DURATIONS, START_WEEKS

if TYPE_CHECKING:
    from .synthesis_mechanism import Synthesis

ENOUGH_PER_DEVIATION = 73
"""A synthetic log is called weak below this many cases per standard deviation of a transition: 1,000 cases at ε = 0.5."""

WEEKS = 173
"""Weeks are good from this many cases per standard deviation of a week on: 6,000 cases at ε = 1."""

GOOD_ATTRIBUTES, POOR_ATTRIBUTES = 370, 80
"""An attribute is good from, and poor below, this many cases per standard deviation: 7,000 and 1,500 cases at ε = 1."""

_ONE = "an attribute"


def enough_cases(rule: Synthesis) -> int:
    """Return the number of cases from which a synthetic log is not called weak, rounded to two digits."""
    return _rounded(ENOUGH_PER_DEVIATION * rule.noise.stage(TRANSITIONS).deviation)


def synthetic_facts(rule: Synthesis, cases: int | None) -> tuple[str, ...]:
    """What can be expected of a synthetic log, in words.

    Args:
        rule: The synthetic log.
        cases: The number of cases that the owner states; None if it is not stated.

    Returns:
        Sentences.
    """
    variants, lengths, steps = (rule.noise.stage(name) for name in (VARIANTS, LENGTHS, TRANSITIONS))
    shared, enough = variants.threshold / variants.contribution, enough_cases(rule)
    facts = (
        f"a variant is released as such with about {shared:,.0f} cases; all other cases are generated",
        f"noise of {steps.deviation:,.1f} cases on a step from one activity to the next, and of {lengths.deviation:,.1f} on a "
        "range of lengths",
        *detail_facts(rule, cases),
    )
    if cases is None:
        return (*facts, f"weak below about {enough:,} cases")
    strength = "strong enough" if cases >= enough else f"weak: use it with {enough:,} cases or more"
    return (*facts, f"for {cases:,} cases: {strength}")


def detail_facts(rule: Synthesis, cases: int | None) -> tuple[str, ...]:
    """What times and one attribute would add to a synthetic log, in words.

    Args:
        rule: The synthetic log.
        cases: The number of cases that the owner states; None if it is not stated.

    Returns:
        Sentences.
    """
    detailed = attrs.evolve(rule, times=Times(), attributes=(Attribute(_ONE),), shares=None)
    stage = detailed.noise.stage
    pair = STANDS_OUT * stage(DURATIONS).deviation * DURATION_BUCKETS**0.5
    value = stage(first_stage(_ONE))
    good, poor = (limit * stage(second_stage(_ONE)).deviation for limit in (GOOD_ATTRIBUTES, POOR_ATTRIBUTES))
    weeks = WEEKS * stage(START_WEEKS).deviation
    facts = (
        f"with times: a pair has its own durations with about {_rounded(pair):,} cases; start times are good from about "
        f"{_rounded(weeks):,} cases on",
        f"with one attribute: a value is released with about {_rounded(value.threshold / value.contribution):,} cases",
    )
    if cases is None:
        return (
            *facts,
            f"attributes are good from about {_rounded(good):,} cases on, and poor below {_rounded(poor):,}",
        )
    verdict = "good" if cases >= good else "poor: leave it out" if cases < poor else "rough"
    start = "good" if cases >= weeks else "rough"
    return (*facts, f"for {cases:,} cases: weeks in which cases start are {start}, an attribute is {verdict}")


def _rounded(number: float) -> int:
    """Round to two significant digits."""
    return int(float(f"{number:.1e}"))
