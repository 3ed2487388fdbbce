"""`travas compare` on synthetic logs with times and attributes."""

from dataclasses import asdict
from pathlib import Path

import polars as pl
import pytest

from timed_log import timed_frame
from travas import Attribute, ParameterError, Reading, Times, compare, read, synthesize
from travas.evaluation.details import compare_details
from travas.log.questions import Details
from travas.releases.release import details_of
from travas.releases.synthetic_log import SyntheticRelease

AGE = Attribute("age", bins=[0, 20, 40, 60, 80])


@pytest.mark.parametrize("form", ["release", "json", "csv"])
def test_compare_in_python_also_has_times_and_attributes(form: str, tmp_path: Path) -> None:
    frame = timed_frame(300)
    made = synthesize(frame, epsilon=4, delta="1e-6", times=Times(), attributes=["sex"])
    log = read(frame, Reading(details=details_of(made.mechanism)))
    released = made if form == "release" else made.write(tmp_path / f"s.{form}")
    found = compare(frame, released)
    assert found.details == compare(log, released).details == compare_details(log, made)
    assert found.as_json()["details"] == asdict(compare_details(log, made))
    assert "throughput" in found.in_words() and ">throughput<" in found._repr_html_()
    without = compare(read(frame), released), compare(dict(log.items()), released)
    for less in (*without, compare(frame, released, ["fake_variants"])):
        assert less.details is None and less.in_words() == {}


def test_only_what_was_read_can_be_compared(tmp_path: Path) -> None:
    frame = timed_frame(200)
    made = synthesize(frame, epsilon=1, delta="1e-6", times=Times())
    with pytest.raises(ParameterError, match="without timestamps"):
        compare_details(read(frame), made)
    assert compare_details(read(frame, Reading(details=Details("read"))), made).times is not None
    alone = made.write(tmp_path / "s.csv")
    assert compare(frame, alone).details is not None
    Path(f"{alone}.guarantee.json").unlink()  # then it is a log like any other
    assert compare(frame, alone).details is None
    plain = synthesize(frame, epsilon=1, delta="1e-6", times=None)
    assert compare(frame, plain.write(tmp_path / "s.json")).details is None


AWKWARD = Attribute("case:we\\u{31}ght\x01", bins=[0, 50, 100])


@pytest.fixture(scope="module")
def released() -> tuple[pl.DataFrame, SyntheticRelease]:
    names = {"sex": AWKWARD.name.replace("ght", "x"), "age": AWKWARD.name}
    frame = timed_frame(1200).rename(names).with_columns(pl.col(names["sex"]).replace("f", "f\\u{31}\x02"))
    attributes: list[Attribute | str] = [names["sex"], AWKWARD]
    return frame, synthesize(frame, epsilon=8, delta="1e-4", times=Times("Asia/Kolkata"), attributes=attributes)


@pytest.mark.parametrize("suffix", [".csv", ".xes.gz", ".parquet"])
def test_every_format_has_the_same_distances(
    suffix: str, released: tuple[pl.DataFrame, SyntheticRelease], tmp_path: Path
) -> None:
    frame, made = released
    expected = compare_details(read(frame, Reading(details=details_of(made.mechanism))), made)
    assert compare(frame, made.write(tmp_path / f"s{suffix}")).details == expected
    assert expected.times is not None and (expected.times.throughput or 0) > 0 and expected.attributes[0].alone > 0
