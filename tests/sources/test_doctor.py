"""The doctor says everything at once, and its command line reads the log right."""

import io
import json
import shlex
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
import pandas as pd
import polars as pl
import pytest
from odd_files import EXPECTED, ODD_FILES, OddFile, events, main, xes

from conftest import Run
from travas import LogError, ParameterError, Reading, doctor, read
from travas.sources.doctor.diagnosis import PROPOSED, LogDiagnosis


def readings(diagnosis: LogDiagnosis) -> list[Reading]:
    """The proposed reading; with a choice, one for each of its values."""
    choices: list[dict[str, Any]] = [{name: v} for name, values in diagnosis.choices.items() for v in values]
    return [attrs.evolve(diagnosis.reading, **chosen) for chosen in choices or [{}]]


@pytest.mark.parametrize("odd", ODD_FILES, ids=lambda odd: odd.name)
def test_the_doctor_reads_odd_files_right(odd: OddFile, tmp_path: Path) -> None:
    odd.make(tmp_path / odd.name)
    diagnosis = doctor(tmp_path / odd.name)
    said = " ".join(f"{finding.topic} {finding.text}" for finding in diagnosis.findings)
    assert [words for words in odd.says if words not in said] == []
    assert len(readings(diagnosis)) == odd.readings
    settings: dict[str, Any] = dict(odd.extra)
    found = [
        dict(read(tmp_path / odd.name, attrs.evolve(reading, **settings)).items()) for reading in readings(diagnosis)
    ]
    assert EXPECTED in found


@pytest.mark.parametrize("source", ["spark:", "spark:events", "-"])
def test_the_doctor_says_what_it_does_not_read(source: str) -> None:
    with pytest.raises(ParameterError, match="not Spark or standard input"):
        doctor(source)


def test_the_command_line_is_what_the_doctor_proposes(tmp_path: Path, travas: Run) -> None:
    """As a user would: copy the line and run it."""
    odd = ODD_FILES[0]
    odd.make(tmp_path / odd.name)
    [line] = json.loads(travas("doctor", tmp_path / odd.name, "--json").out)["command_lines"]
    command = line.replace("EPSILON", "1").replace("DELTA", "1e-3").replace("OUT", shlex.quote(f"{tmp_path}/out.json"))
    assert travas(*shlex.split(command)[1:]).code == 0
    for made in tmp_path.glob("out.json*"):
        made.unlink()
    shown = travas("doctor", tmp_path / odd.name).out
    assert "CONFIDENTIAL" in shown and line in shown and "max_cases" in shown
    assert [path.name for path in tmp_path.iterdir()] == [odd.name]


BAD = """Fall;Schritt;schritt 2;Zeit;Patient;Lebenszyklus
1;Aufnahme;x;2024-02-03 08:00;p1;start
1;aufnahme;x;2024-02-03 08:00;p1;complete
1;Aufnahme;x;2024-02-03 07:00;p1;complete
1;Aufnahme;x;2024-02-03 07:00;p1;complete
2;Ende ;;2024-02-04T08:00+01:00;p1;complete
;Ende;x;2024-02-03 09:00;p2;complete
3;Ende;x;never;p2;complete
"""


def test_all_findings_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(BAD + "".join(f"4;Ende;x;2024-02-05 09:{n};p3;complete\n" for n in range(10, 20)))
    found = doctor(tmp_path / "log.csv")
    said = {(finding.topic, finding.level) for finding in found.findings}
    for expected in (
        ("format", "fact"), ("encoding", "fact"), ("delimiter", "fact"), ("case", "fact"), ("activity", "fact"),
        ("time", "problem"), ("time zone", "problem"), ("missing", "choice"), ("lifecycle", "choice"),
        ("spelling", "choice"), ("persons", "choice"),
    ):  # fmt: skip
        assert expected in said, expected
    words = " ".join(finding.text for finding in found.findings)
    assert "'never'" in words and "at most" not in words and "'Aufnahme' (3) and 'aufnahme' (1)" in words
    fixed = (tmp_path / "log.csv").read_text().replace("never", "2024-02-03 10:00").replace("T08:00+01:00", " 08:00")
    (tmp_path / "log.csv").write_text(fixed)
    found = doctor(tmp_path / "log.csv")
    said = {(finding.topic, finding.level) for finding in found.findings}
    assert {("duplicates", "choice"), ("ties", "choice"), ("order", "fact")} <= said and ("time", "problem") not in said


def test_nothing_that_decides_about_privacy_is_proposed(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(BAD)
    reading = doctor(tmp_path / "log.csv").reading
    assert (reading.unit, reading.max_cases, reading.duplicate_events) == (None, None, "keep")
    assert not {"unit", "max_cases", "abstraction", "counted", "duplicate_events"} & set(PROPOSED)


def test_traces_of_one_name_are_a_choice(tmp_path: Path) -> None:
    (tmp_path / "log.xes").write_text(xes(names=lambda _: "same"))
    found = doctor(tmp_path / "log.xes")
    assert [reading.duplicate_cases for reading in readings(found)] == ["merge", "separate"]
    assert [sum(read(tmp_path / "log.xes", reading).counts) for reading in readings(found)] == [1, 4]


def test_frames_are_examined() -> None:
    rows = pl.DataFrame(events(), schema=["_CASE_KEY", "ACTIVITY_DE", "EVENTTIME"], orient="row")
    found = doctor(rows)
    assert not found.problems and dict(read(rows, found.reading).items()) == EXPECTED
    mixed = pd.DataFrame(
        {"case": ["1", 2], "activity": ["a", "b"], "timestamp": ["2024-01-01", "2024-01-02"]}, dtype=object
    )
    assert [problem.topic for problem in doctor(mixed).problems] == ["types"]
    with pytest.raises(LogError, match="a list is not a table"):
        doctor([1])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["start", "complete", "schedule"], 1),
        (["Start", "Complete", None], 1),
        (["complete", "complete", "complete"], 0),
        (["start", "complete", "fever"], 0),
    ],
)
def test_starts_and_completions_are_noticed_whatever_the_column_is_called(values: list[str | None], said: int) -> None:
    times = [datetime(2024, 1, 1)] * 3
    table = {"Fall": ["1", "1", "2"], "Aktivität": ["a", "a", "b"], "Zeit": times, "Status": values}
    found = [each for each in doctor(pl.DataFrame(table)).findings if each.topic == "lifecycle"]
    assert len(found) == said and all("set where to 'Status=" in each.text for each in found)


def test_the_documentation_shows_what_the_doctor_proposes() -> None:
    out = io.StringIO()
    main(out)
    assert out.getvalue() in (Path(__file__).parents[2] / "docs" / "doctor.md").read_text(encoding="utf-8")


def test_a_log_without_events_has_no_problem(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("case_id,activity,timestamp\n")
    assert not doctor(tmp_path / "empty.csv").problems
