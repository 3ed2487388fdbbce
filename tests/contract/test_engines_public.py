"""Every engine gives the same for public logs."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from compared_engines import ALL, FILES, Engine, folder, parquet
from engine_twins import DEFAULT
from lxml import etree

from conftest import DATA
from travas import Reading, read


def events_of(path: Path) -> pl.DataFrame:
    """The events of a public log as a typed table."""
    if path.name.endswith(".csv.gz"):
        table = pl.read_csv(gzip.decompress(path.read_bytes()), infer_schema=False)
        return table.select("case_id", "activity", pl.col("timestamp").str.to_datetime(time_unit="us"))
    return pl.DataFrame(
        rows_of(path), schema={"case_id": pl.String, "activity": pl.String, "timestamp": pl.String}, orient="row"
    ).with_columns(pl.col("timestamp").str.to_datetime(time_unit="us", time_zone="UTC"))


def rows_of(path: Path) -> Iterator[tuple[str, ...]]:
    with gzip.open(path) as stream:
        for _, trace in etree.iterparse(stream, tag="{*}trace", huge_tree=True):
            case = value(trace, "concept:name")
            for event in trace.iterchildren("{*}event"):
                yield case, value(event, "concept:name"), value(event, "time:timestamp")
            trace.clear()


def value(element: Any, key: str) -> str:
    return str(next(child.get("value") for child in element if child.get("key") == key))


SMALL = ("bpic2013-closed-problems.xes.gz", "sepsis.xes.gz")
PUBLIC = sorted(path.name for path in DATA.glob("*.gz")) if DATA.is_dir() else []


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        pytest.param(engine, name, marks=[] if name in SMALL and engine in FILES else [pytest.mark.slow])
        for engine in (parquet, folder, *ALL[len(FILES) :])
        for name in PUBLIC
    ],
)
def test_every_engine_gives_the_same_for_a_public_log(
    engine: Engine, name: str, data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    expected = read(data / name, Reading(order="time", ties="activity"))
    found = engine(events_of(data / name), DEFAULT, tmp_path, request)
    assert dict(found.items()) == dict(expected.items())
