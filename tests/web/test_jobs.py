"""Jobs: what they say, what stops them, and what the charge changes."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from web_client import wait_for

from travas.errors import ChargedError, TravasError
from travas.pipeline import Phase
from travas.web.jobs import Job, JobWatch
from travas.web.workbench import in_words


class Panic(BaseException):
    """What Polars raises for its own bugs."""


ERRORS: dict[str, BaseException] = {
    "ours": TravasError("one\nline", field="unit"),
    "a bug": RuntimeError("CANARY"),
    "a panic": Panic("CANARY"),
    "memory": MemoryError("CANARY"),
}


def fails(kind: str, watch: JobWatch) -> None:
    raise ERRORS[kind]


def sleeps(watch: JobWatch) -> None:
    time.sleep(60)


def charges(marker: Path, end: str, watch: JobWatch) -> str:
    watch(Phase.CHARGING, 0.0)
    marker.touch()
    if end == "dies":
        watch(Phase.WRITING, 0.0)
        os._exit(3)
    wait_for(marker.with_name("go").exists)
    if end == "fails":
        watch(Phase.DONE, 1.0)
        raise RuntimeError("CANARY")
    return "release"


def run(task: Callable[..., object], *arguments: object) -> Job:
    job = Job(task, *arguments, account="ward")
    job.start()
    job.join(300)
    return job


def test_errors_are_told_without_the_texts_of_others() -> None:
    jobs = {kind: run(fails, kind) for kind in ERRORS}
    said = {kind: in_words(job.error) for kind, job in jobs.items() if job.error}
    assert said["ours"] == "one line"
    assert said["memory"] == "not enough memory for this log"
    assert "RuntimeError" in said["a bug"] and "Panic" in said["a panic"] and "CANARY" not in str(said)


def test_a_cancelled_job_is_dead() -> None:
    job = Job(sleeps)
    job.start()
    assert job.cancel()
    job.join(300)
    assert job.done and "nothing was charged" in str(job.error) and not job._process.is_alive()


def test_what_is_charged_cannot_be_cancelled_and_is_finished(tmp_path: Path) -> None:
    job = Job(charges, tmp_path / "charged", "ends")
    job.start()
    wait_for((tmp_path / "charged").exists)
    assert not job.cancel() and job.charging
    job._process.terminate()  # as at the end of a terminal
    (tmp_path / "go").touch()
    job.join(300)
    assert job.result == "release" and job.error is None


def test_a_job_that_fails_after_the_charge_says_that_it_stands(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    for end in ("dies", "fails"):
        error = run(charges, tmp_path / end, end).error
        assert isinstance(error, ChargedError) and "'ward' is not refunded" in str(error) and "CANARY" not in str(error)
        assert ("complete" in str(error)) == (end == "fails")
