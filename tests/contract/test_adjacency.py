"""Stability of reading, tried on every reader: one case or one person more changes what is counted of no other.

A pair is a random log with a newcomer (a case, or with a unit all cases of a person) and the same log without. The
counts of the two may differ by what counts of the newcomer, and by nothing else: docs/reading.md. Where a read takes
long, several logs lie in one table, each with names of its own, and a newcomer is added to each of them.
"""

from __future__ import annotations

import csv as csv_module
import gzip
import io
import random
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from uuid import UUID, uuid4
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd
import polars as pl
import pytest

from travas import LogError, Reading, Variants, read
from travas.privacy.guarantee import Counted
from travas.sources.row_selection import DuplicateEvents, Lifecycle

TIE = "lifecycle:transition"  # orders ties, and is the lifecycle of the event
COLUMNS = ("case_id", "activity", "timestamp", TIE, "person")
NAMES = (
    "a",
    "A",
    "a ",
    "ä",
    "a\u0308",
    "1",
    "1.0",
    "01",
    "NA",
    "null",
    "x,y",
    'q"q',
    '"',
    "l\nl",
    "r\rr",
    "é",
    " ",
    "",
)
TIMES = (
    "2020-01-01T00:00:00", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "2020-01-01 00:00:00.000001",
    "2020-01-01", "2019-12-31T22:00:00-02:00", "2020-01-01T00:00:00.000002", "2020-01-01T00:00:01", "2020-01-01T00:00", "",
)  # fmt: skip
TIES = ("", "1", "2", "10", "-1", "+1", "x", "01", "complete", "START", "Complete", "start")
CASES = ("1", "01", "1.0", "a", "A", "a ", "ä", "Z9", "7", "c\nd", "'", "NaN", "", *(f"k{n}" for n in range(6)))
PERSONS = ("p", "P", "p ", "1", "01", "q", "")
Row = tuple[str, str, str, str, str]
"""Case, activity, time, tie and person; the empty text is missing."""


@dataclass(frozen=True)
class Rule:
    """How a batch of pairs is read."""

    by: Literal["case", "person"]
    max_cases: int
    counted: Counted
    order: Literal["file", "time"]
    ties: Literal["file", "activity", "tie"]
    lifecycle: Lifecycle = "all"
    values: tuple[str, ...] = ()
    duplicates: DuplicateEvents = "keep"

    @classmethod
    def drawn(cls, chance: random.Random, *, has_order: bool) -> Rule:
        ties = chance.choice(("file", "activity", "tie") if has_order else ("activity", "tie"))
        by_file = has_order and ties == "file" and chance.random() < 0.3
        by = chance.choice(("case", "person", "person"))
        rows = chance.choice(("all", "all", "complete", "start")), chance.choice(((), (), ("complete", "1", "x")))
        drop = "keep" if by_file else chance.choice(("keep", "drop"))
        counted = chance.choice(("units", "cases"))
        return cls(by, chance.randint(1, 3), counted, "file" if by_file else "time", ties, *rows, drop)  # type: ignore[arg-type]

    def reading(self, **more: Any) -> Reading:
        unit = {"unit": "person", "max_cases": self.max_cases, "counted": self.counted} if self.by == "person" else {}
        ties = {} if self.order == "file" or self.ties == "file" else {"ties": TIE if self.ties == "tie" else self.ties}
        rows: dict[str, Any] = {"lifecycle": self.lifecycle, "where": tuple((TIE, value) for value in self.values)}
        rows["duplicate_events"] = self.duplicates
        return Reading(order=self.order, on_missing="drop", **ties, **unit, **rows, **more)  # type: ignore[arg-type]

    def is_complete(self, row: Row) -> bool:
        is_read = self.lifecycle in ("all", (row[3] or "complete").lower()) and (
            not self.values or row[3] in self.values
        )
        return bool(is_read and row[0] and row[1] and (row[2] or self.order == "file"))


@dataclass(frozen=True)
class Pair:
    """A log, and the cases that are new in it."""

    rows: tuple[Row, ...]
    newcomers: frozenset[str]

    @classmethod
    def drawn(cls, chance: random.Random, rule: Rule) -> Pair:
        cases = chance.sample(CASES, chance.randint(1, 9))
        owners = {case: chance.choice(PERSONS) for case in cases}
        rows = [
            (case, chance.choice(NAMES), chance.choice(TIMES), chance.choice(TIES), chance.choice((owner,) * 4 + ("",)))
            for case, owner in owners.items()
            for _ in range(chance.randint(1, 4))
        ]
        chance.shuffle(rows)
        chosen = chance.choice(cases)
        same = [case for case, owner in owners.items() if owner == owners[chosen]]
        return cls(tuple(rows), frozenset(same if rule.by == "person" else [chosen]))

    def without(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row[0] not in self.newcomers)


Log = Sequence[Row]
Reader = Callable[[Log, Rule, Path, pytest.FixtureRequest], Variants]

# ------------------------------------------------------------------------------------------------------- the readers


def texts(rows: Log) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def typed(rows: Log) -> pl.DataFrame:
    """Times as instants, half of the missing texts as null."""
    times = [datetime.fromisoformat(row[2]) if row[2] else None for row in rows]
    moments = [when and (when if when.tzinfo else when.replace(tzinfo=UTC)) for when in times]
    table = texts(rows).with_columns(pl.Series("timestamp", moments, dtype=pl.Datetime("us", "UTC")))
    odd = pl.int_range(pl.len()) % 2 == 1
    return table.with_columns(pl.when((pl.col(n) != "") | odd).then(pl.col(n)).alias(n) for n in ("activity", TIE))


def xes(rows: Log, rule: Rule, folder: Path, request: pytest.FixtureRequest) -> Variants:
    path = folder / ("log.xes.gz" if len(rows) % 2 else "log.xes")
    path.write_bytes(gzip.compress(_xes_content(rows), 1) if len(rows) % 2 else _xes_content(rows))
    return read(path, rule.reading())


def _xes_content(rows: Log) -> bytes:
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


def xes_folder(rows: Log, rule: Rule, folder: Path, request: pytest.FixtureRequest) -> Variants:
    """Every case is in one of three files, by its name."""
    parts: list[list[Row]] = [[], [], []]
    for row in rows:
        parts[len(row[0]) % 3].append(row)
    for number, part in enumerate(parts):
        (folder / f"{number}.xes").write_bytes(_xes_content(part))
    return read(folder, rule.reading())


def pm4py_log(rows: Log, rule: Rule, _: Path, __: pytest.FixtureRequest) -> Variants:
    from pm4py.objects.log.obj import Event, EventLog, Trace

    traces: dict[str, Any] = {}
    for case, activity, moment, tie, person in rows:
        trace = traces.setdefault(case, Trace(attributes={"concept:name": case}))
        if person:
            trace.attributes.setdefault("person", person)
        when = datetime.fromisoformat(moment) if moment and rule.max_cases == 1 else moment
        trace.append(Event({"concept:name": activity, "time:timestamp": when, TIE: tie}))
    return read(EventLog(list(traces.values())), rule.reading())


def tsv(rows: Log, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Variants:
    """Zstandard and plain, by extension; a tab is the delimiter of both."""
    import zstandard

    text = io.StringIO(newline="")
    csv_module.writer(text, delimiter="\t").writerows([COLUMNS, *rows])
    content = text.getvalue().encode()
    path = folder / ("log.tsv" if rule.max_cases == 1 else "log.tsv.zst")
    path.write_bytes(content if rule.max_cases == 1 else zstandard.compress(content))
    return read(path, rule.reading())


def zipped(rows: Log, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Variants:
    """CSV in a zip archive."""
    _write_csv(rows, folder / "log.csv", csv_module.QUOTE_MINIMAL)
    with zipfile.ZipFile(folder / "log.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.md", "no log")
        archive.writestr("export/log.csv", (folder / "log.csv").read_bytes())
    return read(folder / "log.zip", rule.reading())


def excel(rows: Log, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Variants:
    """Whole numbers as numbers, the rest as text; a workbook holds no carriage return."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.create_sheet("events")
    sheet.append(COLUMNS)
    for row in rows:
        sheet.append([int(cell) if cell in ("1", "2", "10") else cell.replace("\r", "_") for cell in row])
    book.save(folder / "log.xlsx")
    return read(folder / "log.xlsx", rule.reading(sheet="events"))


def arrow(rows: Log, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Variants:
    compression: Literal["lz4", "zstd"] = "lz4" if rule.max_cases == 1 else "zstd"
    typed(rows).write_ipc(folder / "log.feather", compression=compression)
    return read(folder / "log.feather", rule.reading())


def arrow_table(rows: Log, rule: Rule, _: Path, __: pytest.FixtureRequest) -> Variants:
    return read(typed(rows).to_arrow(), rule.reading())


def _write_csv(rows: Log, path: Path, quoting: Literal[0, 1]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv_module.writer(stream, quoting=quoting)  # lines end in CR LF, so a bare CR is quoted
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def csv(rows: Log, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Variants:
    _write_csv(rows, folder / "log.csv", csv_module.QUOTE_ALL if rule.max_cases == 1 else csv_module.QUOTE_MINIMAL)
    return read(folder / "log.csv", rule.reading())


def csv_folder(rows: Log, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Variants:
    """Cases lie across files; which file a row is in does not depend on other rows."""
    for number, part in enumerate(_parts(rows)):
        _write_csv(part, folder / f"{number}.csv", csv_module.QUOTE_MINIMAL)
    return read(folder, rule.reading())


def parquet(rows: Log, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Variants:
    texts(rows).write_parquet(folder / "log.parquet")
    return read(folder / "log.parquet", rule.reading())


def parquet_folder(rows: Log, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Variants:
    for number, part in enumerate(_parts(rows)):
        typed(part).write_parquet(folder / f"{number}.parquet")
    return read(folder, rule.reading())


def _parts(rows: Log) -> list[list[Row]]:
    parts: list[list[Row]] = [[], [], []]
    for row in rows:
        parts[(len(row[0]) + len(row[1])) % 3].append(row)
    return parts


def polars(rows: Log, rule: Rule, _: Path, __: pytest.FixtureRequest) -> Variants:
    table = typed(rows).with_columns(pl.col("activity").cast(pl.Categorical))
    return read(table.lazy() if rule.max_cases == 1 else table, rule.reading())


def pandas_frame(rows: Log, rule: Rule, _: Path, __: pytest.FixtureRequest) -> Variants:
    frame = typed(rows).to_pandas() if rule.order == "time" and rule.max_cases > 1 else texts(rows).to_pandas()
    kinds = {
        name: (object, "string", "category")[(rule.max_cases + place) % 3]
        for place, name in enumerate(("case_id", "activity", TIE))
    }
    return read(frame.astype(kinds), rule.reading())


def duckdb(rows: Log, rule: Rule, folder: Path, _: pytest.FixtureRequest) -> Variants:
    import duckdb as library

    with library.connect(folder / "log.db") as connection:
        connection.register("loaded", typed(rows).to_arrow())
        connection.execute("CREATE TABLE events AS SELECT * FROM loaded")
    source = {"table": "events"} if rule.max_cases > 1 else {"query": "SELECT * FROM events"}
    return read(f"duckdb://{folder}/log.db", rule.reading(**source))


def postgres(rows: Log, rule: Rule, _: Path, request: pytest.FixtureRequest) -> Variants:
    server, name = request.getfixturevalue("postgres"), f"log_{uuid4().hex}"
    with server.owner() as owner, owner.cursor() as cursor:
        cursor.execute(
            f'CREATE TABLE {name} (case_id text, activity text, timestamp timestamptz, "{TIE}" text, person text)'
        )
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in typed(rows).iter_rows():
                copy.write_row(row)
    return read(server.url, rule.reading(**({"table": name} if rule.max_cases > 1 else {"query": f"TABLE {name}"})))


def spark(rows: Log, rule: Rule, folder: Path, request: pytest.FixtureRequest) -> Variants:
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
    Tried(xes_folder, 1, 20),
    Tried(pm4py_log, 1, 20),
    Tried(tsv, 1, 20),
    Tried(zipped, 1, 20),
    Tried(excel, 1, 15),
    Tried(arrow, 1, 20),
    Tried(arrow_table, 1, 20),
    Tried(csv, 1, 30),
    Tried(csv_folder, 1, 20),
    Tried(parquet, 1, 30),
    Tried(parquet_folder, 1, 20),
    Tried(polars, 1, 30),
    Tried(pandas_frame, 1, 30),
    Tried(duckdb, 10, 4, has_order=False),
    Tried(postgres, 20, 4, has_order=False),
    Tried(spark, 100, 2, has_order=False),
)
OF_TRACE = (xes, xes_folder, pm4py_log)
"""Readers for which the person is an attribute of the trace."""

MARKS = {"spark": [pytest.mark.xdist_group("spark")]}
ALL = [pytest.param(tried, id=tried.reader.__name__, marks=MARKS.get(tried.reader.__name__, [])) for tried in READERS]
PAIRS = 2_000

# --------------------------------------------------------------------------------------------------------- the check


def together(logs: Iterable[Log]) -> list[Row]:
    """Several logs in one table, told apart by the beginnings of their names."""

    def marked(number: int, value: str) -> str:
        return f"{number}|{value}" if value else value

    return [
        (marked(number, case), marked(number, activity), moment, tie, marked(number, person))
        for number, rows in enumerate(logs)
        for case, activity, moment, tie, person in rows
    ]


def apart(variants: Variants, number: int) -> list[Counter[Any]]:
    """The counts of every log of a table."""
    counts: list[Counter[Any]] = [Counter() for _ in range(number)]
    for trace, count in variants.items():
        [log] = {int(str(activity).partition("|")[0]) for activity in trace}
        counts[log][tuple(str(activity).partition("|")[2] for activity in trace)] += count
    return counts


def problem(pair: Pair, rule: Rule, reader: Reader, more: Counter[Any], less: Counter[Any]) -> str | None:
    """Why these counts are not those of neighbours; None if they are."""
    change = {trace: more[trace] - less[trace] for trace in {*more, *less} if more[trace] != less[trace]}
    own = [[row for row in pair.rows if row[0] == case] for case in pair.newcomers]
    counting = [rows for rows in own if any(map(rule.is_complete, rows))]
    if rule.by == "case":
        fits = sum(change.values()) == len(counting) and min(change.values(), default=1) == 1
        return None if fits else f"one case changed {change}"
    counting = [
        rows for rows in counting if any(row[4] and (reader in OF_TRACE or rule.is_complete(row)) for row in rows)
    ]
    total, most = sum(change.values()), min(rule.max_cases, len(counting))
    fits = min(change.values(), default=1) >= 1 and (total == most or (rule.counted == "units" and 1 <= total <= most))
    if rule.counted == "units":
        fits = fits and max(change.values(), default=1) == 1
    return None if fits else f"one person with {len(counting)} cases changed {change}"


def try_batch(tried: Tried, chance: random.Random, folder: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    rule = Rule.drawn(chance, has_order=tried.has_order)
    pairs = [Pair.drawn(chance, rule) for _ in range(tried.size)]
    found = []
    for side, logs in (("more", [pair.rows for pair in pairs]), ("less", [pair.without() for pair in pairs])):
        place = folder / f"{side}_{uuid4().hex}"
        place.mkdir()
        variants = tried.reader(logs[0] if tried.size == 1 else together(logs), rule, place, request)
        found.append([Counter(dict(variants.items()))] if tried.size == 1 else apart(variants, tried.size))
    for pair, more, less in zip(pairs, *found, strict=True):
        if words := problem(pair, rule, tried.reader, more, less):
            yield f"{words} with {rule}, newcomers {set(pair.newcomers)} of {pair.rows}"


@pytest.mark.parametrize("tried", ALL)
def test_one_more_changes_what_is_counted_of_no_other(
    tried: Tried, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    chance = random.Random(14)
    for _ in range(tried.batches):
        assert list(try_batch(tried, chance, tmp_path, request)) == []


@pytest.mark.slow
@pytest.mark.parametrize("tried", ALL)
def test_one_more_changes_what_is_counted_of_no_other_in_many_pairs(
    tried: Tried, tmp_path: Path, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random()
    batches = -(-PAIRS // tried.size)
    for _ in range(batches):
        assert list(try_batch(tried, chance, tmp_path, request)) == []
    record_property("pairs", batches * tried.size)


def across(rows: Log, rule: Rule, folder: Path, request: pytest.FixtureRequest) -> Variants:
    """Wrong: it counts rare activities of the whole log."""
    frequent = Counter(row[1] for row in rows)
    return polars([row for row in rows if frequent[row[1]] > 1], rule, folder, request)


def test_a_reader_that_looks_across_cases_is_found_out(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    chance = random.Random(14)
    assert any(list(try_batch(Tried(across, 1, 1), chance, tmp_path, request)) for _ in range(60))


# ------------------------------------------------------------------------------------------- newcomers that are malformed

ODD: list[Any] = [
    1, 2.5, True, b"x", Decimal("1.25"), 2**63 + 5, np.float32(0.1), float("nan"), None, date(2020, 1, 1), time(5),
    datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC), timedelta(1), UUID(int=5), np.datetime64("2020-01-01"), [1],
]  # fmt: skip


@pytest.mark.parametrize("column", ["case_id", "activity", "timestamp", "person"])
@pytest.mark.parametrize("odd", ODD, ids=lambda value: type(value).__name__)
def test_a_newcomer_of_another_type_is_refused_or_changes_no_other(odd: Any, column: str) -> None:
    """One value of another type in a pandas column: with type inference it renamed or reordered all other cases."""
    log = pd.DataFrame(
        [(f"c{n}", name, f"2020-01-01T0{hour}", "p") for n in range(3) for name, hour in (("b", 2), ("a", 1))]
    )
    log.columns = pd.Index(["case_id", "activity", "timestamp", "person"])
    numbers = log.assign(case_id=[n // 2 + 2**53 for n in range(6)], activity=[5, 7] * 3, timestamp=[2, 1] * 3)
    times = log.assign(timestamp=pd.to_datetime(log["timestamp"], format="ISO8601"))
    reading = Reading(on_missing="drop", unit="person", max_cases=5, counted="cases")
    for before in (log, numbers, times):
        newcomer = before.iloc[[0]].assign(case_id=before["case_id"].iloc[0] if column == "case_id" else "new")
        newcomer = newcomer.assign(**{column: pd.Series([odd], index=[0], dtype=object)})
        after = pd.concat([before.astype(object), newcomer.astype(object)], ignore_index=True)
        inferred = after.infer_objects()
        for frame in (after, inferred):
            try:
                more = Counter(dict(read(frame, reading).items()))
            except LogError:
                continue
            less = Counter(dict(read(before, reading).items()))
            assert sum((less - more).values()) == 0 and sum((more - less).values()) <= 1


def test_a_newcomer_with_quotes_changes_no_other_or_is_refused(tmp_path: Path) -> None:
    """Cells as careless programs write them: two stray quotes once swallowed all rows between them.

    Two cells can be the beginning and the end of one long cell. Such a file is valid CSV, of another log.
    """
    chance, path = random.Random(14), tmp_path / "log.csv"
    met: Counter[str] = Counter()
    for _ in range(400):
        rows = [f"c{n},{activity},{note}" for n in range(4) for activity in "ab" for note in ("x", '"y"')]
        less = chance.sample(rows, 9)
        notes = ["".join(chance.choices('""\'ab', k=chance.randint(1, 4))) for _ in range(2)]
        more = list(less)
        for note in notes:
            more.insert(chance.randint(0, len(more)), f"new,a,{note}")
        strict = all('"' not in note or re.fullmatch(r'"([^"]|"")*"', note) for note in notes)
        before, after = (_counts_of_lines(path, lines) for lines in (less, more))
        assert before is not None
        if strict:
            assert after == before + Counter({("a", "a"): 1})
        elif after is not None:
            events: dict[str, list[str]] = {}
            for case, activity, _ in csv_module.reader(
                io.StringIO(path.read_bytes().decode(), newline=""), strict=True
            ):
                events.setdefault(case, []).append(activity)
            del events["case_id"]
            assert after == Counter(map(tuple, events.values()))
        met["refused" if after is None else "strict" if strict else "another log"] += 1
    assert min(met[kind] for kind in ("refused", "strict", "another log")) > 0


def _counts_of_lines(path: Path, lines: list[str]) -> Counter[Any] | None:
    """The counts of a CSV file of these lines, or None if it is refused."""
    path.write_text("\n".join(["case_id,activity,note", *lines, ""]))
    try:
        return Counter(dict(read(path, Reading(order="file")).items()))
    except LogError:
        return None
