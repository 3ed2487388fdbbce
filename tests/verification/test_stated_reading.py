"""The guarantee file says what a case is, and how events became variants."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from travas import BudgetError, Ledger, LogError, Optimal, ParameterError, Period, Reading, anonymize, compare, verify
from travas.errors import VerificationError
from travas.log.log import Roles
from travas.sources.reading import QUERY_USED

ROLES = Roles("visit", ("activity",), "timestamp")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """300 visits of 100 patients."""
    path = tmp_path / "visits.csv"
    rows = [f"v{n},p{n % 100},{name},2020-01-01T00:00:0{step}" for n in range(300) for step, name in enumerate("ab")]
    path.write_text("visit,patient,activity,timestamp\n" + "\n".join(rows) + "\n")
    return path


def stated(visits: Path, reading: Reading, name: str = "release.json") -> tuple[Path, dict[str, Any]]:
    path = anonymize(visits, Optimal(1, "1e-6"), reading=reading).write(visits.parent / name)
    return path, json.loads(Path(f"{path}.guarantee.json").read_text())


def test_the_columns_that_were_recognised_are_stated(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("case_id,Activity,timestamp\n1,a,2025-01-01\n")
    _, content = stated(log, Reading())
    assert content["reading"]["columns"] == {"case": "case_id", "activities": ["Activity"], "timestamp": "timestamp"}
    assert content["reading"]["case"] is None
    log.with_suffix(".xes").write_text(
        '<log><trace><string key="concept:name" value="1"/><event><string key="concept:name" value="a"/></event></trace></log>'
    )
    _, content = stated(log.with_suffix(".xes"), Reading(), "of-xes.json")
    assert content["reading"]["columns"] == {"case": "concept:name", "activities": ["concept:name"], "timestamp": None}


def test_a_recognised_case_column_is_part_of_the_account(visits: Path, tmp_path: Path) -> None:
    """The case was recognised in one release and set in the next: the ledger compares what was read."""
    log, ledger = tmp_path / "log.csv", Ledger(tmp_path / "ledger.db")
    log.write_text(visits.read_text().replace("visit,", "case_id,", 1))
    for reading in (Reading(), Reading(case="case_id")):
        anonymize(log, Optimal(1, "1e-6"), reading=reading, ledger=ledger)
    with pytest.raises(BudgetError, match="patient"):
        anonymize(log, Optimal(1, "1e-6"), reading=Reading(case="patient"), ledger=ledger)
    assert len(ledger.history()) == 2


@pytest.mark.parametrize(("used", "words"), [("period", "when the release was made"), ("query", "the log was read by")])
def test_the_assumption_of_a_period_and_of_a_query_cannot_be_left_out(visits: Path, used: str, words: str) -> None:
    reading = Reading(case="visit", period=Period("2020-01", end_activity=("b",), grace="7d"))
    path, content = stated(visits, reading)
    verify(f"{path}.guarantee.json", path)
    if used == "query":
        content["reading"]["query"] = QUERY_USED
    else:
        assert content["assumed_public"].pop() == content["release"].pop("assumptions")[0]
    Path(f"{path}.guarantee.json").write_text(json.dumps(content))
    with pytest.raises(VerificationError, match=f"does not state what its reading assumes: {words}"):
        verify(f"{path}.guarantee.json", path)


@pytest.mark.parametrize(
    "reading",
    [
        Reading(case="visit"),
        Reading(case="visit", activity=("activity", "patient"), timestamp="timestamp", ties="activity"),
        Reading(case="visit", unit="patient", max_cases=3, counted="units"),
        Reading(case="visit", order="file", on_missing="drop", duplicate_cases="merge", table="log"),
        Reading(case="visit", delimiter=";", quote="none", encoding="cp1252"),
    ],
)
def test_a_description_is_the_reading(reading: Reading) -> None:
    described = reading.describe(ROLES)
    assert json.loads(json.dumps(described)) == described
    assert Reading.from_description(described) == reading


def test_the_text_of_a_query_is_not_released() -> None:
    described = Reading(case="visit", query="SELECT * FROM events WHERE patient <> 'Anna'").describe(ROLES)
    assert "Anna" not in json.dumps(described) and described["query"]


@pytest.mark.parametrize(
    "change", [{"case": 5}, {"activity": "activity"}, {"secret": 1}, {"order": "random"}, {"columns": None}]
)
def test_a_reading_that_means_nothing_is_refused(visits: Path, change: dict[str, Any]) -> None:
    path, content = stated(visits, Reading(case="visit"))
    with pytest.raises(ParameterError):
        Reading.from_description(content["reading"] | change)
    guarantee = Path(f"{path}.guarantee.json")
    guarantee.write_text(json.dumps(content | {"reading": content["reading"] | change}))
    with pytest.raises((VerificationError, LogError), match=r"release\.json\.guarantee\.json"):
        verify(guarantee)


def test_compare_reads_the_original_as_it_was_read(visits: Path, travas: Run) -> None:
    path, _ = stated(visits, Reading(case="patient"))
    assert compare(visits, path, ["case_coverage"]).values == {"case_coverage": 1.0}
    ran = travas("compare", visits, path, "--metrics", "case_coverage", "--json")
    assert ran.code == 0 and json.loads(ran.out)["case_coverage"] == 1, ran.err
    ran = travas("compare", visits, path, "--case", "visit", "--metrics", "case_coverage", "--json")
    assert json.loads(ran.out)["case_coverage"] == 0  # a visit is a b, a patient a b a b a b


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_how_the_text_of_a_csv_is_read_is_stated_and_used(visits: Path, suffix: str) -> None:
    """Another quote or encoding gives other names. The released file is read in its own way."""
    visits.write_text(visits.read_text().replace(",", ";").replace(";b;", ";bä;"), encoding="cp1252")
    reading = Reading(case="visit", delimiter=";", encoding="cp1252")
    path, content = stated(visits, reading, f"release{suffix}")
    assert (content["reading"]["delimiter"], content["reading"]["encoding"]) == (";", "cp1252")
    assert content["reading"]["quote"] is None and verify(f"{path}.guarantee.json", path).digest_checked
    compared = compare(visits, path)
    assert compared.values["relative_log_similarity"] == pytest.approx(1) and not compared.remarks
