"""The sampler draws what the table says. 4 million draws tell an atom of 0.05 from one 3 % wrong by 13 sigma."""

import os
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from exact_losses import are_as_likely, table_of, unverified, weights_of
from travas.mechanisms import mechanism
from travas.mechanisms.selection import PartitionSelection
from travas.search.table_builders import laplace_table
from travas.trusted.numbers import ONE
from travas.trusted.samplers import DiscreteLaplace
from travas.trusted.tables import Noise

DRAWS = 4_000_000
CASES = [("1", "0.05"), ("0.1", "0.01"), ("2", "1e-6"), ("0.05", "0.5")]


def fits(drawn: NDArray[np.int64], probabilities: Sequence[float]) -> bool:
    """Whether every value occurs as often as it should: exact binomial tests, Bonferroni over the values.

    `probabilities[j]` belongs to value j + 1.
    """
    observed = np.bincount(drawn, minlength=len(probabilities) + 1)[1:]
    if observed.sum() != len(drawn) or len(observed) > len(probabilities):
        return False
    return are_as_likely(observed, probabilities)


def noise_of(name: str, epsilon: str, delta: str) -> Noise:
    rule = mechanism(name, epsilon, delta)
    assert isinstance(rule, PartitionSelection)
    return rule.noise


def laplace_probabilities(scale: float, reach: int) -> list[float]:
    """Of −reach..reach; what lies beyond belongs to the ends."""
    ratio = np.exp(-1 / scale)
    inside = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1))
    inside[[0, -1]] += (1 - inside.sum()) / 2
    return [float(chance) for chance in inside]


@pytest.mark.parametrize("name", ["optimal", "travas"])
@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_draws_follow_the_table(name: str, epsilon: str, delta: str) -> None:
    noise = noise_of(name, epsilon, delta)
    assert fits(noise.draw(DRAWS, os.urandom), [weight / ONE for weight in weights_of(noise.table)])


@pytest.mark.parametrize("factor", [Fraction(97, 100), Fraction(103, 100)])
def test_one_atom_three_percent_wrong_is_caught(factor: Fraction) -> None:
    noise = noise_of("optimal", "1", "0.05")
    right = weights_of(noise.table)
    for atom, weight in enumerate(right):
        if weight < ONE // 20:
            continue
        wrong = list(right)
        wrong[atom] = int(weight * factor)
        neighbour = atom + 1 if atom + 1 < len(wrong) else atom - 1
        wrong[neighbour] += weight - wrong[atom]
        boundaries = [int(total) for total in np.cumsum(np.array(wrong, dtype=object))][:-1]
        drawn = unverified(table_of(boundaries)).draw(DRAWS, os.urandom)
        assert not fits(drawn, [weight / ONE for weight in right])


def test_float_noise_of_another_scale_is_caught() -> None:
    noise = noise_of("travas", "0.1", "0.01")
    other = noise_of("travas", "0.097", "0.01")
    assert not fits(other.draw(DRAWS, os.urandom), [weight / ONE for weight in weights_of(noise.table)])


def test_two_sided_noise_follows_its_table() -> None:
    noise = Noise(laplace_table(Fraction(1, 2), Fraction(1, 100)), Fraction(1, 2), Fraction(1, 100))
    likely = [weight / ONE for weight in weights_of(noise.table)]
    assert fits(noise.draw(DRAWS, os.urandom), likely)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(5, 3), Fraction(12)])
def test_discrete_laplace_noise_is_what_it_should_be(scale: Fraction) -> None:
    reach = 4 * int(scale) + 4
    drawn = np.clip(DiscreteLaplace(scale).draw(1_000_000, os.urandom), -reach, reach) + reach + 1
    assert fits(drawn, laplace_probabilities(float(scale), reach))
    assert not fits(drawn, laplace_probabilities(float(scale) * 1.03, reach))
