"""A process map measures the same integers whichever engine reads the log."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from compared_engines import Engine, csv, duckdb, parquet, postgres, spark

from timed_log import timed_frame
from travas import Reading
from travas.log.plain import plain
from travas.log.questions import Details
from travas.mechanisms import mechanism
from travas.mechanisms.process_map import ProcessMap
from travas.releases.map_numbers import MapMeasurements

FRAME = timed_frame(300).select("case_id", "activity", "timestamp")
ENGINES = (csv, duckdb, postgres, pytest.param(spark, marks=pytest.mark.slow))


def measured(engine: Engine, folder: Path, request: pytest.FixtureRequest) -> MapMeasurements:
    """The measurements without noise: the sums themselves."""
    rule = mechanism("map", 4, "1e-3", parts=["durations", "rework", "throughput"])
    assert isinstance(rule, ProcessMap)
    folder.mkdir()
    log = engine(FRAME, Reading(details=Details("read")), folder, request)

    def sums(_: str, values: Any, *__: Any) -> Any:
        return values

    with patch.object(ProcessMap, "_draws", lambda _: SimpleNamespace(noisy=sums)):
        return rule.measure(log)


@pytest.mark.parametrize("engine", ENGINES)
def test_sums_are_the_same_integers_as_those_of_a_file(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    expected = plain(measured(parquet, tmp_path / "file", request))
    assert plain(measured(engine, tmp_path / "engine", request)) == expected
    assert all(_some(expected[name]) for name in ("sizes", "pairs", "rework", "durations", "throughput"))


def _some(value: Any) -> bool:
    """Whether there is a number other than 0 in nested lists."""
    return any(map(_some, value)) if isinstance(value, list) else bool(value)
