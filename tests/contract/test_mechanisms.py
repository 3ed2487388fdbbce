"""What every mechanism must do. A new mechanism is added to MECHANISMS and inherits all of this."""

from __future__ import annotations

import dataclasses
import os
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from travas import Guarantee, ParameterError, Standing, Variants, mechanism
from travas.mechanisms import MECHANISMS
from travas.noise import Seeded

every = pytest.mark.parametrize("name", MECHANISMS)
logs = st.dictionaries(
    st.lists(st.sampled_from(["a", "b", "c,d", "e→f"]), min_size=1, max_size=5).map(tuple),
    st.integers(1, 60),
    max_size=30,
)


@every
@given(log=logs)
@settings(deadline=None, max_examples=40)
def test_no_fake_variant_and_no_count_below_the_centre(name: str, log: dict[tuple[str, ...], int]) -> None:
    rule = mechanism(name, "1", "0.05")
    release = rule.release(Variants.from_mapping(log))  # type: ignore[arg-type]
    assert set(release.variants) <= set(log)
    assert all(count >= rule.centre >= 1 for count in release.noisy)


@every
@given(log=logs, least=st.integers(1, 40))
@settings(deadline=None, max_examples=40)
def test_never_a_variant_of_fewer_cases_than_the_pre_threshold(
    name: str, log: dict[tuple[str, ...], int], least: int
) -> None:
    rule = mechanism(name, "2", "0.9", least)
    release = rule.release(Variants.from_mapping(log))  # type: ignore[arg-type]
    assert all(log[variant] >= least for variant in release.variants)  # type: ignore[index]
    assert all(count >= least for count in release.noisy)
    assert rule.keep_probability(least - 1) == 0
    assert rule.guarantee().delta_spent == mechanism(name, "2", "0.9").guarantee().delta_spent


@every
def test_a_frequent_variant_is_always_kept_near_its_count(name: str) -> None:
    rule = mechanism(name, "1", "1e-6")
    release = rule.release(Variants.from_mapping({("a",): 1000}))
    assert release.variants == (("a",),)
    assert abs(release.noisy[0] - 1000) <= rule.noise.table.length


@every
def test_order_is_canonical_whatever_the_input(name: str) -> None:
    log = {(str(number),): 500 + number for number in range(50)}
    for mapping in (log, dict(reversed(log.items()))):
        release = mechanism(name, "1", "1e-6").release(Variants.from_mapping(mapping))
        assert list(release.variants) == sorted(log)


@every
def test_an_empty_log_gives_an_empty_release(name: str) -> None:
    release = mechanism(name, "1", "1e-6").release(Variants.from_mapping({}))
    assert release.variants == () and release.noisy == release.counts == ()
    assert release.guarantee.standing is Standing.VERIFIED


@every
def test_the_guarantee_is_known_before_any_data(name: str) -> None:
    guarantee = mechanism(name, "0.5", "1e-3").guarantee()
    assert guarantee == Guarantee(Fraction(1, 2), Fraction(1, 1000), guarantee.delta_spent, name, Standing.VERIFIED)
    assert 0 < guarantee.delta_spent <= guarantee.delta


@every
def test_a_seed_costs_the_guarantee(name: str) -> None:
    fair = mechanism(name, "1", "0.1")
    seeded = dataclasses.replace(fair, random_bytes=Seeded(5))
    assert fair.random_bytes is os.urandom
    assert seeded.guarantee().standing is Standing.NOT_ESTABLISHED
    log = Variants.from_mapping({(str(n),): 3 for n in range(200)})
    again = dataclasses.replace(fair, random_bytes=Seeded(5))
    assert seeded.release(log).variants == again.release(log).variants
    assert fair.release(log).variants != fair.release(log).variants  # chance of a false alarm below 2^-100


@every
def test_a_mechanism_is_an_immutable_value(name: str) -> None:
    rule = mechanism(name, "1", "0.1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.epsilon = Fraction(5)  # type: ignore[misc]
    assert rule == mechanism(name, 1, 0.1)


@every
@pytest.mark.parametrize("least", [0, -1, True, 1.5, 10**10])
def test_a_pre_threshold_is_a_whole_number(name: str, least: object) -> None:
    with pytest.raises(ParameterError, match="minimum_cases"):
        mechanism(name, "1", "0.1", least)  # type: ignore[arg-type]


def test_an_unknown_mechanism_is_named_and_the_nearest_offered() -> None:
    with pytest.raises(ParameterError, match="'optimul'.*did you mean 'optimal'"):
        mechanism("optimul", "1", "0.1")
