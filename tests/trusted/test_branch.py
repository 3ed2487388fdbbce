"""V with a ramp: wrong ramps are refused, and no bound is below what is summed plainly in floating point."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from travas import Attribute, Synthesis, Times
from travas.errors import VerificationError
from travas.search.ramps import calibrate
from travas.trusted import branch
from travas.trusted.branch import Branches, Curve, branches, released
from travas.trusted.numbers import ONE
from travas.trusted.stage_check import GaussianNoise, replace_one
from travas.trusted.stages import STANDARD_DEVIATION, Calibration, Ramp, Selection, Stage

Floats = NDArray[np.float64]
PLAIN, DETAILED = Synthesis(1, "1e-6"), Synthesis(1, "1e-6", times=Times(), attributes=[Attribute("a")])


def with_ramp(rule: Synthesis = PLAIN, **fields: Any) -> Calibration:
    first, *others = rule.noise.calibration.stages
    return replace(rule.noise.calibration, stages=(replace(first, **fields), *others))


def ramp_of(rule: Synthesis = PLAIN) -> Ramp:
    ramp = rule.noise.calibration.ramp
    assert ramp is not None
    return ramp


# ---------------------------------------------------------------------------------------------------- the verifier


@pytest.mark.parametrize(
    ("epsilon", "delta", "half"),
    [("1", "1e-6", 34), ("0.5", "1e-6", 65), ("0.1", "1e-4", 234), ("20", "1e-20", 8), ("4", "1e-3", 8)],
)
def test_ramps_that_are_found_are_verified(epsilon: str, delta: str, half: int) -> None:
    """`half`: the number of cases with which a variant is released with a probability of 1/2."""
    noise = Synthesis(epsilon, delta).noise
    assert noise.calibration.ramp is not None and noise.delta_spent <= noise.calibration.delta
    assert noise.cases_released("variants") == half


def test_where_both_branches_leave_no_room_there_is_a_threshold() -> None:
    for rule in (Synthesis(2, "0.1"), Synthesis("0.05", "1e-6")):
        assert rule.noise.calibration.ramp is None and rule.noise.stage("variants").threshold
    assert calibrate(Fraction(1), Fraction(1, 10**6), PLAIN.plans(), 2).ramp is None


@pytest.mark.parametrize("rule", [PLAIN, DETAILED], ids=["plain", "with every case"])
def test_wrong_ramps_are_refused(rule: Synthesis) -> None:
    first, table = ramp_of(rule).first, ramp_of(rule).table
    size, stages = rule.noise.stage("variants").contribution, rule.noise.calibration.stages
    larger = (replace(stage, contribution=stage.contribution * 12 // 10) for stage in stages[1:])
    swapped = (*table[:9], table[10], table[9], *table[11:])
    wrong = [
        with_ramp(rule, ramp=Ramp(first - 1, table)),
        with_ramp(rule, ramp=Ramp(first, swapped)),
        with_ramp(rule, ramp=Ramp(first, (1 << 33, *table))),
        with_ramp(rule, ramp=Ramp(first, table[::3])),
        with_ramp(rule, ramp=Ramp(first + 10, ())),
        with_ramp(rule, contribution=size * 12 // 10),
        with_ramp(rule, delta=rule.noise.stage("variants").delta / 2),
        with_ramp(rule, group="every case"),
        with_ramp(rule, selection=Selection(1, 64)),
        with_ramp(rule, threshold=5),
        replace(rule.noise.calibration, delta=rule.delta * Fraction(8, 10)),
        replace(rule.noise.calibration, epsilon=rule.epsilon * Fraction(9, 10)),
        replace(rule.noise.calibration, max_cases=2),
        replace(rule.noise.calibration, stages=(*stages[1:], stages[0])),
        replace(rule.noise.calibration, stages=(stages[0], *larger)),
        replace(rule.noise.calibration, stages=(*stages[:-1], replace(stages[-1], group="Residual"))),  # type: ignore[arg-type]
    ]  # fmt: skip
    for calibration in wrong:
        with pytest.raises(VerificationError):
            GaussianNoise(calibration)


def test_bounds_of_p_enclose_an_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    """With S = 256, where all noise values can be listed."""
    monkeypatch.setattr(branch, "STANDARD_DEVIATION", 256)
    branch._at_least.cache_clear()
    ramp = Ramp(3, (3 << 30, 1 << 31, 1 << 30, 1 << 20))
    stages = Stage("variants", 100, group="variants", ramp=ramp), Stage("lengths", 1 << 17, group="residual")
    found = Branches(Calibration(Fraction(1), Fraction(1, 10), Fraction(1, 10), stages))._held
    branch._at_least.cache_clear()
    noise = np.arange(-12 * 256, 12 * 256)
    weights = np.exp(-(noise**2) / (2 * 256.0**2))
    held = np.array([1 << 32, *ramp.table, 0]) / 2**32
    for cases, (low, high) in enumerate(found[1:], 1):
        place = np.clip((100 * cases + noise) // 100 - ramp.first + 1, 0, len(held) - 1)
        exact = float(weights @ held[place] / weights.sum())
        assert low / 2**160 <= exact * (1 + 1e-12) and exact <= high / 2**160 * (1 + 1e-12)
        assert high - low < 2**160 / 200


def test_a_ramp_releases_by_chance() -> None:
    """U is compared with g exactly; below the ramp nothing is released, above it everything."""
    stage, ramp = PLAIN.noise.stage("variants"), ramp_of()
    values = [-(10**6), ramp.first - 1, ramp.first + 5, ramp.end - 1, ramp.end]
    drawn = np.array([value * stage.contribution + 7 for value in values])
    for uniform, expected in (
        (0, "00001"),
        (ramp.table[5] - 1, "00011"),
        (ramp.table[5], "00111"),
        (2**32 - 1, "00111"),
    ):
        shown = released(stage, drawn, lambda size, u=uniform: u.to_bytes(4, "little") * (size // 4))  # type: ignore[misc]
        assert "".join(str(int(one)) for one in shown) == expected


# -------------------------------------------------------------------------------------------------------- the ledger


def gaussian(squares: int, at: Floats) -> Floats:
    mu = math.sqrt(squares / (STANDARD_DEVIATION**2 - 16))
    exact: Floats = norm.sf(at / mu - mu / 2) - np.exp(at) * norm.sf(at / mu + mu / 2) if mu else 1 - np.exp(at)
    return np.maximum(exact, 0)


class Plain:
    """Lemma 13 in floating point: all sums over small cells of noise, whose losses are those of their masses."""

    def __init__(self, calibration: Calibration) -> None:
        self.size, of = calibration.stages[0].contribution, ("residual", "every case")
        self.residual, self.every = (
            sum(stage.contribution**2 for stage in calibration.stages if stage.group == group) for group in of
        )
        self.new, self.known = (
            1 - math.prod(float(1 - stage.delta) for stage in calibration.stages[1:] if stage.group in groups)
            for groups in (of, of[1:])
        )
        edges = np.arange(-60 * 64, 60 * 64 + 1) * (self.size / STANDARD_DEVIATION / 64)
        self.block = np.repeat(np.arange(-60, 60), 64)
        self.own, self.other = (
            np.where(edges[1:] > 0, -np.diff(norm.sf(z)), np.diff(norm.cdf(z)))
            for z in (edges, edges - self.size / STANDARD_DEVIATION)
        )
        self.loss = np.log(self.own / self.other)
        self.ramp = calibration.ramp

    def held(self, cases: int) -> Floats:
        assert self.ramp is not None
        g = np.array([1 << 32, *self.ramp.table, 0]) / 2**32
        return np.asarray(g[np.clip(self.block + cases - self.ramp.first + 1, 0, len(g) - 1)])

    def delta(self, cases: int, epsilon: float) -> float:
        def of(squares: int, revealed: float, at: Any) -> Any:
            return revealed + (1 - revealed) * gaussian(squares, np.asarray(at, dtype=float))

        p, after = (float(self.own @ self.held(n)) if n else 1.0 for n in (cases, cases + 1))
        shift, flow = math.log(p / after), self.residual + self.every
        if not cases:
            more = 1 - after + after * of(flow, self.new, epsilon + shift)
            return float(max(of(flow, self.new, epsilon - shift), more))
        shown = 1 - self.held(cases)
        less = (shown * self.own) @ of(self.every, self.known, epsilon - self.loss) + p * of(
            flow, self.known, epsilon - shift
        )
        more = (shown * self.other) @ of(self.every, self.known, epsilon + self.loss)
        return float(max(less, more + after * of(flow, self.known, epsilon + shift)))


@pytest.mark.parametrize("rule", [PLAIN, DETAILED], ids=["plain", "with every case"])
def test_the_curve_is_never_below_and_close_to_plain_sums(rule: Synthesis) -> None:
    curve, plain = branches(rule.noise.calibration).curve, Plain(rule.noise.calibration)
    for epsilon in ("0", "0.013", "0.2", "0.5", "0.77", "1", "1.2"):
        truth = max(plain.delta(cases, float(epsilon)) for cases in range(100))
        assert truth * (1 - 1e-6) <= curve.delta(Fraction(epsilon)) <= truth * 1.02


def test_outcomes_have_the_curve() -> None:
    curve = branches(PLAIN.noise.calibration).curve
    pairs = curve.pairs(128)
    falls = [(one[1] - other[1]) / (other[0] - one[0]) for one, other in pairwise(curve.dots)]
    assert all(before > after > 0 for before, after in pairwise(falls))
    assert sum(p for p, _ in pairs) >= ONE >= sum(q for _, q in pairs)
    for epsilon in (0.0, 0.3, 1.0):
        summed = sum(max(0.0, (p - math.exp(epsilon) * q) / ONE) for p, q in pairs)
        assert summed == pytest.approx(float(curve.delta(Fraction(str(epsilon)))), rel=1e-6)


def test_a_hull_is_below_its_dots_and_convex() -> None:
    one = 1 << 160
    hull = Curve.through([(one, one // 2), (2 * one, one * 2 // 5), (3 * one, one // 10)]).dots
    assert (2 * one, one * 2 // 5) not in hull and hull[0] == (0, one) and hull[-1] == (3 * one, one // 10)


@pytest.mark.parametrize(("epsilon", "known"), [("0.5", "0.7315"), ("1", "1.462"), ("2", "2.93")])
def test_replacing_a_case_costs_what_corollary_3_says(epsilon: str, known: str) -> None:
    assert replace_one(Synthesis(epsilon, "1e-6").noise.calibration) == Fraction(known)
