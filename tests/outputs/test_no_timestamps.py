"""Event logs without timestamps: no artificial times where they would mislead."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import travas as package
from conftest import Run
from travas import Optimal, ParameterError, verify
from travas.errors import VerificationError
from travas.outputs.guarantee_file import file_digest
from travas.releases.release import NO_TIMES
from travas.request import Request
from travas.verification.opened import read_release

PARAMETERS = ("--epsilon", "1", "--delta", "1e-6")
OPTIMAL = Optimal(epsilon=1, delta="1e-6")
FORMATS = (".csv", ".csv.gz", ".parquet", ".xes", ".xes.gz")


@pytest.mark.parametrize("suffix", FORMATS)
def test_events_have_an_order_but_no_times(suffix: str, small_csv: Path, tmp_path: Path, travas: Run) -> None:
    out = tmp_path / f"out{suffix}"
    ran = travas("anonymize", small_csv, *PARAMETERS, "--timestamps", "none", "-o", out)
    assert ran.code == 0, ran.err
    stated = json.loads(Path(f"{out}.guarantee.json").read_text())
    assert stated["timestamps"] == NO_TIMES and stated["release"]["timestamps"] == "none"
    assert travas("verify", f"{out}.guarantee.json", out).code == 0
    assert "There are no timestamps: events are in order" in Path(f"{out}.README.txt").read_text()


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_variants_are_read_with_and_without_times(suffix: str, tmp_path: Path) -> None:
    made = package.anonymize({("b", "a", "b"): 300, ("a",): 500}, OPTIMAL)
    plain = made.without_timestamps().write(tmp_path / f"plain{suffix}")
    assert read_release(plain) == read_release(made.write(tmp_path / f"timed{suffix}"))
    assert len(read_release(plain).variants) == 2
    if suffix == ".xes":
        assert "<date" not in plain.read_text() and "time.xesext" not in plain.read_text()


def test_tables_have_a_mark_instead_of_times() -> None:
    frame = package.anonymize({("b", "a"): 300}, OPTIMAL).without_timestamps().to_polars()
    assert frame.columns == ["case:concept:name", "concept:name", "travas:timestamps"]
    assert set(frame["travas:timestamps"]) == {"none"}
    assert package.anonymize({}, OPTIMAL).without_timestamps().to_polars().height == 0


def test_pm4py_reads_such_a_log(tmp_path: Path) -> None:
    import pm4py

    made = package.anonymize({("b", "a"): 300}, OPTIMAL, frequencies="noisy")
    path = made.without_timestamps().write(tmp_path / "out.xes")
    log = pm4py.read_xes(str(path), variant="iterparse", return_legacy_log_object=True)
    assert len(log) == made.counts[0] and [event["concept:name"] for event in log[0]] == ["b", "a"]


def test_times_that_were_put_back_are_noticed(tmp_path: Path) -> None:
    path = package.anonymize({("b", "a"): 300}, OPTIMAL).without_timestamps().write(tmp_path / "out.csv")
    frame = pl.read_csv(path, infer_schema=False)
    frame.insert_column(2, pl.lit("2024-05-01T08:00:00+00:00").alias("time:timestamp")).write_csv(path)
    guarantee = Path(f"{path}.guarantee.json")
    stated = json.loads(guarantee.read_text())
    stated["release"]["sha256"] = file_digest(path)
    guarantee.write_text(json.dumps(stated))
    with pytest.raises(VerificationError):
        verify(guarantee, path)


def test_times_that_the_guarantee_denies_are_noticed(tmp_path: Path) -> None:
    path = package.anonymize({("b", "a"): 300}, OPTIMAL).write(tmp_path / "out.csv")
    guarantee = Path(f"{path}.guarantee.json")
    stated = json.loads(guarantee.read_text())
    stated["timestamps"], stated["release"]["timestamps"] = NO_TIMES, "none"
    guarantee.write_text(json.dumps(stated))
    with pytest.raises(VerificationError):
        verify(guarantee, path)


def test_a_guarantee_with_an_unknown_rule_for_timestamps_is_refused(tmp_path: Path) -> None:
    path = package.anonymize({("b", "a"): 300}, OPTIMAL).without_timestamps().write(tmp_path / "out.csv")
    guarantee = Path(f"{path}.guarantee.json")
    guarantee.write_text(guarantee.read_text().replace('"timestamps": "none"', '"timestamps": "real"'))
    with pytest.raises(VerificationError, match="timestamps is 'real'"):
        verify(guarantee, path)


def test_the_report_does_not_mention_artificial_times(tmp_path: Path) -> None:
    path = package.anonymize({("b", "a"): 300}, OPTIMAL).without_timestamps().write(tmp_path / "out.csv")
    html = package.write_report(f"{path}.guarantee.json", path, tmp_path / "report.html").read_text()
    assert "there are no timestamps" in html and "timestamps are artificial" not in html
    assert "estimated frequencies, canonical order, no timestamps" in html


def test_other_kinds_and_other_words_are_refused(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    ran = travas("anonymize", small_csv, *PARAMETERS, "--timestamps", "real", "-o", tmp_path / "out.csv")
    assert ran.code == 2 and "--timestamps" in ran.err and "artificial, none" in ran.err
    with pytest.raises(ParameterError, match="only variants") as caught:
        Request({("b", "a"): 300}, package.Synthesis(epsilon=1, delta="1e-6"), timestamps="none")
    assert caught.value.field == "timestamps"
