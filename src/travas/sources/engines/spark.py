"""Spark: the cluster counts the cases, the driver draws the noise. Only the traces of released variants are transferred.

The events are divided by the hash of their case, with a unit by the hash of the person of the case. Every partition is
counted by the table engine (`partitions`), and Spark sums the counts by trace. The driver receives a digest of each
trace, its count and its length: 28 bytes per variant, however long the traces are. Log are distinguished by their
traces; a digest (128 bits of SHA-256 over JSON) only selects which ones to fetch.
"""

from __future__ import annotations

import os
import pickle
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import numpy as np
import polars as pl

from ...errors import LogError, MissingExtraError, ParameterError, TravasError
from ...log import questions as q
from ...log.abstraction import FULL, Abstraction
from ...log.log import Log, check_number_of_cases
from ...log.questions import Details, Totals, check_details
from ...log.traces import Activity, Trace
from ..columns import cautions, columns_of
from ..encoded_cases import EncodedCases, EncodedTotals, joined
from ..events import Table, log_of
from ..messages import NO_EVENTS, MissingValues, UseOfTimestamps, left_out_note, missing_values, several_values_notes
from ..reading import Reading, released_columns
from .databases import interruptible, without_row_order

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from .partitions import Partition

_DIGEST, _COUNT, _LENGTH = "digest", "count", "length"
_PATTERN = frozenset("{}[]*?\\")
_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"


@dataclass(frozen=True)
class Spark:
    """A DataFrame of a running session, or `spark:` with a path, a table or a query.

    `spark:` uses the running session, that of `spark-submit`, the server of SPARK_REMOTE, or a local one.
    """

    def variants(self, source: Any, reading: Reading) -> Log:
        """Return the variants of a DataFrame, of `spark:PATH` (Parquet), or of `spark:` with a table or a query."""
        try:
            import pyarrow  # noqa: F401
            import pyspark  # noqa: F401
        except ImportError:
            raise MissingExtraError("reading with Spark", "spark") from None
        reading = without_row_order(reading, "Spark")
        frame, where = _opened(source, reading) if isinstance(source, str) else (source, "Spark DataFrame")
        if not hasattr(frame, "sparkSession"):
            raise LogError(f"a {type(frame).__name__} is not an event log; use a pyspark.sql DataFrame")
        variants: Log = _run(frame.sparkSession, where, lambda: _counted(frame, reading, where))
        return variants


def _counted(frame: Any, reading: Reading, where: str) -> Log:
    from pyspark.sql import functions as f

    from .partitions import CASES, COLUMN, CONTENT, KIND, NUMBER, TEXT, TRACE, Partition, parts_of, schema_of

    empty = _arrow_frame(frame.limit(0)).lazy()
    columns = columns_of(reading, empty.collect_schema(), where)
    partition, parts = Partition(columns, reading, where), parts_of(columns)
    events = _divided(frame, partition).mapInArrow(partition.counted, schema_of(columns))
    held = [events.persist()] if columns.details else []
    try:
        answers = (
            events.where(f.col(KIND) != CASES).groupBy(KIND, TEXT, COLUMN, *parts).agg(f.sum(NUMBER).alias(_COUNT))
        )
        with suppress(Exception):  # Spark does not coalesce persisted data; not available over Connect
            answers = answers.coalesce(2 * frame.sparkSession.sparkContext.defaultParallelism)
        digest = f.unhex(f.substring(f.sha2(f.to_json(f.struct(*parts)).cast("binary"), 256), 1, 32))
        answers = answers.withColumns({_DIGEST: digest, _LENGTH: f.size(parts[0])}).persist()
        held.append(answers)
        others = answers.where(f.col(KIND) != TRACE).select(KIND, TEXT, COLUMN, _COUNT).collect()
        notes = _notes([tuple(row) for row in others], partition)
        here = answers.where(f.col(KIND) == TRACE).select(_DIGEST, _COUNT, _LENGTH).toArrow()
    except BaseException:
        _drop(*held)
        raise
    totals = None
    if columns.details:
        cases, zero = (
            events.where(f.col(KIND) == CASES).select(CONTENT),
            log_of(Table(empty, columns, where), reading).totals,
        )
        assert zero is not None
        totals = SparkTotals(cases, zero, where)
        weakref.finalize(cases, _drop, events)
    traces = answers.where(f.col(KIND) == TRACE).select(_DIGEST, *parts)
    weakref.finalize(traces, _drop, answers)
    described = Log(
        [],
        [],
        np.empty(0, np.int64),
        released_columns(columns.roles.activities),
        notes if here.num_rows or notes else (NO_EVENTS,),
        unit=reading.privacy_unit,
        counted=reading.counts_of,
        roles=columns.roles,
        totals=totals,
        cautions=cautions(reading, frame.columns),
    )
    counts, lengths = (here[name].to_numpy().astype(np.int64) for name in (_COUNT, _LENGTH))
    return RemoteVariants(Store(traces, parts, where, here[_DIGEST]), counts, lengths, described)


def _divided(frame: Any, partition: Partition) -> Any:
    """Return the needed columns, divided so that no case is in two partitions, and with a unit no person."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType, StructField, StructType

    from .partitions import OWNER

    selected = []
    for index, name in enumerate(partition.columns.names):
        column = f.col(f"`{name.replace('`', '``')}`")
        is_text = frame.schema[name].dataType.typeName() in ("string", "char", "varchar")
        selected.append((column.cast("string") if is_text else column).alias(f"c{index}"))  # without a collation
    rows = frame.select(*selected)
    case = f"c{partition.columns.names.index(partition.columns.case)}"
    together = rows.repartition(case)
    if partition.columns.unit is None:
        return together
    schema = StructType([*rows.schema.fields, StructField(OWNER, StringType())])
    return together.mapInArrow(partition.owned, schema).repartition(OWNER).drop(OWNER)


def _notes(rows: Sequence[tuple[str, str, str, int]], partition: Partition) -> tuple[str, ...]:
    """Refuse what a partition refused, or what is missing; else return what was left out, in all partitions together."""
    from .partitions import FIRST, MISSING, REFUSED, SEVERAL

    if refused := sorted((text, field) for kind, text, field, _ in rows if kind == REFUSED):
        raise LogError(refused[0][0], field=refused[0][1])
    firsts = {
        what: min(text for kind, text, of, _ in rows if (kind, of) == (FIRST, what))
        for kind, _, what, _ in rows
        if kind == FIRST
    }
    missing = [
        MissingValues(what, number, firsts.get(what, ""), column)
        for kind, what, column, number in sorted(rows, key=lambda row: row[:3])
        if kind == MISSING
    ]
    persons = [each for each in missing if not each.column]
    if missing and partition.reading.on_missing == "fail":
        events = [each for each in missing if each.column]
        use: UseOfTimestamps = "for order" if partition.columns.by_time else "for times"
        raise missing_values(partition.where, events or persons, "set on_missing to 'drop'", use)
    several = {text: number for kind, text, _, number in rows if kind == SEVERAL}
    return (*(left_out_note(each.number, each.what) for each in missing), *several_values_notes(several))


def _arrow_frame(frame: Any) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


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
    empty: Totals
    where: str
    abstraction: Abstraction = FULL

    @property
    def details(self) -> Details:
        """What was read."""
        return self.empty.details

    def under(self, abstraction: Abstraction) -> Totals:
        """Return the answers for traces that are generalised further."""
        return replace(self, abstraction=self.abstraction | abstraction)

    def sums(self, question: q.CellQuestion) -> NDArray[np.int64]:
        """Return what all cases add to the cells of a question."""
        from .partitions import sums

        total = self.empty.sums(question).ravel()  # refuses what was not read
        abstraction = self.abstraction
        found = self._summed(lambda batches: sums(batches, question, abstraction), "long")
        total[found["cell"].to_numpy()] += found["total"].to_numpy()
        return total.reshape(question.shape)

    def value_sums(self, question: q.AttributeValues) -> dict[str | None, int]:
        """Return what all cases add to the values of an attribute."""
        from .partitions import value_sums

        check_details(self, Details(attributes=(question.attribute,)))
        abstraction = self.abstraction
        found = self._summed(lambda batches: value_sums(batches, question, abstraction), "string")
        return dict(zip(found["cell"].to_pylist(), found["total"].to_pylist(), strict=True))

    def fetched(self) -> EncodedCases:
        """Return the cases of all partitions."""
        found = _run(self.cases.sparkSession, self.where, self.cases.collect)
        return joined([pickle.loads(row[0]).cases for row in found]) if found else cast(EncodedTotals, self.empty).cases

    def _summed(self, work: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], cell: str) -> pa.Table:
        from pyspark.sql import functions as f

        from .partitions import NUMBER

        parts = self.cases.mapInArrow(work, f"cell {cell}, {NUMBER} long")
        summed = parts.groupBy("cell").agg(f.sum(NUMBER).alias("total"))
        return _run(self.cases.sparkSession, self.where, summed.toArrow)


@dataclass(frozen=True)
class Store:
    """The table of variants on the cluster: computed once and persisted as long as the variants are in use."""

    frame: Any
    parts: list[str]
    where: str
    digests: pa.ChunkedArray

    def traces(self, indexes: Sequence[int]) -> list[Trace]:
        """Return the traces with these indexes, in this order; nothing else leaves the cluster."""
        import pyarrow as pa

        if not len(indexes):
            return []
        wanted = self.digests.take(pa.array(indexes, pa.int64()))
        selected = self.frame.sparkSession.createDataFrame(pa.table({_DIGEST: wanted}))
        rows = self._fetched(self.frame.join(selected, _DIGEST), wanted)
        arrays = [rows[part].to_list() for part in self.parts]
        if len(arrays) == 1:
            return [tuple(trace) for trace in arrays[0]]
        return [tuple(zip(*row, strict=True)) for row in zip(*arrays, strict=True)]

    def keys(self, alphabet: Sequence[Activity]) -> list[bytes]:
        """Return all traces, each as the bytes of its activities' codes: their indexes in the alphabet."""
        from .partitions import coded

        names = list(alphabet)
        rows = self.frame.mapInArrow(lambda batches: coded(batches, names), f"{_DIGEST} binary, key binary")
        return self._fetched(rows, self.digests)["key"].to_list()

    def alphabet(self) -> list[Activity]:
        """Return all activities of the log."""
        from pyspark.sql import functions as f

        names = [f.col(f"row.{part}").alias(part) for part in self.parts]
        rows = self.frame.select(f.explode(f.arrays_zip(*self.parts)).alias("row")).select(*names).distinct()
        collected = _run(self.frame.sparkSession, self.where, rows.collect)
        return [row[0] if len(names) == 1 else tuple(row) for row in collected]

    def _fetched(self, rows: Any, wanted: pa.ChunkedArray) -> pl.DataFrame:
        """Return the rows of these digests, in their order."""
        fetched = _run(self.frame.sparkSession, self.where, lambda: _arrow_frame(rows))
        order = pl.DataFrame({_DIGEST: pl.from_arrow(wanted)})
        found = order.join(fetched, on=_DIGEST, how="left", maintain_order="left")
        if found.height != order.height or fetched.height != order.height or found[found.columns[1]].null_count():
            raise LogError(f"{self.where}: changed while it was being read; nothing was released; try again")
        return found


class RemoteVariants(Log):
    """Log of which only counts and lengths are in memory. Only selected traces are transferred.

    Using `keys`, as metrics and prefix trees do, loads all traces into memory.
    """

    _store: Store
    _lengths: NDArray[np.int64]

    def __init__(self, store: Store, counts: NDArray[np.int64], lengths: NDArray[np.int64], described: Log) -> None:
        check_number_of_cases(counts)
        others = {name: value for name, value in vars(described).items() if name not in ("alphabet", "keys")}
        self.__dict__ |= others | {"_store": store, "counts": counts, "_lengths": lengths}

    def __len__(self) -> int:
        return len(self.counts)

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of events of each variant."""
        return self._lengths

    def traces(self, indexes: Iterable[int]) -> list[Trace]:
        """Return the traces of variants by index; they are transferred now."""
        return self._store.traces(list(indexes))

    def canonical(self) -> Log:
        """Return the variants in the order of their traces; all of them are transferred."""
        here = Log(self.alphabet, self.keys, self.counts, self.columns, self.notes)
        return replace(here, unit=self.unit, counted=self.counted, roles=self.roles, totals=self.totals).canonical()

    @cached_property
    def alphabet(self) -> Sequence[Activity]:
        return self._store.alphabet()

    @cached_property
    def keys(self) -> Sequence[bytes]:
        return self._store.keys(self.alphabet)


def _drop(*frames: Any) -> None:
    for frame in frames:
        with suppress(Exception):  # the session may have ended before
            frame.unpersist()


def _opened(source: str, reading: Reading) -> tuple[Any, str]:
    """Return the events and their name in messages. The master is not set here."""
    path = _path_of(source, reading)
    if set(path) & _PATTERN:
        raise ParameterError(
            f"spark:{path} has one of {' '.join(sorted(_PATTERN))}, which Spark takes for a pattern; use a folder or a table",
            field="source",
        )
    where = "Spark query" if reading.query else f"Spark table {reading.table!r}" if reading.table else f"spark:{path}"
    session = _session()
    if reading.query:
        query = f"SELECT * FROM (\n{reading.query.strip().rstrip(';')}\n)"  # where nothing but a SELECT can be
        return _run(session, where, lambda: session.sql(query)), where
    if reading.table:
        return _run(session, where, lambda: session.table(reading.table)), where
    return _run(session, where, lambda: _parquet(session, path)), where


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
    """Return the running session, or a new one without log output."""
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("travas").config("spark.ui.showConsoleProgress", "false")
    with silent():
        try:
            return builder.getOrCreate()
        except Exception as error:
            raise LogError(
                f"spark: cannot start a session ({type(error).__name__}); check that Java 17+ is installed and the master is up"
            ) from None


@contextmanager
def silent() -> Iterator[None]:
    """Discard the log output of a JVM that is started in this context."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _run(session: Any, where: str, work: Callable[[], Any]) -> Any:
    """Run tagged jobs, which can be cancelled separately. Errors are reported by type, since messages may quote a cell."""
    tag = f"travas-{uuid4().hex}"

    def tagged() -> Any:
        session.addTag(tag)
        try:
            return work()
        finally:
            session.removeTag(tag)

    try:
        return interruptible(tagged, lambda: session.interruptTag(tag))
    except TravasError:
        raise
    except Exception as error:
        if "No module named 'travas" in str(error):
            raise LogError(
                f"{where}: travas is not installed on the executors of Spark; install the same version with its extra "
                "spark there, as on the driver"
            ) from None
        kind = getattr(error, "getCondition", lambda: None)() or type(error).__name__
        raise LogError(
            f"{where}: the Spark job failed ({kind}); check names and permissions, or see the Spark log"
        ) from None
