"""`travas compare` on synthetic logs with times and attributes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run
from timed_log import timed_frame
from travas import Attribute, Details, ParameterError, Reading, Times, read, synthesize
from travas.evaluation.detail_comparison import compare_details, with_details

AGE = Attribute("age", bins=[0, 20, 40, 60, 80])


def test_compare_says_how_far_times_and_attributes_are(tmp_path: Path, travas: Run) -> None:
    timed_frame(2000).write_csv(tmp_path / "log.csv")
    made = synthesize(
        tmp_path / "log.csv", epsilon=4, delta="1e-6", times=Times("Europe/Berlin"), attributes=["sex", AGE]
    )
    release = made.write(tmp_path / "s.json")
    ran = travas("compare", tmp_path / "log.csv", release, "--json")
    details = json.loads(ran.out)["details"]
    assert details["times"]["medians"] > 0.8 and details["times"]["throughput"] < 0.6
    assert details["times"]["weeks"] < 0.2 and details["times"]["hours"] < 0.1
    assert [row["attribute"] for row in details["attributes"]] == ["sex", "age"]
    assert all(row["alone"] < 0.1 and row["by_last"] < 0.2 for row in details["attributes"])
    words = " ".join(travas("compare", tmp_path / "log.csv", release).out.split())
    assert "doublings apart" in words and "median is within a factor of two" in words and "attribute sex" in words


def test_only_what_was_read_can_be_compared(tmp_path: Path) -> None:
    frame = timed_frame(200)
    made = synthesize(frame, epsilon=1, delta="1e-6", times=Times())
    with pytest.raises(ParameterError, match="without timestamps"):
        compare_details(read(frame), made)
    assert compare_details(read(frame, Reading(details=Details("read"))), made).times is not None
    assert with_details(made.write(tmp_path / "s.csv")) is None
    plain = synthesize(frame, epsilon=1, delta="1e-6", times=None)
    assert with_details(plain.write(tmp_path / "s.json")) is None
