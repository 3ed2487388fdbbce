"""The black-box audit notices every planted fault, and nothing where there is none. A bound is wrong with 1e-6."""

import random
from contextlib import nullcontext
from math import exp, log

import pytest
from planted_faults import FAULTS, Fault
from sampled_losses import Losses, View, at_least
from worst_pairs import DELTA, EPSILON, MECHANISMS, PAIRS, mechanism_for, release_in_python, source_of


def audited(fault: Fault, *, planted: bool, runs: int) -> Losses:
    rule = mechanism_for(fault.mechanism, fault.pair)
    with fault.planted() if planted else nullcontext():
        one, other = (
            [release_in_python(rule, source, fault.pair) for _ in range(runs)]
            for source in map(source_of, (fault.pair.one, fault.pair.other))
        )
    return at_least(one, other, float(EPSILON), float(DELTA))


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_can_be_audited(name: str) -> None:
    """One run on each log of each pair: views of both logs have the same shape."""
    for pair in PAIRS:
        rule = mechanism_for(name, pair)
        one, other = (release_in_python(rule, source_of(log_), pair) for log_ in (pair.one, pair.other))
        assert len(one) == len(other) > 1


QUICK = 400


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.runs <= QUICK])
def test_a_planted_fault_is_noticed(name: str) -> None:
    fault = FAULTS[name]
    assert audited(fault, planted=True, runs=fault.runs).delta > float(DELTA)
    assert audited(fault, planted=False, runs=min(fault.runs, 60)).delta <= float(DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.runs > QUICK])
def test_a_small_planted_fault_is_noticed(name: str) -> None:
    fault = FAULTS[name]
    assert audited(fault, planted=True, runs=fault.runs).delta > float(DELTA)
    assert audited(fault, planted=False, runs=fault.runs).delta <= float(DELTA)


def test_the_bound_is_below_the_truth_and_close() -> None:
    """Randomised response, whose loss is known."""
    chance = random.Random(4)

    def outputs(likely: str, share: float, runs: int) -> list[View]:
        other = "b" if likely == "a" else "a"
        return [(likely if chance.random() < share else other,) for _ in range(runs)]

    share = exp(1) / (1 + exp(1))
    found = at_least(outputs("a", share, 20_000), outputs("b", share, 20_000), 0.5, 0.0)
    true = share - exp(0.5) * (1 - share)
    assert true - 0.06 < found.delta <= true and 0.8 < found.epsilon <= log(share / (1 - share))
    same = at_least(outputs("a", share, 20_000), outputs("a", share, 20_000), 0.5, 0.0)
    assert same.delta <= 0 and same.epsilon <= 0.5
