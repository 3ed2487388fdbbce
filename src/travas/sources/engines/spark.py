"""Spark: the cluster computes the variants, the driver draws the noise. Only the traces of kept variants are transferred.

The driver receives a digest of each trace, its count and its length: 28 bytes per variant, however long the traces are.
Variants are distinguished by their traces; a digest (128 bits of SHA-256 over JSON) only selects which ones to fetch.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ...errors import LogError, MissingExtraError, ParameterError, TravasError
from ...log.log import Log
from ...log.traces import CODE, CODE_BYTES, Activity, Trace
from ..reading import Reading, released_columns
from .clocks import Clock, spark_clock, spark_zoned_clock
from .databases import interruptible
from .details_expression import details_of
from .queries import check_query
from .remote import RemoteVariants
from .totals_expression import RemoteTotals
from .variants_expression import CASE, COUNT, Query

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

_DIGEST, _LENGTH = "digest", "length"
_STEP, _ROW, _CODE = "travas_step", "travas_row", "travas_code"
_EVENTS, _ROWS, _DETAILS = "travas_events", "travas_rows", "travas_details"
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
            import ibis
            import pyspark  # noqa: F401
            from ibis.backends.pyspark.datatypes import PySparkType
        except ImportError:
            raise MissingExtraError("reading with Spark", "spark") from None
        frame, where = _opened(source, reading) if isinstance(source, str) else (source, "Spark DataFrame")
        if not hasattr(frame, "sparkSession"):
            raise LogError(f"a {type(frame).__name__} is not an event log; use a pyspark.sql DataFrame")
        events = ibis.table(ibis.schema(PySparkType.to_ibis(frame.schema)), name=_EVENTS)
        query = Query(events, reading, where, gather=_gather, clock=_clock(frame.schema))
        variants: Log = _run(frame.sparkSession, where, lambda: _Store.of(frame, query))
        return variants


def _gather(events: ir.Table, parts: list[str], keys: list[Any], where: Any, others: dict[str, Any]) -> ir.Table:
    """Collect and sort arrays of the sort keys, which end in the parts: Spark has no ordered aggregates."""
    import ibis

    fields = [f"key_{index}" for index in range(len(keys))]
    rows = ibis.struct(dict(zip(fields, keys, strict=True))).collect(where=where)
    kind = rows.type()

    @ibis.udf.scalar.builtin(signature=((kind,), kind))
    def sort_array(rows):  # type: ignore[no-untyped-def]
        """Sort an array; faster than `array_sort`, which Ibis uses and which calls a function for every comparison."""

    cases = events.group_by(CASE).aggregate(rows=rows, **others)
    cases = cases.mutate(rows=sort_array(cases["rows"]))
    arrays = {
        part: cases["rows"].map(lambda row, field=field: row[field])
        for part, field in zip(parts, fields[-len(parts) :], strict=True)
    }
    return cases.mutate(**arrays)


def _clock(schema: Any) -> Clock:
    """Return the clock of a schema; Ibis does not report which timestamps have a zone."""
    return lambda moment: (spark_zoned_clock if _is_zoned(schema, moment.get_name()) else spark_clock)(moment)


def _is_zoned(schema: Any, column: str) -> bool:
    return bool(schema[column].dataType.typeName() == "timestamp")


@dataclass(frozen=True)
class _Store:
    """The table of variants on the cluster: computed once and persisted as long as the variants are in use."""

    frame: Any
    query: Query
    digests: pa.ChunkedArray

    @classmethod
    def of(cls, events: Any, query: Query) -> Log:
        import ibis
        from pyspark.sql import functions as f

        answers = (
            _totals(events, query) if query.reading.details else None
        )  # what is refused by types, is refused first
        rows = query.rows()
        named = ibis.table(rows.schema(), name=_ROWS)
        together = _asked(rows, **{_EVENTS: events}).repartition(
            CASE
        )  # otherwise Spark would first sort within each file
        table = _asked(query.variants(named), **{_ROWS: together})
        with suppress(Exception):  # Spark does not coalesce persisted data; not available over Connect
            table = table.coalesce(2 * events.sparkSession.sparkContext.defaultParallelism)
        digest = f.substring(f.sha2(f.to_json(f.struct(*query.parts)).cast("binary"), 256), 1, 32)
        length = f.size(query.parts[0])
        frame = table.withColumns({_DIGEST: f.unhex(digest), _LENGTH: length}).persist()
        try:
            sums = [f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in query.sums]
            [totals] = frame.agg(*sums, *(f.min(name).alias(name) for name in query.firsts)).collect()
            here = frame.where(f.col(_LENGTH) > 0).select(_DIGEST, COUNT, _LENGTH).toArrow()
            notes = query.notes(totals.asDict(), here.num_rows)
        except BaseException:
            frame.unpersist()
            raise
        counts, lengths = (here[name].to_numpy().astype("int64") for name in (COUNT, _LENGTH))
        reading = query.reading
        variants = RemoteVariants(
            cls(frame, query, here[_DIGEST]),
            counts,
            lengths,
            released_columns(query.columns.activities),
            notes,
            reading.privacy_unit,
            reading.counts_of,
            query.columns.roles,
            answers,
        )
        weakref.finalize(variants, _drop, frame)
        return variants

    def traces(self, indexes: Sequence[int]) -> list[Trace]:
        """Return the traces with these indexes, in this order; nothing else leaves the cluster."""
        import pyarrow as pa

        if not len(indexes):
            return []
        wanted = self.digests.take(pa.array(indexes, pa.int64()))
        session = self.frame.sparkSession
        selected = session.createDataFrame(pa.table({_DIGEST: wanted}))
        rows = self.frame.join(selected, _DIGEST).select(_DIGEST, *self.query.parts)
        fetched = _run(session, self.query.where, rows.toArrow)
        traces = self._rows(fetched, self.query.parts)
        by_digest = dict(zip(fetched[_DIGEST].to_pylist(), traces, strict=True))
        if not len(by_digest) == fetched.num_rows == len(indexes):
            raise self._changed()
        return [by_digest[digest] for digest in wanted.to_pylist()]

    def keys(self, alphabet: Sequence[Activity]) -> list[bytes]:
        """Return all traces, coded on the cluster: 4 bytes per event travel, and a digest per trace."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyspark.sql import functions as f

        parts, session = self.query.parts, self.frame.sparkSession
        names = [(name,) if isinstance(name, str) else name for name in alphabet]
        columns = {part: pa.array([name[index] for name in names], pa.string()) for index, part in enumerate(parts)}
        codes = session.createDataFrame(pa.table(columns | {_CODE: pa.array(range(len(names)), pa.int32())}))
        events = self.frame.select(_DIGEST, f.posexplode(f.arrays_zip(*parts)).alias(_STEP, _ROW))
        events = events.select(_DIGEST, _STEP, *(f.col(f"{_ROW}.{part}").alias(part) for part in parts))
        coded = events.join(codes, parts).groupBy(_DIGEST)
        ordered = f.sort_array(f.collect_list(f.struct(_STEP, _CODE)))
        rows = coded.agg(ordered.alias(_ROW)).select(_DIGEST, f.col(f"{_ROW}.{_CODE}").alias(_CODE))
        fetched = _run(session, self.query.where, rows.toArrow).combine_chunks()
        order = pc.index_in(self.digests.combine_chunks(), value_set=fetched[_DIGEST].combine_chunks())
        if order.null_count or fetched.num_rows != len(self.digests):
            raise self._changed()
        lists = fetched[_CODE].combine_chunks()
        events_of = lists.flatten().to_numpy().astype(CODE).tobytes()
        ends = np.cumsum(pc.list_value_length(lists).to_numpy()) * CODE_BYTES
        begins = np.concatenate([[0], ends[:-1]])
        return [events_of[begins[index] : ends[index]] for index in order.to_pylist()]

    def _changed(self) -> LogError:
        return LogError(f"{self.query.where}: changed while it was being read; nothing was released; try again")

    def alphabet(self) -> list[Activity]:
        """Return all activities of the log."""
        from pyspark.sql import functions as f

        names = [f.col(f"row.{part}").alias(part) for part in self.query.parts]
        rows = self.frame.select(f.explode(f.arrays_zip(*self.query.parts)).alias("row")).select(*names).distinct()
        collected = _run(self.frame.sparkSession, self.query.where, rows.collect)
        return [row[0] if len(names) == 1 else tuple(row) for row in collected]

    @staticmethod
    def _rows(table: pa.Table, parts: list[str]) -> list[Trace]:
        arrays = [table[part].to_pylist() for part in parts]
        if len(parts) == 1:
            return [tuple(trace) for trace in arrays[0]]
        return [tuple(zip(*row, strict=True)) for row in zip(*arrays, strict=True)]


def _totals(events: Any, query: Query) -> RemoteTotals:
    """Return the answers of Spark, from the complete events, which are persisted as long as there may be questions."""
    import ibis

    is_zoned = _is_zoned(events.schema, str(query.columns.timestamp))
    expression = details_of(query)
    details = _asked(expression, **{_EVENTS: events}).repartition(CASE).persist()

    def ask(answer: ir.Table) -> list[dict[str, Any]]:
        table = _asked(answer, **{_DETAILS: details})
        rows: list[dict[str, Any]] = _run(details.sparkSession, query.where, table.toArrow).to_pylist()
        return rows

    weakref.finalize(ask, _drop, details)
    details.count()  # what fails, fails now
    table = ibis.table(expression.schema(), name=_DETAILS)
    RemoteTotals(query, table.limit(0), ask, is_zoned).try_out()
    return RemoteTotals(query, table, ask, is_zoned)


def _asked(table: ir.Table, **frames: Any) -> Any:
    """Return the DataFrame of an Ibis expression, with these DataFrames as the tables of their names."""
    import ibis

    sql = ibis.pyspark.compile(table).replace("{", "{{").replace("}", "}}")
    for name in frames:
        sql = sql.replace(f"`{name}`", f"{{{name}}}")
    [session] = {frame.sparkSession for frame in frames.values()}
    return session.sql(sql, **frames)


def _drop(frame: Any) -> None:
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
    if reading.query:
        check_query(reading.query, "spark")
    session = _session()
    if reading.query:
        return _run(session, where, lambda: session.sql(reading.query)), where
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
        kind = getattr(error, "getCondition", lambda: None)() or type(error).__name__
        raise LogError(
            f"{where}: the Spark job failed ({kind}); check names and permissions, or see the Spark log"
        ) from None
