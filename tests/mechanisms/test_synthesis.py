"""Synthesis: what cases add is bounded, what is measured is the sum of it plus noise, and odd logs are released too."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import Counter
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from travas import ParameterError, Standing, Variants, mechanism, read, verify
from travas.mechanisms import coded_traces
from travas.mechanisms.coded_traces import (
    CodedTraces,
    activity_sums,
    context_sums,
    length_sums,
    transition_sums,
)
from travas.mechanisms.gaussian_mechanism import MOST_ACTIVITIES, MOST_KEYS
from travas.mechanisms.synthesis import Synthesis
from travas.mechanisms.synthesis_stages import CONTROL_FLOW
from travas.model.integer_root import integer_root
from travas.model.trace_features import LENGTH_EDGES, cells
from travas.model.traces import Trace
from travas.privacy.gaussian import GaussianNoise
from travas.privacy.gaussian_stages import SMOOTHING_VARIANCE, STANDARD_DEVIATION, Stage
from travas.privacy.guarantee import PrivacyUnit
from travas.privacy.noise import Seeded
from travas.privacy.numbers import as_text
from travas.synthesis.measurements import Measurements
from travas.synthesis.synthetic_release import NOTICE, SyntheticRelease

FALSE_ALARM = 1e-9
SMALL: dict[Trace, int] = {
    tuple("abc"): 40, tuple("abbc"): 9, tuple("acb"): 7, tuple("ad"): 5, tuple("abcabc"): 6, ("e",): 3, tuple("abeed"): 12,
}  # fmt: skip
STRANGERS: dict[str, Trace] = {
    "a new variant of known activities": tuple("dcba"),
    "one new activity": ("z",),
    "new activities beyond the cap": tuple(f"n{number:03d}" for number in range(MOST_KEYS + 20)),
    "one activity a thousand times": ("a",) * 1000,
    "a long mixture": tuple("abcde"[number * 7 % 5] for number in range(3000)),
    "a known variant": tuple("abbc"),
    "known and new activities": (*"abcde", "m1", "m2", "m3"),
    "beyond the last bucket": ("a", "b") * 2500,
}


def synthesis(epsilon: str = "2", delta: str = "0.1", **options: Any) -> Synthesis:
    rule = mechanism("synthesis", epsilon, delta, **options)
    assert isinstance(rule, Synthesis)
    return rule


def sums(rule: Synthesis, name: str) -> Stage:
    return rule.noise.stage(name)


# ---------------------------------------------------------------------------------- Lemma 1, by a slow plain twin


def labelled(trace: Trace) -> list[tuple[Any, int]]:
    return [(activity, int(activity in trace[:index])) for index, activity in enumerate(trace)]


def steps(trace: Trace) -> list[tuple[Any, Any]]:
    events: list[Any] = labelled(trace)
    return list(zip(["START", *events], [*events, "END"], strict=True)) if trace else []


def added(trace: Trace, outputs: Measurements, rule: Synthesis) -> dict[str, Counter[Any]]:
    """u_i(x; y): what one case adds to every stage, given the outputs of the stages before. Plain, from the page."""
    result = {name: Counter[Any]() for name in CONTROL_FLOW}
    released = dict(outputs.variants)
    result["variants"][trace] = sums(rule, "variants").contribution
    if trace in released:
        return result
    known = {activity for variant in released for activity in variant}
    new = [activity for activity in dict.fromkeys(trace) if activity not in known][:MOST_KEYS]
    for activity in new if rule.alphabet is None else []:
        result["activities"][activity] = isqrt(sums(rule, "activities").contribution ** 2 // len(new))
    left = tuple(activity for activity in trace if activity in set(outputs.activities))
    bucket = sum(len(left) >= edge for edge in LENGTH_EDGES)
    result["lengths"][bucket] = sums(rule, "lengths").contribution
    transitions = Counter(steps(left))
    squares = sum(count**2 for count in transitions.values())
    if not squares:
        return result
    weight, refined = (isqrt(sums(rule, name).contribution ** 2 // squares) for name in ("transitions", "refinement"))
    result["transitions"] = Counter({cell: weight * count for cell, count in transitions.items()})
    if outputs.pairs is None:
        result["refinement"] = Counter({cell: refined * count for cell, count in transitions.items()})
        return result
    states: list[Any] = ["START", *((name, label) for name in outputs.activities for label in (0, 1))]
    pairs = {(states[before], states[after]) for before, after in outputs.pairs.tolist()}
    path = steps(left)
    for (before, _), (state, symbol) in itertools.pairwise(path):
        if (before, state) in pairs:
            result["refinement"][before, state, symbol] += refined
    return result


def norm_squared(vector: Counter[Any]) -> int:
    return sum(value**2 for value in vector.values())


def outputs_of(log: dict[Trace, int], rule: Synthesis) -> Measurements:
    return rule.measure(Variants.from_mapping(log))


RULES = {
    "usual": synthesis(),
    "order two": synthesis("20", "0.5"),
    "public alphabet": synthesis(alphabet=tuple("abq")),
    "persons": synthesis(unit=PrivacyUnit("patient", 3)),
}


@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=STRANGERS.keys())
@pytest.mark.parametrize("name", RULES)
def test_what_a_case_adds_is_bounded_in_every_stage(name: str, stranger: Trace) -> None:
    """Lemma 1, on outputs of the mechanism itself, for every case of the log and for odd ones."""
    rule = RULES[name]
    unit = rule.unit
    plain = Variants.from_mapping(SMALL)
    outputs = rule.measure(Variants(plain.alphabet, plain.keys, plain.counts, unit=unit, counted="cases"))
    for trace in (*SMALL, stranger):
        for stage, vector in added(trace, outputs, rule).items():
            if rule.noise.has(stage):
                assert norm_squared(vector) <= sums(rule, stage).contribution ** 2
    total = sum((unit.max_cases * stage.contribution) ** 2 for stage in rule.noise.calibration.stages)
    assert total <= 20**2 * (STANDARD_DEVIATION**2 - SMOOTHING_VARIANCE)


def test_the_bound_is_not_vacuous() -> None:
    """Without the normalisation the same check fails; with it, the bound is nearly reached."""
    rule = synthesis()
    outputs = outputs_of(SMALL, rule)
    stage = sums(rule, "transitions")
    transitions = Counter(steps(("a",) * 1000))
    assert (
        norm_squared(Counter({cell: stage.contribution * n for cell, n in transitions.items()})) > stage.contribution**2
    )
    reached = norm_squared(added(tuple("abc"), outputs, rule)["transitions"])
    assert reached == 0 or reached > 0.99 * stage.contribution**2


traces = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=12).map(tuple)
logs = st.dictionaries(traces, st.integers(1, 50), min_size=1, max_size=12)


@given(
    log=logs,
    chosen=st.sets(st.sampled_from("abcdefg"), max_size=6),
    pairs=st.sets(st.tuples(*[st.integers(0, 5)] * 2)),
    block=st.sampled_from([1, 2, 7, 1 << 20]),
)
@settings(deadline=None, max_examples=60)
def test_fast_sums_are_those_of_the_plain_twin(
    log: Any, chosen: set[str], pairs: set[tuple[int, int]], block: int
) -> None:
    """All stages on all small logs, whatever the size of the blocks: Σ over cases of u_i(x; y)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coded_traces, "BLOCK", block)
        _check_sums(log, chosen, pairs)


def _check_sums(log: Any, chosen: set[str], pairs: set[tuple[int, int]]) -> None:
    rule = RULES["usual"]
    variants = Variants.from_mapping(log)
    activities = tuple(sorted(chosen & {activity for trace in log for activity in trace}))
    size = 2 * len(activities) + 1
    contexts = sorted((before, after) for before, after in pairs if before < size and 0 < after < size)
    table = np.array(contexts, dtype=np.int64).reshape(-1, 2)
    outputs = Measurements(
        dict.fromkeys(CONTROL_FLOW, 1), (), activities, {}, np.zeros(len(LENGTH_EDGES) + 1, dtype=np.int64),
        np.zeros((size, size), dtype=np.int64), table, np.zeros((len(table), size), dtype=np.int64),
    )  # fmt: skip
    expected: dict[str, Counter[Any]] = {name: Counter() for name in CONTROL_FLOW}
    for trace, cases in log.items():
        for stage, vector in added(trace, outputs, rule).items():
            expected[stage].update({cell: cases * value for cell, value in vector.items()})
    coded = CodedTraces.of(variants)
    code_of = {activity: code for code, activity in enumerate(variants.alphabet)}
    found = activity_sums(coded, np.array([], dtype=np.int64), sums(rule, "activities"))
    assert dict(zip(variants.alphabet, found.tolist(), strict=True)) == expected["activities"]
    projected = coded.projected(np.array([code_of[activity] for activity in activities], dtype=np.int64))
    assert Counter(dict(enumerate(length_sums(projected, sums(rule, "lengths")).tolist()))) == expected["lengths"]
    states: list[Any] = ["START", *((name, label) for name in activities for label in (0, 1))]
    symbols: list[Any] = [*states[1:], "END"]
    measured = transition_sums(projected, sums(rule, "transitions"))
    assert as_counter(measured, states, symbols) == expected["transitions"]
    assert not measured[~cells(len(activities))].any()
    rows = [(states[before], states[after]) for before, after in contexts]
    refined = as_counter(context_sums(projected, table, sums(rule, "refinement")), rows, symbols)
    assert Counter({(*row, symbol): value for (row, symbol), value in refined.items()}) == expected["refinement"]


def test_blocks_hold_every_trace_once() -> None:
    """A trace is never divided, however long it is; a block has about as many events as it should."""
    lengths = [3, 3, 50, 1, 1, 1, 4]
    log = {(f"{number}",) * length: number + 1 for number, length in enumerate(lengths)}
    coded = CodedTraces.of(Variants.from_mapping(log))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coded_traces, "BLOCK", 6)
        blocks = list(coded.blocks())
    assert [length for block in blocks for length in block.lengths.tolist()] == lengths
    assert [code for block in blocks for code in block.codes.tolist()] == coded.codes.tolist()
    assert [count for block in blocks for count in block.counts.tolist()] == coded.counts.tolist()
    assert max(len(block.codes) - int(block.lengths.max(initial=0)) for block in blocks) < 6


def as_counter(table: NDArray[np.int64], rows: list[Any], columns: list[Any]) -> Counter[Any]:
    return Counter({(rows[i], columns[j]): int(table[i, j]) for i, j in zip(*np.nonzero(table), strict=True)})


@given(values=st.lists(st.integers(0, 2**52 - 1), min_size=1))
def test_integer_roots(values: list[int]) -> None:
    assert integer_root(np.array(values, dtype=np.int64)).tolist() == [isqrt(value) for value in values]
    squares = [isqrt(value) ** 2 for value in values]
    assert integer_root(np.array([*squares, *(max(s - 1, 0) for s in squares)])).tolist()[: len(squares)] == [
        isqrt(value) for value in squares
    ]


# ------------------------------------------------------------------------------------------- what is measured


def test_measurements_are_sums_with_the_stated_noise() -> None:
    """Standardised errors of all cells of many releases: mean 0, deviation 1. False alarm 1e-9; 3 % off is seen."""
    rule = synthesis("1", "1e-6", alphabet=tuple("abcde"))
    log = SMALL | {tuple("abc"): 2}
    variants = Variants.from_mapping(log)
    errors = []
    for _ in range(600):
        outputs = rule.measure(variants)
        if (
            outputs.variants
        ):  # the threshold is above 50 cases: about once in 30,000 measurements; then the others are other sums
            continue
        true = np.zeros(len(LENGTH_EDGES) + 1, dtype=np.int64)
        for trace, cases in log.items():
            true[sum(len(trace) >= edge for edge in LENGTH_EDGES)] += cases * sums(rule, "lengths").contribution
        errors.append(outputs.lengths - true)
        coded = CodedTraces.of(variants)
        by_name = sorted(range(5), key=variants.alphabet.__getitem__)
        exact = transition_sums(coded.projected(np.array(by_name)), sums(rule, "transitions"))
        errors.append((outputs.transitions - exact)[cells(5)])
    assert len(errors) >= 2 * 594
    drawn = np.concatenate(errors) / STANDARD_DEVIATION
    bound = norm.isf(FALSE_ALARM / 4)
    assert abs(drawn.mean()) * math.sqrt(len(drawn)) < bound
    spread = math.sqrt(len(drawn) / 2)
    assert abs(drawn.var() - 1) * spread < bound
    assert abs((1.03 * drawn).var() - 1) * spread > bound
    assert abs((0.97 * drawn).var() - 1) * spread > bound


def test_thresholds_are_those_that_were_verified() -> None:
    """A variant and an activity just above and below: with noise that is 0, the threshold alone decides."""
    rule = synthesis("4", "1e-3")
    silent = _without_noise(rule)
    stage = sums(rule, "variants")
    least = stage.threshold // stage.contribution + 1
    assert dict(outputs_of({("a",): least}, silent).variants) == {("a",): least * stage.contribution}
    below = outputs_of({("a",): least - 1}, silent)
    assert below.variants == ()
    stage = sums(rule, "activities")
    enough = stage.threshold // stage.weight(2) + 1
    assert outputs_of({(f"{number}", "shared"): 1 for number in range(enough)}, silent).activities == ("shared",)
    assert outputs_of({(f"{number}", "shared"): 1 for number in range(enough - 1)}, silent).activities == ()


def _without_noise(rule: Synthesis) -> Synthesis:
    silent = object.__new__(_Silent)
    for name in ("calibration", "delta_spent"):
        object.__setattr__(silent, name, getattr(rule.noise, name))
    changed = attrs.evolve(rule)
    changed.__dict__["noise"] = silent
    return changed


class _Silent(GaussianNoise):
    def draw(self, size: int, random_bytes: object) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)


def test_a_case_cannot_be_told_from_its_neighbours() -> None:
    """The loss of whole transcripts of V, A and L, in closed form: N(μ²/2, μ²) with μ not above the calibrated one."""
    rule = synthesis("1", "1e-6")
    variance = STANDARD_DEVIATION**2 - SMOOTHING_VARIANCE
    outputs = outputs_of(SMALL, rule)
    for stranger in STRANGERS.values():
        vectors = added(stranger, outputs, rule)
        used = sum(norm_squared(vector) for vector in vectors.values()) / variance
        allowed = sum(stage.contribution**2 for stage in rule.noise.calibration.stages) / variance
        assert used <= allowed
        delta = norm.sf(1 / math.sqrt(allowed) - math.sqrt(allowed) / 2) - math.e * norm.sf(
            1 / math.sqrt(allowed) + math.sqrt(allowed) / 2
        )
        assert delta <= 0.9e-6


# ------------------------------------------------------------------------------------------------------- odd logs


@pytest.mark.parametrize(
    "log",
    [
        {},
        {("a",): 1},
        {tuple("ab"): 10**6},
        {("a",) * 5000: 300},
        pytest.param(
            {(f"activity {number}", "end"): 200 for number in range(MOST_ACTIVITIES + 100)}, marks=pytest.mark.slow
        ),
    ],
    ids=["empty", "one case", "one variant", "very long", "many activities"],
)
def test_every_log_is_released(log: dict[Trace, int], tmp_path: Path) -> None:
    release = synthesis("1", "1e-6").release(Variants.from_mapping(log))
    assert isinstance(release, SyntheticRelease)
    assert len(release.measurements.activities) <= MOST_ACTIVITIES
    assert release.write(tmp_path / "out.csv").is_file()
    release.quality()


def test_an_empty_log_and_one_case_give_an_empty_release() -> None:
    for log in ({}, {("a", "b"): 1}):
        release = synthesis("1", "1e-6").release(Variants.from_mapping(log))
        assert release.variants == () and release.counts == ()


def test_too_many_activities_are_cut_by_weight() -> None:
    rule = synthesis("1", "1e-6")
    released = {(f"r{number:04d}",): 10**6 + number for number in range(600)}
    selected = {f"s{number:04d}": 10**6 + number for number in range(600)}
    kept = rule._activities(released, selected)  # type: ignore[arg-type]
    assert len(kept) == MOST_ACTIVITIES and list(kept) == sorted(kept)
    assert {name for (name,) in released} <= set(kept)
    assert "s0599" in kept and "s0000" not in kept


def test_long_traces_fall_into_the_open_bucket() -> None:
    """4,096 events and more. Σc² is above Δ² for very long ones: they add nothing to the transitions, and that is valid."""
    log = {("a",) * 6000: 5000, ("a", "b") * 2048: 5000}
    release = synthesis("4", "1e-6").release(Variants.from_mapping(log))
    assert isinstance(release, SyntheticRelease)
    assert dict(release.measurements.variants).keys() == log.keys()


@pytest.mark.parametrize(("epsilon", "delta", "cases"), [("1e-9", "1e-7", 1), ("0.01", "1e-6", 1000)])
def test_parameters_that_leave_nothing_are_refused_before_reading(epsilon: str, delta: str, cases: int) -> None:
    with pytest.raises(ParameterError, match="leave nothing for the measurement"):
        synthesis(epsilon, delta, unit=PrivacyUnit("patient", cases))


def test_a_public_alphabet_is_not_measured() -> None:
    rule = synthesis("1", "1e-6", alphabet=["b", "a", "never"])
    assert not rule.noise.has("activities")
    assert sum(stage.delta for stage in rule.noise.calibration.stages) == Fraction(1, 10**7)
    outputs = outputs_of({("a", "b"): 3, ("secret",): 2}, rule)
    assert outputs.activities == ("a", "b", "never")
    with pytest.raises(ParameterError, match="columns"):
        synthesis(alphabet=[("a", "complete")]).release(Variants.from_mapping(SMALL))
    for wrong in ([], [""], [1], [str(number) for number in range(MOST_ACTIVITIES + 1)]):
        with pytest.raises(ParameterError, match="alphabet"):
            synthesis(alphabet=wrong)


def test_persons_share_what_a_case_may_add() -> None:
    one, three = synthesis("1", "1e-6"), synthesis("1", "1e-6", unit=PrivacyUnit("patient", 3))
    for alone, shared in zip(one.noise.calibration.stages, three.noise.calibration.stages, strict=True):
        assert shared.contribution == alone.contribution // 3
        assert shared.threshold >= alone.threshold
    assert three.guarantee().delta_spent <= Fraction(1, 10**6)


# ------------------------------------------------------------------------------------------- release and its files


def released(seed: int = 1) -> SyntheticRelease:
    rule = attrs.evolve(synthesis("4", "1e-3"), random_bytes=Seeded(seed))
    rare: dict[Trace, int] = {("a", *"bc" * repeats): 2 for repeats in range(4, 40)}
    release = rule.release(Variants.from_mapping({trace: 50 * cases for trace, cases in SMALL.items()} | rare))
    assert isinstance(release, SyntheticRelease)
    return release


def test_the_standing_is_proven() -> None:
    guarantee = synthesis("1", "1e-6").guarantee()
    assert guarantee.standing is Standing.PROVEN
    assert Fraction(9, 10) * Fraction(1, 10**6) < guarantee.delta_spent <= Fraction(1, 10**6)
    assert not guarantee.assumptions


def test_the_order_of_the_log_does_not_show() -> None:
    rule = _without_noise(attrs.evolve(synthesis("4", "1e-3"), random_bytes=Seeded(3)))
    log = {trace: 50 * cases for trace, cases in SMALL.items()}
    one, other = (rule.release(Variants.from_mapping(dict(items))) for items in (log.items(), reversed(log.items())))
    assert isinstance(one, SyntheticRelease) and isinstance(other, SyntheticRelease)
    assert (one.variants, one.counts, one.origins) == (other.variants, other.counts, other.origins)
    assert json.dumps(one.details()) == json.dumps(other.details())


def test_the_order_of_first_occurrence_does_not_show_in_memory_either() -> None:
    """Activities are selected by A; their mapping is sorted by name, whatever came first in the log."""
    traces: list[Trace] = [tuple(names) for names in itertools.permutations("zyxw")]
    rule = _without_noise(synthesis("4", "1e-3"))
    for order in (traces, traces[::-1]):
        outputs = outputs_of(dict.fromkeys(order, 3), rule)
        assert list(outputs.activity_sums) == list("wxyz") == list(outputs.activities)


def test_the_seed_of_the_generation_is_not_that_of_the_noise() -> None:
    """From the operating system by default; setting it does not cost the guarantee."""
    rule = synthesis("4", "1e-3")
    log = Variants.from_mapping(SMALL)
    first, second = rule.release(log), rule.release(log)
    assert isinstance(first, SyntheticRelease) and isinstance(second, SyntheticRelease)
    assert first.seed != second.seed
    chosen = first.regenerate(seed=7)
    assert chosen.seed == 7 and chosen.guarantee.standing is Standing.PROVEN
    for wrong in (-1, True, 1.5):
        with pytest.raises(ParameterError, match="seed is"):
            first.regenerate(seed=wrong)  # type: ignore[arg-type]
    assert attrs.evolve(rule, random_bytes=Seeded(1)).guarantee().standing is Standing.NOT_ESTABLISHED


@pytest.mark.parametrize("suffix", [".xes", ".xes.gz", ".csv", ".parquet", ".json"])
def test_every_file_says_that_it_is_synthetic(suffix: str, tmp_path: Path) -> None:
    release = released()
    path = release.write(tmp_path / f"out{suffix}")
    stated = json.loads(path.with_name(path.name + ".guarantee.json").read_text())
    assert stated["mechanism"] == "synthesis" and stated["release"]["notices"]["travas:synthetic"] == NOTICE
    if suffix == ".json":
        content = json.loads(path.read_text())
        assert content["notices"] == release.notices and content["origins"] == list(release.origins)
        again = Measurements.from_json(content["measurements"])
        assert json.dumps(again.as_json()) == json.dumps(release.measurements.as_json())
    if suffix == ".xes":
        text = path.read_text()
        assert f'<string key="travas:synthetic" value="{NOTICE}"/>' in text.partition("<trace>")[0]
        assert text.count('<string key="travas:origin" value="') == sum(release.counts)
    if suffix == ".parquet":
        assert pl.read_parquet_metadata(path)["travas:synthetic"] == NOTICE
    if suffix != ".json":
        cases = Counter[Any]()
        for trace, count in zip(release.variants, release.counts, strict=True):
            cases[trace] += count
        assert dict(read(path).items()) == cases


def test_data_frames_say_that_they_are_synthetic() -> None:
    release = released()
    frame = release.to_polars()
    assert set(frame["case:travas:origin"].unique()) == {"released", "generated"}
    assert (
        release.notices.items() <= release.to_pandas().attrs.items() and release.notices["travas:synthetic"] == NOTICE
    )
    assert "synthetic" in repr(release).lower()


def test_the_guarantee_file_is_verified(tmp_path: Path) -> None:
    rule = attrs.evolve(synthesis("4", "1e-3"), random_bytes=os.urandom)
    path = rule.release(Variants.from_mapping(SMALL)).write(tmp_path / "out.json")
    guarantee = path.with_name("out.json.guarantee.json")
    assert verify(guarantee, path).delta_spent <= Fraction(1, 1000)
    stated = json.loads(guarantee.read_text())
    stated["parameters"]["stages"][0]["threshold"] -= 1
    guarantee.write_text(json.dumps(stated))
    with pytest.raises(Exception, match="parameters"):
        verify(guarantee, path)
    assert as_text(rule.noise.calibration.gaussian_delta) == stated["parameters"]["gaussian_delta"]
