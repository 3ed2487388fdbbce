"""A damaged file of a synthetic log is refused in one line; it never fails while a log is generated from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from travas import LogError, Optimal, Synthesis, anonymize
from travas.verification.opened import open_synthetic

LOG: dict[tuple[str, ...], int] = {
    ("a", "b", "c"): 900,
    ("a", "c"): 400,
    ("a", "b", "b", "c"): 300,
    ("b", "a", "c"): 80,
}
Content = dict[str, Any]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Content:
    path = anonymize(LOG, Synthesis(8, "1e-3")).write(tmp_path_factory.mktemp("synthetic") / "release.json")
    written: Content = json.loads(path.read_text())
    return written


DAMAGES: dict[str, Callable[[Content], object]] = {
    "no measurements": lambda c: c.pop("measurements"),
    "no description": lambda c: c.pop("description"),
    "another mechanism": lambda c: c["description"].update(mechanism="optimal"),
    "a contribution that is missing": lambda c: c["measurements"]["contributions"].pop("lengths"),
    "a contribution of 0": lambda c: c["measurements"]["contributions"].update(variants=0),
    "a contribution beyond 64 bits": lambda c: c["measurements"]["contributions"].update(variants=10**30),
    "a row that is missing": lambda c: c["measurements"]["transitions"].pop(),
    "a text for a number": lambda c: c["measurements"]["lengths"].__setitem__(0, "x"),
    "a number beyond 64 bits": lambda c: c["measurements"]["lengths"].__setitem__(0, 10**30),
    "an activity that is missing": lambda c: c["measurements"]["activities"].pop(),
    "an activity of two columns": lambda c: c["measurements"]["variants"][0][0].__setitem__(0, ["a", "b"]),
    "an activity of no column": lambda c: c["measurements"]["variants"][0][0].__setitem__(0, []),
    "no number": lambda c: c.update(more=float("nan")),
    "another kind": lambda c: c.update(description=Optimal(1, "1e-6").describe()),
    "a count that is missing": lambda c: c["counts"].pop(),
    "an origin that is missing": lambda c: c["origins"].pop(),
    "an unknown origin": lambda c: c["origins"].__setitem__(0, "real"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_release_is_refused(damage: str, content: Content, tmp_path: Path) -> None:
    changed = json.loads(json.dumps(content))
    DAMAGES[damage](changed)
    path = tmp_path / "release.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(LogError) as error:
        open_synthetic(path)
    assert str(error.value).startswith(f"{path}: ") and "\n" not in str(error.value)


@pytest.mark.parametrize("pair", [[99, 1], [0, 0], [0, -1], [-1, 1]])
def test_pairs_that_are_not_states_are_refused(pair: list[int], content: Content, tmp_path: Path) -> None:
    changed = json.loads(json.dumps(content))
    size = len(changed["measurements"]["transitions"])
    changed["measurements"] |= {"pairs": [pair], "refinement": [[0] * size]}
    path = tmp_path / "release.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(LogError, match="not a synthetic log"):
        open_synthetic(path)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"standing": 1}', "[" * 100_000, "\ufeff{}"])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match="use a .json file of a synthetic log"):
        open_synthetic(path)
    with pytest.raises(LogError, match="cannot be opened"):
        open_synthetic(tmp_path / "missing.json")
