"""A run of fewer tests than `make test` demands fails, so that a lost folder is noticed. Skipped tests did not run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ONE_TEST = f"{TESTS / 'contract' / 'test_surface.py'}::test_all_is_sorted_and_true"
SKIPPED = f"{TESTS / 'sources' / 'test_public_logs.py'}::test_lifecycle_makes_more_activities"


@pytest.mark.parametrize("parallel", [(), ("-n", "1")], ids=["one process", "xdist"])
@pytest.mark.parametrize(("floor", "code"), [(1, pytest.ExitCode.OK), (2, pytest.ExitCode.TESTS_FAILED)])
def test_a_run_of_too_few_tests_fails(parallel: tuple[str, ...], floor: int, code: pytest.ExitCode) -> None:
    base = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *parallel, "--at-least", str(floor)]
    ran = subprocess.run(
        [*base, ONE_TEST, SKIPPED],
        env=os.environ | {"TRAVAS_DATA": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout
    assert ("1 tests were run: there must be 2 or more" in ran.stdout) == (floor == 2)
