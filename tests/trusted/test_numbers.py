from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from travas import Guarantee, ParameterError, Standing
from travas.trusted.numbers import as_text, exact, exact_delta, exact_epsilon, rounded_up


@pytest.mark.parametrize(
    ("given_as", "meant"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        (1e-6, Fraction(1, 10**6)),
        (" 0.5 ", Fraction(1, 2)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.001"), Fraction(1, 1000)),
        (2, Fraction(2)),
        (".5", Fraction(1, 2)),
        ("1.", Fraction(1)),
    ],
)
def test_a_number_means_the_decimal_it_prints_as(given_as: object, meant: Fraction) -> None:
    assert exact(given_as, "epsilon") == meant  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad",
    ["", "abc", "1e-999999999", "1e1000", "1" * 3000, "nan", "inf", "-Infinity", "1/0", "0x10", "1_000", "١", "1e", "--1",
     float("nan"), float("inf"), Decimal("NaN"), Decimal("Infinity"), True, None, [1], Fraction(1, 2**7000)],
)  # fmt: skip
def test_what_is_not_a_modest_number_is_refused_with_the_name(bad: object) -> None:
    with pytest.raises(ParameterError, match="^epsilon "):
        exact(bad, "epsilon")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, -1, "-0.5", "0e5"])
def test_epsilon_is_above_zero(bad: object) -> None:
    with pytest.raises(ParameterError, match="above 0"):
        exact_epsilon(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [1, "1.0", 2, -1e-9])
def test_delta_is_from_zero_to_below_one(bad: object) -> None:
    with pytest.raises(ParameterError, match="delta is"):
        exact_delta(bad)  # type: ignore[arg-type]


@given(st.fractions())
def test_text_of_a_fraction_is_exact(value: Fraction) -> None:
    assert Fraction(as_text(value)) == value


@given(st.integers(-50, 10), st.integers(1, 10**12))
def test_text_of_a_decimal_is_exact_and_short(exponent: int, digits: int) -> None:
    value = digits * Fraction(10) ** exponent
    assert Fraction(as_text(value)) == value
    assert "/" not in as_text(value)


@given(st.fractions(min_value=0, max_value=1), st.integers(1, 30))
def test_rounding_up_never_goes_below(value: Fraction, digits: int) -> None:
    shown = Fraction(rounded_up(value, digits))
    assert value <= shown <= value * (1 + Fraction(10) ** (1 - digits))


def test_a_guarantee_spends_no_more_than_its_delta() -> None:
    good = Guarantee(Fraction(1), Fraction(1, 10), Fraction(1, 20), "optimal", Standing.VERIFIED)
    assert good.replace_one == (Fraction(2), Fraction(1, 5))
    assert good.neighbours == "add or remove one case"
    with pytest.raises(ParameterError, match="delta spent"):
        Guarantee(Fraction(1), Fraction(1, 10), Fraction(1, 5), "optimal", Standing.VERIFIED)
