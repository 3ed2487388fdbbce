"""What ε, δ, a unit and a release mean, in words: the one wording for command line, report, plots and web app."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from ..errors import ParameterError, shown
from ..privacy.numbers import as_text
from .estimate import Estimate
from .mechanism import Mechanism

Released = Literal["variants of the log", "any sequence"]

WARN_EPSILON, WARN_DELTA, WARN_VISIBLE = Fraction(4), Fraction(1, 10**4), 10
"""The policy line: above this ε, this δ, or δ = 1/(10 × stated cases) a guarantee is called weak."""

WEAK = "Formally correct, weak protection"

HALF = Fraction(1, 2)

FEW_VARIANTS = 5
"""A release of fewer variants is called nearly empty."""

COUNT_IN_FILE = (
    "The count in the file is the estimate plus a share of what is estimated as not released. It makes the file usable as "
    "an event log, but it is not the number of cases of the variant, and the total is not the size of the original log."
)

MISSING_RESTS_ON = (
    "if the number of rare variants follows Zipf's law. The release does not show how many rare variants the log has: a log "
    "with more single cases than that lacks more, and the release would look the same"
)


def factor(epsilon: Fraction) -> str:
    """e^ε, for people: never smaller than it is."""
    value = math.exp(float(epsilon))
    return f"{math.ceil(value * 100) / 100:,.2f}" if value < 100 else f"{math.ceil(value):,}"


def best_guess(epsilon: Fraction, delta: Fraction) -> str:
    """How often the best attacker can be right who guesses whether one was in the log, in per cent, rounded up.

    Of two equally likely logs: at most (e^ε + δ)/(e^ε + 1), as no test of (ε, δ)-indistinguishable outcomes does better.
    """
    growth = math.exp(float(epsilon))
    share = (growth + float(delta)) / (growth + 1)
    return f"{min(math.ceil(share * 1e4 - 1e-9) / 100, 100):.2f} %"


def one_in(delta: Fraction) -> str:
    """A small probability as people say it."""
    if delta == 0:
        return "never"
    times = 1 / delta
    return f"1 in {math.floor(times):,}" if times < 10**15 else f"1 in {float(times):.0e}"


def of_epsilon(epsilon: Fraction, delta: Fraction, unit: str) -> str:
    """The sentence about ε."""
    return (
        f"Whether one {unit} is in the log or not changes the probability of any conclusion by at most the factor "
        f"{factor(epsilon)}. Somebody who knows everything else and has to guess whether a given {unit} was in the log is "
        f"right in at most {best_guess(epsilon, delta)} of such guesses; blind guessing gives 50 %."
    )


def released_by(mechanism: Mechanism) -> Released:
    """Whether nothing but what occurs in the log is released; over a public alphabet, other sequences are, too."""
    return "any sequence" if mechanism.invents_variants else "variants of the log"


def of_delta(delta: Fraction, unit: str, released: Released) -> str:
    """The sentence about δ. Where nothing but variants of the log is released, it bounds what a single one risks."""
    if delta == 0:
        return "There is no exception to it."
    rare = f"A variant that only one {unit} has is released with a probability of at most {one_in(delta)}."
    return rare if released == "variants of the log" else f"Except with a probability of at most {one_in(delta)}."


def meaning(
    epsilon: Fraction, delta: Fraction, unit: str, released: Released = "variants of the log"
) -> tuple[str, str]:
    """What ε and δ mean: one sentence about each, for every place that explains them."""
    return of_epsilon(epsilon, delta, unit), of_delta(delta, unit, released)


# --------------------------------------------------------------------------------------------- how strong it protects


def weak_protection(epsilon: Fraction, delta: Fraction, stated_cases: int | None = None) -> tuple[str, ...]:
    """Say why parameters protect only weakly: the policy line, one sentence for each reason, none where there is none.

    Args:
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        stated_cases: The number of cases that the owner states. It is never counted: a counted number would be a use of
            the log that no guarantee covers.

    Returns:
        The reasons; the first one starts with "Formally correct, weak protection".
    """
    reasons = []
    if epsilon > WARN_EPSILON:
        reasons.append(
            f"ε = {as_text(epsilon)} is above {as_text(WARN_EPSILON)}: a single case can change the probability of "
            f"a conclusion by the factor {factor(epsilon)}"
        )
    if delta > WARN_DELTA:
        reasons.append(
            f"δ = {as_text(delta)} is above {as_text(WARN_DELTA)}: a case that nobody shares may be released with a "
            f"probability of {one_in(delta)}"
        )
    if stated_cases is not None and delta * stated_cases * WARN_VISIBLE > 1:
        reasons.append(
            f"δ = {as_text(delta)} is above 1/({WARN_VISIBLE} × {stated_cases:,} stated cases): the expected number of cases "
            f"that are released although nobody shares them may be as large as {float(delta * stated_cases):.2g}"
        )
    return tuple(f"{WEAK}: {reason}." if index == 0 else f"{reason}." for index, reason in enumerate(reasons))


def check_stated_cases(value: int | None) -> int | None:
    """Check the number of cases that the owner states.

    Raises:
        ParameterError: It is not a whole number from 1.
    """
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ParameterError(f"stated_cases is {shown(value)}: it must be a whole number from 1")
    return value


# ------------------------------------------------------------------------------------------------ what a release says


def pairs(mechanism: Mechanism) -> str:
    """What the counts of all variants together are a number of: nobody is one of them only once if units are counted."""
    by_case = mechanism.unit.is_case or mechanism.counted == "cases"
    return "cases" if by_case else f"{mechanism.unit.name}–variant pairs"


def of_missing(estimate: Estimate | None, noun: str) -> str | None:
    """How many cases were not released, as an interval, and what the interval rests on; None where nothing is known."""
    if estimate is None or estimate.missing_cases_interval is None:
        return None
    low, high = estimate.missing_cases_interval
    if estimate.missing_variants is None:
        return (
            f"{low:,.0f} to {high:,.0f} {noun} (95 %), by the noisy number of all cases, which is part of the release"
        )
    return f"roughly {low:,.0f} to {high:,.0f} {noun}, {MISSING_RESTS_ON}"


def of_emptiness(variants: int, mechanism: Mechanism) -> str | None:
    """Say that a release is empty or nearly so, why, and what to do: from the release alone. None for other releases."""
    if variants >= FEW_VARIANTS:
        return None
    first = (
        "The release is empty: no variant was released."
        if not variants
        else f"The release is nearly empty: it has only {variants} variant{'s' if variants > 1 else ''}. Unless the process "
        "has hardly any other, most of it is missing."
    )
    ladder = (
        "add coarser rungs to the ladder"
        if mechanism.generalises
        else "use a ladder, which generalises rare variants step by step"
    )
    return (
        f"{first} {_why_few(mechanism)} To release more: {ladder}; use a larger ε; or use an abstraction that makes variants "
        "more alike. Every further release is charged."
    )


def _why_few(mechanism: Mechanism) -> str:
    curve = mechanism.keep_curve()
    if curve is None or curve.rungs:
        return "With these parameters, only what many cases have in common is released."
    return (
        f"At this ε and δ a variant needs {curve.first_with(HALF):,} {mechanism.noun} to be released with a probability above "
        f"50 %, and {curve.always_kept:,} to be always released."
    )
