"""A process map measures the same integers whichever engine reads the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from test_engines import Engine, csv, duckdb, parquet

from timed_log import timed_frame
from travas import Reading, mechanism
from travas.maps.map_measurements import MapMeasurements
from travas.mechanisms.process_map import ProcessMap
from travas.model.totals import Details

FRAME = timed_frame(300).select("case_id", "activity", "timestamp")
ENGINES = (parquet, csv, duckdb)


def measured(engine: Engine, folder: Path, request: pytest.FixtureRequest) -> MapMeasurements:
    """The measurements without noise: the sums themselves."""
    rule = mechanism("map", 4, "1e-3", parts=["durations", "rework", "throughput"])
    assert isinstance(rule, ProcessMap)
    folder.mkdir()
    log = engine(FRAME, Reading(details=Details("read")), folder, request)

    def sums(_: ProcessMap, values: Any, *__: Any) -> Any:
        return values

    with patch.object(ProcessMap, "_noisy", sums):
        return rule.measure(log)


def test_sums_are_the_same_integers(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    first, *others = (measured(engine, tmp_path / engine.__name__, request).as_json() for engine in ENGINES)
    assert all(other == first for other in others)
    assert all(_some(first[name]) for name in ("sizes", "pairs", "rework", "durations", "throughput"))


def _some(value: Any) -> bool:
    """Whether there is a number other than 0 in nested lists."""
    return any(map(_some, value)) if isinstance(value, list) else bool(value)
