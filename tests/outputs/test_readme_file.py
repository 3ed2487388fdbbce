"""The README next to every release: ten lines for people, of public facts only."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

import travas
from conftest import Run
from travas import Mechanism, Reading
from travas.mechanisms import mechanism as by_name
from travas.outputs.readme_file import readme_path

LOG: Mapping[tuple[str, ...], int] = {("a", "b", "c"): 4000, ("a", "c"): 2000}
KINDS: dict[str, tuple[Mechanism, str]] = {
    "variants": (travas.Optimal(epsilon=1, delta="1e-6"), "It contains sequences of activities"),
    "ladder": (by_name("ladder", "1", "1e-6"), "can be incomplete"),
    "synthetic": (travas.Synthesis(epsilon=1, delta="1e-6"), "It contains a synthetic log"),
    "map": (travas.ProcessMap(epsilon=1, delta="1e-6"), "It contains a process map"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_what_the_file_is_and_how_to_check_it(kind: str, tmp_path: Path, travas: Run) -> None:
    mechanism, words = KINDS[kind]
    path = anonymized(mechanism, tmp_path / "mine.json")
    text = readme_path(path).read_text(encoding="utf-8")
    assert words in text and "not a copy of the original log" in text
    assert "adding or removing one case: ε = 1, δ = 1e-6" in text and "several cases is protected less" in text
    assert ("Timestamps are artificial: only" in text) == (kind != "map")
    command = shlex.split(text.splitlines()[-1].partition("travas ")[2])
    assert travas(command[0], *(tmp_path / name for name in command[1:])).code == 0


def anonymized(mechanism: Mechanism, path: Path) -> Path:
    written: Path = travas.anonymize(LOG, mechanism).write(path)
    return written


def test_without_a_guarantee_it_says_so(tmp_path: Path) -> None:
    made = travas.anonymize(
        LOG,
        by_name("prefix-tree", "1", "1e-6", max_length=3, prune=2),
        guarantee="not required",
        reading=Reading(),
    )
    text = readme_path(made.write(tmp_path / "out.json")).read_text(encoding="utf-8")
    assert "NO established guarantee" in text and "The guarantee holds" not in text
