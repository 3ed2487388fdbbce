"""What ε and δ mean, in words: for the report and the page."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from .mechanism import Mechanism

Released = Literal["variants of the log", "any sequence"]


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
    return "any sequence" if "alphabet" in mechanism.options else "variants of the log"


def of_delta(delta: Fraction, unit: str, released: Released) -> str:
    """The sentence about δ. Where nothing but variants of the log is released, it bounds what a single one risks."""
    if delta == 0:
        return "There is no exception to it."
    rare = f"A variant that only one {unit} has is released with a probability of at most {one_in(delta)}."
    return rare if released == "variants of the log" else f"Except with a probability of at most {one_in(delta)}."
