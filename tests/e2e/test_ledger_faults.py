"""Faults a ledger must survive: kill -9 anywhere, concurrent processes, a full disk, missing permissions."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("faults.py")
TRAVAS = str(Path(sys.executable).parent / "travas")


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory that others may enter: the one of a test is for its owner only."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def faults(*words: object) -> tuple[dict[str, int], str]:
    ran = subprocess.run(
        [sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout), ran.stderr


def killed(directory: Path, runs: int, seed: int) -> dict[str, int]:
    found, _ = faults("crash", directory, runs, seed)
    assert sum(found.get(fate, 0) for fate in ("released", "charged, not released", "not charged")) == runs
    return found


def test_kill_9_never_leaves_a_release_uncharged_or_a_ledger_corrupt(directory: Path) -> None:
    killed(directory, 30, seed=1)


@pytest.mark.slow
def test_kill_9_at_a_hundred_points_and_more(directory: Path) -> None:
    found = killed(directory, 400, seed=2)
    assert min(found.get(fate, 0) for fate in ("charged, not released", "not charged")) > 10, found


@pytest.mark.parametrize(("composition", "affordable"), [("basic", 7), ("exact", 9), ("none", 50)])
def test_fifty_processes_racing_for_the_last_slices(composition: str, affordable: int, directory: Path) -> None:
    """Exactly as many succeed as the budget affords; without one all do, and one ledger is made, not fifty."""
    found, said = faults("race", directory, 50, composition)
    assert found["affordable"] == found["0"] == found["charged"] == found["released"] == affordable, (found, said)
    assert found.get("3", 0) == 50 - affordable


@pytest.mark.parametrize("number", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_processes_of_the_command_line_racing(number: int, directory: Path, small_csv: Path) -> None:
    ledger = directory / "ledger.db"
    common = ["--ledger", str(ledger)]
    create = [TRAVAS, "budget", "create", "data", "--epsilon", "2", "--delta", "1e-5", *common]
    subprocess.run(create, check=True, capture_output=True)
    release = [
        TRAVAS,
        "anonymize",
        str(small_csv),
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
        "--dataset",
        "data",
        *common,
        "-o",
    ]
    running = [
        subprocess.Popen([*release, str(directory / f"{n}.json")], stdout=subprocess.DEVNULL) for n in range(number)
    ]
    assert sorted(process.wait() for process in running) == [0] * 2 + [3] * (number - 2)
    assert len([path for path in directory.glob("*.json") if path.stem.isdecimal()]) == 2


def test_a_full_disk(directory: Path) -> None:
    """Whatever was charged before it was full stays, and nothing is released that is not charged."""
    found, said = faults("full", directory)
    assert set(found) == {"0", "2", "charged"} and found["0"] == found["charged"] > 0 and found["2"] >= 5
    assert all("the disk is full" in line for line in said.splitlines()), said


def test_missing_rights(directory: Path) -> None:
    found, said = faults("rights", directory)
    expected = ("read-only file 2", "no rights 2", "read-only directory 2", "no ledger to be made 2")
    assert found == dict.fromkeys(expected, 1) | {"charged": 1, "released": 1}, said
    assert "is not writable" in said and "cannot be opened" in said
