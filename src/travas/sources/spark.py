"""Spark: the cluster counts the cases, the driver draws the noise. Only the traces of released variants are transferred.

The events are divided by the hash of their case, with a unit by the hash of the person of the case, so a partition has
whole cases, with a unit whole persons. The table engine counts every partition (`Partition` runs on the executors, which
need `travas` and pyarrow), and Spark sums the counts by trace. The driver receives a digest of each trace, its count and its
length: 28 bytes per variant, however long the traces are. Variants are distinguished by their traces; a digest (128 bits of
SHA-256 over JSON) only selects which ones to fetch. A partition also reports what is missing, or why it refuses the log.
With details it has one more row, the encoded cases, which never leave the cluster: later questions are answered from it by
the code that answers them for a file (`sources.encoded_cases`).
"""

from __future__ import annotations

import os
import pickle
import sys
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast
from uuid import uuid4

import attrs
import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from ..errors import LogError, ParameterError, TravasError, plain_words
from ..log import questions as q
from ..log.abstraction import FULL, Abstraction
from ..log.log import Log, check_number_of_cases
from ..log.questions import Details, Totals
from ..log.traces import CODE, Activity, Trace, keys_of
from ..trusted.samplers import Integers
from .columns import Columns, cautions, columns_of
from .databases import without_row_order
from .encoded_cases import EncodedTotals, joined
from .events import Counting, Table, persons_of
from .messages import NO_EVENTS
from .reading import Reading

_DIGEST, _COUNT, _LENGTH = "digest", "count", "length"
_REPORT, _NUMBER, _CASES, _OWNER = "report", "number", "cases", "owner"
_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"

Batches = Iterable[pa.RecordBatch]


def read_spark(source: Any, reading: Reading) -> Log:
    """Return the variants of a DataFrame, of `spark:PATH` (Parquet), or of `spark:` with a table or a query.

    `spark:` uses the running session, that of `spark-submit`, the server of SPARK_REMOTE, or a local one.
    """
    reading = without_row_order(reading, "Spark")
    frame, where = _opened(source, reading) if isinstance(source, str) else (source, "Spark DataFrame")
    if not hasattr(frame, "sparkSession"):
        raise LogError(f"a {type(frame).__name__} is not an event log; use a pyspark.sql DataFrame")
    with _jobs(where):
        return _counted(frame, reading, where)


def _counted(frame: Any, reading: Reading, where: str) -> Log:
    empty = _polars(frame.limit(0).toArrow()).lazy()
    columns = columns_of(reading, empty.collect_schema(), where)
    partition = Partition(columns, reading, where)
    parts = columns.parts
    events = _divided(frame, partition).mapInArrow(partition.counted, partition.schema)
    cases = events.where(f.col(_CASES).isNotNull()).select(_CASES)
    if columns.details:
        _keep(events, cases)
    answers = events.groupBy(_REPORT, *parts).agg(f.sum(_NUMBER).alias(_COUNT))
    with suppress(Exception):  # Spark does not coalesce persisted data; not available over Connect
        answers = answers.coalesce(2 * frame.sparkSession.sparkContext.defaultParallelism)
    digest = f.unhex(f.substring(f.sha2(f.to_json(f.struct(*parts)).cast("binary"), 256), 1, 32))
    answers = answers.withColumns({_DIGEST: digest, _LENGTH: f.size(parts[0])})
    found = answers.where(f.col(parts[0]).isNotNull())
    traces = found.select(_DIGEST, *parts)
    _keep(answers, traces)
    said = answers.where(f.col(_REPORT).isNotNull()).select(_REPORT, _COUNT).collect()
    reports = [pickle.loads(content) for content, times in said for _ in range(times)]
    described = _described(reports, Table(empty, columns, where), reading, frame.columns)
    here = found.select(_DIGEST, _COUNT, _LENGTH).toArrow()
    if columns.details:
        described = replace(described, totals=SparkTotals(cases, cast(EncodedTotals, described.totals), where))
    if here.num_rows:
        described = replace(described, notes=tuple(note for note in described.notes if note != NO_EVENTS))
    counts, lengths = (here[name].to_numpy().astype(np.int64) for name in (_COUNT, _LENGTH))
    return RemoteVariants(traces, where, here[_DIGEST], counts, lengths, described)


def _keep(frame: Any, user: Any) -> None:
    """Keep what was computed on the cluster, as long as what uses it is in use."""
    frame.persist()
    weakref.finalize(user, _drop, frame)


def _divided(frame: Any, partition: Partition) -> Any:
    """Return the needed columns, divided so that no case is in two partitions, and with a unit no person."""
    from pyspark.sql.types import StringType, StructField, StructType

    selected = []
    for index, name in enumerate(partition.columns.names):
        column = f.col(f"`{name.replace('`', '``')}`")
        is_text = frame.schema[name].dataType.typeName() in ("string", "char", "varchar")
        selected.append((column.cast("string") if is_text else column).alias(f"c{index}"))  # without a collation
    rows = frame.select(*selected)
    together = rows.repartition(partition.case)
    if partition.columns.unit is None:
        return together
    schema = StructType([*rows.schema.fields, StructField(_OWNER, StringType())])
    return together.mapInArrow(partition.owned, schema).repartition(_OWNER).drop(_OWNER)


def _described(reports: Sequence[Report], nothing: Table, reading: Reading, present: Sequence[str]) -> Log:
    """Refuse what a partition refused, or what is missing; else return all that is said about the log, without its traces."""
    if refused := sorted(report.refusal for report in reports if report.refusal):
        raise LogError(refused[0][0], field=refused[0][1])
    counting = Counting(reading)
    counting.add(nothing)
    for report in reports:
        counting.missing.update(report.missing)
        counting.numbers.update(report.numbers)
    return counting.variants((), cautions(reading, present))


def _polars(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))


@dataclass(frozen=True)
class Report:
    """What a partition has to say: why it refuses the log, as words and parameter, or what its `Counting` noted."""

    refusal: tuple[str, str] | None = None
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Partition:
    """How the rows of a partition are read, which has the columns that are needed, in their order. For the executors."""

    columns: Columns
    reading: Reading
    where: str

    @property
    def case(self) -> str:
        """The column of the case."""
        return f"c{self.columns.names.index(self.columns.case)}"

    @property
    def schema(self) -> str:
        """The schema of the answer: rows of traces and their counts, and one of the report and the encoded cases."""
        parts = "".join(f"{part} array<string>, " for part in self.columns.parts)
        return f"{_REPORT} binary, {parts}{_NUMBER} long, {_CASES} binary"

    def table(self, rows: pl.DataFrame) -> Table:
        """The rows as a table."""
        named = rows.rename(dict(zip(rows.columns, self.columns.names, strict=False)))
        return Table(named.lazy(), self.columns, self.where)

    def counted(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the answer. What is missing is left out; the driver refuses it, if it is to be refused."""
        arrived = list(batches)
        if not arrived:
            return
        counting = Counting(attrs.evolve(self.reading, on_missing="drop"))
        try:
            counting.add(self.table(_polars(pa.Table.from_batches(arrived))))
            variants = counting.variants()
        except LogError as error:
            yield self._said(Report((str(error), error.field)))
            return
        yield self._traces(variants)
        yield self._said(Report(None, counting.missing, counting.numbers), variants.totals)

    def owned(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the rows with the person of their case, found by the rule by which cases are counted."""
        arrived = list(batches)
        if not arrived:
            return
        rows = _polars(pa.Table.from_batches(arrived))
        owner = pa.nulls(rows.height, pa.string())
        with suppress(LogError):  # raised again where cases are counted
            persons = persons_of(self.table(rows), self.reading)
            cases = rows.select(case=pl.col(self.case).cast(pl.String))
            found = cases.join(persons, on="case", how="left", maintain_order="left")["person"]
            owner = found.to_arrow().cast(pa.string())
        yield from pa.Table.from_batches(arrived).append_column(_OWNER, owner).to_batches()

    def _traces(self, variants: Log) -> pa.RecordBatch:
        codes = pa.array(np.frombuffer(b"".join(variants.keys), CODE))
        ends = np.cumsum(variants.lengths(), dtype=np.int64)
        offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
        names = [(name,) if isinstance(name, str) else name for name in variants.alphabet]
        texts = [pa.array([name[index] for name in names], pa.string()) for index in range(len(self.columns.parts))]
        lists = [pa.ListArray.from_arrays(offsets, text.take(codes)) for text in texts]
        return self._batch(None, lists, variants.counts, None)

    def _said(self, report: Report, totals: Totals | None = None) -> pa.RecordBatch:
        nothing = [pa.nulls(1, pa.list_(pa.string())) for _ in self.columns.parts]
        return self._batch(pickle.dumps(report), nothing, [1], None if totals is None else pickle.dumps(totals))

    def _batch(
        self, report: bytes | None, parts: Sequence[pa.Array], numbers: Any, cases: bytes | None
    ) -> pa.RecordBatch:
        first, last = (pa.array([content] * len(numbers), pa.binary()) for content in (report, cases))
        names = [_REPORT, *self.columns.parts, _NUMBER, _CASES]
        return pa.RecordBatch.from_arrays([first, *parts, pa.array(numbers, pa.int64()), last], names=names)


def _answers(question: q.Question, abstraction: Abstraction, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Yield what the encoded cases of each partition answer."""
    for batch in batches:
        for content in batch.column(0).to_pylist():
            totals = pickle.loads(content).under(abstraction)
            sums = totals.sums if isinstance(question, q.CellQuestion) else totals.value_sums
            yield pa.RecordBatch.from_pydict({"sums": [pickle.dumps(sums(question))]})


@dataclass(frozen=True)
class SparkTotals:
    """Answers questions from the encoded cases of all partitions; only sums reach the driver. Confidential.

    Attributes:
        cases: The encoded cases, one row for each partition.
        empty: The answers about no cases.
        where: The name of the log in messages.
        abstraction: How the traces are generalised.
    """

    cases: Any
    empty: EncodedTotals
    where: str
    abstraction: Abstraction = FULL

    @property
    def details(self) -> Details:
        """What was read."""
        return self.empty.details

    def under(self, abstraction: Abstraction) -> Totals:
        """Return the answers for traces that are generalised further."""
        return replace(self, abstraction=self.abstraction | abstraction)

    def sums(self, question: q.CellQuestion) -> Integers:
        """Return what all cases add to the cells of a question."""
        return sum(self._answered(question), start=self.empty.sums(question))

    def value_sums(self, question: q.AttributeValues | q.EventValues) -> dict[str | None, int]:
        """Return what all cases add to the values of an attribute."""
        return sum(map(Counter, self._answered(question)), start=Counter())

    def fetched(self) -> EncodedTotals:
        """Return the answers from the cases of all partitions, which are transferred."""
        with _jobs(self.where):
            found = [pickle.loads(row[0]) for row in self.cases.collect()]
        return replace(
            self.empty, cases=joined([each.cases for each in (self.empty, *found)]), abstraction=self.abstraction
        )

    def _answered(self, question: q.Question) -> list[Any]:
        """Return the sums of every partition."""
        answers = self.cases.mapInArrow(partial(_answers, question, self.abstraction), "sums binary")
        with _jobs(self.where):
            return [pickle.loads(row[0]) for row in answers.collect()]


class RemoteVariants(Log):
    """Variants of which only counts and lengths are in memory; the cluster holds the table as long as they are in use.

    Only selected traces are transferred. Using `keys`, as metrics, prefix trees and synthesis do, transfers all traces.
    """

    frame: Any
    _where: str
    _digests: pa.ChunkedArray
    _lengths: Integers

    def __init__(
        self, frame: Any, where: str, digests: pa.ChunkedArray, counts: Integers, lengths: Integers, described: Log
    ) -> None:
        check_number_of_cases(counts)
        self.__dict__ |= {name: value for name, value in vars(described).items() if name not in ("alphabet", "keys")}
        self.__dict__ |= {"frame": frame, "_where": where, "_digests": digests, "counts": counts, "_lengths": lengths}

    def __len__(self) -> int:
        return len(self.counts)

    def lengths(self) -> Integers:
        """Return the number of events of each variant."""
        return self._lengths

    def traces(self, indexes: Iterable[int]) -> list[Trace]:
        """Return the traces of variants by index; they are transferred now, and nothing else leaves the cluster."""
        chosen = list(indexes)
        if not chosen:
            return []
        wanted = self._digests.take(pa.array(chosen, pa.int64()))
        selected = self.frame.sparkSession.createDataFrame(pa.table({_DIGEST: wanted}))
        rows = self._fetched(self.frame.join(selected, _DIGEST), wanted)
        arrays = [rows[part].to_list() for part in rows.columns[1:]]
        if len(arrays) == 1:
            return [tuple(trace) for trace in arrays[0]]
        return [tuple(zip(*row, strict=True)) for row in zip(*arrays, strict=True)]

    def canonical(self) -> Log:
        """Return the variants in the order of their traces; all of them are transferred."""
        here = Log(self.alphabet, self.keys, self.counts, self.columns, self.notes)
        return replace(here, unit=self.unit, counted=self.counted, roles=self.roles, totals=self.totals).canonical()

    @cached_property
    def alphabet(self) -> Sequence[Activity]:
        """All activities of the log; no traces are transferred for them."""
        return self._names[:, 0].to_list() if self._names.width == 2 else self._names.drop("code").rows()

    @cached_property
    def keys(self) -> Sequence[bytes]:
        """All traces, as the bytes of their activities' codes."""
        rows = self._fetched(self.frame, self._digests)
        parts = rows.columns[1:]
        events = rows.select(parts).explode(parts)
        codes = events.join(self._names, on=parts, how="left", maintain_order="left")["code"]
        return keys_of(codes.to_numpy(), self._lengths)

    @cached_property
    def _names(self) -> pl.DataFrame:
        """The names of all activities, and their codes."""
        rows = self.frame.select(f.inline(f.arrays_zip(*self.frame.columns[1:]))).distinct()
        with _jobs(self._where):
            names = _polars(rows.toArrow())
        return names.sort(pl.all()).with_columns(code=pl.int_range(pl.len(), dtype=pl.UInt32))

    def _fetched(self, rows: Any, wanted: pa.ChunkedArray) -> pl.DataFrame:
        """Return the rows of these digests, in their order."""
        with _jobs(self._where):
            fetched = _polars(rows.toArrow())
        order = pl.DataFrame({_DIGEST: pl.from_arrow(wanted)})
        found = order.join(fetched, on=_DIGEST, how="left", maintain_order="left")
        if found.height != order.height or fetched.height != order.height or found[found.columns[1]].null_count():
            raise LogError(f"{self._where}: changed while it was being read; nothing was released; try again")
        return found


def _drop(frame: Any) -> None:
    with suppress(Exception):  # the session may have ended before
        frame.unpersist()


def _opened(source: str, reading: Reading) -> tuple[Any, str]:
    """Return the events and their name in messages. The master is not set here."""
    path = _path_of(source, reading)
    session = _session()
    if reading.query:
        query = f"SELECT * FROM (\n{reading.query.strip().rstrip(';')}\n)"  # where nothing but a SELECT can be
        where, opened = "Spark query", partial(session.sql, query)
    elif reading.table:
        where, opened = f"Spark table {reading.table!r}", partial(session.table, reading.table)
    else:
        where, opened = f"spark:{path}", partial(_parquet, session, path)
    with _jobs(where):
        return opened(), where


def _parquet(session: Any, path: str) -> Any:
    """Read Parquet files. What the names of folders say (`ward=01`) is text: its type would depend on all of them."""
    inference = session.conf.get(_INFERENCE)
    session.conf.set(_INFERENCE, "false")
    try:
        schema = session.read.parquet(path).schema
    finally:
        session.conf.set(_INFERENCE, inference)
    return session.read.schema(schema).parquet(path)


def _path_of(source: str, reading: Reading) -> str:
    """Return the path, empty for a table or a query. Raises ParameterError unless there is exactly one of them."""
    path = source.partition(":")[2]
    path = path.removeprefix("//") if path.startswith("///") else path
    named = [name for name in (path.strip("/"), reading.table, reading.query) if name]
    if len(named) != 1 or path.startswith("//"):
        raise ParameterError(
            "spark: needs exactly one of spark:PATH (Parquet), table and query; "
            "set the master with spark-submit, SPARK_REMOTE or MASTER",
            field="table",
        )
    return path


def _session() -> Any:
    """Return the running session, or a new one."""
    if (running := SparkSession.getActiveSession()) is not None:
        return running
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("travas").config("spark.ui.showConsoleProgress", "false")
    with plain_words("spark: cannot start a session", "check that Java 17+ is installed and the master is up"):
        return builder.getOrCreate()


@contextmanager
def _jobs(where: str) -> Iterator[None]:
    """Replace errors of Spark by their kind: their messages may quote a cell. An interrupt cancels the jobs."""
    context, tag = getattr(SparkSession.getActiveSession(), "sparkContext", None), f"travas-{uuid4().hex}"
    if context is not None:  # Spark Connect has none
        context.addJobTag(tag)
    try:
        yield
    except KeyboardInterrupt:
        if context is not None:
            context.cancelJobsWithTag(tag)
        raise
    except TravasError:
        raise
    except Exception as error:
        if "No module named 'travas" in str(error):
            raise LogError(
                f"{where}: travas is not installed on the executors of Spark; install the same version with its extra "
                "spark there, as on the driver"
            ) from None
        kind = getattr(error, "getCondition", lambda: None)() or type(error).__name__
        raise LogError(f"{where}: the Spark job failed ({kind}); check names and permissions, or see its log") from None
    finally:
        if context is not None:
            context.removeJobTag(tag)
