"""Which kind of release to use: variants, variants on a ladder, a synthetic log or a process map. docs/forecast.md.

Without a log it follows from ε, δ and the number of cases that the owner states, and is public. With a log, every kind is
tried on it with seeded noise: the result is confidential, nothing is released and nothing is charged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, cast

import attrs

from ..errors import EmptyLogError
from ..evaluation import metrics
from ..explain import HALF, check_stated_cases, of_curve
from ..log.options import Attribute, Times
from ..log.questions import DURATION_BUCKETS
from ..mechanisms import mechanism
from ..mechanisms.mechanism import Mechanism, with_random_bytes
from ..mechanisms.process_map import ProcessMap
from ..mechanisms.synthesis import Synthesis
from ..releases.estimate import keep_curve_of
from ..releases.map_numbers import ACTIVITIES, LEAST_CUT, PAIRS
from ..releases.release import count_noun, counted_of, kind_of
from ..sources.engine import read
from ..sources.reading import DEFAULT_READING, Reading
from ..synthesis.durations import STANDS_OUT
from ..synthesis.measurements import DURATIONS, LENGTHS, START_SPANS, TRANSITIONS, VARIANTS, first_stage, second_stage
from ..trusted.guarantee import ONE_CASE, PrivacyUnit
from ..trusted.numbers import Number, as_text
from ..trusted.samplers import Seeded
from .compare import MOST_VARIANTS, compare_map

if TYPE_CHECKING:
    from ..log.log import Log

Alternative = Literal["variants", "ladder", "synthetic log", "process map"]
"""What a forecast compares: the kinds of release, and the ladder, which releases generalised variants."""


ALTERNATIVES: dict[Alternative, str] = {
    "variants": "optimal",
    "ladder": "ladder",
    "synthetic log": "synthesis",
    "process map": "map",
}
"""What a forecast compares, and the mechanism of each."""

RUNS = 3
"""How often every alternative is tried."""

ADVICE = (
    "If few variants describe most cases, variants are slightly better: they are real, and each has an interval.",
    "If most cases differ, a synthetic log is best, provided that there are enough cases; its traces are generated "
    "and labelled as such.",
    "A ladder shows real, but shortened or generalised traces: use it if no trace may appear that is not in the log.",
    "A process map has no traces, but the most accurate numbers of cases for each step, with intervals: use it if you want a "
    "picture of the process. With hundreds of activities, group them first, by the abstraction 'group:RULES.csv'.",
)


@dataclass(frozen=True)
class Outlook:
    """What an alternative can do at (ε, δ), from public numbers alone.

    Attributes:
        alternative: What is compared.
        mechanism: What makes it.
        facts: What follows from ε and δ, in words.
    """

    alternative: Alternative
    mechanism: Mechanism
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """How an alternative performed on one log, as a mean of runs with seeded noise. Confidential.

    Attributes:
        alternative: What is compared.
        facts: Of variants and synthetic logs `case_coverage`, `similarity` (None where the logs have too many variants to
            compute it here) and `variants`; of a map `count_error` and `kept_mass`, as in `MapComparison`.
    """

    alternative: Alternative
    facts: dict[str, float | None]


def mechanisms(epsilon: Number, delta: Number, unit: PrivacyUnit = ONE_CASE) -> dict[Alternative, Mechanism]:
    """The mechanism of every alternative at (ε, δ)."""
    return {each: mechanism(name, epsilon, delta, unit=unit) for each, name in ALTERNATIVES.items()}


def outlooks(made: dict[Alternative, Mechanism], stated_cases: int | None = None) -> list[Outlook]:
    """What each alternative can do, without any log."""
    check_stated_cases(stated_cases)
    return [Outlook(each, rule, _facts(rule, stated_cases)) for each, rule in made.items()]


def _facts(rule: Mechanism, cases: int | None) -> tuple[str, ...]:
    curve = keep_curve_of(rule)
    if curve is None:
        return outlook(rule, cases)
    half, always = curve.first_above(HALF), curve.always_kept
    where = f" on {curve.rung}" if curve.rungs else ""
    share = "" if cases is None else f": {always / cases:.2%} of {cases:,} cases"
    return (of_curve(half, always, count_noun(rule) + where) + share,)


def advice(made: dict[Alternative, Mechanism], stated_cases: int | None = None) -> tuple[str, ...]:
    """When to use which kind of release, in plain words, from public numbers alone."""
    rule = made["synthetic log"]
    enough = enough_cases(rule)
    if stated_cases is None or enough is None or stated_cases >= enough:
        return ADVICE
    weak = (
        f"With {stated_cases:,} cases at ε = {as_text(rule.epsilon)} a synthetic log is weak: much of what it shows may be "
        "noise. Use variants or a ladder, or a larger ε."
    )
    return weak, ADVICE[0], *ADVICE[2:]


def trials(source: Any, made: dict[Alternative, Mechanism], reading: Reading = DEFAULT_READING) -> list[Trial]:
    """Try every alternative on a log with seeded noise. Confidential: nothing is released and nothing is charged."""
    found = []
    for alternative, rule in made.items():
        log = read(source, reading.for_counts_of(counted_of(rule))).canonical()
        if not len(log):
            raise EmptyLogError("the log is empty: there is nothing to forecast")
        releases: list[Any] = [with_random_bytes(rule, Seeded(seed)).release(log) for seed in range(RUNS)]
        found.append(Trial(alternative, (_of_maps if kind_of(rule) == "process map" else _of_logs)(log, releases)))
    return found


def _of_maps(log: Log, releases: Sequence[Any]) -> dict[str, float | None]:
    compared = [compare_map(log, release) for release in releases]
    return {name: fmean(getattr(each, name) for each in compared) for name in ("count_error", "kept_mass")}


def _of_logs(log: Log, releases: Sequence[Any]) -> dict[str, float | None]:
    few = max(len(log), *(len(release.variants) for release in releases)) <= MOST_VARIANTS
    return {
        "case_coverage": fmean(metrics.case_coverage(log, release) for release in releases),
        "similarity": fmean(metrics.relative_log_similarity(log, release) for release in releases) if few else None,
        "variants": round(fmean(len(release.variants) for release in releases)),
    }


# ---------------------------------------------------------------------- synthetic logs and process maps, without a log

ENOUGH_PER_DEVIATION = 75
"""A synthetic log is called weak below this many cases per standard deviation of a transition: 1,000 cases at ε = 0.5."""

FEW_RESIDUAL = 100
"""Fewer generated cases per standard deviation of a transition are less similar than a release of variants without them."""

WEEKS = 33
"""Weeks are good from this many cases per standard deviation of 8 weeks on: 1,000 cases at ε = 1."""

GOOD_ATTRIBUTES, POOR_ATTRIBUTES = 370, 80
"""An attribute is good from, and poor below, this many cases per standard deviation: 7,000 and 1,500 cases at ε = 1."""

DISTINCT_PAIRS = 10
"""The number of different pairs per case for which the noise of a map is stated."""

_ONE = "an attribute"


def outlook(rule: Mechanism, stated_cases: int | None) -> tuple[str, ...]:
    """What can be expected of a release without a keep curve, in sentences without a full stop, from public numbers alone."""
    if kind_of(rule) == "synthetic log":
        return synthetic_facts(cast(Synthesis, rule), stated_cases)
    return _map_facts(cast(ProcessMap, rule)) if kind_of(rule) == "process map" else ()


def enough_cases(rule: Mechanism) -> int | None:
    """Return the number of cases from which a synthetic log is not called weak, rounded; None for other kinds."""
    if kind_of(rule) != "synthetic log":
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
    lengths, steps = (rule.noise.stage(name) for name in (LENGTHS, TRANSITIONS))
    shared, enough = rule.noise.cases_released(VARIANTS), enough_cases(rule) or 0
    facts = (
        f"a variant is released as such with about {shared:,.0f} cases; all other cases are generated",
        f"if most cases have such a variant, and fewer than about {_rounded(FEW_RESIDUAL * steps.deviation):,} have not, a "
        "release of variants is expected to be slightly more similar to the log",
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
    value = detailed.noise.cases_released(first_stage(_ONE))
    good, poor = (limit * stage(second_stage(_ONE)).deviation for limit in (GOOD_ATTRIBUTES, POOR_ATTRIBUTES))
    weeks = WEEKS * stage(START_SPANS).deviation
    facts = (
        f"with times: a pair has its own durations with about {_rounded(pair):,} cases; start times are good from about "
        f"{_rounded(weeks):,} cases on",
        f"with one attribute: a value is released with about {_rounded(value):,} cases",
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
