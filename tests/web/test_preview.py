"""The preview of a log: it looks at the beginning of a file, and no case decides what it proposes."""

from __future__ import annotations

import csv
import gzip
import time
from pathlib import Path

import pytest

import travas
from travas.errors import LogError
from travas.sources.example_log import PAPER_LOG
from travas.web.activity import ActivityLog
from travas.web.browsers import Browsers
from travas.web.preview import Preview, look
from travas.web.recipe import Recipe
from travas.web.settings import Settings
from travas.web.storage import Storage

_XES = '<?xml version="1.0" encoding="UTF-8"?>\n<log xmlns="http://www.xes-standard.org/">'
_EVENT = '<event><string key="concept:name" value="a"/></event>'


def quiet(_: str, __: float) -> None:
    pass


def looked(path: Path, name: str) -> Preview:
    return look(path, name, travas.Reading(), quiet)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".xes", ".xes.gz"])
def test_a_preview_of_every_format(suffix: str, tmp_path: Path) -> None:
    path = travas.anonymize(PAPER_LOG, epsilon=5, delta="0.1").write(tmp_path / f"log{suffix.removesuffix('.gz')}")
    if suffix.endswith(".gz"):
        packed = path.with_name(f"log{suffix}")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    found = looked(path, "mine")
    assert found.activity == "concept:name" and found.timestamp == "time:timestamp" and 1 <= len(found.rows) <= 6
    assert dict(travas.read(path, found.reading()).items())


def test_a_preview_looks_at_the_beginning_only(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"case_id,activity\n" + b"1,visit\n" * 20_000_000, 1))
    started = time.monotonic()
    assert looked(path, "bomb").case == "case_id"
    assert time.monotonic() - started < 1


def trace(case: int, attribute: str = "", events: int = 1) -> str:
    return f'<trace><string key="concept:name" value="{case}"/>{attribute}{_EVENT * events}</trace>'


@pytest.mark.parametrize("key", ["concept:name", "activity", "Step"])
def test_no_case_decides_which_activity_is_proposed_for_an_xes_log(tmp_path: Path, key: str) -> None:
    path = tmp_path / "log.xes"
    path.write_text(f'{_XES}<trace><event><string key="{key}" value="a"/></event></trace></log>')
    preview = looked(path, "log.xes")
    assert preview.reading().activity == ("concept:name",) and set(preview.columns) == {key, "concept:name"}


@pytest.mark.parametrize(
    "content",
    ["</log>", "<trace></trace></log>", trace(1, events=170_000) + trace(2) + "</log>"],
    ids=["no case", "a case without events", "a first case of 9 MB"],
)
def test_no_case_decides_whether_an_xes_log_is_opened(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log.xes"
    path.write_text(_XES + content)
    found = looked(path, "log.xes")
    assert (found.case, found.activity) == ("concept:name", "concept:name")
    assert found.case in found.case_columns and found.activity in found.columns


@pytest.mark.parametrize("content", ["<html><body/></html>", "<logs/>", "text", '<trace xmlns="x"/>'])
def test_a_file_that_is_not_a_log_is_refused_by_its_root(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log.xes"
    path.write_text(content)
    with pytest.raises(LogError, match=r"^log.xes: not an XES log"):
        looked(path, "log.xes")


@pytest.mark.parametrize("row", ["1,a," + "x" * 140_000, '1,a,"' + "x" * 2_000_000, '1,a,"x\r"y\rz'])
def test_no_cell_decides_whether_a_csv_file_is_opened(tmp_path: Path, row: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"case_id,activity,note\n{row}\n2,b,y\n", newline="")
    csv.field_size_limit(1 << 17)  # the default, which other tests change
    found = looked(path, "log.csv")
    assert found.columns == ("case_id", "activity", "note") and found.rows[0][:2] == ("1", "a")


def test_the_first_cases_do_not_decide_about_the_unit(tmp_path: Path) -> None:
    path = tmp_path / "log.xes"
    patient = '<string key="patient" value="p"/>'
    path.write_text(
        _XES + "".join(trace(number, patient if number > 30 else "", 400) for number in range(40)) + "</log>"
    )
    browsers = Browsers(Storage(tmp_path), Settings(), ActivityLog(tmp_path / "a"))
    draft = browsers.open("key").start_draft()
    draft.take(path, "log.xes", looked(path, "log.xes"))
    draft.recipe = Recipe(unit="patient", max_cases="1")
    assert draft.refused() == ""
    table = Preview("table", ("case_id", "a"), ("case_id", "a"), (), "case_id", "a", None)
    draft.take(path, "log.csv", table)
    assert "this log has no such column" in draft.refused()
    browsers.close()
