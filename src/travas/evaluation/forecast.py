"""What a release at (ε, δ) would keep, and which kind of release to use: without a log, or for one. See docs/forecast.md.

Without a log it follows from ε, δ and the number of cases that the owner states, and is public. With a log it is an
expectation, and confidential. Nothing is released and nothing is charged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any, Literal, cast

import attrs

from ..errors import CONFIDENTIAL_HEADING, LogError, ParameterError, checked_items, confidential_repr, naming
from ..explain import HALF, check_stated_cases, of_half
from ..log.abstraction import Abstraction, parse_ladder
from ..log.log import Log
from ..log.options import Attribute, Times
from ..log.questions import DURATION_BUCKETS
from ..mechanisms import mechanism
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.process_map import ProcessMap
from ..mechanisms.synthesis import Synthesis
from ..plots.html import fragment, heading, paragraph, table, warning
from ..releases.estimate import KeepCurve, keep_curve_of
from ..releases.map_numbers import ACTIVITIES, LEAST_CUT, PAIRS
from ..releases.release import Kind, count_noun, name_of
from ..sources.engine import read
from ..sources.reading import DEFAULT_READING, Reading
from ..synthesis.durations import STANDS_OUT
from ..synthesis.measurements import DURATIONS, LENGTHS, START_SPANS, TRANSITIONS, VARIANTS, first_stage, second_stage
from ..trusted.guarantee import ONE_CASE, PrivacyUnit
from ..trusted.numbers import ONE, Number, as_text

EPSILONS = ("0.5", "1", "2", "4")
DELTAS = ("1e-4", "1e-6", "1e-8")
ABSTRACTIONS = "full,fold,first,prefix:16,prefix:8,prefix:4,set"
SHARES = ("cases", "variants")
"""What a forecast gives shares of."""

LOOKING = (
    "This forecast has read the original log. Choosing parameters or an abstraction based on it is a use of the log that "
    "no guarantee covers. Instead, choose them beforehand, or use a forecast on last year's log or on a similar public "
    "log."
)


@dataclass(frozen=True)
class Expected:
    """The exact expected shares of a log that a release would keep: of all cases, and of variants under the abstraction."""

    epsilon: Fraction
    delta: Fraction
    abstraction: Abstraction
    cases: Fraction
    variants: Fraction


@dataclass(frozen=True)
class Forecast:
    """Expected shares for a grid of (ε, δ) and abstractions. Confidential."""

    cells: tuple[Expected, ...]

    __repr__ = confidential_repr

    def shares(self, what: str) -> list[list[str]]:
        """The expected shares as a table: ε, δ and a column for each abstraction, with a heading."""
        rows: dict[tuple[str, str], list[str]] = {}
        for cell in self.cells:
            at = as_text(cell.epsilon), as_text(cell.delta)
            rows.setdefault(at, [*at]).append(f"{float(getattr(cell, what)):.0%}")
        return [["ε", "δ", *dict.fromkeys(str(cell.abstraction) for cell in self.cells)], *rows.values()]

    def _repr_html_(self) -> str:
        """The forecast in a notebook, marked confidential."""
        parts = [warning(CONFIDENTIAL_HEADING), heading("Forecast")]
        for what in SHARES:
            head, *rows = self.shares(what)
            parts += [paragraph(f"Expected share of the {what} kept"), table(head, rows)]
        return fragment([*parts, paragraph(LOOKING)])


def forecast(
    source: Any, mechanisms: Iterable[Mechanism], abstractions: str = ABSTRACTIONS, reading: Reading = DEFAULT_READING
) -> Forecast:
    """Compute the expected shares of a log that mechanisms would keep under abstractions. Confidential.

    Args:
        source: The log, as for `read`.
        mechanisms: The mechanisms.
        abstractions: The names of the abstractions from fine to coarse, separated by commas.
        reading: How the log is read.

    Returns:
        The forecast.
    """
    rules = checked_items("mechanisms", mechanisms, Mechanism, "a list such as [Optimal(epsilon=1, delta='1e-6')]")
    for rule in rules:
        _curve(rule)  # raises before the log is read
    with naming("abstractions"):
        compared = parse_ladder(abstractions)
    variants = read(source, reading)
    if not len(variants):
        raise LogError("the log is empty; there is nothing to forecast")
    under = [(abstraction, abstraction.of(variants)) for abstraction in compared]
    cases = int(variants.counts.sum())
    return Forecast(tuple(_expected(rule, *each, cases) for rule in rules for each in under))


def _expected(mechanism: Mechanism, abstraction: Abstraction, keys: Log, cases: int) -> Expected:
    """Return Σ n·π(n) and Σ π(n), in integers, over the variants under the abstraction."""
    curve, counts = _curve(mechanism), keys.counts.tolist()
    kept_of = {count: curve.table.cumulative(count - curve.minimum_cases + 1) for count in set(counts)}
    kept = [kept_of[count] for count in counts]
    return Expected(
        mechanism.epsilon,
        mechanism.delta,
        abstraction,
        cases=Fraction(sum(map(mul, counts, kept)), ONE * cases),
        variants=Fraction(sum(kept), ONE * max(len(keys), 1)),
    )


def _curve(mechanism: Mechanism) -> KeepCurve:
    curve = keep_curve_of(mechanism)
    if curve is None or curve.rungs or curve.runs > 1:
        raise ParameterError(
            f"no forecast for {name_of(mechanism)}, because what it keeps depends on more than the case count; use optimal or "
            "travas",
            field="mechanism",
        )
    return curve


# ---------------------------------------------------------------------------------------------- kinds of release

Alternative = Literal["variants", "ladder", "synthetic log", "process map"]

ALTERNATIVES: dict[Alternative, str] = {
    "variants": "optimal",
    "ladder": "ladder",
    "synthetic log": "synthesis",
    "process map": "map",
}
"""What a forecast compares: the kinds of release, and the ladder, which releases generalised variants."""

ADVICE = (
    "If few variants describe most cases, variants are slightly better: they are real, and each has an interval.",
    "If most cases differ, a synthetic log is best, provided that there are enough cases; its traces are generated "
    "and labelled as such.",
    "A ladder shows real, but shortened or generalised traces: use it if no trace may appear that is not in the log.",
    "A process map has no traces, but the most accurate numbers of cases for each step, with intervals: use it if you want a "
    "picture of the process. With hundreds of activities, group them first, by the abstraction 'group:RULES.csv'.",
)


def mechanisms(epsilon: Number, delta: Number, unit: PrivacyUnit = ONE_CASE) -> dict[Alternative, Mechanism]:
    """The mechanism of every alternative at (ε, δ)."""
    return {each: mechanism(name, epsilon, delta, unit=unit) for each, name in ALTERNATIVES.items()}


def outlook(rule: Mechanism, cases: int | None = None) -> tuple[str, ...]:
    """What can be expected of a release, in sentences without a full stop, from public numbers alone."""
    check_stated_cases(cases)
    if isinstance(rule, Synthesis):
        return _synthetic_facts(rule)
    if isinstance(rule, ProcessMap):
        return _map_facts(rule)
    curve = keep_curve_of(rule)
    if curve is None:
        return ()
    always = curve.always_kept
    where = f" on {curve.rung}" if curve.rungs else ""
    share = "" if cases is None else f": {always / cases:.2%} of {cases:,} cases"
    return (f"{of_half(curve, count_noun(rule) + where)}, and {always:,} to be always released{share}",)


def in_short(
    epsilon: Number, delta: Number, unit: PrivacyUnit, stated_cases: int | None
) -> tuple[dict[Kind, str], Kind]:
    """What each kind of release would keep, in a few words, and which one is recommended; from public numbers alone."""
    made = mechanisms(epsilon, delta, unit)
    enough, curve = enough_cases(made["synthetic log"]), _curve(made["variants"])
    is_enough = stated_cases is None or stated_cases >= enough
    of, log = "", f"good from {enough:,} cases"
    if stated_cases is not None:
        of, log = f" of {stated_cases:,}", f"{'good' if is_enough else 'weak'} for {stated_cases:,} cases"
    return {
        "synthetic log": log,
        "process map": f"each number ± {2 * _pair_noise(cast(ProcessMap, made['process map'])):,.0f}{of}",
        "variants": f"ways that {curve.first_above(HALF):,} or more{of or ' cases'} take",
    }, "synthetic log" if is_enough else "process map"


def advice(made: dict[Alternative, Mechanism], stated_cases: int | None = None) -> tuple[str, ...]:
    """When to use which kind of release, in plain words, from public numbers alone."""
    rule = made["synthetic log"]
    if stated_cases is None or stated_cases >= enough_cases(rule):
        return ADVICE
    weak = (
        f"With {stated_cases:,} cases at ε = {as_text(rule.epsilon)} a synthetic log is weak: much of what it shows may be "
        "noise. Use variants or a ladder, or a larger ε."
    )
    return weak, ADVICE[0], *ADVICE[2:]


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


def enough_cases(rule: Mechanism) -> int:
    """Return the number of cases from which a synthetic log is not called weak, rounded."""
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
    noise = _pair_noise(rule)
    return (
        activities,
        f"noise of {noise:,.1f} cases on a pair if cases have up to {DISTINCT_PAIRS} different pairs",
        f"about one false pair; with few activities, a pair of {LEAST_CUT * noise:,.0f} cases or more stands out from the "
        "noise",
    )


def _pair_noise(rule: ProcessMap) -> float:
    """The standard deviation of the number of cases of a pair, if cases have many different pairs."""
    return rule.noise.stage(PAIRS).deviation * math.sqrt(DISTINCT_PAIRS)


def _synthetic_facts(rule: Synthesis) -> tuple[str, ...]:
    lengths, steps = (rule.noise.stage(name) for name in (LENGTHS, TRANSITIONS))
    shared = rule.noise.cases_released(VARIANTS)
    return (
        f"a variant is released as such with about {shared:,.0f} cases; all other cases are generated",
        f"if most cases have such a variant, and fewer than about {_rounded(FEW_RESIDUAL * steps.deviation):,} have not, a "
        "release of variants is expected to be slightly more similar to the log",
        f"noise of {steps.deviation:,.1f} cases on a step from one activity to the next, and of {lengths.deviation:,.1f} on a "
        "range of lengths",
        *_detail_facts(rule),
        f"weak below about {enough_cases(rule):,} cases",
    )


def _detail_facts(rule: Synthesis) -> tuple[str, ...]:
    """What times and one attribute would add to a synthetic log, in words."""
    detailed = attrs.evolve(rule, times=Times(), attributes=(Attribute(_ONE),))
    stage = detailed.noise.stage
    pair = STANDS_OUT * stage(DURATIONS).deviation * DURATION_BUCKETS**0.5
    value = detailed.noise.cases_released(first_stage(_ONE))
    good, poor = (limit * stage(second_stage(_ONE)).deviation for limit in (GOOD_ATTRIBUTES, POOR_ATTRIBUTES))
    weeks = WEEKS * stage(START_SPANS).deviation
    return (
        f"with times: a pair has its own durations with about {_rounded(pair):,} cases; start times are good from about "
        f"{_rounded(weeks):,} cases on",
        f"with one attribute: a value is released with about {_rounded(value):,} cases",
        f"attributes are good from about {_rounded(good):,} cases on, and poor below {_rounded(poor):,}",
    )


def _rounded(number: float) -> int:
    """Round to two significant digits."""
    return int(float(f"{number:.1e}"))
