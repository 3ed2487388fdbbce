"""The activity log: what it contains, that it is only appended to, and that changes are noticed."""

from __future__ import annotations

import json
import os
import pwd
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from travas.errors import OutputError
from travas.web.activity import ActivityLog, os_user


@pytest.fixture
def log(tmp_path: Path) -> ActivityLog:
    return ActivityLog(tmp_path / "activity.jsonl")


def test_lines_say_who_and_what(log: ActivityLog) -> None:
    assert log.read() == ([], True)
    log.append("confidential view", name="Ada ✓", dataset="clinic", detail="forecast")
    log.append("download", name="", release="abc", detail="release.json")
    (first, second), intact = log.read()
    assert intact and first.user == second.user == os_user() and first.time <= second.time
    assert (first.kind, first.name, first.dataset, first.detail) == ("confidential view", "Ada ✓", "clinic", "forecast")
    assert (second.kind, second.name, second.release) == ("download", "", "abc")
    assert log.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("change", ["edit", "remove", "reorder", "cut"])
def test_a_line_that_was_changed_is_noticed(log: ActivityLog, change: str) -> None:
    for number in range(4):
        log.append("download", name="Ada", detail=f"file {number}")
    lines = log.path.read_text().splitlines()
    if change == "edit":
        lines[1] = lines[1].replace("file 1", "file 9")
    elif change == "remove":
        del lines[1]
    elif change == "reorder":
        lines[1], lines[2] = lines[2], lines[1]
    else:
        lines[1] = lines[1][:30]
    log.path.write_text("\n".join(lines) + "\n")
    assert not log.read()[1]


def test_a_line_that_was_torn_does_not_hide_the_next(log: ActivityLog) -> None:
    log.append("charge", name="Ada", release="one")
    with log.path.open("a") as stream:
        stream.write('{"activity": {"ti')  # the disk was full
    log.append("charge", name="Ada", release="two")
    lines, intact = log.read()
    assert [line.release for line in lines] == ["one", "two"] and not intact
    assert all(line.startswith("{") for line in log.path.read_text().splitlines())


def test_a_full_disk_leaves_no_part_of_a_line(log: ActivityLog) -> None:
    log.append("charge", name="Ada", release="one")
    before, limits = log.path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"the activity log cannot be written \(No space left"):
            log.append("charge", name="Ada", release="two")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert log.path.read_bytes() == before
    log.append("charge", name="Ada", release="three")
    lines, intact = log.read()
    assert [line.release for line in lines] == ["one", "three"] and intact


@pytest.mark.parametrize("detail", ["null", "5", "{}", '"\\ud83d"'])
def test_a_line_that_cannot_be_shown_is_damaged(log: ActivityLog, detail: str) -> None:
    log.append("charge", name="Ada", release="one")
    activity = '{"time": "t", "user": "u", "name": "n", "kind": "charge", "detail": ' + detail + "}"
    with log.path.open("a") as stream:
        stream.write('{"activity": ' + activity + ', "digest": "x"}\n' + "[" * 100_000 + "\n")
    log.append("charge", name="Ada", release="two")
    lines, intact = log.read()
    assert [line.release for line in lines] == ["one", "two"] and not intact


def test_the_user_is_not_taken_from_the_environment(log: ActivityLog, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "mallory")
    assert log.append("charge", name="Ada").user == pwd.getpwuid(os.getuid()).pw_name != "mallory"
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)  # a container without a name for its user
    assert os_user() == str(2**31 - 7)


def test_threads_append_one_after_the_other(log: ActivityLog) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: log.append("download", name="Ada", detail=str(n)), range(40)))
    lines, intact = log.read()
    assert intact and {int(line.detail) for line in lines} == set(range(40))
    assert all(set(json.loads(line)) == {"activity", "digest"} for line in log.path.read_text().splitlines())


def test_a_log_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "target").touch()
    (tmp_path / "activity.jsonl").symlink_to(tmp_path / "target")  # never through a link
    with pytest.raises(OutputError, match="the activity log cannot be written"):
        ActivityLog(tmp_path / "activity.jsonl").append("download", name="Ada")
    with pytest.raises(OutputError, match="the activity log cannot be written"):
        ActivityLog(tmp_path / "activity.jsonl").check()
    with pytest.raises(OutputError, match="the activity log cannot be read"):
        ActivityLog(tmp_path).read()
    assert (tmp_path / "target").read_bytes() == b""
