"""Kill -9 in every phase of a release of the web app: nothing that was paid for is lost without a statement."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("web_faults.py")


def killed(directory: Path, runs: int, seed: int) -> dict[str, int]:
    command = [sys.executable, str(SCRIPT), str(directory), str(runs), str(seed)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, int] = json.loads(ran.stdout)
    return found


def test_every_charge_has_a_release_or_a_statement(tmp_path: Path) -> None:
    assert killed(tmp_path, 6, seed=1)["released"] >= 1


@pytest.mark.slow
def test_a_hundred_kills_in_every_phase(tmp_path: Path) -> None:
    found = killed(tmp_path, 120, seed=2)
    assert found.get("released", 0) and found.get("deleted", 0), found  # "not finished" is a matter of chance
