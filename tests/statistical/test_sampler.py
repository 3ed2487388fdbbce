"""The sampler draws what the table says. 4 million draws tell an atom of 0.05 from one 3 % wrong by 13 sigma."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from statistics_of_noise import fits

from travas import mechanism
from travas.noise import ONE, Noise, Table

DRAWS = 4_000_000
CASES = [("1", "0.05"), ("0.1", "0.01"), ("2", "1e-6"), ("0.05", "0.5")]


def weights(table: Table) -> list[int]:
    return [b - a for a, b in pairwise([0, *table.boundaries()])]


def unverified(boundaries: list[int]) -> Noise:
    noise = object.__new__(Noise)
    high = np.array([b >> 64 for b in boundaries], dtype=np.uint64)
    low = np.array([b & (2**64 - 1) for b in boundaries], dtype=np.uint64)
    object.__setattr__(noise, "table", Table(high, low))
    return noise


@pytest.mark.parametrize("name", ["optimal", "travas"])
@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_draws_follow_the_table(name: str, epsilon: str, delta: str) -> None:
    noise = mechanism(name, epsilon, delta).noise
    assert fits(noise.draw(DRAWS, os.urandom), [weight / ONE for weight in weights(noise.table)])


@pytest.mark.parametrize("factor", [Fraction(97, 100), Fraction(103, 100)])
def test_one_atom_three_percent_wrong_is_caught(factor: Fraction) -> None:
    noise = mechanism("optimal", "1", "0.05").noise
    right = weights(noise.table)
    for atom, weight in enumerate(right):
        if weight < ONE // 20:
            continue
        wrong = list(right)
        wrong[atom] = int(weight * factor)
        neighbour = atom + 1 if atom + 1 < len(wrong) else atom - 1
        wrong[neighbour] += weight - wrong[atom]
        boundaries = [int(total) for total in np.cumsum(np.array(wrong, dtype=object))][:-1]
        drawn = unverified(boundaries).draw(DRAWS, os.urandom)
        assert not fits(drawn, [weight / ONE for weight in right])


def test_float_noise_of_another_scale_is_caught() -> None:
    noise = mechanism("travas", "0.1", "0.01").noise
    other = mechanism("travas", "0.097", "0.01").noise
    assert not fits(other.draw(DRAWS, os.urandom), [weight / ONE for weight in weights(noise.table)])
