"""Every engine counts the same of every person as a plain twin, and refuses the same."""

from __future__ import annotations

from pathlib import Path

import attrs
import polars as pl
import pytest
from compared_engines import MOST, Engine, each_log
from engine_twins import PERSON, PERSONS, persons_twin

from travas import Log, LogError, PrivacyUnit, Reading
from travas.trusted.guarantee import Counted


@pytest.mark.parametrize("counted", ["units", "cases"])
@pytest.mark.parametrize(("engine", "name"), each_log(PERSONS, ()))
def test_every_engine_counts_the_same_of_every_person(
    engine: Engine, counted: Counted, name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame, reading = PERSONS[name]
    for most in (1, 3):
        reading = attrs.evolve(reading, max_cases=most, counted=counted)
        place = tmp_path / str(most)
        place.mkdir()
        found = engine(frame, reading, place, request)
        assert dict(found.items()) == persons_twin(frame, reading)
        assert (found.unit, found.counted) == (PrivacyUnit(str(reading.unit), most), counted)


@pytest.mark.parametrize("engine", MOST)
def test_every_engine_refuses_cases_without_a_unit_or_with_two(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame, dropping = PERSONS["missing"]
    whole = frame.filter(pl.col("case_id").is_not_null(), pl.col("activity") != "")
    places = iter(tmp_path / str(number) for number in range(9))

    def run(events: pl.DataFrame, reading: Reading) -> Log:
        place = next(places)
        place.mkdir()
        return engine(events, reading, place, request)

    nobody = r"2 cases without the unit 'patient', the first at case '2'; .*set on_missing to 'drop' \[confidential"
    with pytest.raises(LogError, match=nobody):
        run(whole, PERSON)
    found = run(whole, dropping)
    assert dict(found.items()) == {("a",): 1}
    assert found.notes == ("2 cases without the unit 'patient' were left out",)
    nobody_at_all = run(whole.with_columns(pl.lit("").alias("patient")), dropping)
    assert not len(nobody_at_all)
    assert nobody_at_all.notes == ("3 cases without the unit 'patient' were left out",)
    two = whole.with_columns(
        pl.when(pl.col("activity") == "b").then(pl.lit("q")).otherwise(pl.lit("p")).alias("patient")
    )
    for reading in (PERSON, dropping):
        with pytest.raises(
            LogError, match=r"the case '2' has several values of the unit 'patient'.*\[confidential"
        ) as error:
            run(two, reading)
        assert "\n" not in str(error.value)
    with pytest.raises(LogError, match=r"no column 'patnt' for the unit; did you mean 'patient'.*\[confidential"):
        run(whole, attrs.evolve(PERSON, unit="patnt"))
