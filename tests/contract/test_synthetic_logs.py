"""Synthetic logs through every engine and every front end: what is measured is the same, and one case changes little.

The noise is set to 0 here, so that sums are seen as they are.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from compared_engines import ALL, Engine
from engine_twins import PERSONS, START, persons_twin
from front_ends import FRONT_ENDS, Case
from numpy.typing import NDArray

from conftest import Run
from travas import Ledger, Log, PrivacyUnit, verify
from travas.log.plain import plain
from travas.mechanisms import mechanism
from travas.mechanisms.gaussian import MOST_KEYS
from travas.mechanisms.mechanism import protecting
from travas.mechanisms.synthesis import Synthesis
from travas.pipeline import Request, run
from travas.trusted.stage_check import GaussianNoise


@pytest.fixture(autouse=True)
def no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(_: GaussianNoise, size: int, __: object) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(GaussianNoise, "draw", draw)


def synthesis(epsilon: str, delta: str, unit: PrivacyUnit | None = None) -> Synthesis:
    rule = mechanism("synthesis", epsilon, delta)
    assert isinstance(rule, Synthesis)
    made = rule if unit is None else protecting(rule, unit)
    assert isinstance(made, Synthesis)
    return made


@pytest.mark.parametrize("engine", ALL)
def test_every_engine_gives_the_same_measurements(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """From the reading of a unit's cases to the verified file."""
    frame, reading = PERSONS["the case itself"]
    reading = attrs.evolve(reading, max_cases=1, counted="cases")
    found = engine(frame, reading, tmp_path, request)
    rule = synthesis("20", "0.5", found.unit)
    expected = Log.from_mapping(persons_twin(frame, reading))
    expected = replace(expected, unit=found.unit, counted=found.counted)
    measured = rule.measure(found)
    assert measured.activities and measured.transitions.any()
    assert plain(measured) == plain(rule.measure(expected))
    output = tmp_path / "synthetic.json"
    run(Request(found, rule, output=output))
    assert verify(f"{output}.guarantee.json", output).digest_checked
    assert json.loads(output.read_text())["measurements"] == plain(measured)


LOG = ["".join(trace) for trace in product("abcd", repeat=4)]
NEWCOMERS = {
    "a known variant": list("abcd"),
    "a new order": list("dcbaabcd"),
    "an activity of its own": list("abxcd"),
    "nothing but activities of its own": [f"own {number}" for number in range(MOST_KEYS + 9)],
    "very long": list("abcd" * 1500),
}


def write(path: Path, traces: list[list[str]]) -> Path:
    times = [START + timedelta(minutes=step) for step in range(max(map(len, traces)))]
    rows = [
        f"c{case},{name},{time}" for case, trace in enumerate(traces) for name, time in zip(trace, times, strict=False)
    ]
    path.write_text("\n".join(["case_id,activity,timestamp", *rows, ""]))
    return path


@pytest.mark.parametrize("newcomer", NEWCOMERS)
@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_one_more_case_changes_every_measurement_within_its_bound(
    front_end: str, newcomer: str, tmp_path: Path, travas: Run
) -> None:
    """Lemma 1, from the file that is read to the file that is written; `verify` checks the stated contributions."""
    ledger = tmp_path / "ledger.db"
    Ledger(ledger).create_budget("hospital", epsilon=10, delta="1e-4")
    measured = []
    for name, traces in (("less", []), ("more", [NEWCOMERS[newcomer]])):
        log = write(tmp_path / f"{name}.csv", [*map(list, LOG), *traces])
        output = tmp_path / f"{name}.json"
        assert FRONT_ENDS[front_end](Case(log, output, ledger, mechanism="synthesis"), travas) == ""
        assert verify(f"{output}.guarantee.json", output).digest_checked
        measured.append(json.loads(output.read_text())["measurements"])
    less, more = measured
    assert less["contributions"] == more["contributions"]
    assert less["activities"] == more["activities"] == list("abcd")
    assert less["variants"] == more["variants"] == [] and less["pairs"] == more["pairs"]
    changed = 0
    for stage in ("lengths", "transitions", "refinement"):
        change = np.array(more[stage], dtype=object) - np.array(less[stage], dtype=object)
        assert 0 <= int((change**2).sum()) <= more["contributions"][stage] ** 2
        assert (change >= 0).all()
        changed += int((change**2).sum())
    sums = [dict(part["activity_sums"]) for part in measured]
    added = [sums[1][name] - sums[0][name] for name in "abcd"]
    assert 0 <= sum(value**2 for value in added) <= more["contributions"]["activities"] ** 2
    assert changed


def test_every_front_end_gives_the_same_measurements(tmp_path: Path, travas: Run) -> None:
    ledger = tmp_path / "ledger.db"
    Ledger(ledger).create_budget("hospital", epsilon=10, delta="1e-4")
    log = write(tmp_path / "log.csv", list(map(list, LOG)))
    measured: list[Any] = []
    for name, front_end in FRONT_ENDS.items():
        output = tmp_path / f"{name}.json"
        options = {} if name == "python" else {"without": "times"}  # Python has none by default
        assert front_end(Case(log, output, ledger, mechanism="synthesis", options=options), travas) == ""
        measured.append(json.loads(output.read_text())["measurements"])
    assert measured[0] == measured[1] == measured[2]
