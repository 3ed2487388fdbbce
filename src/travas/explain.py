"""Explanations of ε, δ, units and releases, shared by command line, report, plots and web app."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast

from .errors import number_of, shown
from .log.questions import SERVICE
from .log.rules import Rules
from .mechanisms.ladder import generalises
from .mechanisms.mechanism import Mechanism, tables_of
from .releases.estimate import Estimate, KeepCurve, keep_curve_of
from .releases.release import Kind, count_noun, counted_of, details_of, kind_of, name_of
from .trusted.guarantee import Counted, Guarantee, PrivacyUnit
from .trusted.numbers import as_text, whole_number
from .trusted.stages import STANDARD_DEVIATION

if TYPE_CHECKING:
    from .mechanisms.gaussian import GaussianMechanism
    from .releases.release import Release
    from .releases.synthetic_log import SyntheticRelease
    from .synthesis.quality import Quality


MOSTLY = 0.5
"""A synthetic log is called noisy from this share of noise on."""

NOISY = 0.1
"""Released variants alone are as good from this share of noise on, if most cases have one (docs/benchmarks.md)."""

_FEW_OTHERS = 0.01
"""With a smaller share of generated traces, their noise does not matter."""

Released = Literal["variants of the log", "any sequence", "generated traces", "pairs of activities"]

WARN_EPSILON, WARN_DELTA, WARN_VISIBLE = Fraction(4), Fraction(1, 10**4), 10
"""The policy thresholds: above this ε, this δ, or δ = 1/(10 × stated cases), protection is called weak."""

WEAK = "Weak protection"

PERSON = "person"
"""The noun for a unit that has no name of its own: its column identifies a person."""

HALF = Fraction(1, 2)

FEW_VARIANTS = 5
"""A release with fewer variants is called nearly empty, unless it covers most cases by its estimate."""

SYNTHETIC = (
    "This is a synthetic log: its traces were generated from noisy measurements of the original log and need not occur in it. "
    "No statement about a single generated trace is meaningful; statements about many of them together are."
)

SHARE_RELEASED = (
    "of the cases have a variant that was frequent enough to be released; the others are generated, and may also occur in the "
    "original log"
)
"""What the share of released variants in a synthetic log is a share of."""

SERVICE_AND_WAITING = (
    "The service time of an event is the time from its start to its end; the waiting time is the time from the end of an event "
    "to the start of the next one, at least 0."
)

EMPTY_SYNTHETIC = (
    "The synthetic log is empty: nothing that cases have in common stands out from the noise. To release more: use a larger ε, "
    "or a log with more cases. Every further release is charged."
)

EMPTY_MAP = (
    "The process map is empty: no pair of activities stands out from the noise. To release more: use a larger ε, group "
    "activities by an abstraction, or use a log with more cases. Every further release is charged."
)

PROCESS_MAP = (
    "This is a process map: how many cases have each pair of activities that directly follow each other. Numbers have noise "
    "and 95 % intervals; activities that were not selected are one node, 'other'. A few pairs may be there by noise alone."
)

ABOUT_KIND: dict[Kind, str] = {"variants": "", "synthetic log": SYNTHETIC, "process map": PROCESS_MAP}
"""What has to be known about a kind of release before its content is read."""

COUNT_IN_FILE: dict[str, str] = {
    "estimated": "The count in the file is the best estimate of the number of {noun} with the variant. Rare variants are not "
    "released, so the total is smaller than that of the original log.",
    "spread": "The count in the file is the estimate plus a share of what is estimated as not released. It is meant for "
    "similarity studies: it is not the number of {noun} with the variant, and the total is not that of the original log.",
    "noisy": "The count in the file is the noisy count, which is too large for most rare variants.",
}
"""What the counts of released variants in a file are, by `frequencies`; `noun` is what they are numbers of."""

MISSING_RESTS_ON = (
    "if the number of rare variants follows Zipf's law. The release does not show how many rare variants the log has: if "
    "there are more, more is missing, and the release would look the same"
)


def factor(epsilon: Fraction) -> str:
    """Format e^ε, rounded up."""
    value = math.exp(float(epsilon))
    return f"{math.ceil(value * 100) / 100:,.2f}" if value < 100 else f"{math.ceil(value):,}"


def best_guess(epsilon: Fraction, delta: Fraction) -> float:
    """Return how often the best attacker correctly guesses whether a unit was in the log, as a share, rounded up.

    Of two equally likely logs: at most (e^ε + δ)/(e^ε + 1), as no test of (ε, δ)-indistinguishable outcomes does better.
    """
    growth = math.exp(float(epsilon))
    share = (growth + float(delta)) / (growth + 1)
    return min(math.ceil(share * 1e4 - 1e-9) / 1e4, 1.0)


def promise(epsilon: Fraction, delta: Fraction, unit: str) -> str:
    """State in everyday words what a release protects from."""
    share = f"{100 * best_guess(epsilon, delta):.2f} %"
    return f"At best {share} right instead of 50 % when guessing whether a given {unit} was in the log."


def percent(probability: Fraction | float) -> str:
    """Format a probability, however small it is or close to 1."""
    share = float(probability)
    if 0.9999 <= share < 1:
        return ">99.99%"
    return f"{share:.2%}" if share >= 0.0001 else f"{share:.1e}"


def one_in(delta: Fraction) -> str:
    """Format a small probability as `1 in n`."""
    if delta == 0:
        return "never"
    times = 1 / delta
    return f"1 in {math.floor(times):,}" if times < 10**15 else f"1 in {float(times):.0e}"


def of_epsilon(epsilon: Fraction, delta: Fraction, unit: str) -> str:
    """Explain ε in a sentence."""
    exception = f", except with probability δ = {as_text(delta)}" if delta else ""
    return (
        f"Whether one {unit} is in the log or not changes the probability of any conclusion by at most the factor "
        f"{factor(epsilon)}{exception}. Someone who knows everything else: {promise(epsilon, delta, unit)}"
    )


def of_half(curve: KeepCurve, noun: str) -> str:
    """Explain a keep curve, without a full stop."""
    return f"a variant needs {curve.first_above(HALF):,} {noun} to be released with a probability above 50 %"


def numbers(epsilon: Fraction, delta: Fraction) -> str:
    """Format ε and δ, such as `ε = 1, δ = 1e-6`."""
    return f"ε = {as_text(epsilon)}, δ = {as_text(delta)}"


def in_a_phrase(guarantee: Guarantee) -> str:
    """State a guarantee in a phrase."""
    return f"{numbers(guarantee.epsilon, guarantee.delta)} for {guarantee.holds_for}: {guarantee.standing}"


def holds(guarantee: Guarantee) -> str:
    """State a guarantee in a sentence."""
    stated = numbers(guarantee.epsilon, guarantee.delta)
    return f"The guarantee holds for {guarantee.holds_for}: {stated}, {guarantee.standing}."


def no_guarantee(guarantee: Guarantee) -> str:
    """Say that a guarantee is not established, in a phrase that ends a sentence."""
    stated = numbers(guarantee.epsilon, guarantee.delta)
    return f"NO established guarantee ({stated}): do not publish it if the original log is confidential."


def counted_per(unit: PrivacyUnit, counted: Counted | None, person: str = "") -> str:
    """Describe how much of one unit is counted, such as `at most 3 cases per patient`."""
    what = "case" if counted == "cases" else "different variant"
    return f"at most {unit.max_cases} {what}{'s' if unit.max_cases > 1 else ''} per {person or unit.noun}"


def released_by(mechanism: Mechanism) -> Released:
    """Return what is released: variants, any sequence over a public alphabet, generated traces, or pairs of activities."""
    others: dict[Kind, Released] = {"synthetic log": "generated traces", "process map": "pairs of activities"}
    return others.get(kind_of(mechanism), "any sequence" if hasattr(mechanism, "alphabet") else "variants of the log")


def of_delta(delta: Fraction, unit: str, released: Released) -> str:
    """Explain δ in a sentence. If only variants of the log are released, it bounds the risk of a unique one."""
    if delta == 0:
        return "There is no exception to it."
    rare = f"A variant that only one {unit} has is released with a probability of at most {one_in(delta)}."
    return rare if released == "variants of the log" else f"δ is a probability of at most {one_in(delta)}."


# --------------------------------------------------------------------------------------------- how strongly it protects


def weak_protection(
    epsilon: Fraction, delta: Fraction, stated_cases: int | None = None, unit: str = "case"
) -> tuple[str, ...]:
    """Explain why parameters protect only weakly, by the policy thresholds."""
    reasons = []
    if epsilon > WARN_EPSILON:
        reasons.append(
            f"ε = {as_text(epsilon)} is above {as_text(WARN_EPSILON)}: a single {unit} can change the probability of "
            f"a conclusion by the factor {factor(epsilon)}"
        )
    if delta > WARN_DELTA:
        reasons.append(
            f"δ = {as_text(delta)} is above {as_text(WARN_DELTA)}: a variant that only one {unit} has may be released "
            f"with a probability of {one_in(delta)}"
        )
    if stated_cases is not None and delta * stated_cases * WARN_VISIBLE > 1:
        reasons.append(
            f"δ = {as_text(delta)} is above 1/({WARN_VISIBLE} × {stated_cases:,} stated cases): the expected number of released "
            f"variants that only one {unit} has may be as large as {float(delta * stated_cases):.2g}"
        )
    return tuple(f"{WEAK}: {reason}." if index == 0 else f"{reason}." for index, reason in enumerate(reasons))


def check_stated_cases(value: int | None) -> int | None:
    """Check the number of cases stated by the owner."""
    return None if value is None else whole_number(value, "stated_cases", 1)


# ------------------------------------------------------------------------------------------------ what a release says


def pairs(mechanism: Mechanism, person: str = PERSON) -> str:
    """Return what the total of all counts is a number of; if units are counted, a unit can have several variants."""
    by_case = mechanism.unit.is_case or counted_of(mechanism) == "cases"
    if not by_case:
        return f"{person}–variant pairs"
    return "cases" if mechanism.unit.is_case else "counted cases"


def original_cases(release: Release, person: str = PERSON) -> str:
    """Return what a measured number of cases counts: with a unit, a segment or a period, not all cases of the log."""
    unit, period = release.mechanism.unit, (release.reading or {}).get("period")
    of = " of the segment" * bool(release.segment) + (f" of {period['name']}" if period else "")
    if unit.is_case:
        return f"cases{of} in the original log"
    return f"counted cases{of} (at most {unit.max_cases} per {person})"


def of_missing(estimate: Estimate | None, noun: str) -> str | None:
    """Describe the interval of cases that were not released, and its assumptions; None if it is unknown."""
    if estimate is None or estimate.missing_cases_interval is None:
        return None
    low, high = estimate.missing_cases_interval
    if estimate.is_measured:
        return (
            f"{low:,.0f} to {high:,.0f} {noun} (95 %), by the noisy number of all cases, which is part of the release"
        )
    return f"roughly {low:,.0f} to {high:,.0f} {noun}, {MISSING_RESTS_ON}"


def of_emptiness(variants: int, mechanism: Mechanism, estimate: Estimate | None) -> tuple[str, ...]:
    """Explain an empty or nearly empty release of variants, with remedies, from the release alone."""
    missing = None if estimate is None else estimate.missing_cases
    covers_most = estimate is not None and missing is not None and sum(estimate.counts) > missing
    if variants >= FEW_VARIANTS or covers_most:
        return ()
    many = (
        f"The release is nearly empty: it has only {number_of(variants, 'variants')}. Unless the process has hardly any "
        "other variants, most of it is missing."
    )
    first = many if variants else "The release is empty: no variant was released."
    more = (
        "add more general rungs to the ladder"
        if generalises(mechanism)
        else "use a ladder, which generalises rare variants"
    )
    few, curve = "With these parameters, only what many cases have in common is released", keep_curve_of(mechanism)
    if curve is not None and not curve.rungs:
        few = f"At this ε and δ {of_half(curve, count_noun(mechanism))}"
    return (
        f"{first} {few}. To release more: {more}; use a larger ε; or use an abstraction that makes variants more alike. "
        "Every further release is charged.",
    )


def of_noise(release: SyntheticRelease) -> tuple[str, ...]:
    """Explain an empty synthetic log, or one that is mostly noise, from the release alone."""
    if not sum(release.counts):
        return (EMPTY_SYNTHETIC,)
    quality, others = release.quality(), 1 - release.share_released
    if others < _FEW_OTHERS:
        return ()
    if quality.noise_share > NOISY and release.share_released > MOSTLY:
        return (
            f"{release.share_released:.0%} {SHARE_RELEASED}. {quality.noise_share:.0%} of what the other {others:.0%} were "
            "generated from is noise: a release of variants is expected to be slightly more similar to the log.",
        )
    if quality.noise_share < MOSTLY:
        return ()
    return (
        f"About {quality.noise_share:.0%} of what traces were generated from is noise: do not rely on generated "
        "traces. With few cases, use a larger ε, or a release of variants.",
    )


def summary(mechanism: Mechanism) -> str:
    """What a mechanism does: the first line of its docstring."""
    return (type(mechanism).__doc__ or name_of(mechanism)).strip().partition("\n")[0].rstrip(".")


def noise_in_words(mechanism: Mechanism) -> tuple[str, ...]:
    """Describe the noise and how it was checked, one line for each part."""
    if kind_of(mechanism) in ("synthetic log", "process map"):
        return _measurements_in_words(cast("GaussianMechanism", mechanism))
    tables = tables_of(mechanism)
    checked = (
        f"table of {noise.table.length:,} entries of 128 bits, each checked in exact integers" for noise in tables
    )
    if not tables and mechanism.delta:
        return ("not described by the mechanism",)
    return tuple(checked) if tables else ("discrete Laplace, sampled exactly, without a table",)


def _measurements_in_words(mechanism: GaussianMechanism) -> tuple[str, ...]:
    """The noise, and for every measurement what a case adds to it and the threshold of what is selected."""
    lines = [
        f"discrete Gaussian, standard deviation S = {STANDARD_DEVIATION:,}, sampled exactly; every inequality of the "
        "theorem was recomputed"
    ]
    for stage in mechanism.noise.calibration.stages:
        selected = f", released above {stage.threshold:,}" if stage.selection is not None else ""
        if stage.ramp is not None:
            selected = f", released by chance from {stage.ramp.first:,} noisy cases on, always from {stage.ramp.end:,}"
        lines.append(
            f"{stage.name}: a case adds at most {stage.contribution:,}{selected}; noise of {stage.deviation:.1f} cases"
        )
    return tuple(lines)


# ----------------------------------------------------------------------------------- times and attributes of synthetic logs

_SHOWN_VALUES = 5


def duration_text(seconds: float) -> str:
    """A duration with two digits and its unit.

    >>> duration_text(0), duration_text(75), duration_text(7200), duration_text(86400 * 3.5)
    ('below 1 s', '75 s', '2.0 h', '3.5 d')
    """
    if seconds < 1:
        return "below 1 s"
    for size, unit in ((86400 * 365.25, "y"), (86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (unit != "min" and seconds >= size * 1.5):
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def service_in_words(mechanism: Mechanism) -> tuple[str, ...]:
    """What service and waiting times are, if they are released."""
    return (SERVICE_AND_WAITING,) if details_of(mechanism).service else ()


def details_in_words(quality: Quality) -> list[tuple[str, str]]:
    """What the measurements say about times and attributes."""
    facts = []
    if quality.throughput:
        low, high = map(duration_text, (quality.throughput.low, quality.throughput.high))
        facts.append(("throughput", f"the median case lasts {low} to {high} (95 %)"))
    if quality.durations:
        own = sum(not row.backoff for row in quality.durations)
        facts.append(
            (
                "durations",
                f"{own:,} of {len(quality.durations):,} measured pairs have their own durations; the others have those of "
                "all steps to their second activity",
            )
        )
    if quality.arrivals:
        above = sum(row.cases.low > 0 for row in quality.arrivals)
        radius = max(row.cases.high - row.cases.value for row in quality.arrivals)
        facts.append(
            (
                "arrivals",
                f"in {above:,} of {len(quality.arrivals):,} periods of eight weeks more cases start than noise explains; "
                f"each number is known to ± {radius:,.0f} cases (95 %)",
            )
        )
    for attribute in dict.fromkeys(row.attribute for row in quality.attributes):
        facts.append((f"attribute {attribute}", _values(quality, attribute)))
    for attribute in dict.fromkeys(row.attribute for row in quality.event_attributes):
        rows = [row for row in quality.event_attributes if row.attribute == attribute]
        values, certain = len({row.value for row in rows}), sum(not row.weight.mostly_noise for row in rows)
        if attribute == SERVICE:
            known = {row.activity for row in rows if row.value is not None and not row.weight.mostly_noise}
            facts.append(("service times", f"those of {len(known):,} activities stand out from the noise"))
            continue
        words = (
            f"{values:,} values; {certain:,} of {len(rows):,} pairs of an activity and a value stand out from the noise"
        )
        facts.append((f"event attribute {attribute}", words))
    return facts


def _values(quality: Quality, attribute: str) -> str:
    rows = [row for row in quality.attributes if row.attribute == attribute and row.cases.low > 0]
    rows.sort(key=lambda row: -row.cases.value)
    shown = [
        f"{'missing' if row.value is None else row.value}: {row.cases.low:,.0f} to {row.cases.high:,.0f}"
        for row in rows[:_SHOWN_VALUES]
    ]
    if not shown:
        return "no value stands out from the noise"
    more = len(rows) - len(shown)
    return "cases (95 %): " + ", ".join(shown) + (f", and {more:,} more values" if more else "")


def named_by_rules(mechanism: Mechanism) -> tuple[str, ...]:
    """The activities of the rules of a mechanism, if it has any."""
    rules = getattr(mechanism, "rules", None)
    return rules.activities if isinstance(rules, Rules) else ()


def without_effect(release: Release) -> tuple[str, ...]:
    """Say which activities of its rules a release does not have. Public, as both are."""
    measured: Any = getattr(release, "measurements", None)
    names = named_by_rules(release.mechanism) if measured is not None else ()
    missing = [shown(name) for name in names if name not in measured.activities]
    return (f"Rules about {', '.join(missing)} have no effect: not among the released activities.",) if missing else ()
