"""Exact numbers: ε, δ and shares are converted to fractions on input."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache
from typing import TypeGuard

from ..errors import ParameterError, shown

Number = str | int | float | Decimal | Fraction

"""Accepted types of a privacy parameter. A float is interpreted as the decimal that it prints as: `0.1` is 1/10."""


BITS = 128
"""Probabilities of tables are whole multiples of 2^-128."""

ONE = 1 << BITS
"""The integer that represents probability one."""

GROWTH_BITS = 192
"""Bits after the point of a bound of e^ε."""

MAX_EPSILON = Fraction(20)

MIN_DELTA = Fraction(1, 10**20)

_NUMBER = re.compile(r"[+-]?([0-9]+/0*[1-9][0-9]*|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?)", re.ASCII)
_WHOLE = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_MAX_CHARACTERS = 1800  # every accepted fraction can be read again from its text
_MOST_DIGITS = 40
_SHORT = Context(_MOST_DIGITS, traps=[Inexact])


def exact(value: Number, name: str) -> Fraction:
    """Convert a number to an exact fraction; one that is too large to compute with, such as "1e-999999999", is refused.

    >>> exact(0.1, "epsilon")
    Fraction(1, 10)
    >>> exact("1e-6", "delta")
    Fraction(1, 1000000)
    """
    text = str(value).strip()
    if len(text) > _MAX_CHARACTERS or not _NUMBER.fullmatch(text):
        raise ParameterError(f"{name} is {shown(value)}: it must be a number, such as 0.5, 1e-6 or 1/3", field=name)
    return Fraction(text)


def is_whole_number(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number. True and False are not, although bool is a subclass of int."""
    return isinstance(value, int) and not isinstance(value, bool)


def whole_number(value: int, name: str, least: int, most: int | None = None, remark: str = "") -> int:
    """Return a number; raises ParameterError unless it is a whole number from `least` to `most`, if there is a most.

    >>> whole_number(3, "splits", 1, 100)
    3
    """
    if not is_whole_number(value) or value < least or (most is not None and value > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        raise ParameterError(f"{name} is {shown(value)}: it must be a whole number {limits}{remark}", field=name)
    return value


def typed_whole_number(text: str, name: str) -> int:
    """Return the whole number that a user typed. Its range is checked where it is used.

    >>> typed_whole_number("30", "max_cases")
    30
    """
    if not _WHOLE.fullmatch(text):
        raise ParameterError(f"{name} is {shown(text)}: it must be a whole number of at most 19 digits", field=name)
    return int(text)


def exact_epsilon(value: Number) -> Fraction:
    """Return ε as a fraction; raises ParameterError unless it is finite and above 0."""
    epsilon = exact(value, "epsilon")
    if epsilon <= 0:
        raise ParameterError(f"epsilon is {as_text(epsilon)}: it must be above 0, such as 1", field="epsilon")
    return epsilon


def exact_delta(value: Number) -> Fraction:
    """Return δ as a fraction; raises ParameterError unless 0 ≤ δ < 1."""
    delta = exact(value, "delta")
    if not 0 <= delta < 1:
        raise ParameterError(
            f"delta is {as_text(delta)}: it must be at least 0 and below 1; use a value such as 1e-6", field="delta"
        )
    return delta


def as_text(value: Fraction) -> str:
    """Format a fraction exactly: as a short decimal if possible, otherwise as p/q.

    >>> as_text(Fraction(1, 1000000)), as_text(Fraction(5, 2)), as_text(Fraction(1, 3))
    ('1e-6', '2.5', '1/3')
    >>> as_text(Fraction(10**400))
    '1e400'
    """
    try:
        number = _SHORT.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(_SHORT)
    except Inexact:
        return f"{value.numerator}/{value.denominator}"
    _, digits, exponent = number.as_tuple()
    is_short = len(digits) + max(int(exponent), 0) <= _MOST_DIGITS and -int(exponent) - len(digits) < 4
    return f"{number:f}" if is_short else f"{number:e}".replace("+", "")


def rounded_down(value: Fraction, digits: int = 20) -> Fraction:
    """Round a value down to this many significant digits.

    >>> rounded_down(Fraction(2, 3), 3)
    Fraction(333, 500)
    """
    return Fraction(Context(digits, ROUND_FLOOR).divide(Decimal(value.numerator), Decimal(value.denominator)))


def rounded_up(value: Fraction, digits: int = 20) -> str:
    """Round a value up to a decimal with this many significant digits.

    >>> rounded_up(Fraction(2, 3), 3)
    '0.667'
    """
    return as_text(
        Fraction(Context(digits, ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator)))
    )


_DOWN, _UP = Context(prec=110, rounding=ROUND_FLOOR), Context(prec=110, rounding=ROUND_CEILING)


@lru_cache(maxsize=1 << 12)
def growth_bounds(power: Fraction) -> tuple[int, int]:
    """Integers around e^power·2^192: `decimal` rounds its exponential correctly, so its neighbours are bounds."""
    above, below = Decimal(power.numerator), Decimal(power.denominator)
    low = Fraction(_DOWN.exp(_DOWN.divide(above, below)).next_minus(_DOWN))
    high = Fraction(_UP.exp(_UP.divide(above, below)).next_plus(_UP))
    return math.floor(low * (1 << GROWTH_BITS)), math.ceil(high * (1 << GROWTH_BITS))
