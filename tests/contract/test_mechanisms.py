"""What every mechanism must do. A new mechanism is added to MECHANISMS and inherits all of this."""

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from travas import Guarantee, Log, ParameterError, PrivacyUnit, Reading, Standing, from_description, read, verify
from travas.log.plain import plain
from travas.mechanisms import MECHANISMS, mechanism
from travas.mechanisms.mechanism import Mechanism, parameters_of, with_random_bytes
from travas.mechanisms.registry import options_of
from travas.mechanisms.selection import PartitionSelection
from travas.outputs.write import writers
from travas.releases.estimate import keep_curve_of
from travas.releases.process_map import MapRelease
from travas.releases.release import VariantRelease, kind_of
from travas.releases.synthetic_log import SyntheticRelease
from travas.trusted.samplers import Seeded

SELECTIONS = ("optimal", "travas")
TREES = ("prefix-tree", "sacofa", "sacofa-published")
STANDING = {
    "optimal": Standing.VERIFIED,
    "travas": Standing.VERIFIED,
    "utravas": Standing.PROVEN,
    "prefix-tree": Standing.PROVEN,
    "sacofa": Standing.PROVEN,
    "utravas-published": Standing.NOT_ESTABLISHED,
    "sacofa-published": Standing.NOT_ESTABLISHED,
    "ladder": Standing.PROVEN,
    "synthesis": Standing.PROVEN,
    "map": Standing.PROVEN,
}
PRUNE = 60
ALPHABET = ("a", "b", "c,d", "e→f")
LENGTH = 2

PUBLISHED = ("utravas-published", "sacofa-published")
GAUSSIAN = ("synthesis", "map")
every = pytest.mark.parametrize("name", [*MECHANISMS, *PUBLISHED])
with_variants = pytest.mark.parametrize("name", [name for name in (*MECHANISMS, *PUBLISHED) if name != "map"])
logs = st.dictionaries(
    st.lists(st.sampled_from(["a", "b", "c,d", "e→f"]), min_size=1, max_size=5).map(tuple),
    st.integers(1, 60),
    max_size=30,
)


def make(name: str, epsilon: str, delta: str, **options: Any) -> Mechanism:
    if name in TREES:
        options = {"max_length": LENGTH, "prune": PRUNE, "alphabet": ALPHABET} | options
    return mechanism(name, epsilon, delta, **options)


def selection(name: str, epsilon: str, delta: str, minimum_cases: int = 1) -> PartitionSelection:
    rule = mechanism(name, epsilon, delta, minimum_cases=minimum_cases)
    assert isinstance(rule, PartitionSelection)
    return rule


def noisy_counts(release: Any) -> tuple[int, ...]:
    """The noisy counts of variants; those of a synthetic log are what was generated."""
    return release.noisy if isinstance(release, VariantRelease) else release.counts


def content(release: Any) -> Any:
    """What a release says, as a value."""
    return plain(release.measurements) if isinstance(release, MapRelease) else (release.variants, noisy_counts(release))


@with_variants
def test_no_fake_variant_unless_traces_are_made(name: str) -> None:
    """Fewer logs for synthesis, whose traces are generated anew for each."""
    settings(max_examples=4 if name == "synthesis" else 20)(given(log=logs)(_check_variants))(name)


def _check_variants(name: str, log: dict[Any, int]) -> None:
    release = make(name, "1", "0.05").release(Log.from_mapping(log))
    if isinstance(release, SyntheticRelease):
        real = {trace for trace, origin in zip(release.variants, release.origins, strict=True) if origin == "released"}
        assert real <= log.keys()
        assert {activity for trace in release.variants for activity in trace} <= {a for trace in log for a in trace}
        assert len(set(release.variants)) == len(release.variants)
        return
    if name in TREES:
        alphabet = set(ALPHABET)  # the public one: fakes may have activities that this log has not
        wrong = [trace for trace in release.variants if not (0 < len(trace) <= LENGTH and set(trace) <= alphabet)]
        assert not wrong
    else:
        for rung, rule in enumerate(release.abstractions):  # one, and full, but on a ladder
            made = {trace for trace, place in zip(release.variants, release.rungs, strict=True) if place == rung}
            assert made <= dict(rule.of(Log.from_mapping(log)).items()).keys()
    assert all(count >= 1 for count in (*release.noisy, *release.counts))
    assert len(set(release.variants)) == len(release.variants)


@given(log=logs)
@settings(max_examples=20)
def test_a_map_has_activities_of_the_log_only(log: dict[Any, int]) -> None:
    release = make("map", "1", "0.05").release(Log.from_mapping(log))
    assert isinstance(release, MapRelease)
    nodes = {node for pair in release.pairs for node in (pair.before, pair.after)}
    assert {node.activity for node in nodes} <= {None, *(activity for trace in log for activity in trace)}
    assert [activity.activity for activity in release.activities] == sorted(release.measurements.activities)
    assert all(0 <= pair.cases.low <= pair.cases.value <= pair.cases.high for pair in release.pairs)


@pytest.mark.parametrize("name", SELECTIONS)
@given(log=logs, least=st.integers(1, 40))
@settings(max_examples=40)
def test_never_a_variant_of_fewer_cases_than_the_pre_threshold(name: str, log: dict[Any, int], least: int) -> None:
    rule = selection(name, "2", "0.9", least)
    release = rule.release(Log.from_mapping(log))
    assert all(log[variant] >= least for variant in release.variants)
    assert all(count >= rule.centre >= least for count in release.noisy)
    assert rule.keep_probability(least - 1) == 0
    assert rule.guarantee().delta_spent == mechanism(name, "2", "0.9").guarantee().delta_spent


@with_variants
def test_a_frequent_variant_is_always_kept_near_its_count(name: str) -> None:
    """A tree may lose it with a chance of e^-400 or so."""
    rule = make(name, "1", "1e-6")
    release = rule.release(Log.from_mapping({("a",): 1000}))
    assert ("a",) in release.variants
    assert abs(noisy_counts(release)[release.variants.index(("a",))] - 1000) <= 300
    curve = keep_curve_of(rule)
    assert curve is None or curve.probability(curve.always_kept) == 1 > curve.probability(curve.always_kept - 1)


@with_variants
def test_order_is_canonical_whatever_the_input(name: str) -> None:
    log = {(str(number),): 500 + number for number in range(50)}
    options: dict[str, Any] = {"max_length": 1, "alphabet": [str(n) for n in range(50)]} if name in TREES else {}
    for mapping in (log, dict(reversed(log.items()))):
        release = make(name, "1", "1e-6", **options).release(Log.from_mapping(mapping))
        assert list(dict.fromkeys(release.variants)) == sorted(log) or name == "synthesis"
        assert list(release.variants) == sorted(release.variants)


@every
def test_the_guarantee_is_known_before_any_data(name: str) -> None:
    found = make(name, "0.5", "1e-3").guarantee()
    replacing: Any = "any mechanism" if name in TREES else "two counts"
    if name in GAUSSIAN:
        replacing = Fraction(found.replace_one[0])
    assert found == Guarantee(
        Fraction(1, 2), Fraction(1, 1000), found.delta_spent, name, STANDING[name],
        replacing=replacing, assumptions=found.assumptions,
    )  # fmt: skip
    assert 0 < found.delta_spent <= found.delta
    assert bool(found.assumptions) == (name in PUBLISHED)


@every
def test_a_seed_costs_the_guarantee(name: str) -> None:
    tree = {"prune": 1, "max_length": 1, "alphabet": [str(n) for n in range(200)]}
    fair = make(name, "1", "0.1", **(tree if name in TREES else {}))
    seeded = with_random_bytes(fair, Seeded(5))
    assert fair._random_bytes is os.urandom
    assert seeded.guarantee().standing is Standing.NOT_ESTABLISHED
    log = Log.from_mapping({(str(n),): 3 for n in range(200)})
    again = with_random_bytes(fair, Seeded(5))
    first, second = seeded.release(log), again.release(log)
    assert content(first) == content(second)
    assert content(fair.release(log)) != content(fair.release(log))  # chance of a false alarm below 2^-50


@every
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("patient", 3)])
def test_a_description_is_the_mechanism(name: str, unit: PrivacyUnit) -> None:
    rule = make(name, "1", "0.1", unit=unit)
    described = rule.describe()
    assert json.loads(json.dumps(described)) == described
    assert from_description(described) == rule and from_description(described).describe() == described
    options = list(options_of(type(rule)))
    assert list(described) == ["mechanism", "epsilon", "delta", "unit", *options]
    shown = parameters_of(rule)
    assert all(shown[option] == described[option] for option in options if option in shown)


@every
@pytest.mark.parametrize("field", ["mechanism", "epsilon", "delta", "unit", "an option"])
def test_a_description_that_means_nothing_is_refused_by_name(name: str, field: str) -> None:
    described = make(name, "1", "0.1").describe()
    with pytest.raises(ParameterError) as refused:
        from_description(described | {field: ["nonsense"]})
    assert refused.value.field == field and "nonsense" not in str(refused.value)
    if field in ("mechanism", "epsilon", "delta"):
        del described[field]
        with pytest.raises(ParameterError, match=f"has no {field}"):
            from_description(described)


# ---- A log without events is released by every mechanism and in every format: one case must not decide about an error.


@pytest.mark.parametrize("abstraction", ["full", "first | prefix:3", "fold"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_releases_a_log_without_events(name: str, abstraction: str, tmp_path: Path) -> None:
    options = {"max_length": 2, "prune": 60} if name in TREES else {}
    log = read(Log.from_mapping({}), Reading(abstraction=abstraction))
    chosen = mechanism(name, 1, "1e-6", **options)  # type: ignore[arg-type]
    release = chosen.release(log)
    if isinstance(release, MapRelease):
        assert not release.activities  # noise can make a pair of `other`, as of any log
    else:
        assert release.variants == () and release.counts == () and release.estimated_counts == ()
    for suffix in writers(kind_of(chosen)):
        path = release.write(tmp_path / f"release{suffix}")
        if release.guarantee.standing is not Standing.NOT_ESTABLISHED:
            assert verify(f"{path}.guarantee.json", path).digest_checked
