"""What can be expected of synthetic logs and process maps, from ε, δ and the number of cases that the owner states.

Derivation: docs/forecast.md.
"""

from __future__ import annotations

import math
from typing import cast

import attrs

from ..log.options import Attribute, Times
from ..log.questions import DURATION_BUCKETS
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.process_map import ProcessMap
from ..mechanisms.synthesis import Synthesis
from ..releases.map_numbers import ACTIVITIES, LEAST_CUT, PAIRS
from ..synthesis.durations import STANDS_OUT
from ..synthesis.measurements import DURATIONS, LENGTHS, START_WEEKS, TRANSITIONS, VARIANTS, first_stage, second_stage

ENOUGH_PER_DEVIATION = 73
"""A synthetic log is called weak below this many cases per standard deviation of a transition: 1,000 cases at ε = 0.5."""

WEEKS = 173
"""Weeks are good from this many cases per standard deviation of a week on: 6,000 cases at ε = 1."""

GOOD_ATTRIBUTES, POOR_ATTRIBUTES = 370, 80
"""An attribute is good from, and poor below, this many cases per standard deviation: 7,000 and 1,500 cases at ε = 1."""

DISTINCT_PAIRS = 10
"""The number of different pairs per case for which the noise of a map is stated."""

_ONE = "an attribute"


def outlook(rule: Mechanism, stated_cases: int | None) -> tuple[str, ...]:
    """What can be expected of a release without a keep curve, in sentences without a full stop, from public numbers alone."""
    if rule.kind == "synthetic log":
        return synthetic_facts(cast(Synthesis, rule), stated_cases)
    return _map_facts(cast(ProcessMap, rule)) if rule.kind == "process map" else ()


def enough_cases(rule: Mechanism) -> int | None:
    """Return the number of cases from which a synthetic log is not called weak, rounded; None for other kinds."""
    if rule.kind != "synthetic log":
        return None
    return _rounded(ENOUGH_PER_DEVIATION * cast(Synthesis, rule).noise.stage(TRANSITIONS).deviation)


def _map_facts(rule: ProcessMap) -> tuple[str, ...]:
    """The noise of pairs, and how many cases an activity and a pair need."""
    if rule.alphabet is not None:
        activities = f"the {len(rule.alphabet):,} public activities have their own nodes; all others are one node"
    else:
        stage = rule.noise.stage(ACTIVITIES)
        alone = stage.threshold / stage.contribution
        activities = (
            f"an activity has its own node with about {alone:,.0f} cases that have no other activity, and with "
            f"{alone * math.sqrt(DISTINCT_PAIRS):,.0f} that have {DISTINCT_PAIRS}; all others are one node"
        )
    noise = rule.noise.stage(PAIRS).deviation * math.sqrt(DISTINCT_PAIRS)
    return (
        activities,
        f"noise of {noise:,.1f} cases on a pair if cases have up to {DISTINCT_PAIRS} different pairs",
        f"about one false pair; with few activities, a pair of {LEAST_CUT * noise:,.0f} cases or more stands out from the "
        "noise",
    )


def synthetic_facts(rule: Synthesis, cases: int | None) -> tuple[str, ...]:
    """What can be expected of a synthetic log, in words."""
    variants, lengths, steps = (rule.noise.stage(name) for name in (VARIANTS, LENGTHS, TRANSITIONS))
    shared, enough = variants.threshold / variants.contribution, enough_cases(rule) or 0
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
    """What times and one attribute would add to a synthetic log, in words."""
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
