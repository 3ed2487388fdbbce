"""Which tests run in one worker of pytest-xdist, and which come first."""

import os
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling


class SharedServers(LoadScopeScheduling):  # type: ignore[misc]
    """Tests that use Spark, and those of one file with a browser, share what is slow to start; they come before the others.

    `--dist loadgroup` does the same, but pytest-xdist 3.8 ignores its groups with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        if "spark" in nodeid:
            return "spark"
        file = nodeid.partition("::")[0]
        return file if file.startswith(("tests/e2e/test_web_", "tests/e2e/test_pages")) else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SharedServers:
    return SharedServers(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than processors, because a third of the time tests wait: for a browser, a server or another process."""
    return (os.cpu_count() or 1) + 1
