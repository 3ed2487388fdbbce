"""Releases in an archive, made as the web app makes them but in this process, and the app to look at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import travas
from timed_log import timed_frame
from travas.settings.project import Project
from travas.web.app import build
from travas.web.drafts import Drafts
from travas.web.jobs import Job
from travas.web.release import draw
from travas.web.releases import RELEASE, Archive, Record, finish
from travas.web.security import Access
from travas.web.workbench import Workbench

KINDS: dict[str, dict[str, Any]] = {
    "variants": {"mechanism": "optimal"},
    "synthetic log": {"mechanism": "synthesis", "attributes": ["sex", "age=0,30,60,90"]},
    "process map": {"mechanism": "map", "parts": ["durations", "throughput"]},
}


def quiet(words: str, share: float) -> None:
    pass


@dataclass
class Bench:
    """A workbench with a log, and a browser that has signed in."""

    folder: Path
    bench: Workbench
    browser: TestClient

    @classmethod
    def at(cls, folder: Path) -> Bench:
        timed_frame(600).write_csv(folder / "log.csv")
        ledger = travas.Ledger(folder / "ledger.db")
        ledger.create_budget("ward", epsilon=200, delta="0.1")
        access = Access("127.0.0.1", 8080)
        bench = Workbench(ledger, Archive(folder / "archive"), Drafts(folder))
        browser = TestClient(
            build(bench, access), base_url=access.origin, headers={"Origin": access.origin}, follow_redirects=False
        )
        browser.cookies.set(access.cookie, access.token)
        return cls(folder, bench, browser)

    @property
    def archive(self) -> Archive:
        return self.bench.archive

    def begun(self, log: Path | None = None, **values: Any) -> tuple[Project, Record]:
        """A release that is about to be charged."""
        stated = {"epsilon": "2", "delta": "1e-4", "dataset": "ward", "reason": "agreed"} | values
        project = Project(references="refuse").with_values(stated | {"ledger": str(self.bench.ledger.path)})
        return project, self.archive.begin(project, "log.csv", self.bench.ledger.path)

    def made(self, log: Path | None = None, **values: Any) -> Record:
        """A release, complete unless it is finished later."""
        project, record = self.begun(**values)
        folder = self.archive.folder(record.id)
        draw(project, str(log or self.folder / "log.csv"), "log.csv", "copy", record.id, folder / RELEASE, quiet)
        finish(folder, record)
        self.archive.ended(record.id)
        return self.get(record)

    def get(self, record: Record) -> Record:
        """The record as it is now."""
        found = self.archive.get(record.id)
        assert found is not None
        return found

    def page(self, address: str, **headers: str) -> str:
        """A page that is there."""
        answer = self.browser.get(address, headers=headers)
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    def wait(self) -> None:
        """Wait for all jobs."""
        for job in list[Job](self.bench.jobs.values()):
            job.join(300)
            assert job.done

    def close(self) -> None:
        self.browser.close()
        self.bench.close()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    found = Bench.at(tmp_path_factory.mktemp("bench"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def releases(bench: Bench) -> dict[str, Record]:
    return {kind: bench.made(**options) for kind, options in KINDS.items()}
