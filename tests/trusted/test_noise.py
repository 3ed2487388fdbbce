import math
import os
import struct
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_losses import excess, growth_below, outputs, table_of, unverified, weights_of
from travas import ParameterError
from travas.errors import VerificationError
from travas.search.table_builders import (
    exponential_bounds,
    optimal_table,
    predicted_length,
    travas_table,
    travas_threshold,
)
from travas.trusted.numbers import ONE
from travas.trusted.samplers import Seeded
from travas.trusted.tables import Noise, NoiseTable

PAPER = [(e, d) for e in ("2", "1", "0.1", "0.01", "0.001") for d in ("0.5", "0.1", "0.05", "0.01", "0.001")]
DEFENSIBLE = [(e, d) for e in ("0.5", "1", "5") for d in ("1e-6", "1e-9", "1e-12")]
EXTREME = [
    ("20", "1e-20"),
    ("20", "0.99"),
    ("0.001", "1e-20"),
    ("0.05", "0.99"),
    ("7/3", "1/3"),
    ("1e-9", "0.5"),
    ("1e-300", "0.01"),
    ("0.00005", "1e-20"),
]
BUILDERS = {"optimal": optimal_table, "travas": travas_table}

parameters = pytest.mark.parametrize(("epsilon", "delta"), [*PAPER, *DEFENSIBLE, *EXTREME])


def recursion(epsilon: Fraction, delta: Fraction, length: int) -> list[Fraction]:
    """π(1), π(2), … of Desfontaines et al. in 120 decimal digits: the plain twin of the builder."""
    with localcontext() as context:
        context.prec = 120
        growth = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        step = Decimal(delta.numerator) / delta.denominator
        kept, curve = Decimal(0), []
        for _ in range(length):
            kept = min(growth * kept + step, 1 - (1 - kept - step) / growth, Decimal(1))
            curve.append(Fraction(kept))
        return curve


@parameters
@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
def test_every_table_is_verified(build: object, epsilon: str, delta: str) -> None:
    e, d = Fraction(epsilon), Fraction(delta)
    noise = Noise(build(e, d), e, d)  # type: ignore[operator]
    assert 0 < noise.delta_spent <= d
    assert noise.table.length <= predicted_length(e, d) + 1


@pytest.mark.parametrize(("epsilon", "delta"), PAPER + DEFENSIBLE)
def test_optimal_spends_delta_and_travas_less(epsilon: str, delta: str) -> None:
    e, d = Fraction(epsilon), Fraction(delta)
    optimal = Noise(optimal_table(e, d), e, d).delta_spent
    travas = Noise(travas_table(e, d), e, d).delta_spent
    assert d - optimal <= d * Fraction(1, 10**15)
    assert travas < d * Fraction(999999, 1000000)


def test_travas_spends_what_the_paper_wastes() -> None:
    e, d = Fraction(2), Fraction(1, 2)
    assert round(float(Noise(travas_table(e, d), e, d).delta_spent), 5) == 0.10651
    assert round(float(travas_table(Fraction(2), Fraction(1, 10)).keep_probability(2)), 2) == 0.12
    assert round(float(optimal_table(Fraction(2), Fraction(1, 10)).keep_probability(2)), 2) == 0.84


@pytest.mark.parametrize(("epsilon", "delta"), PAPER + DEFENSIBLE)
def test_keep_probability_is_the_recursion(epsilon: str, delta: str) -> None:
    """To 2^-100 where 128 bits allow it. The integer step is short of δ by `slack` units, so that no table can be
    nearer than slack/(δ·2^128); below δ ≈ 1e-6 that exceeds 2^-100."""
    e, d = Fraction(epsilon), Fraction(delta)
    table = optimal_table(e, d)
    slack = (predicted_length(e, d) + 2) * (int(exponential_bounds(e)[1] >> 192) + 3)
    allowed = max(Fraction(1, 2**100), slack / (d * ONE))
    if (epsilon, delta) in PAPER:
        allowed = Fraction(1, 2**100)
    for cases, kept in enumerate(recursion(e, d, table.length), start=1):
        assert abs(table.keep_probability(cases) - kept) <= allowed


@parameters
def test_optimal_keeps_at_least_what_travas_keeps(epsilon: str, delta: str) -> None:
    e, d = Fraction(epsilon), Fraction(delta)
    optimal, travas = optimal_table(e, d), travas_table(e, d)
    lengths = max(optimal.length, travas.length)
    tolerance = 4 * predicted_length(e, d) * (int(exponential_bounds(e)[1] >> 192) + 3) / d  # of the last bits
    for cases in range(1, lengths + 1, max(1, lengths // 3000)):
        assert optimal.cumulative(cases) + tolerance >= travas.cumulative(cases)


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
@pytest.mark.parametrize(
    ("epsilon", "delta", "least"),
    [("0.05", "1e-3", 1), ("0.3", "0.01", 4), ("1", "1e-6", 1), ("2", "0.5", 2), ("0.7", "0.99", 1), ("20", "1e-9", 1)],
)
def test_output_by_output_by_brute_force(build: object, epsilon: str, delta: str, least: int) -> None:
    """The definition itself: for n and n+1 cases, over all outputs, "absent" included, in both directions."""
    e, d = Fraction(epsilon), Fraction(delta)
    weights = weights_of(build(e, d))  # type: ignore[operator]
    for cases in range(len(weights) + least + 2):
        near = [outputs(weights, n, least) for n in (cases, cases + 1)]
        assert excess(near[:1], near[1:], growth_below(e)) <= d


def test_the_verifier_can_fail() -> None:
    e, d = Fraction(1), Fraction(1, 1000)
    boundaries = list(optimal_table(e, d).boundaries())[:-1]
    Noise(table_of(boundaries), e, d)
    with pytest.raises(VerificationError, match="spends delta"):
        Noise(table_of([boundaries[0] + ONE // 10**6, *boundaries[1:]]), e, d)
    with pytest.raises(VerificationError, match="spends delta"):
        Noise(table_of(boundaries), e * Fraction(99, 100), d)
    with pytest.raises(VerificationError, match="spends delta"):
        Noise(table_of(boundaries), e, d * Fraction(999, 1000))
    with pytest.raises(VerificationError, match="spends delta"):
        Noise(table_of(boundaries[:-1]), e, d)
    with pytest.raises(VerificationError, match="negative"):
        Noise(table_of([boundaries[1], boundaries[0], *boundaries[2:]]), e, d)


def test_one_unit_too_much_is_detected() -> None:
    """δ·2^128 is a whole number here: a table that spends it exactly passes, one more unit fails."""
    e, d = Fraction(20), Fraction(1, 4)
    exactly = ONE // 4
    Noise(table_of([exactly, ONE - exactly]), e, d)
    with pytest.raises(VerificationError):
        Noise(table_of([exactly + 1, ONE - exactly]), e, d)


@given(st.fractions(min_value=0, max_value=60, max_denominator=10**6))
def test_bounds_of_the_exponential(power: Fraction) -> None:
    low, high = exponential_bounds(power)
    with localcontext() as context:
        context.prec = 120
        true = Fraction((Decimal(power.numerator) / power.denominator).exp())
    assert Fraction(low, 2**192) <= true * (1 + Fraction(1, 10**100))
    assert true * (1 - Fraction(1, 10**100)) <= Fraction(high, 2**192)


@given(st.fractions(min_value="0.01", max_value=20), st.fractions(min_value="1e-12", max_value="0.999"))
@settings(max_examples=60)
def test_threshold_is_the_papers_formula(epsilon: Fraction, delta: Fraction) -> None:
    with localcontext() as context:
        context.prec = 80
        e = Decimal(epsilon.numerator) / epsilon.denominator
        d = Decimal(delta.numerator) / delta.denominator
        formula = ((e.exp() + 2 * d - 1) / (d * (e.exp() + 1))).ln() / e
    assert travas_threshold(epsilon, delta) == math.ceil(formula)


@given(st.fractions(min_value="0.02", max_value=20), st.fractions(min_value="1e-20", max_value="0.999999"))
@settings(max_examples=60)
def test_any_parameters_in_range_give_verified_tables(epsilon: Fraction, delta: Fraction) -> None:
    for build in BUILDERS.values():
        assert Noise(build(epsilon, delta), epsilon, delta).delta_spent <= delta


@pytest.mark.parametrize(
    ("epsilon", "delta", "why"),
    [
        ("1", "9e-21", "at least 1e-20"),
        ("1", "0", "at least 1e-20"),
        ("1e-6", "1e-12", "needs a noise table of about"),
        ("1e-300", "1e-12", "needs a noise table of about"),
    ],
)
@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
def test_what_has_no_modest_table_is_refused_before_anything_is_built(
    build: object, epsilon: str, delta: str, why: str
) -> None:
    with pytest.raises(ParameterError, match=why):
        build(Fraction(epsilon), Fraction(delta))  # type: ignore[operator]


# ------------------------------------------------------------------------------------------------------- sampling


def fake(*halves: int) -> object:
    """A generator that gives these 64-bit numbers and then nothing."""
    rest = list(halves)

    def random_bytes(size: int) -> bytes:
        assert size % 8 == 0
        taken, rest[: size // 8] = rest[: size // 8], []
        assert len(taken) * 8 == size
        return struct.pack(f"={len(taken)}Q", *taken)

    return random_bytes


def plain_draw(table: NoiseTable, uniform: int) -> int:
    return 1 + sum(boundary <= uniform for boundary in list(table.boundaries())[:-1])


@given(st.data())
def test_a_draw_is_the_definition_ties_included(data: st.DataObject) -> None:
    """Boundaries that share their upper half, uniforms on, below and above them: the path that runs once in 2^50."""
    near = st.integers(0, 3).flatmap(lambda high: st.integers(0, 5).map(lambda low: high << 64 | low))
    boundaries = sorted(data.draw(st.lists(near, min_size=1, max_size=8)))
    table = table_of(boundaries)
    noise = unverified(table)
    uniform = data.draw(near)
    high, low = uniform >> 64, uniform & (2**64 - 1)
    ties = [low] if any(boundary >> 64 == high for boundary in boundaries) else []
    assert noise.draw(1, fake(high, *ties)).tolist() == [plain_draw(table, uniform)]  # type: ignore[arg-type]


def test_the_ends_of_the_range() -> None:
    e, d = Fraction(1), Fraction(1, 10)
    noise = Noise(optimal_table(e, d), e, d)
    top = 2**64 - 1
    assert noise.draw(2, fake(0, top)).tolist() == [1, noise.table.length]  # type: ignore[arg-type]


def test_a_draw_of_many_is_the_draws_one_by_one() -> None:
    e, d = Fraction("0.01"), Fraction("1e-6")
    noise = Noise(optimal_table(e, d), e, d)
    uniforms = np.frombuffer(os.urandom(8 * 2000), dtype=np.uint64).tolist()
    drawn = noise.draw(2000, fake(*uniforms))  # type: ignore[arg-type]
    assert drawn.tolist() == [plain_draw(noise.table, uniform << 64) for uniform in uniforms]


def test_more_draws_than_a_block_and_none() -> None:
    e, d = Fraction(1), Fraction(1, 10)
    noise = Noise(optimal_table(e, d), e, d)
    assert len(noise.draw((1 << 20) + 5, Seeded(1))) == (1 << 20) + 5
    assert len(noise.draw(0, os.urandom)) == 0
    assert noise.draw(100, Seeded(7)).tolist() == noise.draw(100, Seeded(7)).tolist()


def test_a_table_of_another_type_is_refused() -> None:
    with pytest.raises(VerificationError, match="unsigned 64-bit"):
        NoiseTable(np.array([1], dtype=np.int64), np.array([1], dtype=np.uint64))


def test_the_centre_is_the_rounded_mean() -> None:
    assert optimal_table(Fraction("0.01"), Fraction("0.001")).centre() == 180
    for epsilon, delta in PAPER:
        table = travas_table(Fraction(epsilon), Fraction(delta))
        assert table.centre() == travas_threshold(Fraction(epsilon), Fraction(delta)) + 1


@pytest.mark.slow
@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
def test_three_million_entries(build: object) -> None:
    e, d = Fraction("1e-5"), Fraction("1e-12")
    noise = Noise(build(e, d), e, d)  # type: ignore[operator]
    assert 3_000_000 < noise.table.length < 3_200_000
    assert d - noise.delta_spent <= d / 1000
