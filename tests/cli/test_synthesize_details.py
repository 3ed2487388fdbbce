"""`travas synthesize` with times and attributes: options, what is said, and what is refused before the charge."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from conftest import Run
from timed_log import timed_frame
from travas import Ledger
from travas.verification.opened import open_synthetic

PARAMETERS = ("--epsilon", 1, "--delta", "1e-6")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    timed_frame(400).write_csv(path)
    return path


def test_times_and_attributes_are_written_and_reported(log: Path, tmp_path: Path, travas: Run) -> None:
    output = tmp_path / "s.parquet"
    options = (
        "--attributes",
        "sex",
        "--attributes",
        "age=0,30,60",
        "--zone",
        "Europe/Berlin",
        "--resolution",
        "minute",
    )
    ran = travas("synthesize", log, *PARAMETERS, *options, "-o", output)
    words = " ".join(ran.out.split())
    assert (ran.code, ran.err) == (0, "")
    assert "65% control flow, 25% times, 10% attributes" in words and "the median case lasts" in words
    assert "measured pairs have their own durations" in words and "attribute sex" in words
    frame = pl.read_parquet(output)
    assert frame.schema["time:timestamp"] == pl.Datetime("us", "Europe/Berlin") and frame.schema["case:age"] == pl.Int64
    assert (frame["time:timestamp"].dt.second() == 0).all()


def test_times_can_be_left_out(log: Path, tmp_path: Path, travas: Run) -> None:
    options = ("--attributes", "sex", "--shares", "times=0.3,attributes=0.2")
    words = " ".join(travas("synthesize", log, *PARAMETERS, *options, "-o", tmp_path / "s.json").out.split())
    assert "50% control flow, 30% times, 20% attributes" in words
    assert open_synthetic(tmp_path / "s.json").event_times is not None
    assert travas("synthesize", log, *PARAMETERS, "--times", "none", "-o", tmp_path / "none.json").code == 0
    assert open_synthetic(tmp_path / "none.json").event_times is None


def test_a_release_is_generated_again_with_times(log: Path, tmp_path: Path, travas: Run) -> None:
    travas("synthesize", log, *PARAMETERS, "--attributes", "sex", "-o", tmp_path / "s.json")
    ran = travas("synthesize", "--from", tmp_path / "s.json", "--cases", 20, "-o", tmp_path / "more.parquet")
    frame = pl.read_parquet(tmp_path / "more.parquet")
    assert ran.code == 0 and frame["case:concept:name"].n_unique() == 20 and "case:sex" in frame.columns
    assert all(year >= 2015 for year in frame["time:timestamp"].dt.year())
    ran = travas("synthesize", "--from", tmp_path / "s.json", "--zone", "UTC", "-o", tmp_path / "other.parquet")
    assert ran.code != 0 and "remove zone" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--attributes", "height"), "no column 'height' for the attribute"),
        (("--attributes", "age=3,2"), "increasing"),
        (("--attributes", "age=1", "--attributes", "age=2"), "once"),
        (("--zone", "Nowhere/Land"), "not a time zone"),
        (("--resolution", "week"), "resolution is 'week'"),
        (("--times", "traces"), "(option --times)"),
        (("--times", "none", "--zone", "UTC"), "times are left out"),
        (("--shares", "times=2"), "below 1"),
    ],
)
def test_bad_options_are_refused_before_the_charge(
    log: Path, tmp_path: Path, travas: Run, ledger_path: Path, options: tuple[str, ...], message: str
) -> None:
    ran = travas("synthesize", log, *PARAMETERS, *options, "-o", tmp_path / "s.csv")
    assert ran.code != 0 and message in " ".join(ran.err.split()) and not (tmp_path / "s.csv").exists()
    assert not ledger_path.exists() or not Ledger(ledger_path).history()


def test_times_that_are_asked_for_must_be_there(tmp_path: Path, travas: Run, ledger_path: Path) -> None:
    path = tmp_path / "untimed.csv"
    timed_frame(50).drop("timestamp").write_csv(path)
    ran = travas("synthesize", path, *PARAMETERS, "--order", "file", "--zone", "UTC", "-o", tmp_path / "s.csv")
    assert ran.code != 0 and "timestamp" in ran.err and (not ledger_path.exists() or not Ledger(ledger_path).history())
    ran = travas("synthesize", path, *PARAMETERS, "--order", "file", "-o", tmp_path / "s.csv")
    assert ran.code == 0 and (tmp_path / "s.csv").exists()


def test_an_xes_log_without_timestamps_names_the_option(tmp_path: Path, travas: Run, ledger_path: Path) -> None:
    path = tmp_path / "untimed.xes"
    event = '<event><string key="concept:name" value="a"/></event>'
    path.write_text(f'<log><trace><string key="concept:name" value="1"/>{event}</trace></log>')
    ran = travas("synthesize", path, *PARAMETERS, "-o", tmp_path / "s.json")
    assert ran.code != 0 and "--times)" in ran.err
    assert not ledger_path.exists() or not Ledger(ledger_path).history()
    ran = travas("synthesize", path, *PARAMETERS, "--times", "none", "-o", tmp_path / "s.json")
    assert ran.code == 0 and (tmp_path / "s.json").exists()
