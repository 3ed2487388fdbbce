"""Discrete Gaussian noise: calibration, verifier and sampler. A statistical check raises a false alarm once in 10^9 runs."""

import os
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, norm

from exact_losses import FALSE_ALARM, are_as_likely
from travas import ParameterError
from travas.errors import VerificationError
from travas.search.calibration import BITS, StagePlan, calibrate, largest_mu, normal_tail_bounds
from travas.trusted import normal, stage_check
from travas.trusted.samplers import discrete_gaussian
from travas.trusted.stage_check import Draws, GaussianNoise
from travas.trusted.stages import STANDARD_DEVIATION, Calibration, Selection, Stage

PLANS = (
    StagePlan("variants", Fraction(15, 100), Selection()),
    StagePlan("activities", Fraction(20, 100), Selection(1, 64)),
    StagePlan("lengths", Fraction(5, 100)),
    StagePlan("transitions", Fraction(60, 100)),
)
PARAMETERS = [
    ("1", "1e-6", 1),
    ("0.5", "1e-6", 1),
    ("4", "1e-6", 3),
    ("20", "1e-20", 1000),
    ("0.01", "0.5", 1),
    ("1", "0.9", 2),
    ("7/3", "1/3", 1),
]


def calibration(epsilon: str = "1", delta: str = "1e-6", max_cases: int = 1) -> Calibration:
    return calibrate(Fraction(epsilon), Fraction(delta), PLANS, max_cases)


def changed(right: Calibration, name: str, **fields: object) -> Calibration:
    stages = tuple(replace(stage, **fields) if stage.name == name else stage for stage in right.stages)  # type: ignore[arg-type]
    return replace(right, stages=stages)


def stage(right: Calibration, name: str) -> Stage:
    return next(stage for stage in right.stages if stage.name == name)


def fits(drawn: NDArray[np.int64], edges: list[int], probabilities: NDArray[np.float64]) -> bool:
    observed = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=len(probabilities))
    return are_as_likely(observed, probabilities)


# ------------------------------------------------------------------------------------------------------ enclosures


@pytest.mark.parametrize("x", ["0", "0.001", "0.3", "1", "5.2", "9.0866", "11.07", "13.999", "-2.5", "-9.1", "1/3"])
def test_tails_of_calibration_and_verifier_agree(x: str) -> None:
    point = Fraction(x)
    low, high = (Fraction(bound, 1 << BITS) for bound in normal_tail_bounds(point))
    other_low, other_high = normal.tail_bounds(point)
    assert low <= high and high - low < Fraction(1, 2**300)
    assert other_low <= low and high <= other_high
    assert other_high - other_low <= Fraction(2, 10**90)
    assert float(low) == pytest.approx(norm.sf(float(point)), rel=1e-12)


def test_far_tails_are_bounded_on_the_safe_side() -> None:
    low, high = normal_tail_bounds(Fraction(20))
    assert low == 0 and high == normal_tail_bounds(Fraction(14))[1] > 0
    assert normal.tail_bounds(Fraction(20)) == (Fraction(0), normal.tail_bounds(Fraction(14))[1])
    assert normal.tail_bounds(Fraction(-20))[1] == 1


def test_the_verifier_bounds_pi() -> None:
    """By a third formula, that of Gauss and Legendre."""
    with localcontext() as context:
        context.prec = 120
        a, b, t, p = Decimal(1), 1 / Decimal(2).sqrt(), Decimal("0.25"), Decimal(1)
        for _ in range(8):
            a, b, t, p = (a + b) / 2, (a * b).sqrt(), t - p * ((a - b) / 2) ** 2, 2 * p
        assert abs((a + b) ** 2 / (4 * t) - normal._PI) < Decimal("1e-99")


# ------------------------------------------------------------------------------------- calibration and verification


@pytest.mark.parametrize(("epsilon", "delta", "max_cases"), PARAMETERS)
def test_every_calibration_is_verified(epsilon: str, delta: str, max_cases: int) -> None:
    noise = GaussianNoise(calibration(epsilon, delta, max_cases))
    assert Fraction(9, 10) * Fraction(delta) < noise.delta_spent <= Fraction(delta)


def test_known_numbers() -> None:
    right = calibration()
    assert float(largest_mu(Fraction(1), right.gaussian_delta)) == pytest.approx(0.2355014538, abs=1e-9)
    assert stage(right, "variants").contribution == 95639
    assert stage(right, "variants").threshold / STANDARD_DEVIATION == pytest.approx(
        norm.isf(0.05e-6) + 95639 / STANDARD_DEVIATION, abs=1e-6
    )


@pytest.mark.parametrize(("epsilon", "delta", "max_cases"), PARAMETERS)
def test_a_threshold_one_smaller_is_refused(epsilon: str, delta: str, max_cases: int) -> None:
    right = calibration(epsilon, delta, max_cases)
    for name in ("variants", "activities"):
        with pytest.raises(VerificationError, match="threshold"):
            GaussianNoise(changed(right, name, threshold=stage(right, name).threshold - 1))


def test_a_threshold_without_the_own_contribution_is_refused() -> None:
    right = calibration()
    for name in ("variants", "activities"):
        one = stage(right, name)
        with pytest.raises(VerificationError, match="threshold"):
            GaussianNoise(changed(right, name, threshold=one.threshold - one.contribution))


def test_a_threshold_for_one_case_is_refused_for_a_person_with_three() -> None:
    """1 + σz instead of M + σz, with the noise three times as large."""
    right = calibration(max_cases=3)
    one = stage(right, "variants")
    alone = one.threshold - 2 * one.contribution
    with pytest.raises(VerificationError, match="threshold"):
        GaussianNoise(changed(right, "variants", threshold=alone))


@pytest.mark.parametrize(("epsilon", "delta", "max_cases"), PARAMETERS)
def test_noise_three_percent_too_small_is_refused(epsilon: str, delta: str, max_cases: int) -> None:
    """The noise is fixed: too little of it means contributions that are too large."""
    right = calibration(epsilon, delta, max_cases)
    for name in ("lengths", "transitions"):
        larger = stage(right, name).contribution * 103 // 100
        with pytest.raises(VerificationError, match="contributions"):
            GaussianNoise(changed(right, name, contribution=larger))


@pytest.mark.parametrize("max_cases", [1, 3])
@pytest.mark.parametrize(("epsilon", "known"), [("1", "1.455"), ("0.5", "0.7248"), ("4", "5.933")])
def test_replacing_a_case_costs_what_corollary_1_says(epsilon: str, known: str, max_cases: int) -> None:
    """The figure is the least of its digits at which the closed form, in floating point, is at most δ."""
    made = calibration(epsilon, "1e-6", max_cases)
    found = stage_check.replace_one(made)
    step = 10.0 ** -(len(known) - 2)
    assert found is not None and abs(float(found) - float(known)) < 1.01 * step  # contributions of M cases are rounded
    squares = 2 * sum((max_cases * part.contribution) ** 2 for part in made.stages)
    mu = (squares / (STANDARD_DEVIATION**2 - 16)) ** 0.5
    revealed = float(sum(part.delta for part in made.stages))

    def spent(at: float) -> float:
        return revealed + float(norm.sf(at / mu - mu / 2) - np.exp(at) * norm.sf(at / mu + mu / 2))

    assert spent(float(found)) <= 1e-6 < spent(float(found) - 1.01 * step)


def test_where_corollary_1_says_less_than_group_privacy_there_is_no_figure() -> None:
    assert stage_check.replace_one(calibration("0.5", "0.9")) is None


def test_parts_of_delta_must_not_exceed_the_whole() -> None:
    right = calibration()
    with pytest.raises(VerificationError, match="exceed the whole"):
        GaussianNoise(replace(right, delta=right.delta * Fraction(999, 1000)))
    with pytest.raises(VerificationError, match="share of delta"):
        GaussianNoise(replace(right, gaussian_delta=right.gaussian_delta / 2))


@pytest.mark.parametrize(
    "fields",
    [
        {"contribution": 0},
        {"selection": Selection(0, 1)},
        {"selection": Selection(2, 1)},
        {"delta": Fraction(0)},
        {"delta": Fraction(1, 2)},
        {"selection": None},
    ],
)
def test_constants_of_another_kind_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(VerificationError):
        GaussianNoise(changed(calibration(), "variants", **fields))


def test_a_stage_that_was_not_verified_has_no_noise() -> None:
    with pytest.raises(VerificationError, match="'times'"):
        GaussianNoise(calibration()).stage("times")


@pytest.mark.parametrize(("epsilon", "delta", "max_cases"), [("1e-9", "1e-7", 1), ("0.01", "1e-6", 1000)])
def test_parameters_that_leave_nothing_are_refused(epsilon: str, delta: str, max_cases: int) -> None:
    with pytest.raises(ParameterError, match="larger epsilon"):
        calibration(epsilon, delta, max_cases)


@pytest.mark.parametrize("delta", ["0", "1e-21"])
def test_a_delta_out_of_range_is_refused(delta: str) -> None:
    with pytest.raises(ParameterError):
        calibration("1", delta)


def test_further_stages_fit_in() -> None:
    """Attributes: a case adds to exactly d keys, so fewer need not be accounted for."""
    plans = (
        *(replace(plan, share=plan.share / 2) for plan in PLANS),
        StagePlan("values", Fraction(1, 2), Selection(3, 3)),
    )
    noise = GaussianNoise(calibrate(Fraction(10), Fraction(1, 10**6), plans))
    values = noise.stage("values")
    assert values.delta == Fraction(1, 10**6) / 30
    looser = (*plans[:-1], replace(plans[-1], selection=Selection(1, 3)))
    assert values.threshold < stage(calibrate(Fraction(10), Fraction(1, 10**6), looser), "values").threshold


# ------------------------------------------------------------------------------------------------------ the sampler


@pytest.mark.parametrize("bits", [0, 1, 3])
def test_small_deviations_are_sampled_exactly(bits: int) -> None:
    """Atom by atom; 200,000 draws also tell a standard deviation that is 3 % off."""
    drawn = discrete_gaussian(200_000, os.urandom, bits)
    reach = 2 << bits
    values = np.arange(-8 << bits, (8 << bits) + 1)
    edges = list(range(-reach, reach + 2))
    bins = np.searchsorted(edges, values, side="right")

    def probabilities(deviation: float) -> NDArray[np.float64]:
        weights = np.exp(-(values**2) / (2 * deviation**2))
        totals: NDArray[np.float64] = np.bincount(bins, weights / weights.sum()).astype(np.float64)
        return totals

    assert fits(drawn, edges, probabilities(1 << bits))
    assert not fits(drawn, edges, probabilities(1.03 * (1 << bits)))
    assert not fits(drawn, edges, probabilities(0.97 * (1 << bits)))


def test_the_deviation_of_the_noise() -> None:
    """300,000 draws in 200 bins: three per cent more or less is seen."""
    drawn = discrete_gaussian(300_000, os.urandom)
    points = norm.ppf(np.linspace(0, 1, 201)[1:-1])
    edges = np.round(points * STANDARD_DEVIATION).astype(np.int64).tolist()
    expected = np.full(200, 1 / 200)
    assert fits(drawn, edges, expected)
    assert not fits(np.round(drawn * 1.03).astype(np.int64), edges, expected)
    assert not fits(np.round(drawn * 0.97).astype(np.int64), edges, expected)


def test_low_bits_are_uniform() -> None:
    """A float in the sampler would leave them rough."""
    drawn = discrete_gaussian(300_000, os.urandom)
    assert fits(drawn & 255, list(range(1, 256)), np.full(256, 1 / 256))
    assert not fits(drawn & ~1 & 255, list(range(1, 256)), np.full(256, 1 / 256))


def test_a_new_key_passes_as_rarely_as_promised() -> None:
    """One case alone: at delta 0.5 its share is 0.025. A threshold one contribution lower is seen in 200,000 draws."""
    noise = GaussianNoise(calibrate(Fraction(1), Fraction(1, 2), PLANS))
    one = noise.stage("variants")
    drawn = one.contribution + noise.draw(200_000, os.urandom)

    def shown(threshold: int) -> bool:
        """Whether the draws show that the share is exceeded."""
        return bool(binom.sf(int((drawn > threshold).sum()) - 1, len(drawn), float(one.delta)) < FALSE_ALARM)

    assert not shown(one.threshold)
    assert shown(one.threshold - one.contribution)


def test_a_stage_is_drawn_once() -> None:
    noise = GaussianNoise(calibration())
    first, second = noise.calibration.stages[0].name, noise.calibration.stages[-1].name
    draws, sums = Draws(noise, os.urandom), np.zeros(3, dtype=np.int64)
    assert len(draws.noisy(first, sums)) == 3
    with pytest.raises(VerificationError):
        draws.noisy(first, sums)
    draws.noisy(second, sums)  # another stage is not affected by the refusal
    with pytest.raises(VerificationError):
        draws.noisy("unknown", sums)
