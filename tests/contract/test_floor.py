"""A run of fewer tests than `make test` demands fails, so that a lost folder is noticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ONE_TEST = f"{Path(__file__).parents[1] / 'contract' / 'test_surface.py'}::test_all_is_sorted_and_true"


@pytest.mark.parametrize("parallel", [(), ("-n", "1")], ids=["one process", "xdist"])
@pytest.mark.parametrize(("floor", "code"), [(1, pytest.ExitCode.OK), (2, pytest.ExitCode.TESTS_FAILED)])
def test_a_run_of_too_few_tests_fails(parallel: tuple[str, ...], floor: int, code: pytest.ExitCode) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *parallel, "--at-least", str(floor), ONE_TEST]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stdout
    assert ("1 tests were run: there must be 2 or more" in ran.stdout) == (floor == 2)
