"""One person, many cases: the exact privacy loss of every way to place them, on the very tables that are sampled.

Which cases count: test_unit_readers.py.
"""

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exact_losses import Chances, excess, growth_below, outputs, weights_of
from travas import Guarantee, Log, ParameterError, PrivacyUnit, Standing
from travas.mechanisms import MECHANISMS, mechanism
from travas.mechanisms.mechanism import parameters_of, tables_of
from travas.mechanisms.prefix_tree import Tree
from travas.mechanisms.sacofa import SaCoFa
from travas.mechanisms.selection import PartitionSelection
from travas.releases.release import counted_of
from travas.search.person_tables import GaussianTable
from travas.search.table_builders import optimal_table, travas_table
from travas.trusted.guarantee import step
from travas.trusted.tables import Noise

TREES = {"max_length": 1, "prune": 3, "alphabet": ["a", "b"]}


def partitions(total: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Every way to put equal cases into cells that have no names: (3,), (2, 1), (1, 1, 1)."""
    if total == 0:
        yield ()
    for first in range(min(total, most or total), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


@pytest.mark.parametrize("name", ["optimal", "travas"])
@pytest.mark.parametrize(
    ("epsilon", "delta", "most"), [("2", "0.5", 2), ("6", "0.3", 3), ("1", "0.9", 2), ("0.5", "0.2", 1)]
)
def test_each_variant_of_a_person_at_most_once(name: str, epsilon: str, delta: str, most: int) -> None:
    """Up to M different variants, with every number of others on each: never beyond (ε, δ), "absent" included."""
    rule = mechanism(name, epsilon, delta, unit=PrivacyUnit("patient", most))
    assert isinstance(rule, PartitionSelection)
    weights, growth, worst = weights_of(rule.noise.table), growth_below(rule.epsilon), Fraction(0)
    for variants in range(1, most + 1):
        for others in combinations_with_replacement(range(len(weights) + 1), variants):
            there = [outputs(weights, n + 1) for n in others]
            worst = max(worst, excess(there, [outputs(weights, n) for n in others], growth))
    assert 0 < worst <= rule.guarantee().delta_spent <= rule.delta


@pytest.mark.parametrize("splits", [1, 2])
def test_the_runs_of_utravas_compose_inside(splits: int) -> None:
    """Every variant of a person is drawn for in every run."""
    rule = mechanism("utravas", "4", "0.4", splits=splits, unit=PrivacyUnit("patient", 2))
    (noise,) = tables_of(rule)
    assert (noise.epsilon, noise.delta) == (Fraction(4, 2 * splits), Fraction(4, 20 * splits))
    growth, weights = growth_below(rule.epsilon), weights_of(noise.table)
    for others in combinations_with_replacement(range(len(weights) + 1), 2):
        there = [outputs(weights, n + 1) for n in others for _ in range(splits)]
        gone = [outputs(weights, n) for n in others for _ in range(splits)]
        assert excess(there, gone, growth) <= rule.guarantee().delta_spent <= rule.delta


@pytest.mark.parametrize("name", ["prefix-tree", "sacofa"])
@pytest.mark.parametrize(
    ("epsilon", "delta", "most", "levels"),
    [("18", "0.3", 3, 1), ("10", "0.3", 3, 2), ("8", "0.01", 2, 1), ("8", "0.2", 2, 2), ("2", "0.2", 1, 3)],
)
def test_the_cases_of_a_person_anywhere_in_a_tree(name: str, epsilon: str, delta: str, most: int, levels: int) -> None:
    """Up to M cases on the cells of a level, in every way: all on one, each on its own, and everything between."""
    options: dict[str, Any] = TREES | {"max_length": levels}
    rule = mechanism(name, Fraction(epsilon) * levels, delta, unit=PrivacyUnit("patient", most), **options)
    assert isinstance(rule, Tree)
    (noise,) = tables_of(rule)
    share = Fraction(4, 5) if name == "sacofa" else Fraction(1)  # the rest pays for the rules
    growth, plain = growth_below(Fraction(epsilon) * share), weights_of(noise.table)
    for cases in range(1, most + 1):
        for placed in partitions(cases):
            gone: list[Chances] = [dict(enumerate(plain)) for _ in placed]
            there: list[Chances] = [{place + own: weight for place, weight in enumerate(plain)} for own in placed]
            assert levels * excess(there, gone, growth) <= rule.guarantee().delta_spent <= rule.delta


def test_the_cases_of_a_person_anywhere_on_a_ladder() -> None:
    """On every rung up to M cases on new and old keys, in every way: the rungs together never beyond what is stated."""
    most, epsilon, delta = 3, Fraction(16), Fraction(2, 5)
    rule = mechanism("ladder", epsilon, delta, rungs="full,prefix:1", unit=PrivacyUnit("patient", most))
    total = Fraction(0)
    for share, noise in zip((Fraction(1, 2),) * 2, tables_of(rule), strict=True):
        growth, worst = growth_below(epsilon * Fraction(19, 20) * share), Fraction(0)
        assert noise.epsilon == epsilon * Fraction(19, 20) * share / most
        weights = weights_of(noise.table)
        for placed in (way for cases in range(1, most + 1) for way in partitions(cases)):
            for others in product(range(len(weights) + 1), repeat=len(placed)):
                there = [outputs(weights, n + own) for n, own in zip(others, placed, strict=True)]
                worst = max(worst, excess(there, [outputs(weights, n) for n in others], growth))
        total += worst
    spent = rule.guarantee().delta_spent
    assert spent * Fraction(99, 100) < total <= spent <= delta  # when all cases share a key, it is reached
    assert sum(noise.delta for noise in tables_of(rule)) > 2 * rule._step.delta  # of one step of the whole


def test_the_rules_of_sacofa_are_paid_for_by_the_step() -> None:
    rule = mechanism("sacofa", 5, 0, max_length=1, prune=3, unit=PrivacyUnit("patient", 5))
    assert isinstance(rule, SaCoFa)
    assert rule._rules_noise(1).epsilon + rule.noise.epsilon == rule._step.epsilon == 1


@pytest.mark.parametrize("build", [optimal_table, travas_table])
@pytest.mark.parametrize(
    ("epsilon", "delta", "most"), [("2", "0.5", 2), ("3", "0.01", 3), ("6", "1e-6", 6), ("1", "0.001", 10)]
)
def test_group_privacy_holds_when_all_cases_are_alike_and_is_tight(
    build: Any, epsilon: str, delta: str, most: int
) -> None:
    """And (ε/m, δ/m), which is enough for different variants, is not enough here: this test can fail."""
    e, d = Fraction(epsilon), Fraction(delta)
    growth = growth_below(e)

    def loss(epsilon: Fraction, delta: Fraction) -> Fraction:
        weights = weights_of(Noise(build(epsilon, delta), epsilon, delta).table)
        cases = range(len(weights) + 1)
        return max(excess([outputs(weights, n + most)], [outputs(weights, n)], growth) for n in cases)

    group, different = step(e, d, most, "cases"), step(e, d, most, "units")
    assert loss(group.epsilon, group.delta) <= d
    if build is optimal_table:
        assert loss(group.epsilon, group.delta) > d * Fraction(99, 100)
        assert loss(different.epsilon, different.delta) > d


@given(
    st.fractions(Fraction(1, 1000), 20, max_denominator=10**6),
    st.fractions(0, Fraction(99, 100), max_denominator=10**9),
    st.integers(1, 1000),
)
def test_a_step_is_rounded_conservatively(epsilon: Fraction, delta: Fraction, most: int) -> None:
    found = step(epsilon, delta, most, "cases")
    with localcontext() as context:
        context.prec = 80
        one = (Decimal(epsilon.numerator) / epsilon.denominator / most).exp()
        total = Fraction(sum((one**power for power in range(most)), Decimal(0)))
    assert found.epsilon * most == epsilon
    assert total * (1 - Fraction(1, 10**70)) <= found.factor <= total * (1 + Fraction(1, 10**40))
    assert found.delta * found.factor <= delta
    assert delta - found.delta * found.factor <= delta * Fraction(1, 10**18)
    units = step(epsilon, delta, most, "units")
    assert (units.epsilon * most, units.delta * most) == (epsilon, delta) and units.delta >= found.delta


def make(name: str, unit: PrivacyUnit) -> Any:
    options = TREES if name in ("prefix-tree", "sacofa", "sacofa-published") else {}
    return mechanism(name, "2", "0.1", unit=unit, **options)


@pytest.mark.parametrize("name", [*MECHANISMS, "utravas-published", "sacofa-published"])
def test_the_guarantee_names_the_unit(name: str) -> None:
    rule = make(name, PrivacyUnit("patient", 3))
    guarantee: Guarantee = rule.guarantee()
    assert guarantee.unit == PrivacyUnit("patient", 3) and (guarantee.epsilon, guarantee.delta) == (
        Fraction(2),
        Fraction(1, 10),
    )
    assert guarantee.neighbours == "add or remove all cases of one person (column patient)"
    is_verified_whole = isinstance(getattr(rule, "person_table", None), GaussianTable)
    known = Standing.VERIFIED if is_verified_whole else Standing.PROVEN
    assert guarantee.standing is (Standing.NOT_ESTABLISHED if name.endswith("-published") else known)
    epsilon, delta = guarantee.replace_one
    if name in ("synthesis", "map"):  # Corollary 1 of its proof: better than two steps
        assert 2 < epsilon < 4 and delta == Fraction(1, 10)
    else:
        assert epsilon == 4 and delta >= Fraction(2, 10)
    assert guarantee.assumptions
    assert rule._step.epsilon == Fraction(2, 3)
    for noise in tables_of(rule):
        if is_verified_whole:
            assert (noise.epsilon, noise.delta, noise.counts) == (Fraction(2), Fraction(1, 10), 3)
        else:
            assert noise.epsilon <= rule._step.epsilon and noise.delta <= rule.delta and noise.counts == 1
    alike = make(name, PrivacyUnit("patient", 1))
    assert alike.guarantee().standing is make(name, PrivacyUnit()).guarantee().standing
    assert alike.guarantee().delta_spent == make(name, PrivacyUnit()).guarantee().delta_spent
    assert parameters_of(alike) == parameters_of(make(name, PrivacyUnit()))


@pytest.mark.parametrize("name", [*MECHANISMS, "utravas-published", "sacofa-published"])
def test_a_log_counted_for_another_unit_is_refused(name: str) -> None:
    """Or a promise to a person would be kept to a case only."""
    patient = PrivacyUnit("patient", 3)
    plain = Log.from_mapping({("a",): 100})
    rule = make(name, patient)
    counted = counted_of(rule) or "cases"
    right = Log(plain.alphabet, plain.keys, plain.counts, unit=patient, counted=counted)
    assert rule.release(right).guarantee.unit == patient
    other = "cases" if counted == "units" else "units"
    for wrong in (
        plain,
        Log(plain.alphabet, plain.keys, plain.counts, unit=PrivacyUnit("patient", 4), counted=counted),
        Log(plain.alphabet, plain.keys, plain.counts, unit=PrivacyUnit("doctor", 3), counted=counted),
        Log(plain.alphabet, plain.keys, plain.counts, unit=patient, counted=other),  # type: ignore[arg-type]
    ):
        with pytest.raises(
            ParameterError, match="was counted for the unit '.*read it again for this mechanism and unit"
        ):
            rule.release(wrong)
    with pytest.raises(ParameterError, match="counted for the unit 'patient'"):
        make(name, PrivacyUnit()).release(right)
