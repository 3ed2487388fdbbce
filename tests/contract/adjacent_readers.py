"""The readers whose stability is tried, each with a log written in its format."""

import csv as csv_module
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import compared_engines
import polars as pl
import pytest
from adjacent_logs import COLUMNS, TIE, PlainLog, Reader, Rule
from compared_engines import Engine

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


def of_frame(engine: Engine, form: Callable[[PlainLog], pl.DataFrame] = typed) -> Reader:
    """The reader of an engine that is given a data frame."""

    def reader(rows: PlainLog, rule: Rule, folder: Path, request: pytest.FixtureRequest) -> Log:
        return engine(form(rows), rule.reading(), folder, request)

    reader.__name__ = engine.__name__
    return reader


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


def csv(rows: PlainLog, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Log:
    quoting: Literal[0, 1] = csv_module.QUOTE_ALL if rule.max_cases == 1 else csv_module.QUOTE_MINIMAL
    with (folder / "log.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv_module.writer(stream, quoting=quoting)  # lines end in CR LF, so a bare CR is quoted
        writer.writerows([COLUMNS, *rows])
    return read(folder / "log.csv", rule.reading())


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


@dataclass(frozen=True)
class Tried:
    """A reader, how many pairs lie in one table, and how many batches of them a short run tries."""

    reader: Reader
    size: int
    batches: int
    has_order: bool = True


xes = of_frame(compared_engines.xes, texts)
postgres = of_frame(compared_engines.postgres)
spark = of_frame(compared_engines.spark)
READERS = (
    Tried(xes, 1, 60),
    Tried(pm4py_log, 1, 20),
    Tried(excel, 1, 15),
    Tried(arrow, 1, 20),
    Tried(csv, 1, 30),
    Tried(of_frame(compared_engines.parquet, texts), 1, 30),
    Tried(of_frame(compared_engines.folder), 1, 20),
    Tried(polars, 1, 30),
    Tried(pandas_frame, 1, 30),
    Tried(of_frame(compared_engines.duckdb), 10, 4, has_order=False),
    Tried(of_frame(compared_engines.sqlite), 10, 4, has_order=False),
    Tried(postgres, 20, 4, has_order=False),
    Tried(spark, 100, 1, has_order=False),
)
OF_TRACE = (xes, pm4py_log)
"""Readers for which the person is an attribute of the trace."""

ALL = [pytest.param(tried, id=tried.reader.__name__) for tried in READERS]
