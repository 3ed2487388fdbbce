"""Case attributes of synthetic logs: values, bins, missing values and last activities."""

from functools import lru_cache

import numpy as np
import pytest

from timed_log import timed_frame
from travas import Attribute, Synthesis, SyntheticRelease, read
from travas.log.options import OTHER, CaseColumn
from travas.log.questions import DetailColumn, Details
from travas.mechanisms.mechanism import with_random_bytes
from travas.sources.reading import Reading
from travas.trusted.samplers import Seeded

AGE = Attribute("age", bins=[0, 20, 40, 60, 80])
READING = Reading(details=Details(columns=(DetailColumn("sex"), DetailColumn("age", "number"))))


@lru_cache
def release(epsilon: int = 2, seed: int = 1) -> SyntheticRelease:
    log = read(timed_frame(), READING)
    rule = with_random_bytes(Synthesis(epsilon, "1e-6", attributes=["sex", AGE]), Seeded(seed))
    made = rule.release(log)
    assert isinstance(made, SyntheticRelease)
    return made


def column(made: SyntheticRelease, name: str) -> CaseColumn:
    return next(column for column in made.case_columns if column.attribute == name)


def last(made: SyntheticRelease) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    return np.repeat([str(trace[-1]) for trace in made.variants], made.counts)


def test_values_follow_the_last_activity() -> None:
    made = release()
    sex, outcome = column(made, "sex"), last(made)
    texts = np.array([*sex.texts, None])[sex.values]
    assert sex.texts == ("f", "m", OTHER) and made.measurements.attributes[0].is_by_last
    of_release = texts[outcome == "release"]
    assert np.mean(of_release == "f") > 0.8 and np.mean(texts[outcome == "transfer"] == "m") > 0.7
    assert np.mean(sex.missing) == pytest.approx(0.1, abs=0.05)


def test_numbers_lie_in_their_bins_and_are_whole() -> None:
    age = column(release(), "age")
    values = age.values[~age.missing]
    assert age.kind == "whole number" and values.dtype == np.int64
    shares = np.histogram(values, [-1, 0, 20, 40, 60, 80, 200])[0] / len(values)
    assert shares == pytest.approx([0, 0, 0.35, 0.35, 0.2, 0.1], abs=0.06)


def test_numbers_beyond_64_bits_are_floats() -> None:
    log = read(timed_frame(), Reading(details=Details(columns=(DetailColumn("age", "number"),))))
    rule = with_random_bytes(Synthesis(4, "1e-6", attributes=[Attribute("age", bins=[0, 50, "1e30"])]), Seeded(1))
    made = rule.release(log)
    age = column(made, "age")
    assert age.kind == "number" and (age.values >= -1).all() and (age.values <= 1e30).all()


def test_edges_with_decimals_give_decimals() -> None:
    log = read(timed_frame(), Reading(details=Details(columns=(DetailColumn("age", "number"),))))
    rule = with_random_bytes(Synthesis(4, "1e-6", attributes=[Attribute("age", bins=["0.5", 50, 70])]), Seeded(1))
    made = rule.release(log)
    age = column(made, "age")
    assert age.kind == "number" and np.mean((age.values >= 50) & (age.values < 70)) > 0.2
    assert age.values.max() == 70  # the last bin is open: its edge stands for it


def test_an_attribute_that_identifies_cases_is_released_as_other() -> None:
    frame = timed_frame(500)
    log = read(frame.with_columns(number=frame["case_id"]), Reading(details=Details(columns=(DetailColumn("number"),))))
    made = with_random_bytes(Synthesis(1, "1e-6", attributes=["number"]), Seeded(1)).release(log)
    values = column(made, "number")
    assert values.texts == (OTHER,) and made.measurements.attributes[0].values == ()


def test_with_few_cases_an_attribute_is_measured_twice_alone() -> None:
    log = read(timed_frame(100), READING)
    made = with_random_bytes(Synthesis(1, "1e-6", attributes=["sex", AGE]), Seeded(1)).release(log)
    assert isinstance(made, SyntheticRelease)
    assert [part.is_by_last for part in made.measurements.attributes] == [False, False]


def test_quality_has_an_interval_for_every_value() -> None:
    rows = {(row.attribute, row.value): row.cases for row in release().quality().attributes}
    assert rows["sex", "f"].low < 2520 < rows["sex", "f"].high and rows["sex", None].low < 400 < rows["sex", None].high
    assert {value for name, value in rows if name == "age"} == {
        "below 0", "0 to 20", "20 to 40", "40 to 60", "60 to 80", "from 80", None,
    }  # fmt: skip


def test_public_values_and_bins_may_be_stated_as_text() -> None:
    stated = Synthesis(1, "1e-6", attributes=["sex=f|m", "age=0,20,40"]).attributes
    assert stated == (Attribute("sex", values=["f", "m"]), Attribute("age", bins=[0, 20, 40]))
