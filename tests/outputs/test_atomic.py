"""The one atomic write: what other runs, links and kills cannot do to it."""

import os
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from travas.errors import OutputError
from travas.outputs import atomic
from travas.outputs.atomic import Existing, atomic_output, reserved


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def pair(folder: Path) -> tuple[Path, Path]:
    return folder / "out.csv.guarantee.json", folder / "out.csv"


def publish(targets: tuple[Path, ...], existing: Existing, content: str) -> None:
    with reserved(targets, existing) as output:
        for target in targets:
            output.partial(target).write_text(content)
        output.publish()


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with atomic_output(tmp_path / "out.txt", "fail") as partial:
        partial.write_text("half")
        assert not (tmp_path / "out.txt").exists()
    assert (tmp_path / "out.txt").read_text() == "half"
    with suppress(KeyError), atomic_output(tmp_path / "other.txt", "fail") as partial:
        partial.write_text("half")
        raise KeyError
    assert names(tmp_path) == ["out.txt"]


def test_a_name_that_exists_is_refused_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(OutputError, match="already exists"), atomic_output(path, "fail"):
        pytest.fail("the block must not run")
    with atomic_output(path, "replace") as partial:
        partial.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("existing", ["fail", "replace"])
@pytest.mark.parametrize("again", ["folder", "link"])
def test_a_second_reservation_is_refused_while_the_first_holds(again: str, existing: Existing, tmp_path: Path) -> None:
    """Also under another spelling. Before its charge: `two_runs_one_output` succeeded and charged twice in 20 of 20."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    with (
        reserved(pair(tmp_path / "folder"), "fail"),
        pytest.raises(OutputError, match="another run is writing this file"),
        reserved(pair(tmp_path / again), existing),
    ):
        pytest.fail("the block must not run")
    publish(pair(tmp_path / "folder"), "fail", "x")


def test_of_many_threads_to_one_new_name_one_succeeds(tmp_path: Path) -> None:
    barrier = threading.Barrier(4)

    def run(folder: Path, number: int) -> str:
        barrier.wait()
        try:
            publish(pair(folder), "fail", str(number))
        except OutputError:
            return "refused"
        return "published"

    with ThreadPoolExecutor(4) as threads:
        for round_number in range(20):
            folder = tmp_path / str(round_number)
            folder.mkdir()
            outcomes = Counter(threads.map(run, [folder] * 4, range(4)))
            assert outcomes == {"published": 1, "refused": 3}
            assert len({target.read_text() for target in pair(folder)}) == 1
            assert names(folder) == ["out.csv", "out.csv.guarantee.json"]


@pytest.mark.parametrize("other", ["out.csv", "out.csv.guarantee.json"])
def test_a_file_that_appears_meanwhile_is_not_overwritten(other: str, tmp_path: Path) -> None:
    with reserved(pair(tmp_path), "fail") as output:
        (tmp_path / other).write_text("of someone else")
        with pytest.raises(OutputError, match="another run has written it"):
            output.publish()
    assert names(tmp_path) == [other]
    assert (tmp_path / other).read_text() == "of someone else"


@pytest.mark.parametrize("existing", ["fail", "replace"])
def test_only_ordinary_files_are_replaced(existing: Existing, tmp_path: Path) -> None:
    """Not a pipe, nor a link to one: who reads from it would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(OutputError, match="is not an ordinary file"):
            atomic.check_target(tmp_path / name, existing)
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()


def test_links_at_the_partial_name_and_at_the_lock_are_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".out.partial").symlink_to(victim)
    with atomic_output(tmp_path / "out", "fail") as partial:
        partial.write_text("new")
    (tmp_path / ".a.lock").symlink_to(victim)
    with pytest.raises(OutputError, match="cannot be written"), atomic_output(tmp_path / "a", "fail"):
        pytest.fail("the block must not run")
    assert victim.read_text() == "precious"


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    stale = (".out.csv.partial", ".out.csv.guarantee.json.partial", ".out.csv.lock")
    for name in (*stale, ".other.csv.partial"):
        (tmp_path / name).write_text("stale")
    publish(pair(tmp_path), "fail", "x")
    assert names(tmp_path) == [".other.csv.partial", "out.csv", "out.csv.guarantee.json"]


KILLED = """
import os, signal, sys
from pathlib import Path
from travas.outputs.atomic import reserved

def publish(folder, existing, content, step):
    targets = folder / "out.csv.guarantee.json", folder / "out.csv"
    def counted(function):
        def call(*arguments, **options):
            nonlocal step
            step -= 1
            if step < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)
        return call
    with reserved(targets, existing) as output:
        for target in targets:
            output.partial(target).write_text(content)
        for name in ("unlink", "replace", "fsync"):
            setattr(os, name, counted(getattr(os, name)))
        output.publish()

def forked(*arguments):
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    publish(*arguments)
    os._exit(0)

for step in range(100):
    folder = Path(str(step))
    folder.mkdir()
    if sys.argv[1] == "replace":
        forked(folder, "fail", "old", 1000)
    if forked(folder, sys.argv[1], "new", step) == 0:
        break
"""


@pytest.mark.parametrize("existing", ["fail", "replace"])
def test_a_kill_at_any_step_leaves_a_pair_or_one_file_missing(existing: str, tmp_path: Path) -> None:
    """Every system call of publishing, one after the other."""
    subprocess.run([sys.executable, "-c", KILLED, existing], cwd=tmp_path, check=True)
    states: Counter[tuple[str | None, str | None]] = Counter()
    for folder in tmp_path.iterdir():
        guarantee, release = (path.read_text() if path.exists() else None for path in pair(folder))
        states[guarantee, release] += 1
        assert release is None or guarantee == release
        began = (folder / ".out.csv.ready").exists()
        if existing == "replace" or began:  # neither the old nor the new release is lost by the next run
            with pytest.raises(OutputError, match="exists"):
                publish(pair(folder), "fail", "next")
            assert [path.read_text() for path in pair(folder)] == (["new", "new"] if began else [release, release])
        publish(pair(folder), "replace", "next")
        assert names(folder) == ["out.csv", "out.csv.guarantee.json"], "what was left is removed"
    assert states["new", "new"] and states["new", None]
    assert states[None, None] if existing == "fail" else states["old", "old"] and states["old", None]


@pytest.mark.parametrize("name", ["no/out", "folder", "x" * 250, "a\0b"])
def test_names_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError), atomic_output(tmp_path / name, "replace"):
        pytest.fail("the block must not run")
    assert names(tmp_path) == ["folder"]
