"""The readers whose stability is tried, each with a log written in its format."""

from __future__ import annotations

import csv as csv_module
import gzip
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

import polars as pl
import pytest
from adjacent_logs import COLUMNS, TIE, PlainLog, Reader, Row, Rule
from compared_engines import load_sqlite

from travas import Log, read


def texts(rows: PlainLog) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def typed(rows: PlainLog) -> pl.DataFrame:
    """Times as instants, half of the missing texts as null."""
    times = [datetime.fromisoformat(row[2]) if row[2] else None for row in rows]
    moments = [when and (when if when.tzinfo else when.replace(tzinfo=UTC)) for when in times]
    table = texts(rows).with_columns(pl.Series("timestamp", moments, dtype=pl.Datetime("us", "UTC")))
    odd = pl.int_range(pl.len()) % 2 == 1
    return table.with_columns(pl.when((pl.col(n) != "") | odd).then(pl.col(n)).alias(n) for n in ("activity", TIE))


def xes(rows: PlainLog, rule: Rule, folder: Path, request: pytest.FixtureRequest) -> Log:
    path = folder / ("log.xes.gz" if len(rows) % 2 else "log.xes")
    path.write_bytes(gzip.compress(_xes_content(rows), 1) if len(rows) % 2 else _xes_content(rows))
    return read(path, rule.reading())


def _xes_content(rows: PlainLog) -> bytes:
    def value(text: str) -> str:
        return quoteattr(text, {"\n": "&#10;", "\r": "&#13;"})

    cases: dict[str, list[Row]] = {}
    for row in rows:
        cases.setdefault(row[0], []).append(row)
    lines = ["<log>"]
    for case, events in cases.items():
        person = next((row[4] for row in events if row[4]), "")
        lines.append(f'<trace><string key="concept:name" value={value(case)}/>')
        lines.append(f'<string key="person" value={value(person)}/>' if person else "")
        for _, activity, moment, tie, _ in events:
            lines.append(f'<event><string key="concept:name" value={value(activity)}/>')
            lines.append(
                f'<date key="time:timestamp" value={value(moment)}/><string key="{TIE}" value={value(tie)}/></event>'
            )
        lines.append("</trace>")
    return "\n".join([*lines, "</log>"]).encode()


def pm4py_log(rows: PlainLog, rule: Rule, _: Path, __: pytest.FixtureRequest) -> Log:
    from pm4py.objects.log.obj import Event, EventLog, Trace

    traces: dict[str, Any] = {}
    for case, activity, moment, tie, person in rows:
        trace = traces.setdefault(case, Trace(attributes={"concept:name": case}))
        if person:
            trace.attributes.setdefault("person", person)
        when = datetime.fromisoformat(moment) if moment and rule.max_cases == 1 else moment
        trace.append(Event({"concept:name": activity, "time:timestamp": when, TIE: tie}))
    return read(EventLog(list(traces.values())), rule.reading())


def excel(rows: PlainLog, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Log:
    """Whole numbers as numbers, the rest as text; a workbook holds no carriage return."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.create_sheet("events")
    sheet.append(COLUMNS)
    for row in rows:
        sheet.append([int(cell) if cell in ("1", "2", "10") else cell.replace("\r", "_") for cell in row])
    book.save(folder / "log.xlsx")
    return read(folder / "log.xlsx", rule.reading(sheet="events"))


def arrow(rows: PlainLog, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Log:
    compression: Literal["lz4", "zstd"] = "lz4" if rule.max_cases == 1 else "zstd"
    typed(rows).write_ipc(folder / "log.feather", compression=compression)
    return read(folder / "log.feather", rule.reading())


def _write_csv(rows: PlainLog, path: Path, quoting: Literal[0, 1]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv_module.writer(stream, quoting=quoting)  # lines end in CR LF, so a bare CR is quoted
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def csv(rows: PlainLog, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Log:
    _write_csv(rows, folder / "log.csv", csv_module.QUOTE_ALL if rule.max_cases == 1 else csv_module.QUOTE_MINIMAL)
    return read(folder / "log.csv", rule.reading())


def parquet(rows: PlainLog, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Log:
    texts(rows).write_parquet(folder / "log.parquet")
    return read(folder / "log.parquet", rule.reading())


def parquet_folder(rows: PlainLog, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Log:
    for number, part in enumerate(_parts(rows)):
        typed(part).write_parquet(folder / f"{number}.parquet")
    return read(folder, rule.reading())


def _parts(rows: PlainLog) -> list[list[Row]]:
    parts: list[list[Row]] = [[], [], []]
    for row in rows:
        parts[(len(row[0]) + len(row[1])) % 3].append(row)
    return parts


def polars(rows: PlainLog, rule: Rule, _: Path, __: pytest.FixtureRequest) -> Log:
    table = typed(rows).with_columns(pl.col("activity").cast(pl.Categorical))
    return read(table.lazy() if rule.max_cases == 1 else table, rule.reading())


def pandas_frame(rows: PlainLog, rule: Rule, _: Path, __: pytest.FixtureRequest) -> Log:
    frame = typed(rows).to_pandas() if rule.order == "time" and rule.max_cases > 1 else texts(rows).to_pandas()
    kinds = {
        name: (object, "string", "category")[(rule.max_cases + place) % 3]
        for place, name in enumerate(("case_id", "activity", TIE))
    }
    return read(frame.astype(kinds), rule.reading())


def duckdb(rows: PlainLog, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Log:
    import duckdb as library

    with library.connect(folder / "log.db") as connection:
        connection.register("loaded", typed(rows).to_arrow())
        connection.execute("CREATE TABLE events AS SELECT * FROM loaded")
    return read(folder / "log.db", rule.reading(**({} if rule.max_cases > 1 else {"query": "FROM events"})))


def sqlite(rows: PlainLog, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Log:
    load_sqlite(typed(rows), folder / "log.sqlite")
    return read(folder / "log.sqlite", rule.reading())


def postgres(rows: PlainLog, rule: Rule, _: Path, request: pytest.FixtureRequest) -> Log:
    server = request.getfixturevalue("postgres")
    name = server.load(typed(rows))
    return read(server.url, rule.reading(**({"table": name} if rule.max_cases > 1 else {"query": f"TABLE {name}"})))


def spark(rows: PlainLog, rule: Rule, folder: Path, request: pytest.FixtureRequest) -> Log:
    session = request.getfixturevalue("spark")
    typed(rows).write_parquet(folder / "log.parquet")
    if rule.max_cases > 1:
        return read(f"spark:{folder}/log.parquet", rule.reading())
    return read(session.read.parquet(f"{folder}/log.parquet").repartition(5), rule.reading())


@dataclass(frozen=True)
class Tried:
    """A reader, how many pairs lie in one table, and how many batches of them a short run tries."""

    reader: Reader
    size: int
    batches: int
    has_order: bool = True


READERS = (
    Tried(xes, 1, 60),
    Tried(pm4py_log, 1, 20),
    Tried(excel, 1, 15),
    Tried(arrow, 1, 20),
    Tried(csv, 1, 30),
    Tried(parquet, 1, 30),
    Tried(parquet_folder, 1, 20),
    Tried(polars, 1, 30),
    Tried(pandas_frame, 1, 30),
    Tried(duckdb, 10, 4, has_order=False),
    Tried(sqlite, 10, 4, has_order=False),
    Tried(postgres, 20, 4, has_order=False),
    Tried(spark, 100, 1, has_order=False),
)
OF_TRACE = (xes, pm4py_log)
"""Readers for which the person is an attribute of the trace."""

ALL = [pytest.param(tried, id=tried.reader.__name__) for tried in READERS]
