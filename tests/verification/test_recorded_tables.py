"""The table for all counts of a person is recorded, verified and used as it is."""

import dataclasses
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from travas import Log, PrivacyUnit, Standing, anonymize, from_description, verify
from travas.errors import VerificationError
from travas.mechanisms import mechanism
from travas.mechanisms.selection import Optimal, PartitionSelection
from travas.search.person_tables import GaussianTable

PATIENT = PrivacyUnit("patient", 10)
TABLE = {"sigma": "13.515625", "threshold": 73}
DESCRIPTION = {
    "mechanism": "optimal", "epsilon": "1", "delta": "1e-6", "unit": {"name": "patient", "max_cases": 10}, "minimum_cases": 1,
}  # fmt: skip


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object) -> None:
        raise AssertionError("a recorded table is used as it is")

    monkeypatch.setattr("travas.mechanisms.selection.joint_table", searched)


def written(folder: Path) -> tuple[Path, dict[str, Any]]:
    log = dataclasses.replace(Log.from_mapping({("a",): 500}), unit=PATIENT, counted="units")
    path = anonymize(log, epsilon=1, delta="1e-6").write(folder / "out.json")
    guarantee = folder / f"{path.name}.guarantee.json"
    return guarantee, json.loads(guarantee.read_text())


def test_the_recorded_table_is_verified_and_not_searched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guarantee, stated = written(tmp_path)
    assert stated["description"] == DESCRIPTION | {"person_table": TABLE}
    monkeypatch.setattr("travas.mechanisms.selection.joint_table", lambda *_: None)
    rebuilt = verify(guarantee, tmp_path / "out.json").mechanism
    assert isinstance(rebuilt, PartitionSelection) and rebuilt.person_table == GaussianTable(Fraction("13.515625"), 73)


def test_what_another_machine_chose_verifies_if_it_keeps_the_guarantee(tmp_path: Path, no_search: None) -> None:
    """A neighbour on the grid of σ, or a longer table: any table within (ε, δ) is as good a guarantee."""
    for table in (TABLE | {"sigma": "13.53125", "threshold": 74}, TABLE | {"threshold": 75}):
        rule = from_description(DESCRIPTION | {"person_table": table})
        log = dataclasses.replace(Log.from_mapping({("a",): 500}), unit=PATIENT, counted="units")
        path = anonymize(log, rule).write(tmp_path / f"{table['threshold']}.json")
        assert verify(f"{path}.guarantee.json", path).mechanism == rule


@pytest.mark.parametrize("wrong", [{"sigma": "13.2"}, {"threshold": 72}])
def test_a_recorded_table_beyond_the_guarantee_is_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    guarantee, stated = written(tmp_path)
    stated["description"]["person_table"] |= wrong
    guarantee.write_text(json.dumps(stated))
    with pytest.raises(VerificationError, match=r"guarantee\.json: the noise table spends delta .*more than the 1e-6"):
        verify(guarantee)


def test_a_description_is_the_mechanism_with_its_table() -> None:
    for chosen in (mechanism("travas", 1, "1e-6", unit=PATIENT), Optimal(1, "1e-6", unit=PATIENT)):
        described = json.loads(json.dumps(chosen.describe()))
        assert described["person_table"] == TABLE
        assert from_description(described) == chosen and from_description(described).describe() == described
    composed = Optimal(Fraction(1), Fraction(1, 10**6), unit=PATIENT, person_table="composed")
    assert from_description(composed.describe()) == composed
    assert composed.guarantee().standing is Standing.PROVEN
