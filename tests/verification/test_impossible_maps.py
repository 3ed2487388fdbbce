"""Files of process maps that their mechanism cannot have made are refused, even with a digest that fits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from travas import VerificationError, process_map, verify

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
    "no measurements": lambda content: content.pop("measurements"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_map_is_refused(name: str, tmp_path: Path) -> None:
    path = forged(tmp_path, CHANGES[name])
    with pytest.raises(VerificationError):
        verify(f"{path}.guarantee.json", path)


def test_an_unchanged_map_is_accepted(tmp_path: Path) -> None:
    path = forged(tmp_path, lambda content: None)
    assert verify(f"{path}.guarantee.json", path).mechanism.name == "map"
