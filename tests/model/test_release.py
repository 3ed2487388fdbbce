"""A release is made by a mechanism or read from a file: nobody states a guarantee for numbers of their own."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest

import travas
from travas import Optimal, ParameterError, Release, anonymize
from travas.mechanisms.synthesis import Synthesis
from travas.synthesis.synthetic_release import SyntheticRelease

OPTIMAL = Optimal(epsilon=1, delta="1e-6")
LOG = {("a", "b"): 400, ("a",): 300}


def test_the_constructor_refuses() -> None:
    with pytest.raises(ParameterError, match="made by a mechanism"):
        Release(OPTIMAL, (("HIV positive",),), (1,))
    with pytest.raises(ParameterError, match="made by a mechanism"):
        Release(OPTIMAL, (("HIV positive",),), (1,), maker=object())


def test_a_release_is_not_changed_into_another() -> None:
    release = anonymize(LOG, OPTIMAL)
    with pytest.raises(ParameterError, match="made by a mechanism"):
        replace(release, noisy=(1, 1))
    with pytest.raises(ParameterError, match="made by a mechanism"):
        replace(release, mechanism=Optimal(epsilon="0.01", delta="1e-9"))


def test_a_synthetic_release_is_not_either() -> None:
    release = anonymize(LOG, Synthesis(epsilon=2, delta="1e-6"))
    assert isinstance(release, SyntheticRelease)
    with pytest.raises(ParameterError, match="made by a mechanism"):
        replace(release, variants=(), noisy=(), origins=())
    assert release.regenerate(cases=10, seed=1).guarantee == release.guarantee


def test_copies_are_the_release_itself() -> None:
    release = anonymize(LOG, OPTIMAL)
    assert pickle.loads(pickle.dumps(release)) == copy.copy(release) == release
    assert "MAKER" not in travas.__all__
