"""A folder, a glob or an XES file is read completely, or refused, or a note says what was not read."""

import os
from pathlib import Path

import polars as pl
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
    what = f"{CONFIDENTIAL} 1 file not read because of the file extension: 'Smith [red].txt'"
    spent = ("--epsilon", 1, "--delta", "1e-6", "--order", "file")
    assert what in travas("doctor", folder, "--order", "file").out
    ran = travas("anonymize", folder, *spent, "-o", tmp_path / "out.json")
    assert ran.code == 0 and "Smith" not in ran.out + ran.err
    for file in ("out.json", "out.json.guarantee.json"):
        assert "Smith" not in (tmp_path / file).read_text()


# ---- Logs in several files, and logs longer than one pass.


HEAD = "case_id,activity,timestamp\n"


def variants(source: object, reading: Reading = BY_FILE) -> dict[object, int]:
    return dict(read(source, reading).items())


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A case across three files, whose names are not sorted in the order in which they were written."""
    parts = {"b": ("1", "two"), "c/0": ("1", "three"), "a": ("1", "one")}
    for name, (case, activity) in parts.items():
        path = tmp_path / "lake" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame({"case_id": [case, "2"], "activity": [activity, "x"]}).write_parquet(path)
    (tmp_path / "lake" / "_SUCCESS").touch()
    (tmp_path / "lake" / ".a.parquet.crc").touch()
    return tmp_path / "lake"


def test_a_folder_is_one_log_in_the_order_of_its_names(lake: Path) -> None:
    assert variants(lake) == {("one", "two", "three"): 1, ("x", "x", "x"): 1}
    assert variants(lake / "**/*.parquet") == variants(lake) == variants(str(lake))
    assert variants(lake / "[ab].parquet") == {("one", "two"): 1, ("x", "x"): 1}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".feather"])
@pytest.mark.parametrize("name", ["[ab]", "*", "a?"])
def test_a_name_that_looks_like_a_glob_is_a_name_where_it_exists(name: str, suffix: str, tmp_path: Path) -> None:
    for file, activity in ((name, "this"), ("a", "other"), ("ab", "other")):
        table, target = pl.DataFrame({"case_id": ["1"], "activity": [activity]}), tmp_path / f"{file}{suffix}"
        if suffix == ".csv":
            table.write_csv(target)
        elif suffix == ".parquet":
            table.write_parquet(target)
        else:
            table.write_ipc(target)
    assert variants(tmp_path / f"{name}{suffix}") == {("this",): 1}


def test_folders_of_csv(tmp_path: Path) -> None:
    (tmp_path / "2.csv").write_text("activity;case_id;note\nsecond;1;x\n\nother;2;y\n")
    (tmp_path / "1.csv").write_text("case_id,activity\n1,first\n")
    assert variants(tmp_path) == {("first", "second"): 1, ("other",): 1}
    (tmp_path / "3.csv").write_text("case_id,activity\n\n1,\n")
    with pytest.raises(LogError, match=r"1 event without an activity"):
        variants(tmp_path)
    (tmp_path / "3.csv").write_text("case_id,activity\n1,b,c\n")
    with pytest.raises(LogError, match=r"3\.csv: row 1 .* has 3 cells, the header 2"):
        variants(tmp_path)
    (tmp_path / "3.csv").write_text("id,activity\n1,b\n")
    with pytest.raises(LogError, match=r"3\.csv: no case column"):
        variants(tmp_path)


def test_a_file_in_a_folder_that_is_not_a_log_is_refused(lake: Path, tmp_path: Path, small_csv: Path) -> None:
    small_csv.rename(lake / "small.csv")
    with pytest.raises(LogError, match="only if all are XES, all CSV, all Parquet"):
        variants(lake)
    (lake / "small.csv").unlink()
    pl.DataFrame({"case_id": ["1"], "other": ["x"]}).write_parquet(lake / "d.parquet")
    with pytest.raises(LogError):
        variants(lake)
    (lake / "_delta_log").mkdir()
    with pytest.raises(LogError, match="a Delta or Iceberg table"):
        variants(lake)
    (tmp_path / "nothing").mkdir()
    for nothing in (tmp_path / "nothing", tmp_path / "*.parquet"):
        with pytest.raises(LogError, match="contains no log"):
            variants(nothing)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_number_of_passes_changes_nothing(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many passes as events; the words about what is wrong still name the row."""
    rows = [(f"c{n % 13}", f"a{n * 7 % 5}", f"2020-01-{1 + n % 4:02d}") for n in range(200)]
    path = tmp_path / f"log{suffix}"

    def write() -> Path:
        frame = pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row")
        frame.write_csv(path) if suffix == ".csv" else frame.write_parquet(path)
        return path

    expected = {order: variants(write(), Reading(order=order)) for order in ("file", "time")}
    monkeypatch.setattr("travas.sources.events.EVENTS_PER_FRAME", 1)
    assert {order: variants(path, Reading(order=order)) for order in expected} == expected  # type: ignore[arg-type]
    rows[150], rows[170] = ("c1", "", "2020-01-01"), ("", "a", "2020-01-01")
    with pytest.raises(LogError, match="1 event without a case"):
        variants(write())
    assert len(read(path, Reading(on_missing="drop")).notes) == 2
    rows[120] = ("c1", "a", "yesterday")
    with pytest.raises(LogError, match="'yesterday' is not a timestamp"):
        variants(write(), Reading(on_missing="drop"))
