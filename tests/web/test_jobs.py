"""Jobs in separate processes: what they say, what stops them, and what the charge changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from travas.errors import CONFIDENTIAL, ChargedError, TravasError
from travas.pipeline import Phase
from travas.web.activity import ActivityLog
from travas.web.browsers import Browsers
from travas.web.failures import in_words
from travas.web.jobs import Job, Limits
from travas.web.preview import Preview
from travas.web.settings import Settings
from travas.web.storage import Storage


def fails(_: object) -> None:
    raise RuntimeError("CANARY")


class Panic(BaseException):
    """What Polars raises for its own bugs."""


def panics(_: object) -> None:
    raise Panic("CANARY")


def has_no_memory(_: object) -> None:
    raise RuntimeError("can't start new thread")


def refuses(_: object) -> None:
    raise TravasError("one\nline", field="unit", other_fields=("prune",))


class OwnError(TravasError):
    """An error of another package, made from something else than its message."""

    def __init__(self, unit: str, value: str) -> None:
        super().__init__(f"the {unit} of {value!r} is unknown", field=unit, confidential=True)


def refuses_in_its_own_way(_: object) -> None:
    raise OwnError("unit", "Ann")


def refuses_after_the_charge(watch: Callable[[str, float], None]) -> None:
    watch(Phase.CHARGING, 0.0)
    raise ChargedError("interrupted", account="ward", interrupted=True, completed=True)


def sleeps(_: object) -> None:
    time.sleep(60)


def dies(_: object) -> None:
    os._exit(3)


def settled(job: Job) -> Job:
    job.start()
    end = time.monotonic() + 30
    while not job.done and time.monotonic() < end:
        time.sleep(0.02)
    return job


def test_a_job_reports_what_went_wrong_without_values_of_the_log() -> None:
    refused = settled(Job(refuses)).error
    assert refused is not None and (in_words(refused), refused.field, refused.other_fields) == (
        "one line (step Protect)",
        "unit",
        ("prune",),
    )
    foreign = settled(Job(refuses_in_its_own_way)).error
    assert type(foreign) is TravasError and foreign.field == "unit" and foreign.confidential
    assert str(foreign) == f"the unit of 'Ann' is unknown {CONFIDENTIAL}"
    for task, kind in ((fails, "RuntimeError"), (panics, "Panic")):
        failed = str(settled(Job(task, name="log.csv")).error)
        assert failed.startswith("log.csv: ")
        assert f"({kind})" in failed and "CANARY" not in failed
    assert str(settled(Job(has_no_memory)).error) == "not enough memory for this log"
    assert "ended unexpectedly" in str(settled(Job(dies)).error)


def test_a_cancelled_job_is_dead() -> None:
    job = Job(sleeps)
    job.start()
    job.cancel()
    end = time.monotonic() + 10
    while not job.done and time.monotonic() < end:
        time.sleep(0.02)
    assert job.done and job.cancelled and not job._process.is_alive()


def charges(marker: Path, watch: Callable[[str, float], None]) -> str:
    watch(Phase.READING, 0.0)
    watch(Phase.CHARGING, 0.0)
    marker.touch()
    time.sleep(1)
    return "release"


def dies_after_the_charge(last: Phase, watch: Callable[[str, float], None]) -> None:
    watch(Phase.CHARGING, 0.0)
    watch(last, 0.0)
    os._exit(3)


def fails_after_the_charge(watch: Callable[[str, float], None]) -> None:
    watch(Phase.CHARGING, 0.0)
    watch(Phase.WRITING, 0.0)
    raise RuntimeError("CANARY")


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def test_a_release_that_is_charged_cannot_be_cancelled(tmp_path: Path) -> None:
    """Neither by the button, nor by another log, a second click, or the sweeper."""
    browsers = Browsers(Storage(tmp_path), Settings(), ActivityLog(tmp_path / "activity.jsonl"))
    browser = browsers.open("key")
    session = browser.start_draft()
    results: list[object] = []
    shown = Preview("table", ("a",), ("a",), (), None, None, None)
    session.start(Job(charges, tmp_path / "marker"), results.append)
    job = session.job
    assert job is not None
    wait_for((tmp_path / "marker").exists)
    assert job.charging and not session.stop() and not job.cancel()
    with pytest.raises(TravasError, match="charged and being written"):
        session.take(tmp_path / "other.csv", "other.csv", shown)
    session.start(Job(sleeps), results.append)
    session.seen -= 10_000
    browser.seen -= 10_000
    browsers.sweep()
    assert session.job is job and browsers.get("key") is browser
    wait_for(lambda: job.done)
    assert not session.stop()  # finished, but not yet shown
    session.settle()
    assert results == ["release"] and session.error == ""
    session.take(tmp_path / "other.csv", "other.csv", shown)
    browsers.close()


def finishes(finished: Path, watch: Callable[[str, float], None]) -> None:
    """What a release does after the charge, with its server gone."""
    watch(Phase.CHARGING, 0.0)
    finished.with_suffix(".charged").touch()
    time.sleep(0.5)
    watch(Phase.WRITING, 0.5)
    watch(Phase.DONE, 1.0)
    finished.touch()


def quotes_the_log(started: Path, watch: Callable[[str, float], None]) -> None:
    """Fail with a value of the log in the message, when the server is gone."""
    started.touch()
    while os.getppid() == int(os.environ["TEST_SERVER"]):
        time.sleep(0.02)
    try:
        raise ValueError("CANARY")
    finally:
        started.with_suffix(".failed").touch()


_SERVER = """
import os, pathlib, sys, time
sys.path.insert(0, sys.argv[3])
import test_jobs
from travas.web.jobs import Job, Limits
if __name__ == "__main__":
    os.environ["TEST_SERVER"] = str(os.getpid())
    job = Job(getattr(test_jobs, sys.argv[1]), pathlib.Path(sys.argv[2]))
    job.start()
    while sys.argv[4] != "exit" or not pathlib.Path(sys.argv[2]).with_suffix(".charged").exists():
        time.sleep(0.02)
"""


def server_with(task: str, marker: Path, end: str = "") -> subprocess.Popen[str]:
    """A server with one job, in a separate process group."""
    script = marker.with_name("server.py")
    script.write_text(_SERVER)
    return subprocess.Popen(
        [sys.executable, script, task, marker, Path(__file__).parent, end],
        start_new_session=True, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_charged_release_is_finished_when_the_server_is_killed(tmp_path: Path) -> None:
    finished = tmp_path / "release"
    with server_with("finishes", finished) as server:
        wait_for(finished.with_suffix(".charged").exists)
        server.kill()
    wait_for(finished.exists)


def test_a_charged_release_is_finished_when_its_terminal_and_its_group_are_ended(tmp_path: Path) -> None:
    finished = tmp_path / "release"
    with server_with("finishes", finished) as server:
        wait_for(finished.with_suffix(".charged").exists)
        os.killpg(server.pid, signal.SIGHUP)
        os.killpg(server.pid, signal.SIGTERM)
    wait_for(finished.exists)


def test_a_server_that_just_exits_waits_for_a_charged_release(tmp_path: Path) -> None:
    finished = tmp_path / "release"
    with server_with("finishes", finished, "exit"):
        pass
    assert finished.exists()


def test_a_job_without_a_server_prints_nothing_of_the_log(tmp_path: Path) -> None:
    started = tmp_path / "started"
    with server_with("quotes_the_log", started) as server:
        wait_for(started.exists)
        server.kill()
        _, printed = server.communicate()  # ends when the job has also ended
    assert started.with_suffix(".failed").exists() and "CANARY" not in printed and "Traceback" not in printed


def test_a_machine_without_a_free_process_is_an_error_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("travas.web.jobs._spawned.Process.start", full)
    browsers = Browsers(Storage(tmp_path), Settings(), ActivityLog(tmp_path / "activity.jsonl"))
    session = browsers.open("key").start_draft()
    ended: list[Job] = []
    job = Job(sleeps)
    session.start(job, lambda _: None, noting(ended))
    session.settle()
    assert session.error.startswith("no process can be started on this machine (Resource temporarily unavailable)")
    assert session.stop() and ended == [job] and not job.cancelled
    Job(sleeps).kill()  # never started
    browsers.close()
    assert not session.folder.exists()


def test_a_dead_process_to_fork_from_is_an_error_of_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    def dead(*_: object) -> None:
        raise EOFError("unexpected EOF")  # as multiprocessing does

    monkeypatch.setattr("travas.web.jobs._forked.Process.start", dead)
    job = Job(sleeps, limits=Limits(1 << 30, 60))
    job.start()
    assert job.done and not job.cancelled
    assert str(job.error).startswith("no process can be started on this machine (it ended)")


def test_closing_deletes_every_log_whatever_fails(tmp_path: Path) -> None:
    browsers = Browsers(Storage(tmp_path), Settings(), ActivityLog(tmp_path / "activity.jsonl"))
    drafts = [browsers.open(key).start_draft() for key in ("one", "one", "two", "one")]
    for draft in drafts:
        (draft.folder / "log.csv").write_text("CANARY")
    results: list[object] = []

    def fails_at_the_end(_: Job) -> str:
        raise OSError("no space left")

    drafts[1].start(Job(sleeps), results.append, fails_at_the_end)
    markers = [tmp_path / "other browser", tmp_path / "same browser"]
    for draft, marker in zip(drafts[2:], markers, strict=True):
        draft.start(Job(charges, marker), results.append)
    wait_for(lambda: all(marker.exists() for marker in markers))
    with pytest.raises(OSError, match="no space left"):
        browsers.close()
    assert results == ["release"] * 2 and not any(path.name == "log.csv" for path in tmp_path.rglob("*"))


def noting(ended: list[Job]) -> Callable[[Job], str]:
    """Called at the end of a job; it has nothing to say."""

    def end(job: Job) -> str:
        ended.append(job)
        return ""

    return end


def test_closing_waits_for_a_charged_release(tmp_path: Path) -> None:
    browsers = Browsers(Storage(tmp_path), Settings(), ActivityLog(tmp_path / "activity.jsonl"))
    session = browsers.open("key").start_draft()
    results: list[object] = []
    ended: list[Job] = []
    job = Job(charges, tmp_path / "marker")
    session.start(job, results.append, noting(ended))
    wait_for((tmp_path / "marker").exists)
    browsers.close()
    assert results == ["release"] and ended == [job] and not job.cancelled


def test_the_end_of_a_cancelled_job_is_reported_once(tmp_path: Path) -> None:
    browsers = Browsers(Storage(tmp_path), Settings(), ActivityLog(tmp_path / "activity.jsonl"))
    session = browsers.open("key").start_draft()
    ended: list[Job] = []
    job = Job(sleeps)
    session.start(job, lambda _: None, noting(ended))
    assert session.stop() and ended == [job]
    session.settle()
    assert session.stop() and ended == [job]
    browsers.close()


def test_a_task_that_was_cancelled_never_charges(tmp_path: Path) -> None:
    """It asks before the charge, so that a cancel that crosses its progress on the way still counts."""
    job = Job(charges, tmp_path / "marker")
    with job._decision:
        job.start()
        wait_for(lambda: job.words == Phase.CHARGING)
        time.sleep(0.3)
        assert not job.charging and not (tmp_path / "marker").exists()
        job.kill()
    wait_for(lambda: job.done)
    assert str(job.error) == "cancelled" and not (tmp_path / "marker").exists()


def test_what_fails_after_the_charge_says_so() -> None:
    for account, stands in (("ward", "the charge to 'ward' stands"), ("", "the charge stands")):
        died = settled(Job(dies_after_the_charge, Phase.WRITING, account=account)).error
        assert isinstance(died, ChargedError) and not died.completed
        assert str(died).endswith(f"out of memory; {stands}, because noise may have been drawn")
    done = settled(Job(dies_after_the_charge, Phase.DONE, account="ward")).error
    assert str(done).startswith("the release is complete, but") and str(done).endswith("the charge to 'ward' stands")
    assert "may have been charged: check the account" in str(settled(Job(dies_after_the_charge, Phase.CHARGING)).error)
    error = settled(Job(refuses_after_the_charge)).error
    assert isinstance(error, ChargedError) and (error.account, error.interrupted, error.completed) == (
        "ward",
        True,
        True,
    )
    failed = str(settled(Job(fails_after_the_charge)).error)
    assert "CANARY" not in failed and failed.endswith("the charge stands, because noise may have been drawn")
