"""Files of process maps that their mechanism cannot have made are refused, even with a digest that fits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from travas import LogError, process_map, verify
from travas.errors import VerificationError
from travas.verification.measured_file import read_map

LOG = {("a", "b", "c"): 3000, ("a", "c"): 1500}
Change = Callable[[dict[str, Any]], None]


def forged(tmp_path: Path, change: Change) -> Path:
    """A map whose file was changed, with a guarantee file that states the new digest."""
    path = process_map(LOG, epsilon=1, delta="1e-6", parts=["rework"]).write(tmp_path / "map.json")
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content) + "\n")
    guarantee = path.with_name("map.json.guarantee.json")
    stated = json.loads(guarantee.read_text())
    stated["release"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    guarantee.write_text(json.dumps(stated))
    return path


def measured(field: str, value: Any) -> Change:
    return lambda content: content["measurements"].update({field: value})


CHANGES: dict[str, Change] = {
    "a number of cases": lambda content: content["pairs"][0].update(cases=17.0),
    "an interval": lambda content: content["pairs"][0].update(high=10**7),
    "a pair is missing": lambda content: content["pairs"].pop(),
    "the total": lambda content: content["total"].update(cases=1.0),
    "a contribution": lambda content: content["measurements"]["contributions"].update(pairs=5),
    "the cap": measured("cap", 1024),
    "an activity that was not selected": lambda content: content["measurements"]["activity_sums"].pop(),
    "an activity below the threshold": lambda content: content["measurements"]["activity_sums"][0].__setitem__(1, 5),
    "unsorted activities": lambda content: content["measurements"]["activities"].reverse(),
    "a pair that cannot occur": lambda content: content["measurements"]["pairs"][-1].__setitem__(-1, 9),
    "its notice": lambda content: content["notices"].update({"travas:map": "exact numbers"}),
    "its description": lambda content: content["description"].update(epsilon="2"),
    "a contribution of 0": lambda content: content["measurements"]["contributions"].update(sizes=0),
    "a contribution that the cap makes 0": lambda content: content["measurements"]["contributions"].update(rework=1),
    "sums of an activity without a node": lambda content: content["measurements"]["activity_sums"].append([["x"], 9]),
    "names of two columns": lambda content: content["measurements"].update(
        activities=[["a", "x"], ["b", "x"], ["c", "x"]], activity_sums=[]
    ),
    "a reading that is none": lambda content: content.update(reading=[1]),
    "throughput that was not measured": measured("throughput", [1, 2]),
    "no measurements": lambda content: content.pop("measurements"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_map_is_refused(name: str, tmp_path: Path) -> None:
    path = forged(tmp_path, CHANGES[name])
    with pytest.raises(VerificationError):
        verify(f"{path}.guarantee.json", path)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["measurements"]["contributions"].update(pairs=1),
        lambda content: content["measurements"]["contributions"].update(sizes=0),
        lambda content: content["measurements"]["contributions"].update(throughput=9),
        lambda content: content["measurements"].update(throughput=[1, 2], contributions={"throughput": 9}),
        lambda content: content["measurements"]["activity_sums"].append([["x"], 9]),
        lambda content: content.update(columns=["a", "b"]),
        lambda content: content.update(reading=[1]),
    ],
    ids=["pairs", "sizes", "throughput", "buckets", "sums", "columns", "reading"],
)
def test_a_damaged_map_is_refused(change: Change, tmp_path: Path) -> None:
    with pytest.raises(LogError, match="not a process map"):
        read_map(forged(tmp_path, change))


def test_buckets_are_those_of_the_mechanism() -> None:
    made = process_map(LOG, epsilon=1, delta="1e-6").measurements
    with pytest.raises(LogError, match="inconsistent"):
        replace(made, contributions={**made.contributions, "throughput": 9}, throughput=np.zeros(2, dtype=np.int64))


def test_an_unchanged_map_is_accepted(tmp_path: Path) -> None:
    path = forged(tmp_path, lambda content: None)
    assert verify(f"{path}.guarantee.json", path).mechanism.name == "map"
