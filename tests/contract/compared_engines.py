"""The engines that are compared: each reads the same frame from where its data are."""

from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from sqlite3 import connect
from typing import Any
from uuid import uuid4
from xml.sax.saxutils import quoteattr

import attrs
import polars as pl
import pytest

from travas import Log, Reading, read


def parquet(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Log:
    frame.write_parquet(tmp_path / "log.parquet")
    return read(tmp_path / "log.parquet", reading)


def folder(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Log:
    """Several files, several passes; cases lie across both."""
    for place, part in enumerate(list(frame.iter_slices(max(-(-frame.height // 3), 1))) or [frame]):
        part.write_parquet(tmp_path / f"{place}.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("travas.sources.events.EVENTS_PER_FRAME", max(frame.height // 3, 1))
        return read(tmp_path, reading)


def xes(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Log:
    """A trace per case; the person is an attribute of the trace, everything else one of events."""
    keys, of_traces = {"activity": "concept:name", "timestamp": "time:timestamp"}, ("case_id", "patient", "person")

    def value(text: Any) -> str:
        shown = text.isoformat() if isinstance(text, datetime) else str(text)
        return quoteattr(shown, {"\n": "&#10;", "\r": "&#13;"})

    lines = ["<log>"]
    for (case,), events in frame.group_by("case_id", maintain_order=True):
        lines.append(f'<trace><string key="concept:name" value={value(case)}/>')
        for name in set(of_traces[1:]) & set(frame.columns):
            lines += [f'<string key="{name}" value={value(person)}/>' for person in events[name] if person][:1]
        for row in events.drop(of_traces, strict=False).iter_rows(named=True):
            cells = [
                f'<{"date" if key == "timestamp" else "string"} key="{keys.get(key, key)}" value={value(cell)}/>'
                for key, cell in row.items()
                if cell is not None
            ]
            lines += ["<event>", *cells, "</event>"]
        lines.append("</trace>")
    (tmp_path / "log.xes").write_bytes("\n".join([*lines, "</log>"]).encode())
    return read(tmp_path / "log.xes", reading)


def csv(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Log:
    frame.with_columns(pl.selectors.boolean().cast(pl.String)).write_csv(
        tmp_path / "log.csv", quote_style="non_numeric"
    )
    return read(tmp_path / "log.csv", reading)


def pandas(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Log:
    whole = {name: "Int64" for name, kind in frame.schema.items() if kind.is_integer()}
    return read(frame.to_pandas().astype(whole), reading)


def duckdb(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Log:
    import duckdb as library

    with library.connect(tmp_path / "log.db") as connection:
        connection.execute("CREATE TABLE events AS SELECT * FROM frame")
    return read(tmp_path / "log.db", reading)


def sqlite(frame: pl.DataFrame, reading: Reading, tmp_path: Path, _: pytest.FixtureRequest) -> Log:
    """The frame as a table; it has whole numbers and texts only, as usual there."""
    path = tmp_path / f"{uuid4().hex}.sqlite"
    texts = frame.with_columns((~pl.selectors.integer()).as_expr().cast(pl.String))
    columns = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}" text' for name in frame.columns)
    with closing(connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE events ({columns})")
        connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * frame.width)})", texts.iter_rows())
    return read(path, attrs.evolve(reading, table="events"))


def postgres(frame: pl.DataFrame, reading: Reading, _: Path, request: pytest.FixtureRequest) -> Log:
    server = request.getfixturevalue("postgres")
    return read(server.url, attrs.evolve(reading, query=f"SELECT * FROM {server.load(frame)} WHERE true;"))


def spark(frame: pl.DataFrame, reading: Reading, tmp_path: Path, request: pytest.FixtureRequest) -> Log:
    session = request.getfixturevalue("spark")
    frame.write_parquet(tmp_path / "log.parquet")
    return read(session.read.parquet(f"{tmp_path}/log.parquet").repartition(5), reading)


Engine = Callable[[pl.DataFrame, Reading, Path, pytest.FixtureRequest], Log]
FILES = (parquet, folder, csv, pandas)
DATABASES = (duckdb, sqlite, postgres)
ALL = (*FILES, *DATABASES, spark)
MOST = [*FILES, duckdb, sqlite, *(pytest.param(server, marks=pytest.mark.slow) for server in (postgres, spark))]
"""Of PostgreSQL and Spark, test_adjacency.py has a quick run; the others are in `make test-slow`."""


def each_log(names: Iterable[str]) -> list[Any]:
    """Every log in every engine."""
    return [
        pytest.param(engine, name, marks=pytest.mark.slow if engine in (postgres, spark) else ())
        for engine in ALL
        for name in names
    ]
