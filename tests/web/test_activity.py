"""The activity log: what it contains, and what happens when it cannot be written."""

from __future__ import annotations

import os
import pwd
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from travas.errors import OutputError
from travas.web.activity import ActivityLog, os_user


@pytest.fixture
def log(tmp_path: Path) -> ActivityLog:
    return ActivityLog(tmp_path / "activity.jsonl")


def test_lines_say_who_and_what(log: ActivityLog) -> None:
    assert log.read() == []
    log.append("confidential view", name="Ada ✓", dataset="clinic", detail="forecast")
    log.append("download", name="", release="abc", detail="release.json")
    first, second = log.read()
    assert first.user == second.user == os_user() and first.time <= second.time
    assert (first.kind, first.name, first.dataset, first.detail) == ("confidential view", "Ada ✓", "clinic", "forecast")
    assert (second.kind, second.name, second.release) == ("download", "", "abc")
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_what_is_no_line_is_left_out(log: ActivityLog) -> None:
    log.append("charge", name="Ada", release="one")
    with log.path.open("a") as file:
        file.write('{"ti\n')
    log.append("charge", name="Ada", release="two")
    assert [line.release for line in log.read()] == ["one", "two"]


def test_the_user_is_not_taken_from_the_environment(log: ActivityLog, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "mallory")
    assert log.append("charge", name="Ada").user == pwd.getpwuid(os.getuid()).pw_name != "mallory"
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)  # a container without a name for its user
    assert os_user() == str(2**31 - 7)


def test_threads_append_one_after_the_other(log: ActivityLog) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: log.append("download", name="Ada", detail=str(n)), range(40)))
    assert {int(line.detail) for line in log.read()} == set(range(40))


def test_a_log_that_cannot_be_written_is_refused(log: ActivityLog) -> None:
    log.path.mkdir()
    for refused in (lambda: log.append("download", name="Ada"), log.check, log.read):
        with pytest.raises(OutputError):
            refused()
