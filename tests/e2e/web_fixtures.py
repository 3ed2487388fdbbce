"""The fixtures of the browser tests of the web app. A module that uses them has `pytest_plugins = ["web_fixtures"]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser import Server, browsing, serving
from web_flow import opened

from travas.outputs.example import write_hospital_log


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("logs")
    write_hospital_log(folder / "allowed.csv")
    (folder / "out.csv").symlink_to("/etc/passwd")
    with serving(tmp_path_factory.mktemp("server"), "--folder", folder, "--max-sessions", 100) as running:
        yield running


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    """A tab of a separate browser. Nothing may be fetched from elsewhere, and no script may fail."""
    context = browser.new_context(viewport={"width": 1100, "height": 900}, accept_downloads=True)
    tab = opened(context, server)
    yield tab
    assert tab.foreign == [] and tab.broken == []
    context.close()
