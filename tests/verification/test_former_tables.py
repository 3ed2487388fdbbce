"""A recorded description never changes its meaning: guarantee files and charges from before a table for all counts."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from travas import ParameterError, PrivacyUnit, Standing, Variants, anonymize, from_description, verify
from travas.errors import VerificationError
from travas.mechanisms import mechanism
from travas.mechanisms.optimal import Optimal
from travas.mechanisms.selection import PartitionSelection
from travas.search.person_tables import GaussianTable

PATIENT = PrivacyUnit("patient", 10)
TABLE = {"table": "gaussian", "sigma": "13.515625", "threshold": 73}
DESCRIPTION = {
    "mechanism": "optimal", "epsilon": "1", "delta": "1e-6", "unit": {"name": "patient", "max_cases": 10}, "minimum_cases": 1,
}  # fmt: skip

FORMER = """{
  "format": "travas guarantee",
  "version": 1,
  "software": "travas 0.1.1.dev215+g9fd6e6205",
  "standing": "proven",
  "epsilon": "1",
  "delta": "1e-6",
  "delta_spent": "1e-6",
  "unit": {"name": "patient", "max_cases": 10, "counted": "units", "step_epsilon": "0.1", "step_delta": "1e-7"},
  "neighbours": "add or remove all cases of one patient",
  "replace_one": {"epsilon": "2", "delta": "2e-6"},
  "mechanism": "optimal",
  "parameters": {"minimum_cases": 1, "table_length": 264, "table_bits": 128, "centre": 132},
  "assumed_public": [
    "the form of the file and the names of its columns",
    "the rule from events to variants (columns, order, ties, missing values, abstraction), fixed without looking at the log",
    "the column 'patient' tells whose a case is: one patient has one value there",
    "of the cases of one patient at most 10 count: fixed without looking at the log"
  ],
  "timestamps": "artificial: only their order within a case means anything",
  "release": {
    "format": "json",
    "frequencies": "estimated",
    "abstractions": [[]],
    "sha256": "910359e1e9ef33dfe67054c98502bdb27d08e84e4c87d8817ac284ced1a9d84e"
  }
}
"""  # written by commit a57bd20

OF_TRAVAS = {
    "mechanism": "travas",
    "delta_spent": "9.2453191072707224731e-7",
    "parameters": {"minimum_cases": 1, "table_length": 265, "table_bits": 128, "centre": 133, "threshold": 132},
}


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object) -> None:
        raise AssertionError("a recorded table is used as it is")

    monkeypatch.setattr("travas.mechanisms.selection.joint_noise", searched)


@pytest.mark.parametrize("changed", [{}, OF_TRAVAS])
@pytest.mark.parametrize("version", [1, 2])
def test_files_from_before_still_verify(version: int, changed: dict[str, Any], tmp_path: Path, no_search: None) -> None:
    stated = json.loads(FORMER) | changed
    if version == 2:
        described = DESCRIPTION | {"mechanism": stated["mechanism"]}
        stated |= {"version": 2, "description": described, "reading": None}
    path = tmp_path / "out.json.guarantee.json"
    path.write_text(json.dumps(stated))
    rebuilt = verify(path).mechanism
    assert isinstance(rebuilt, PartitionSelection) and rebuilt.person_table == "composed"
    assert rebuilt.guarantee().standing is Standing.PROVEN
    assert "person_table" not in rebuilt.describe()
    path.write_text(json.dumps(stated | {"standing": "verified"}))
    with pytest.raises(VerificationError, match="standing is not what"):
        verify(path)


def written(folder: Path) -> tuple[Path, dict[str, Any]]:
    log = dataclasses.replace(Variants.from_mapping({("a",): 500}), unit=PATIENT, counted="units")
    path = anonymize(log, epsilon=1, delta="1e-6").write(folder / "out.json")
    guarantee = folder / f"{path.name}.guarantee.json"
    return guarantee, json.loads(guarantee.read_text())


def test_the_recorded_table_is_verified_and_not_searched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guarantee, stated = written(tmp_path)
    assert stated["description"] == DESCRIPTION | {"person_table": TABLE}
    monkeypatch.setattr("travas.mechanisms.selection.joint_noise", lambda *_: None)
    rebuilt = verify(guarantee, tmp_path / "out.json").mechanism
    assert isinstance(rebuilt, PartitionSelection) and rebuilt.person_table == GaussianTable(Fraction("13.515625"), 73)


def test_what_another_machine_chose_verifies_if_it_keeps_the_guarantee(tmp_path: Path, no_search: None) -> None:
    """A neighbour on the grid of σ, or a longer table: any table within (ε, δ) is as good a guarantee."""
    for table in (TABLE | {"sigma": "13.53125", "threshold": 74}, TABLE | {"threshold": 75}):
        rule = from_description(DESCRIPTION | {"person_table": table})
        log = dataclasses.replace(Variants.from_mapping({("a",): 500}), unit=PATIENT, counted="units")
        path = anonymize(log, rule).write(tmp_path / f"{table['threshold']}.json")
        assert verify(f"{path}.guarantee.json", path).mechanism == rule


@pytest.mark.parametrize("wrong", [{"sigma": "13.2"}, {"threshold": 72}])
def test_a_recorded_table_beyond_the_guarantee_is_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    guarantee, stated = written(tmp_path)
    stated["description"]["person_table"] |= wrong
    stated["unit"] |= wrong
    guarantee.write_text(json.dumps(stated))
    with pytest.raises(VerificationError, match=r"guarantee\.json: the noise table spends delta .*more than the 1e-6"):
        verify(guarantee)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("joint", "must be 'composed' or a table"),
        (7, "must be 'composed' or a table"),
        ({}, "not the description of a table"),
        (TABLE | {"table": "laplace"}, "not the description of a table"),
        (TABLE | {"more": 1}, "not the description of a table"),
        (TABLE | {"sigma": "0"}, "sigma is '0'"),
        (TABLE | {"sigma": "1e300"}, "it must be from 0.1 to"),
        (TABLE | {"sigma": []}, "sigma is a list"),
        (TABLE | {"threshold": 10**12}, "threshold is 1000000000000"),
        (TABLE | {"threshold": 73.0}, "threshold is 73.0"),
    ],
)
def test_tables_that_make_no_sense_are_refused(table: Any, why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        from_description(DESCRIPTION | {"person_table": table})


def test_a_description_is_the_mechanism_with_its_table() -> None:
    for chosen in (mechanism("travas", 1, "1e-6", unit=PATIENT), Optimal(1, "1e-6", unit=PATIENT)):
        described = json.loads(json.dumps(chosen.describe()))
        assert described["person_table"] == TABLE
        assert from_description(described) == chosen and from_description(described).describe() == described
    composed = Optimal(Fraction(1), Fraction(1, 10**6), unit=PATIENT, person_table="composed")
    assert from_description(composed.describe()) == composed == from_description(DESCRIPTION)
    assert composed.guarantee().standing is Standing.PROVEN


def test_what_the_user_writes_now_gets_the_table_that_keeps_more() -> None:
    chosen = from_description(DESCRIPTION, missing="default")
    assert chosen.describe() == DESCRIPTION | {"person_table": TABLE}
    assert mechanism("optimal", 1, "1e-6").protecting(PATIENT) == chosen


def test_a_table_for_persons_needs_a_unit() -> None:
    with pytest.raises(ParameterError, match="the unit has one count"):
        Optimal(Fraction(1), Fraction(1, 10**6), person_table="composed")
