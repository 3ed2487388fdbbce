"""Faults a ledger must survive: kill -9 anywhere, concurrent processes, missing rights. A full disk: test_front_ends.py."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import unmeasured

SCRIPT = Path(__file__).with_name("ledger_faults.py")


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory that others may enter: the one of a test is for its owner only."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def faults(*words: object) -> dict[str, int]:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=unmeasured())
    assert ran.returncode == 0, ran.stderr
    found: dict[str, int] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize(
    ("processes", "composition", "affordable"),
    [(20, "basic", 7), (20, "none", 20), pytest.param(50, "exact", 9, marks=pytest.mark.slow)],
)
def test_processes_racing_for_the_last_slices(
    processes: int, composition: str, affordable: int, directory: Path
) -> None:
    """Exactly as many succeed as the budget affords; without one all do, and one ledger is made, not many."""
    found = faults("race", directory, processes, composition)
    assert found["affordable"] == found["0"] == found["charged"] == found["released"] == affordable, found
    assert found.get("3", 0) == processes - affordable


def test_missing_rights(directory: Path) -> None:
    found = faults("rights", directory)
    assert (found.pop("charged"), found.pop("released")) == (1, 1)
    assert len(found) == 4 and all(name.endswith(": 2") for name in found), found
