"""A folder, a glob or an XES file is read completely, or refused, or a note says what was not read."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from conftest import Run
from travas import LogError, Reading, read
from travas.errors import CONFIDENTIAL

BY_FILE = Reading(order="file")
LOG = "case_id,activity\n1,a\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("logs/a.csv", "logs/sub/b.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LOG)
    return tmp_path / "logs"


def test_a_link_to_a_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "c.csv").write_text(LOG)
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LogError, match=r"logs/link: a link to a folder"):
        read(folder, BY_FILE)
    assert dict(read(folder / "*/*.csv", BY_FILE).items()) == {("a", "a"): 1}  # a pattern follows it
    (folder / "link").rename(folder / "_link")
    assert len(read(folder, BY_FILE)) == 1


def test_a_link_to_nothing_is_refused(folder: Path) -> None:
    (folder / "sub" / "c.csv").symlink_to(folder / "nothing.csv")
    for source in (folder, folder / "**/*.csv"):
        with pytest.raises(LogError, match=r"sub/c.csv: no such file"):
            read(source, BY_FILE)
    (folder / "sub" / "c.csv").unlink()
    (folder / "c.csv").symlink_to(folder / "a.csv")
    assert dict(read(folder, BY_FILE).items()) == {("a", "a", "a"): 1}


def test_an_unreadable_folder_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the operating system refuses it to anyone but root, who may run the tests."""
    scandir = os.scandir

    def refused(path: str) -> object:
        if str(path).endswith("sub"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(LogError, match=r"logs/sub: cannot be opened \(Permission denied\)"):
        read(folder, BY_FILE)


def test_files_of_other_extensions_are_noted(folder: Path) -> None:
    assert read(folder, BY_FILE).notes == ()
    (folder / "sub" / "c.txt").write_text(LOG)
    assert read(folder, BY_FILE).notes == ("1 file is not read because of the file extension: 'sub/c.txt'",)
    (folder / "d.tex").write_text(LOG)
    assert read(folder, BY_FILE).notes == ("2 files are not read because of the file extension: 'd.tex', 'sub/c.txt'",)
    assert read(folder / "*.csv", BY_FILE).notes == ()


@pytest.mark.parametrize("name", ["log.csv", "log.xes", "log.xes.gz", "log.parquet", "log.json"])
def test_a_pipe_is_refused_instead_of_waited_for(folder: Path, name: str) -> None:
    os.mkfifo(folder / name)
    with pytest.raises(LogError, match=f"{name}: not a regular file"):
        read(folder / name)
    if name != "log.json":  # not a log of a folder
        with pytest.raises(LogError, match="not a regular file|only if all are XES"):
            read(folder)


XES = '<log xmlns="urn:a" xmlns:b="urn:b">{}</log>'
EVENT = '<{0}event><string key="concept:name" value="x"/></{0}event>'
TRACE = '<trace><string key="concept:name" value="1"/>{}</trace>'


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (TRACE.format(EVENT.format("") + EVENT.format("b:")), "<event> in trace 1 is in another namespace"),
        (TRACE.format(EVENT.format("")) + EVENT.format("b:"), "<event> in <log> is in another namespace"),
        (TRACE.format(f"<events>{EVENT.format('')}</events>"), "<events> in trace 1 is neither an <event> nor"),
        (TRACE.format("<Event/>"), "<Event> in trace 1 is neither"),
        (TRACE.format("").replace("trace", "b:trace"), "<trace> is not directly in <log>"),
    ],
)
def test_events_of_another_namespace_are_refused(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "log.xes"
    path.write_text(XES.format(content))
    with pytest.raises(LogError, match=why):
        read(path)
    path.write_text(XES.format(TRACE.format(EVENT.format("") + '<b:string key="x" value="y"/>')))
    assert dict(read(path).items()) == {("x",): 1}


@pytest.mark.parametrize("prefix", ["", "b:"])
@pytest.mark.parametrize(
    "trace",
    [
        '<event><string key="concept:name" value="x"/>{}</event>',
        '<event><string key="concept:name" value="x">{}</string></event>',
        '<string key="note" value="y">{}</string>',
        '<list key="notes"><values>{}</values></list>',
    ],
)
def test_an_event_inside_an_event_or_an_attribute_is_refused(tmp_path: Path, trace: str, prefix: str) -> None:
    path = tmp_path / "log.xes"
    path.write_text(XES.format(TRACE.format(trace.format(EVENT.format(prefix)))))
    with pytest.raises(LogError, match="an <event> in trace 1 is inside an event or an attribute"):
        read(path)
    path.write_text(XES.format(TRACE.format(trace.format("") + EVENT.format(""))))
    assert read(path).counts.sum() == 1


def test_the_names_of_files_that_are_not_read_are_marked_as_confidential(
    travas: Run, folder: Path, tmp_path: Path
) -> None:
    (folder / "a.csv").write_text("case_id,activity\n" + "".join(f"{case},a\n" for case in range(100)))
    (folder / "Smith [red].txt").write_text("x")
    what = f"{CONFIDENTIAL} 1 file is not read because of the file extension: 'Smith [red].txt'"
    spent = ("--epsilon", 1, "--delta", "1e-6", "--order", "file")
    assert what in travas("doctor", folder, "--order", "file").out
    ran = travas("anonymize", folder, *spent, "-o", tmp_path / "out.json")
    assert ran.code == 0 and "Smith" not in ran.out + ran.err
    for file in ("out.json", "out.json.guarantee.json"):
        assert "Smith" not in (tmp_path / file).read_text()
