"""uTraVaS: composition, merging and its estimate against slow twins, the rule for the splits, certain intervals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from travas import Log
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import parameters_of, with_random_bytes
from travas.mechanisms.selection import Travas
from travas.mechanisms.utravas import UTravas, dropped_estimate, merged_runs
from travas.releases.estimate import keep_curve_of
from travas.trusted.samplers import Seeded


@pytest.mark.parametrize("splits", [1, 2, 5])
def test_the_cost_is_that_of_the_runs_together(splits: int) -> None:
    rule = UTravas(Fraction(1), Fraction(1, 10), splits)
    run = Travas(Fraction(1, splits), Fraction(1, 10 * splits))
    assert rule.guarantee().delta_spent == splits * run.noise.delta_spent <= Fraction(1, 10)
    curve = keep_curve_of(rule)
    assert curve is not None and curve.probability(3) == 1 - (1 - run.keep_probability(3)) ** splits


def test_merging_means_over_the_runs() -> None:
    run = Travas(Fraction(1), Fraction(1, 10))
    counts = np.array([1, 4, 9, 100])
    places, means = merged_runs(run, 3, counts, Seeded(1))
    generator = Seeded(1)
    drawn = [run.noise.draw(4, generator) for _ in range(3)]
    for place, count in enumerate(counts):
        values = [count - d[place] + run.centre if count >= d[place] else None for d in drawn]
        if all(value is None for value in values):
            assert place not in places
            continue
        mean = np.mean([dropped_estimate(run) if value is None else value for value in values])
        assert means[list(places).index(place)] == max(1, round(mean))


@given(count=st.integers(1, 60), splits=st.integers(1, 6), seed=st.integers(0, 10**6))
@settings(max_examples=200)
def test_the_interval_holds_the_true_count_for_certain(count: int, splits: int, seed: int) -> None:
    rule = UTravas(Fraction(2), Fraction(1, 2), splits)
    log = Log.from_mapping({(str(n),): count for n in range(40)})
    release = with_random_bytes(rule, Seeded(seed)).release(log)
    assert release.estimate.intervals is not None
    assert all(low <= count <= high for low, high in release.estimate.intervals)


def test_the_splits_follow_from_epsilon_and_delta_alone() -> None:
    chosen = [
        parameters_of(mechanism("utravas", epsilon, delta))["splits"] for epsilon in (2, 1) for delta in ("0.5", "0.01")
    ]
    assert chosen == [parameters_of(mechanism("utravas", e, d))["splits"] for e in (2, 1) for d in ("0.5", "0.01")]
    assert max(chosen) > 1  # at (2, 0.5) TraVaS wastes four fifths of δ: splitting pays
    gain, plain = mechanism("utravas", 2, "0.5"), mechanism("travas", 2, "0.5")
    curves = keep_curve_of(gain), keep_curve_of(plain)
    assert curves[0] is not None and curves[1] is not None
    assert curves[0].probability(1) > 2 * curves[1].probability(1)
