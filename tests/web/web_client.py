"""The web app in the process of the test: its own ledger, archive, uploads and a browser that has signed in."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from travas import Ledger
from travas.web.app import build
from travas.web.drafts import Drafts
from travas.web.jobs import Job
from travas.web.releases import Archive
from travas.web.security import Access
from travas.web.workbench import Workbench

HOST = "travas-test.localhost"


@pytest.fixture
def access() -> Access:
    return Access(HOST, 8080)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    (tmp_path / "logs").mkdir()
    ledger = Ledger(tmp_path / "ledger.db")
    return Workbench(ledger, Archive(tmp_path / "archive"), Drafts(tmp_path), (tmp_path / "logs",))


@pytest.fixture
def stranger(bench: Workbench, access: Access) -> Iterator[TestClient]:
    """A browser that has not opened the link."""
    with TestClient(build(bench, access), base_url=access.origin, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def browser(stranger: TestClient, access: Access) -> TestClient:
    """A browser that has."""
    assert stranger.get(f"/open?code={access.code}").status_code == 200
    stranger.headers["Origin"] = access.origin
    return stranger


def settled(browser: TestClient, job: Job) -> str:
    """Wait for a job as the page does, and return where it leads."""
    job.join(300)
    answer = browser.get(f"/jobs/{job.number}", headers={"HX-Request": "true"})
    return str(answer.headers["HX-Redirect"])


@pytest.fixture
def drop(browser: TestClient, bench: Workbench) -> Callable[..., Any]:
    """Drop a log, and wait until it is examined; return its draft."""

    def dropped(name: str, content: bytes) -> Any:
        answer = browser.post("/drafts", files={"log": (name, content)})
        assert answer.status_code == 200, re.sub(r"<[^>]+>", " ", answer.text)
        draft = bench.drafts.get(answer.url.path.rpartition("/")[2])
        assert draft is not None
        if draft.examining:
            settled(browser, draft.examining)
        return draft

    return dropped


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
