"""No case, and no person, changes a measurement by more than its proof claims; planted faults are found.

Thousands of random neighbouring logs, read by the public reader, with adversarial earlier outputs: `make test-slow`.
"""

import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray
from sensitivity import violations

from travas.mechanisms import gaussian, synthesis
from travas.search.calibration import calibrate
from travas.sources import encoded_cases
from travas.trusted import contributions, stage_check
from travas.trusted.contributions import CaseCells, CodedTraces
from travas.trusted.stages import Calibration, Stage

Integers = NDArray[np.int64]
KINDS = [("synthesis", False), ("synthesis", True), ("map", False), ("map", True)]


@pytest.mark.parametrize(("kind", "unit"), KINDS)
def test_a_few_pairs_stay_within_the_claim(kind: str, unit: bool) -> None:
    assert list(violations(kind, 12, 5, unit=unit)) == []


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("kind", ["synthesis", "map"])
def test_segments_together_stay_within_the_claim_of_one_release(kind: str, unit: bool) -> None:
    assert list(violations(kind, 10, 6, unit=unit, by="group")) == []


def test_a_case_that_is_in_every_segment_is_found() -> None:
    def every(variants: Any, reading: Any) -> tuple[Any, ...]:
        return (variants,) * len(reading.segments)

    with patch("sensitivity.segments", every):
        assert next(violations("synthesis", 60, 6, by="group"), None) is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("kind", "unit"), KINDS)
def test_no_case_changes_more_than_the_proof_claims(kind: str, unit: bool, seed: int) -> None:
    assert list(violations(kind, 1000, seed, unit=unit)) == []


def _larger_roots() -> AbstractContextManager[Any]:
    root = contributions.integer_root
    return patch.object(contributions, "integer_root", lambda values: root(values) + 1)


def _weights_of_fewer_keys() -> AbstractContextManager[Any]:
    weight = Stage.weight
    return patch.object(Stage, "weight", lambda self, keys: weight(self, max(1, keys - 1)))


def _no_cap() -> AbstractContextManager[Any]:
    def sums(self: CaseCells, stage: Stage, cap: int, cells: int) -> Integers:
        found = np.zeros(cells, dtype=np.int64)
        np.add.at(found, self.cell, (self.counts * int(stage.weight(max(cap, 1))))[self.owner])
        return found

    return patch.object(CaseCells, "sums", sums)


def _two_lengths() -> AbstractContextManager[Any]:
    sums = contributions.length_sums
    return patch.object(synthesis, "length_sums", lambda *of: 2 * sums(*of))


def _flow_of_all_cases() -> AbstractContextManager[Any]:
    return patch.object(CodedTraces, "without", lambda self, _: self)


def _lower_thresholds() -> AbstractContextManager[Any]:

    def lowered(*of: Any) -> Calibration:
        made = calibrate(*of)
        stages = (
            dataclasses.replace(stage, threshold=stage.threshold - stage.contribution) if stage.selection else stage
            for stage in made.stages
        )
        return dataclasses.replace(made, stages=tuple(stages))

    gaussian.calibrated_noise.cache_clear()
    return patch.multiple(gaussian, calibrate=lowered)


def _values_of_every_event() -> AbstractContextManager[Any]:
    def sums(_: Integers, cells: Integers, contribution: int, into: Integers) -> None:
        np.add.at(into, cells, contribution)

    return patch.object(encoded_cases, "add_counts", sums)


FAULTS: dict[str, tuple[str, Callable[[], AbstractContextManager[Any]]]] = {
    "roots are rounded up": ("synthesis", _larger_roots),
    "the weight is that of one key less": ("synthesis", _weights_of_fewer_keys),
    "the cap of the map is ignored": ("map", _no_cap),
    "lengths are counted twice": ("synthesis", _two_lengths),
    "every event adds a whole case": ("synthesis", _values_of_every_event),
    "released cases add to the flow": ("synthesis", _flow_of_all_cases),
    "thresholds are one case lower": ("synthesis", _lower_thresholds),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, planted = FAULTS[fault]
    monkeypatch.setattr(stage_check, "verify_calibration", lambda calibration: calibration.delta)
    try:
        with planted():
            assert next(violations(kind, 2000, 77), None) is not None
    finally:
        gaussian.calibrated_noise.cache_clear()


@pytest.mark.slow
def test_a_case_too_many_of_a_person_is_found() -> None:
    assert next(violations("synthesis", 300, 77, unit=True, more_cases=1), None) is not None
