"""What can be expected of times and attributes of a synthetic log, from ε, δ and the number of cases that the owner states."""

from __future__ import annotations

import attrs

from ..mechanisms.synthesis import Synthesis
from ..model.detail_options import Attribute, Times
from ..model.questions import DURATION_BUCKETS
from ..synthesis.attribute_measurements import first_stage, second_stage
from ..synthesis.durations import STANDS_OUT
from ..synthesis.time_measurements import DURATIONS, START_WEEKS

WEEKS = 173
"""Weeks are good from this many cases per standard deviation of a week on: 6,000 cases at ε = 1."""

GOOD_ATTRIBUTES, POOR_ATTRIBUTES = 370, 80
"""An attribute is good from, and poor below, this many cases per standard deviation: 7,000 and 1,500 cases at ε = 1."""

_ONE = "an attribute"


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
        f"with times: a pair has durations of its own with about {_rounded(pair):,} cases; when cases start is good from about "
        f"{_rounded(weeks):,} cases on",
        f"with one attribute: a value is released with about {_rounded(value.threshold / value.contribution):,} cases",
    )
    if cases is None:
        return (
            *facts,
            f"attributes are good from about {_rounded(good):,} cases on, and poor below {_rounded(poor):,}",
        )
    verdict = "good" if cases >= good else "poor: do without" if cases < poor else "rough"
    start = "good" if cases >= weeks else "rough"
    return (*facts, f"for {cases:,} cases: weeks in which cases start are {start}, an attribute is {verdict}")


def _rounded(number: float) -> int:
    """A number of two digits."""
    return int(float(f"{number:.1e}"))
