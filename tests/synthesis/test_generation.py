"""Generation from measurements: deterministic, complete, labelled, and as measured. No data are needed."""

from collections import Counter
from dataclasses import replace
from typing import Any

import attrs
import numpy as np
import pytest

from travas import Log, LogError
from travas.log.traces import Trace
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.mechanisms.synthesis import CONTROL_FLOW
from travas.releases.synthetic_log import SyntheticRelease
from travas.synthesis.chain import Chain
from travas.synthesis.generation import Lengths, Tilt, generate, hazards, simulate
from travas.synthesis.measurements import Measurements
from travas.synthesis.randomness import generator
from travas.trusted.contributions import (
    BUCKETS,
    Transitions,
    cells,
    first_occurrences,
    norm_weights,
    squared_norms,
    states,
)
from travas.trusted.samplers import Seeded
from travas.trusted.stages import STANDARD_DEVIATION

LOG: dict[Trace, int] = {
    tuple("abcd"): 900, tuple("abbcd"): 300, tuple("acbd"): 250, tuple("ad"): 200, tuple("abcabcd"): 150, tuple("abeed"): 120,
}  # fmt: skip


def released(seed: int = 1, epsilon: str = "4", log: dict[Trace, int] | None = None) -> SyntheticRelease:
    rule = attrs.evolve(mechanism("synthesis", epsilon, "1e-6"), random_bytes=Seeded(seed))
    release = rule.release(Log.from_mapping(LOG if log is None else log))
    assert isinstance(release, SyntheticRelease)
    return release


# ---------------------------------------------------------------------------------------------- lengths and labels


def test_cells_leave_out_what_cannot_occur() -> None:
    allowed = cells(2)
    assert allowed.shape == (states(2), states(2))
    assert allowed[0].tolist() == [True, False, True, False, False]  # START: firsts only
    assert allowed[1].tolist() == allowed[2].tolist() == [False, True, True, True, True]  # a: no first a
    assert first_occurrences(np.array([0, 0, 1]), np.array([0, 0, 0]), 2).tolist() == [True, False, True]


def test_norms_do_not_overflow() -> None:
    """A square that wrapped around to a small or negative number would let a very long case add without bound."""
    times = [[3, 4], [1 << 30] * 8, [1 << 62] * 20, [(1 << 25) + 1, 1], [0]]
    owner = np.repeat(np.arange(len(times)), [len(each) for each in times])
    squares = squared_norms(owner, np.concatenate([np.array(each, dtype=np.int64) for each in times]), len(times))
    assert squares.tolist() == [min(sum(c * c for c in each), 1 << 52) for each in times]
    largest = mechanism("synthesis", 20, "0.5").noise.calibration.stages  # type: ignore[attr-defined]
    contribution = max(stage.contribution for stage in largest)
    assert contribution < 1 << 26 and norm_weights(squares, contribution)[1:3].tolist() == [0, 0]


def test_lengths_are_cleaned() -> None:
    values = np.zeros(BUCKETS)
    values[[0, 3, 4, 6, 20]] = [30, 500, 8, 35, 25]
    deviation = 10.0
    contribution = round(STANDARD_DEVIATION / deviation)
    measurements = _empty(lengths=(values * contribution).astype(np.int64), contribution=contribution)
    lengths = Lengths.of(measurements)
    assert lengths.cases == pytest.approx(30 + 500, rel=1e-3)  # 8 is below 1σ, 6 and 20 above the last beyond 4σ
    assert lengths.shares[3] == 1 and lengths.longest == 4
    assert hazards(np.array([1.0, 1.0, 2.0]), np.ones(3)).tolist() == [0.25, 1 / 3, 1.0]


@pytest.mark.parametrize(("cases", "plausible"), [(2.5, False), (12.0, True)])
def test_noise_alone_makes_no_cases(cases: float, plausible: bool) -> None:
    """No bucket stands out. Their total does or does not: below two of its own deviations nothing is generated."""
    contribution = STANDARD_DEVIATION // 10  # σ = 10 cases in a bucket, 10·√BUCKETS in the total
    values = np.linspace(cases, cases + 1, BUCKETS)
    lengths = Lengths.of(_empty(lengths=(values * contribution).astype(np.int64), contribution=contribution))
    assert lengths.cases == pytest.approx(values.sum() if plausible else 0.0, rel=1e-3)
    assert lengths.shares.sum() == pytest.approx(float(plausible))


def test_noise_in_a_late_bucket_makes_no_long_traces() -> None:
    """Traces of thousands of events, from noise of 4.5 σ, took minutes: about one release in 1,000."""
    contribution = STANDARD_DEVIATION // 10
    values = np.zeros(BUCKETS)
    values[[3, -1]] = 500, 45
    lengths = Lengths.of(_empty(lengths=(values * contribution).astype(np.int64), contribution=contribution))
    assert lengths.longest < 10


def test_a_log_of_released_variants_has_few_other_cases() -> None:
    """500 cases of one variant: what was generated in addition came from noise, about 100 cases of it."""
    rule = mechanism("synthesis", 1, "1e-6")
    made = [with_random_bytes(rule, Seeded(seed)).release(Log.from_mapping({tuple("abc"): 500})) for seed in range(5)]
    made.sort(key=lambda release: sum(release.counts))
    assert sum(made[2].counts) < 550
    assert isinstance(made[0], SyntheticRelease) and set(made[0].origins) == {"released"}
    assert not any(pair.used for pair in made[0].quality().pairs)
    assert made[0].quality().in_words().startswith("no directly-follows pair was used")


def _empty(lengths: Any = None, contribution: int = 1000) -> Measurements:
    zero = np.zeros((1, 1), dtype=np.int64)
    none = np.zeros(BUCKETS, dtype=np.int64) if lengths is None else lengths
    return Measurements(dict.fromkeys(CONTROL_FLOW, contribution), (), (), {}, none, zero, None, zero)


# ------------------------------------------------------------------------------------------------------- the chain


@pytest.mark.parametrize("epsilon", ["1", "4", "20"])
def test_rows_of_the_chain_are_distributions(epsilon: str) -> None:
    chain = Chain.of(released(epsilon=epsilon).measurements)
    rows = np.add.reduceat(chain.weights, chain.starts[:-1])
    assert np.allclose(rows, 1) and (np.diff(chain.starts) > 0).all()
    assert (chain.weights > 0).all() and chain.contexts.max() < len(chain.starts) - 1


def test_labels_agree_with_the_history() -> None:
    """No walker uses an activity as the first that it has used before, and the other way round."""
    chain = Chain.of(released(epsilon="2").measurements)
    tilt = Tilt(np.ones(chain.targets.size), np.ones(BUCKETS))
    made = simulate(chain, tilt, 30, 500, generator(1))
    assert made.lengths.sum() == len(made.codes) and made.lengths.max() <= 30
    used = np.unique(Transitions.of(made.codes, made.lengths, chain.activities).cell)
    walked = {
        *chain.cells.tolist(),
        *(row * states(chain.activities) + states(chain.activities) - 1 for row in range(99)),
    }
    assert set(used.tolist()) <= walked


# ------------------------------------------------------------------------------------------------------ generation


def test_the_same_seed_makes_the_same_log() -> None:
    rare: dict[Trace, int] = {("a", *"bc" * repeats, "d"): 9 for repeats in range(4, 40)}
    measurements = released(log=LOG | rare).measurements
    assert generate(measurements, 5) == generate(measurements, 5)
    assert generate(measurements, 5) != generate(measurements, 6)


def test_frequencies_follow_the_log() -> None:
    """At ε = 20 noise is small: generated directly-follows pairs and lengths are close to the true ones."""
    release = released(epsilon="20")
    true, made = _follows(LOG), _follows(dict(zip(release.variants, release.counts, strict=True)))
    distance = sum(abs(true[pair] - made[pair]) for pair in {*true, *made}) / 2
    assert distance < 0.05
    assert sum(release.counts) == pytest.approx(sum(LOG.values()), abs=40)


def _follows(log: dict[Trace, int]) -> Counter[Any]:
    pairs = Counter[Any]()
    for trace, cases in log.items():
        for pair in zip(("", *trace), (*trace, ""), strict=True):
            pairs[pair] += cases
    total = sum(pairs.values())
    return Counter({pair: count / total for pair, count in pairs.items()})


def test_released_variants_are_not_generated_again() -> None:
    release = released()
    assert len(set(release.variants)) == len(release.variants)
    real = {trace for trace, origin in zip(release.variants, release.origins, strict=True) if origin == "released"}
    assert real == {trace for trace, _ in release.measurements.variants} <= set(LOG)


@pytest.mark.parametrize("cases", [0, 1, 7, 1000, 20_000])
def test_any_number_of_cases(cases: int) -> None:
    release = released().regenerate(cases=cases, seed=1)
    assert sum(release.counts) == cases
    assert release.guarantee == released().guarantee


def test_a_wanted_number_of_cases_is_kept_where_only_released_variants_can_be_generated() -> None:
    assert sum(released(42, log={("a",): 400}).regenerate(cases=50, seed=1).counts) == 50


def test_nothing_measured_gives_nothing() -> None:
    assert generate(_empty(), 1) == []
    assert generate(_empty(), 1, cases=100) == []


def test_noise_alone_is_not_an_error() -> None:
    """Measurements of pure noise over a public alphabet: a log comes out, and `quality` says what it is worth."""
    rule = mechanism("synthesis", "1", "1e-6", alphabet=["a", "b", "c"])
    for seed in range(10):
        release = with_random_bytes(rule, Seeded(seed)).release(Log.from_mapping({}))
        assert isinstance(release, SyntheticRelease)
        assert {activity for trace in release.variants for activity in trace} <= {"a", "b", "c"}
        assert release.quality().cases.mostly_noise or release.quality().cases.value < 400


# ------------------------------------------------------------------------------------------------- files and quality


def test_measurements_of_another_size_are_refused() -> None:
    measurements = released().measurements
    with pytest.raises(LogError, match="inconsistent"):
        replace(measurements, activities=measurements.activities[:-1])


def test_quality_has_honest_intervals() -> None:
    """30 releases: true weights of pairs lie inside their 95 % intervals in at least 90 % of cells."""
    rule = mechanism("synthesis", "4", "1e-6", alphabet=list("abcd"))
    log = diverse()
    true, inside = Counter[Any](), []
    for trace, cases in log.items():
        steps = Counter(zip((None, *trace), (*trace, None), strict=True))
        scale = sum(count**2 for count in Counter(_labelled(trace)).values()) ** -0.5
        true.update({pair: cases * count * scale for pair, count in steps.items()})
    for seed in range(30):
        release = with_random_bytes(rule, Seeded(seed)).release(Log.from_mapping(log))
        assert isinstance(release, SyntheticRelease) and not release.measurements.variants
        quality = release.quality()
        found = {(pair.before, pair.after): pair.weight for pair in quality.pairs}
        inside += [pair in found and found[pair].low <= weight <= found[pair].high for pair, weight in true.items()]
        assert quality.cases.low <= quality.cases.value <= quality.cases.high
    assert np.mean(inside) >= 0.9


def diverse() -> dict[Trace, int]:
    """500 cases of many variants."""
    random = generator(4)
    return dict(Counter(tuple(random.choice(list("abcd"), random.integers(4, 9)).tolist()) for _ in range(500)))


def _labelled(trace: Trace) -> list[Any]:
    events: list[Any] = [(activity, activity in trace[:index]) for index, activity in enumerate(trace)]
    return list(zip(("", *events), (*events, ""), strict=True))


def test_quality_tells_signal_from_noise() -> None:
    log = diverse()
    good = released(epsilon="20", log=log).quality()
    assert good.cases.low <= sum(log.values()) <= good.cases.high
    assert not good.cases.mostly_noise and not good.mostly_noise and good.noise_share < 0.05
    assert [pair for pair in good.pairs if not pair.used] == []
    poor = released(epsilon="0.5", log={("a", "b"): 3}).quality()
    assert poor.cases.mostly_noise or poor.noise_share == 1
    empty = released(log={}).quality()
    assert empty.pairs == () and empty.noise_share == 1
