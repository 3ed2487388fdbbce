"""Faults a ledger must survive: concurrent processes. Kill -9 and a full disk: test_front_ends.py."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import unmeasured

SCRIPT = Path(__file__).with_name("ledger_faults.py")


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
    processes: int, composition: str, affordable: int, tmp_path: Path
) -> None:
    """Exactly as many succeed as the budget affords; without one all do, and one ledger is made, not many."""
    found = faults(tmp_path, processes, composition)
    assert found["affordable"] == found["0"] == found["charged"] == found["released"] == affordable, found
    assert found.get("3", 0) == processes - affordable
