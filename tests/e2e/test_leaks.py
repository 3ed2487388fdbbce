"""Byte for byte: nothing of the log that was not released is in any file that leaves or in any public message."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from conftest import Run

CANARY = "CANARY"
PARAMETERS = ("--epsilon", "1", "--delta", "1e-9")


def plant_xes(path: Path) -> Path:
    trace = (
        '<trace><string key="concept:name" value="CANARY-case-{n}"/><string key="diagnosis" value="CANARY-diagnosis"/>'
        '<event><string key="concept:name" value="register"/><string key="org:resource" value="CANARY-nurse"/>'
        '<date key="time:timestamp" value="2031-07-19T10:11:12.131+05:30"/></event>'
        '<event><string key="concept:name" value="{last}"/></event></trace>'
    )
    traces = [trace.format(n=n, last="release") for n in range(200)]
    traces += [trace.format(n=n, last=f"CANARY-activity-{n}") for n in range(200, 230)]
    head = (
        '<string key="source" value="CANARY-header"/><extension name="CANARY" prefix="CANARYx" uri="http://CANARY/"/>'
    )
    path.write_text(f'<?xml version="1.0"?><!-- CANARY --><log CANARY-attribute="1">{head}{"".join(traces)}</log>')
    return path


def plant_table(path: Path) -> Path:
    rows = [
        (
            f"CANARY-case-{n}",
            "register" if step == 0 else "release" if n < 200 else f"CANARY-activity-{n}",
            5 * n + step,
        )
        for n in range(230)
        for step in range(2)
    ]
    frame = pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row").with_columns(
        pl.lit("CANARY-cell").alias("CANARY-column"), pl.col("timestamp").cast(pl.Datetime("ms"))
    )
    if path.suffix == ".parquet":
        frame.write_parquet(path, metadata={"CANARY-key": "CANARY-value"})
    else:
        frame.write_csv(path)
    return path


@pytest.mark.parametrize(
    ("source", "suffix"),
    [(".xes", ".xes"), (".xes", ".json"), (".csv", ".csv"), (".csv", ".xes.gz"), (".parquet", ".parquet")],
)
def test_no_canary_leaves(source: str, suffix: str, tmp_path: Path, ledger_path: Path, travas: Run) -> None:
    log = tmp_path / f"{CANARY}{source}"
    (plant_xes if source == ".xes" else plant_table)(log)
    out = tmp_path / "out"
    out.mkdir()
    ran = travas("anonymize", log, *PARAMETERS, "-o", out / f"release{suffix}")
    assert ran.code == 0, ran.err
    verified = travas("verify", out / f"release{suffix}.guarantee.json", out / f"release{suffix}")
    report = travas("report", out / f"release{suffix}.guarantee.json", out / f"release{suffix}", "-o", out / "r.html")
    assert report.code == 0, report.err
    assert len(list(out.iterdir())) == 4
    for file in out.iterdir():
        content = file.read_bytes()
        for view in (content, gzip.decompress(content) if file.suffix == ".gz" else b""):
            assert CANARY.encode() not in view
            assert b"2031" not in view and b"10:11:12" not in view
        assert CANARY not in file.name
    ledger = ledger_path.read_bytes()  # it knows the path of the log and the name of the case column, and nothing else
    case = "concept:name" if source == ".xes" else "case_id"
    for known in (f'"location":"{log}"', f'"case":"{case}"'):
        assert ledger.count(known.encode()) == 1
        ledger = ledger.replace(known.encode(), b"")
    for private in (CANARY, "register", "release", "concept:name", "activity", log.name, str(tmp_path)):
        assert private.encode() not in ledger
    history = travas("budget", "show", "--history", "--json")
    for text in (ran.out, ran.err, verified.out, verified.err, report.out, report.err, history.out):
        assert CANARY not in text.replace(str(log), "").replace(str(tmp_path), "")


@pytest.mark.parametrize("suffix", [".xes", ".json"])
@pytest.mark.parametrize(
    "options",
    [
        ("--mechanism", "ladder", "--rungs", "full,prefix:1"),
        ("--mechanism", "ladder", "--rungs", "default"),
        ("--abstraction", "without:CANARY"),
    ],
)
def test_no_canary_leaves_by_an_abstraction(
    options: tuple[str, ...], suffix: str, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor the names of files with rules, nor what a rung did not release."""
    monkeypatch.chdir(tmp_path)
    Path(CANARY).write_text("release\n")
    log, out = plant_table(tmp_path / "log.csv"), tmp_path / f"release{suffix}"
    assert travas("anonymize", log, *PARAMETERS, *options, "-o", out).code == 0
    for file in (out, out.with_name(out.name + ".guarantee.json")):
        assert CANARY.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.csv", "case_id,CANARY-column\n1,a\n"),
        ("log.csv", "case_id,activity,timestamp\n1,a,CANARY\n"),
        ("log.csv", "case_id,activity,timestamp\n1,CANARY,CANARY,CANARY\n"),
        ("log.csv", 'case_id,activity,timestamp\n1,"CANARY\n'),
        ("log.csv", "case_id,activity,timestamp\n1,CANARY,2020-01-01\n,CANARY,2020-01-01\n"),
        ("log.xes", '<log><trace><string key="concept:name" value="CANARY"/></CANARY></log>'),
        ("log.xes", "<log>&CANARY;</log>"),
        ("log.xes", "<log>" + '<trace><string key="concept:name" value="CANARY"/><event/></trace>' * 2 + "</log>"),
        ("log.parquet", "PAR1CANARY"),
    ],
)  # fmt: skip
def test_an_error_that_quotes_the_log_is_marked_confidential(name: str, text: str, tmp_path: Path, travas: Run) -> None:
    log = tmp_path / name
    log.write_text(text)
    ran = travas("anonymize", log, *PARAMETERS, "-o", tmp_path / "out.xes")
    assert ran.code == 2
    assert CANARY not in ran.err or "[confidential: about the original log]" in ran.err
    assert CANARY not in ran.out


def test_reprs_hide_what_is_confidential(tmp_path: Path) -> None:
    import travas

    variants = travas.read(plant_xes(tmp_path / "log.xes"))
    assert repr(variants) == "Log(confidential)" == str(variants)
    release = travas.anonymize(variants, epsilon=1, delta="1e-9")
    assert CANARY not in repr(release) and "200" not in repr(release)
    assert not any(isinstance(value, travas.Log) for value in vars(release).values())
