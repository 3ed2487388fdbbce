"""Synthesis as an attacker sees it: logs in, measurements out. False alarm: 1e-9 a bound; planted faults are found.

Two promises are tested. A variant or an activity that only one case has is published with probability at most its share
of δ (Lemma 4): one log of many such cases is many runs, through the command line. And neighbouring logs cannot be told
apart beyond (ε, δ): copies of one attack, each on its own activities, are independent runs, because every cell of the
transitions belongs to one copy. Noise that is 3 % off is found in tests/trusted/test_gaussian.py and in
tests/mechanisms/test_synthesis.py; here it takes a fault of the mechanism.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, product
from math import exp
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from statistics_of_noise import FALSE_ALARM, delta_at_least

from conftest import Run
from travas import Log
from travas.log.traces import Trace
from travas.mechanisms import mechanism
from travas.mechanisms.gaussian import MOST_KEYS
from travas.mechanisms.synthesis import Synthesis
from travas.trusted import contributions
from travas.trusted.contributions import CodedTraces
from travas.trusted.samplers import RandomBytes
from travas.trusted.stage_check import GaussianNoise
from travas.trusted.stages import STANDARD_DEVIATION, Stage

# ------------------------------------------------------------------------------------- what only one case has

EPSILON, DELTA = "1", "0.5"
SHARE = float(DELTA) / 20
"""δ_V and δ_A: the tenth of δ that is not the noise's, divided by two."""


def measured(travas: Run, folder: Path, traces: Sequence[Sequence[str]]) -> dict[str, list[list[object]]]:
    """The measurements of a synthetic log of one case per trace, as anyone reads them from the file."""
    rows = [f"{case},{activity}" for case, trace in enumerate(traces) for activity in trace]
    log, output = folder / "log.csv", folder / "synthetic.json"
    log.write_text("\n".join(["case_id,activity", *rows, ""]))
    options = ["--epsilon", EPSILON, "--delta", DELTA, "--order", "file", "-o", output, "--force"]
    ran = travas("synthesize", log, *options)
    assert ran.code == 0, ran.err
    measurements: dict[str, list[list[object]]] = json.loads(output.read_text())["measurements"]
    return measurements


def shown_too_often(hits: int, cases: int) -> bool:
    """Whether the number of these cases shows that each is published with a probability above its share."""
    return bool(binom.sf(hits - 1, cases, SHARE) < FALSE_ALARM)


def lower_threshold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: a threshold that is off by one contribution."""
    verified = GaussianNoise.stage

    def stage(self: GaussianNoise, asked: str) -> Stage:
        found = verified(self, asked)
        return replace(found, threshold=found.threshold - found.contribution) if asked == name else found

    monkeypatch.setattr(GaussianNoise, "stage", stage)


def test_a_variant_of_one_case_is_rarely_published(
    tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = list(islice(product("abcdef", repeat=5), 4000))
    published = measured(travas, tmp_path, traces)["variants"]
    assert published and not shown_too_often(len(published), len(traces))
    lower_threshold("variants", monkeypatch)
    assert shown_too_often(len(measured(travas, tmp_path, traces)["variants"]), len(traces))


def test_activities_of_one_case_are_rarely_published(
    tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 activities a case: the number for which the threshold is made, as fewer need a lower one.

    With the fault, 0.3 of the cases are published; 60 cases were too few to notice it in one run of seven.
    """
    traces = [[f"{case}-{number}" for number in range(MOST_KEYS)] for case in range(180)]

    def hits() -> int:
        selected = measured(travas, tmp_path, traces)["activity_sums"]
        return len({str(name).partition("-")[0] for name, _ in selected})

    assert not shown_too_often(hits(), len(traces))
    lower_threshold("activities", monkeypatch)
    assert shown_too_often(hits(), len(traces))


# ------------------------------------------------------------------------------------------- neighbouring logs

COPIES = 20
STRANGER = ("a",) * 30 + ("b",)
"""The case that one log has and the other has not: its transitions have norm 28 before they are normalised."""

CELLS = ((None, "a0", 1), ("a0", "a1", 1), ("a1", "a1", 28), ("a1", "b0", 1), ("b0", "END", 1))
"""Its transitions: state, symbol, times; 0 is a first occurrence and 1 a later one."""

RULE = mechanism("synthesis", "0.5", "0.2", alphabet=[f"{copy:02d}{name}" for copy in range(COPIES) for name in "ab"])


def neighbours(stranger: Trace | None) -> Log:
    """Copies of one small log, each with its own activities, with or without the stranger."""
    logs: dict[Trace, int] = {}
    for copy in range(COPIES):
        traces = [("a", "b"), ("b",), *([stranger] if stranger else [])]
        logs |= {tuple(f"{copy:02d}{name}" for name in trace): 1 for trace in traces}
    return Log.from_mapping(logs)


def direction(copy: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """States, symbols and numbers of the stranger's transitions in one copy."""
    symbols = {"a0": 4 * copy, "a1": 4 * copy + 1, "b0": 4 * copy + 2, "END": 4 * COPIES}
    states = [0 if before is None else symbols[before] + 1 for before, _, _ in CELLS]
    return np.array(states), np.array([symbols[after] for _, after, _ in CELLS]), np.array([n for *_, n in CELLS])


def evidence(rule: Synthesis, log: Log, runs: int) -> NDArray[np.int64]:
    """What the best attack makes of each run: the likelihood ratio in steps of 1/4, or 99 if the stranger is published."""
    seen = []
    for _ in range(runs):
        outputs = rule.measure(log)
        assert outputs.pairs is None  # the second look is at the same cells
        published = {trace for trace, _ in outputs.variants}
        for copy in range(COPIES):
            states, symbols, times = direction(copy)
            ratio = 0.0
            for stage, table in (("transitions", outputs.transitions), ("refinement", outputs.refinement)):
                scale = rule.noise.stage(stage).contribution / np.sqrt(times @ times) / STANDARD_DEVIATION**2
                ratio += float(table[states, symbols] @ times) * scale
            found = tuple(f"{copy:02d}{name}" for name in STRANGER) in published
            seen.append(99 if found else int(np.clip(np.round(4 * ratio), -20, 20)))
    return np.array(seen)


def told_apart(rule: Synthesis, runs: int) -> float:
    """The most that is shown of P[one] − e^ε·P[other], both ways."""
    with_it, without = (evidence(rule, neighbours(case), runs) for case in (STRANGER, None))
    growth = exp(float(rule.epsilon))
    return max(delta_at_least(with_it, without, growth), delta_at_least(without, with_it, growth))


def without_normalisation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: a case adds Δ for every transition, however many it has."""

    def weights(traces: CodedTraces, stage: Stage) -> NDArray[np.int64]:
        return traces.counts * stage.contribution

    monkeypatch.setattr(contributions, "transition_weights", weights)


def with_half_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = GaussianNoise.draw

    def draw(self: GaussianNoise, size: int, random_bytes: RandomBytes) -> NDArray[np.int64]:
        return drawn(self, size, random_bytes) // 2

    monkeypatch.setattr(GaussianNoise, "draw", draw)


def test_neighbouring_logs_cannot_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(RULE, Synthesis)
    assert told_apart(RULE, 25) <= float(RULE.delta)
    without_normalisation(monkeypatch)
    assert told_apart(RULE, 25) > float(RULE.delta)


@pytest.mark.slow
def test_noise_that_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(RULE, Synthesis)
    assert told_apart(RULE, 300) <= float(RULE.delta)
    with_half_the_noise(monkeypatch)
    assert told_apart(RULE, 300) > float(RULE.delta)
