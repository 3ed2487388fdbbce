"""A variant or an activity that only one case has is published with at most its share of δ (Lemma 4 of synthesis).

One log of many such cases is many runs, through the command line. False alarm: 1e-9; a planted fault is found.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import pytest
from scipy.stats import binom

from conftest import Run
from travas.mechanisms.gaussian import MOST_KEYS
from travas.trusted.stage_check import GaussianNoise
from travas.trusted.stages import Stage

FALSE_ALARM = 1e-9
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
