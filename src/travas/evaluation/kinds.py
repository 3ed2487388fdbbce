"""Which kind of release to use: variants, variants on a ladder, a synthetic log or a process map. docs/forecast.md.

Without a log it follows from ε, δ and the number of cases that the owner states, and is public. With a log, every kind is
tried on it with seeded noise: the result is confidential, and no release is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from ..errors import EmptyLogError, ParameterError
from ..maps.map_counts import LEAST_CUT
from ..maps.map_measurements import ACTIVITIES, PAIRS
from ..maps.map_release import map_release
from ..mechanisms import mechanism
from ..mechanisms.process_map import ProcessMap
from ..mechanisms.synthesis import Synthesis
from ..model.explain import check_stated_cases
from ..model.mechanism import Mechanism
from ..privacy.guarantee import ONE_CASE, PrivacyUnit
from ..privacy.noise import Seeded
from ..privacy.numbers import Number, as_text
from ..sources.engine import read
from ..sources.reading import DEFAULT_READING, Reading
from ..synthesis.measurements import LENGTHS, TRANSITIONS, VARIANTS
from . import metrics
from .detail_forecast import detail_facts
from .map_comparison import compare_map

if TYPE_CHECKING:
    from ..model.variants import Variants

ReleaseKind = Literal["variants", "ladder", "synthetic log", "process map"]

KINDS: dict[ReleaseKind, str] = {
    "variants": "optimal",
    "ladder": "ladder",
    "synthetic log": "synthesis",
    "process map": "map",
}
"""The kinds of release, and the mechanism of each."""

STRONG = 73
"""A synthetic log is called weak below this many cases per standard deviation of a transition: 1,000 cases at ε = 0.5."""

MOST_VARIANTS = 2000
"""The similarity of logs with more variants is not computed: it takes too long for a forecast."""

RUNS = 3

ADVICE = (
    "Logs that few variants describe are served slightly better by variants: they are real, and each has an interval.",
    "Logs in which most cases differ are served best by a synthetic log, if they have enough cases; its traces are generated "
    "and labelled as such.",
    "A ladder shows real, but shortened or generalised traces: use it where no trace may appear that is not in the log.",
    "A process map has no traces, but the most exact numbers of cases of steps, with intervals: use it where a picture of the "
    "process is wanted.",
)

MANY_ACTIVITIES = 100
"""With this many activities or more, a map is advised only after grouping them."""

DISTINCT_PAIRS = 10
"""The number of different pairs per case for which the noise of a map is stated."""


@dataclass(frozen=True)
class Outlook:
    """What a kind of release can do at (ε, δ), from public numbers alone.

    Attributes:
        kind: The kind of release.
        mechanism: What makes it.
        facts: What follows from ε and δ, in words.
    """

    kind: ReleaseKind
    mechanism: Mechanism
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """How a kind of release came out on one log, as a mean of runs with seeded noise. Confidential.

    Attributes:
        kind: The kind of release.
        case_coverage: The share of the original cases whose variant is there.
        similarity: The relative log similarity; None where the logs have too many variants to compute it here.
        variants: The number of variants.
    """

    kind: ReleaseKind
    case_coverage: float
    similarity: float | None
    variants: int


@dataclass(frozen=True)
class MapTrial:
    """How a process map came out on one log, as a mean of runs with seeded noise. Confidential.

    Attributes:
        kind: The kind of release.
        count_error: As in `MapComparison`.
        kept_mass: As in `MapComparison`.
    """

    kind: ReleaseKind
    count_error: float
    kept_mass: float


def mechanisms(epsilon: Number, delta: Number, unit: PrivacyUnit = ONE_CASE) -> dict[ReleaseKind, Mechanism]:
    """The mechanism of every kind at (ε, δ)."""
    return {kind: mechanism(name, epsilon, delta, unit=unit) for kind, name in KINDS.items()}


def outlooks(made: dict[ReleaseKind, Mechanism], stated_cases: int | None = None) -> list[Outlook]:
    """What each kind of release can do, without any log.

    Args:
        made: The mechanisms, from `mechanisms`.
        stated_cases: The number of cases that the owner states; never a counted number.

    Returns:
        One outlook for each kind.
    """
    check_stated_cases(stated_cases)
    return [Outlook(kind, rule, _facts(rule, stated_cases)) for kind, rule in made.items()]


def _facts(rule: Mechanism, cases: int | None) -> tuple[str, ...]:
    if isinstance(rule, Synthesis):
        return _synthetic_facts(rule, cases)
    if isinstance(rule, ProcessMap):
        return _map_facts(rule)
    curve = rule.keep_curve()
    if curve is None:
        return ()
    half, always = curve.first_with(Fraction(1, 2)), curve.always_kept
    where = f" on {curve.rung}" if curve.rungs else ""
    share = "" if cases is None else f": {always / cases:.2%} of {cases:,} cases"
    return (
        f"a variant needs {half:,} {rule.noun}{where} to be released with a probability above 50 %",
        f"with {always:,} it is always released{share}",
    )


def _synthetic_facts(rule: Synthesis, cases: int | None) -> tuple[str, ...]:
    variants, lengths, steps = (rule.noise.stage(name) for name in (VARIANTS, LENGTHS, TRANSITIONS))
    shared = variants.threshold / variants.contribution
    facts: tuple[str, ...] = (
        f"a variant is released as such with about {shared:,.0f} cases; all other cases are generated",
        f"noise of {steps.deviation:,.1f} cases on a step from one activity to the next, and of {lengths.deviation:,.1f} on a "
        "range of lengths",
    )
    facts = (*facts, *detail_facts(rule, cases))
    if cases is None:
        return (*facts, f"weak below about {_enough(rule):,} cases")
    strength = "strong enough" if cases >= _enough(rule) else f"weak: use it with {_enough(rule):,} cases or more"
    return (*facts, f"for {cases:,} cases: {strength}")


def _map_facts(rule: ProcessMap) -> tuple[str, ...]:
    activities, pairs = rule.noise.stage(ACTIVITIES), rule.noise.stage(PAIRS)
    alone = activities.threshold / activities.contribution
    noise = pairs.deviation * math.sqrt(DISTINCT_PAIRS)
    return (
        f"an activity has a node of its own with about {alone:,.0f} cases that have no other activity, and with "
        f"{alone * math.sqrt(DISTINCT_PAIRS):,.0f} that have {DISTINCT_PAIRS}; all others are one node",
        f"noise of {noise:,.1f} cases on a pair if cases have up to {DISTINCT_PAIRS} different pairs",
        f"about one false pair; a pair of {LEAST_CUT * noise:,.0f} cases or more can be told from noise if activities are few",
    )


def _enough(rule: Synthesis) -> int:
    """The number of cases from which a synthetic log is not called weak, rounded to two digits."""
    return int(float(f"{STRONG * rule.noise.stage(TRANSITIONS).deviation:.1e}"))


def advice(
    made: dict[ReleaseKind, Mechanism], stated_cases: int | None = None, stated_activities: int | None = None
) -> tuple[str, ...]:
    """When to use which kind of release, in plain words, from public numbers alone.

    Args:
        made: The mechanisms, from `mechanisms`.
        stated_cases: The number of cases that the owner states.
        stated_activities: The number of activities that the owner states.

    Returns:
        Sentences.
    """
    return (*_advice_on_cases(made["synthetic log"], stated_cases), *_advice_on_activities(stated_activities))


def _advice_on_activities(activities: int | None) -> tuple[str, ...]:
    if activities is not None and activities < 1:
        raise ParameterError(f"stated_activities is {activities}: it must be a whole number from 1")
    if activities is None or activities < MANY_ACTIVITIES:
        return ()
    return (
        f"With {activities:,} activities a process map has many pairs of few cases: group activities first, by the abstraction "
        "'group:RULES.csv', or keep some of them by 'only:LIST.txt'.",
    )


def _advice_on_cases(rule: Mechanism, stated_cases: int | None) -> tuple[str, ...]:
    if not isinstance(rule, Synthesis) or stated_cases is None or stated_cases >= _enough(rule):
        return ADVICE
    weak = (
        f"With {stated_cases:,} cases at ε = {as_text(rule.epsilon)} a synthetic log is weak: much of what it shows may be "
        "noise. Use variants or a ladder, or a larger ε."
    )
    return weak, ADVICE[0], *ADVICE[2:]


def trials(
    source: Any, made: dict[ReleaseKind, Mechanism], reading: Reading = DEFAULT_READING
) -> list[Trial | MapTrial]:
    """Try every kind of release on a log. Confidential: nothing is released and nothing is charged.

    Args:
        source: The log.
        made: The mechanisms, from `mechanisms`.
        reading: The rule from events to variants.

    Returns:
        Means of three runs with seeded noise for each kind.

    Raises:
        EmptyLogError: The log has no cases.
    """
    found: list[Trial | MapTrial] = []
    for kind, rule in made.items():
        variants = read(source, reading.for_counts_of(rule.counted))
        if not len(variants):
            raise EmptyLogError("the log is empty: there is nothing to forecast")
        if isinstance(rule, ProcessMap):
            found.append(_map_trial(kind, rule, variants))
            continue
        runs = [_trial(kind, rule.with_random_bytes(Seeded(seed)), variants) for seed in range(RUNS)]
        similar = [run.similarity for run in runs if run.similarity is not None]
        found.append(
            Trial(
                kind,
                sum(run.case_coverage for run in runs) / RUNS,
                sum(similar) / RUNS if len(similar) == RUNS else None,
                round(sum(run.variants for run in runs) / RUNS),
            )
        )
    return found


def _trial(kind: ReleaseKind, rule: Mechanism, variants: Variants) -> Trial:
    released = rule.release(variants)
    few = max(len(variants), len(released.variants)) <= MOST_VARIANTS
    similarity = metrics.relative_log_similarity(variants, released) if few else None
    return Trial(kind, metrics.case_coverage(variants, released), similarity, len(released.variants))


def _map_trial(kind: ReleaseKind, rule: ProcessMap, variants: Variants) -> MapTrial:
    made = [map_release(rule.with_random_bytes(Seeded(seed)).release(variants)) for seed in range(RUNS)]
    compared = [compare_map(variants, released) for released in made]
    error, kept = sum(each.count_error for each in compared), sum(each.kept_mass for each in compared)
    return MapTrial(kind, error / RUNS, kept / RUNS)
