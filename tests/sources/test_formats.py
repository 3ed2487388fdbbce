"""Formats of logs: what is in them is read in the same way, damaged and malicious files are refused in one line."""

import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
import zstandard
from odd_files import EXPECTED, cells, events, excel, table, without_zone, xes

from conftest import Run
from travas import LogError, ParameterError, Reading, read
from travas.sources.columns import candidates, recognised
from travas.sources.reading import STANDARD


def variants(source: Any, **settings: Any) -> dict[Any, int]:
    return dict(read(source, Reading(**settings)).items())


def zip_of(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def ipc(compression_of: Any = "uncompressed") -> bytes:
    out = io.BytesIO()
    typed().write_ipc(out, compression=compression_of)
    return out.getvalue()


def typed() -> pl.DataFrame:
    return pl.DataFrame(events(), schema=["case_id", "activity", "timestamp"], orient="row")


def parquet() -> bytes:
    out = io.BytesIO()
    typed().write_parquet(out)
    return out.getvalue()


CSV, XES = table().encode(), xes().encode()
CONTENTS: dict[str, Callable[[], bytes]] = {
    "log.csv": lambda: CSV,
    "log.CSV": lambda: CSV,
    "log.txt": lambda: table(delimiter="|").encode(),
    "log.tsv": lambda: table(delimiter="\t").encode(),
    "log.csv.gz": lambda: gzip.compress(CSV),
    "log.csv.zst": lambda: zstandard.compress(CSV[:50]) + zstandard.compress(CSV[50:]),
    "log.tsv.zst": lambda: zstandard.compress(table(delimiter="\t").encode()),
    "log.xes": lambda: XES,
    "log.xes.gz": lambda: gzip.compress(XES[:99]) + gzip.compress(XES[99:]),
    "log.xes.zst": lambda: zstandard.compress(XES),
    "log.parquet": parquet,
    "log.arrow": ipc,
    "log.feather": lambda: ipc("lz4"),
    "log.ipc": lambda: ipc("zstd"),
    "csv.zip": lambda: zip_of({"a/log.csv": CSV, "a/": b"", "__MACOSX/log.csv": b"x", "note.md": b""}),
    "xes.zip": lambda: zip_of({"log.xes": XES}),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(CONTENTS[name]())
    assert variants(tmp_path / name) == EXPECTED


def test_a_truncated_zstandard_file_is_refused(tmp_path: Path) -> None:
    """The library returns what there is: a silent misread."""
    (tmp_path / "log.csv.zst").write_bytes(zstandard.compress(CSV * 3000)[:-3])
    with pytest.raises(LogError, match="the zstd file is truncated"):
        read(tmp_path / "log.csv.zst")


def test_a_zip_archive_must_contain_one_log(tmp_path: Path) -> None:
    path = tmp_path / "log.zip"
    two, none = {"a.csv": CSV, "b.xes": XES}, {"a.csv.gz": CSV, "b.parquet": CSV}
    for members, why in ((two, "contains 2 logs"), (none, "contains no log")):
        path.write_bytes(zip_of(members))
        with pytest.raises(LogError, match=why):
            read(path)
    path.write_bytes(CSV)
    with pytest.raises(LogError, match="the zip archive cannot be unpacked"):
        read(path)


def test_the_cells_of_workbooks_are_text(tmp_path: Path) -> None:
    """Cells are text by their own type: one number as text does not change the others."""
    rows = cells(without_zone, ["case_id", "activity", "timestamp"])
    excel(tmp_path / "log.xlsx", {"Notes": [["x"]], "log": rows})
    assert variants(tmp_path / "log.xlsx", sheet="log") == EXPECTED
    with pytest.raises(LogError, match="has several sheets; set sheet; available: 'Notes', 'log'"):
        read(tmp_path / "log.xlsx")
    with pytest.raises(LogError, match="has no sheet 'Log'; did you mean 'log'"):
        read(tmp_path / "log.xlsx", Reading(sheet="Log"))
    excel(tmp_path / "one.xlsx", {"log": [*rows, ["007", "7", rows[1][2]], [7.5, True, rows[1][2]]]})
    assert variants(tmp_path / "one.xlsx") == EXPECTED | {("7",): 1, ("true",): 1}
    (tmp_path / "log.csv").write_bytes(CSV)
    with pytest.raises(ParameterError, match="is not an Excel workbook"):
        read(tmp_path / "log.csv", Reading(sheet="log"))


def test_standard_input(tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(CSV))))
    words = ("anonymize", "-", "--epsilon", "1", "--delta", "1e-2", "--dataset", "ward", "-o", tmp_path / "out.csv")
    assert travas("budget", "create", "ward", "--no-limit").code == 0
    done = travas(*words, "--format", "csv", "--confidential")
    assert done.code == 0 and "cases: 4" in done.err
    refused = travas(*words, "--force")
    assert refused.code == 2 and "format is not set" in refused.err and "--format" in refused.err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert "standard input: is empty" in travas(*words, "--force", "--format", "csv").err
    assert travas("doctor", "-", "--format", "csv").code == 2


def test_a_folder_of_xes_is_one_log(tmp_path: Path) -> None:
    (tmp_path / "a.xes").write_bytes(XES)
    (tmp_path / "b.xes.gz").write_bytes(gzip.compress(xes(names=lambda case: f"b{case}").encode()))
    assert variants(tmp_path) == {trace: 2 * count for trace, count in EXPECTED.items()}
    (tmp_path / "b.xes.gz").write_bytes(gzip.compress(XES))
    with pytest.raises(LogError, match="have the same name"):
        read(tmp_path)
    assert sum(read(tmp_path, Reading(duplicate_cases="merge")).counts) == 4
    (tmp_path / "c.csv").write_bytes(CSV)
    with pytest.raises(LogError, match="several files are one log only if"):
        read(tmp_path)


def test_logs_in_memory() -> None:
    import pm4py

    frame = typed().to_pandas()
    named = frame.rename(
        columns={"case_id": "case:concept:name", "activity": "concept:name", "timestamp": "time:timestamp"}
    )
    log = pm4py.convert_to_event_log(named)
    assert variants(log, order="time") == variants(named) == variants(pl.from_pandas(named)) == EXPECTED
    assert variants(pa.Table.from_pandas(frame)) == variants(typed().to_arrow().to_batches()[0]) == EXPECTED
    assert variants([list(trace) for trace, count in EXPECTED.items() for _ in range(count)]) == EXPECTED
    with pytest.raises(LogError, match="trace 1 of the list has the type str"):
        read(["ab"])
    with pytest.raises(LogError, match="lifecycle is 'complete' but a list of traces contains counts"):
        read([("a",)], Reading(lifecycle="complete"))


@pytest.mark.parametrize(
    ("role", "first", "second"),
    [("case", "Fall-Nr.", "N° Dossier"), ("activity", "ACTIVITY_EN", "Maßnahme"), ("timestamp", "Date-Heure", "EVENTTIME"),
     ("lifecycle", "Lebenszyklus", "transition")],
)  # fmt: skip
def test_names_are_recognised_unless_two_columns_have_one(role: str, first: str, second: str) -> None:
    assert recognised(role, ["x", first, "y"]) == first and recognised(role, ["x", "y", second]) == second
    assert recognised(role, [first, second]) is None and candidates(role, [first, second]) == [first, second]
    assert recognised(role, [first, second, STANDARD[role][0]]) == STANDARD[role][0]
