"""The engines that are compared: each reads the same frame from where its data are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs
import polars as pl
import pytest

from travas import Reading, Variants, read


def parquet(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    frame.write_parquet(tmp_path / "log.parquet")
    return read(tmp_path / "log.parquet", reading)


def folder(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    """Several files, several passes; cases lie across both."""
    for place, part in enumerate(frame.iter_slices(-(-frame.height // 3))):
        part.write_parquet(tmp_path / f"{place}.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("travas.sources.tabular.events.EVENTS_PER_PART", max(frame.height // 3, 1))
        return read(tmp_path, reading)


def csv(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    frame.with_columns(pl.selectors.boolean().cast(pl.String)).write_csv(
        tmp_path / "log.csv", quote_style="non_numeric"
    )
    return read(tmp_path / "log.csv", reading)


def pandas(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    whole = {name: "Int64" for name, kind in frame.schema.items() if kind.is_integer()}
    return read(frame.to_pandas().astype(whole), reading)


def duckdb(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Variants:
    import duckdb as library

    with library.connect(tmp_path / "log.db") as connection:
        connection.execute("CREATE TABLE events AS SELECT * FROM frame")
    return read(f"duckdb://{tmp_path}/log.db", attrs.evolve(reading, table="events"))


def postgres(frame: pl.DataFrame, reading: Reading, _: Path, request: pytest.FixtureRequest) -> Variants:
    server = request.getfixturevalue("postgres")
    name = load(frame, server)
    return read(server.url, attrs.evolve(reading, table=name))


def postgres_query(frame: pl.DataFrame, reading: Reading, _: Path, request: pytest.FixtureRequest) -> Variants:
    server = request.getfixturevalue("postgres")
    name = load(frame, server)
    return read(server.url, attrs.evolve(reading, query=f"SELECT * FROM {name} WHERE true;"))


def load(frame: pl.DataFrame, server: Any) -> str:
    """The frame as a table of PostgreSQL, by COPY."""
    kinds = {pl.String: "text", pl.Int64: "bigint", pl.Float64: "float8", pl.Boolean: "boolean", pl.Date: "date"}
    name = f"log_{uuid4().hex}"
    types = [
        ("timestamptz" if kind.time_zone else "timestamp") if isinstance(kind, pl.Datetime) else kinds[kind.base_type()]
        for kind in frame.dtypes
    ]
    columns = ", ".join(
        f'"{c.replace(chr(34), chr(34) * 2)}" {kind}' for c, kind in zip(frame.columns, types, strict=True)
    )
    with server.owner() as owner, owner.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in frame.iter_rows():
                copy.write_row(row)
    return name


def spark(frame: pl.DataFrame, reading: Reading, tmp_path: Path, request: pytest.FixtureRequest) -> Variants:
    request.getfixturevalue("spark")
    frame.write_parquet(tmp_path / "log.parquet")
    return read(f"spark:{tmp_path}/log.parquet", reading)


def spark_frame(frame: pl.DataFrame, reading: Reading, tmp_path: Path, request: pytest.FixtureRequest) -> Variants:
    session = request.getfixturevalue("spark")
    frame.write_parquet(tmp_path / "log.parquet")
    return read(session.read.parquet(f"{tmp_path}/log.parquet").repartition(5), reading)


Engine = Callable[[pl.DataFrame, Reading, Path, pytest.FixtureRequest], Variants]
FILES = (parquet, folder, csv, pandas)
DATABASES = (duckdb, postgres, postgres_query)
SPARK = (spark, spark_frame)
ALL = (*FILES, *DATABASES, *SPARK)
