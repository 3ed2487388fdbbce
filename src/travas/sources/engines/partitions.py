"""What runs on the executors of Spark: the table engine on one partition, which has whole cases, with a unit whole persons.

Only this module and what it imports is needed there: `travas` and pyarrow. A partition answers with rows of a fixed
schema (`schema_of`), which Spark sums by key: traces with their counts, what is missing, and notes. A refusal is a row,
too, so that its words reach the driver. With details, one more row holds the encoded cases, which never leave the cluster:
later questions are answered from it by the code that answers them for a file (`sources.encoded_cases`).
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import attrs
import numpy as np
import polars as pl
import pyarrow as pa

from ...errors import LogError
from ...log import questions as q
from ...log.abstraction import Abstraction
from ...log.log import Log
from ...log.traces import CODE, Activity, Codes
from ..columns import Columns
from ..events import Counting, Table, persons_of
from ..reading import Reading
from .databases import sorted_rows

TRACE, MISSING, FIRST, SEVERAL, REFUSED, CASES = "trace", "missing", "first", "several", "refused", "cases"
"""The kinds of rows. The text of the others than `TRACE` and `CASES` is what is missing, an attribute or a message."""

KIND, TEXT, COLUMN, NUMBER, CONTENT, OWNER = "kind", "text", "column", "number", "content", "owner"


def parts_of(columns: Columns) -> list[str]:
    """The columns of arrays that make up the activities of a trace."""
    return [f"part_{index}" for index in range(len(columns.activities))]


def schema_of(columns: Columns) -> str:
    """The schema of the rows of an answer."""
    parts = "".join(f"{part} array<string>, " for part in parts_of(columns))
    return f"{KIND} string, {TEXT} string, {COLUMN} string, {parts}{NUMBER} long, {CONTENT} binary"


@dataclass(frozen=True)
class Partition:
    """How the rows of a partition are read, which has the columns that are needed, in their order."""

    columns: Columns
    reading: Reading
    where: str

    def table(self, rows: pl.DataFrame) -> Table:
        """The rows as a table; their numbers mean nothing."""
        named = rows.rename(dict(zip(rows.columns, self.columns.names, strict=False)))
        return Table(sorted_rows(named, self.reading).lazy(), self.columns, self.where, place=lambda _: "a row")

    def counted(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the answer. What is missing is left out; the driver refuses it, if it is to be refused."""
        frames = [pl.DataFrame(pl.from_arrow(batch)) for batch in batches if batch.num_rows]
        if not frames:
            return
        counting = Counting(attrs.evolve(self.reading, on_missing="drop"))
        try:
            table = self.table(pl.concat(frames))
            counting.add(table, table.rows)
            variants = counting.variants()
        except LogError as error:
            yield self._rows(REFUSED, [(str(error), error.field, 1)])
            return
        missing = list(counting.missing.values())
        yield self._traces(variants)
        yield self._rows(MISSING, [(each.what, each.column, each.number) for each in missing])
        yield self._rows(FIRST, [(each.first, each.what, 1) for each in missing if not each.column])
        yield self._rows(SEVERAL, [(name, "", number) for name, number in counting.several.items()])
        if variants.totals is not None:
            yield self._rows(CASES, [("", "", 0)], pickle.dumps(variants.totals))

    def owned(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows with the person of their case, found by the rule by which cases are counted."""
        arrived = [batch for batch in batches if batch.num_rows]
        if not arrived:
            return
        rows = pl.concat([pl.DataFrame(pl.from_arrow(batch)) for batch in arrived])
        owner = pa.nulls(rows.height, pa.string())
        with suppress(LogError):  # raised again where cases are counted
            case = rows.columns[self.columns.names.index(self.columns.case)]
            cases = rows.select(case=pl.col(case).cast(pl.String))
            persons = persons_of(self.table(rows), self.reading)
            found = cases.join(persons, on="case", how="left", maintain_order="left")["person"]
            owner = found.to_arrow().cast(pa.string())
        yield from pa.Table.from_batches(arrived).append_column(OWNER, owner).to_batches()

    def _traces(self, variants: Log) -> pa.RecordBatch:
        codes = np.frombuffer(b"".join(variants.keys), CODE)
        ends = np.cumsum(variants.lengths(), dtype=np.int64)
        offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
        parts = parts_of(self.columns)
        names = [(name,) if isinstance(name, str) else name for name in variants.alphabet]
        arrays = []
        for index in range(len(parts)):
            texts = pa.array([name[index] for name in names], pa.string())
            arrays.append(pa.ListArray.from_arrays(offsets, texts.take(pa.array(codes))))
        return self._batch(TRACE, len(variants), arrays, variants.counts)

    def _rows(self, kind: str, rows: Sequence[tuple[str, str, int]], content: bytes | None = None) -> pa.RecordBatch:
        nothing = pa.nulls(len(rows), pa.list_(pa.string()))
        arrays = [nothing] * len(parts_of(self.columns))
        return self._batch(kind, len(rows), arrays, [row[2] for row in rows], rows, content)

    def _batch(
        self,
        kind: str,
        height: int,
        parts: Sequence[pa.Array],
        numbers: Any,
        texts: Sequence[tuple[str, str, int]] = (),
        content: bytes | None = None,
    ) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(
            [
                pa.array([kind] * height, pa.string()),
                pa.array([text[0] for text in texts], pa.string()) if texts else pa.nulls(height, pa.string()),
                pa.array([text[1] for text in texts], pa.string()) if texts else pa.nulls(height, pa.string()),
                *parts,
                pa.array(numbers, pa.int64()),
                pa.array([content] * height, pa.binary()),
            ],
            names=[KIND, TEXT, COLUMN, *parts_of(self.columns), NUMBER, CONTENT],
        )


def coded(batches: Iterable[pa.RecordBatch], alphabet: Sequence[Activity]) -> Iterator[pa.RecordBatch]:
    """Yield traces as the bytes of their activities' codes: the indexes in the alphabet. The first column identifies them."""
    codes = Codes()
    for activity in alphabet:
        codes[activity]  # assigns the next code
    for batch in batches:
        keys = []
        for arrays in zip(*(column.to_pylist() for column in batch.columns[1:]), strict=True):
            trace = arrays[0] if len(arrays) == 1 else list(zip(*arrays, strict=True))
            keys.append(np.array([codes[activity] for activity in trace], dtype=CODE).tobytes())
        yield pa.RecordBatch.from_arrays([batch.column(0), pa.array(keys, pa.binary())], names=["digest", "key"])


def sums(
    batches: Iterable[pa.RecordBatch], question: q.CellQuestion, abstraction: Abstraction
) -> Iterator[pa.RecordBatch]:
    """Yield what the encoded cases add to the cells of a question, by the index of the cell."""
    for batch in batches:
        for content in batch.column(0).to_pylist():
            values = pickle.loads(content).under(abstraction).sums(question).ravel()
            cells = np.flatnonzero(values)
            yield pa.RecordBatch.from_arrays([pa.array(cells, pa.int64()), pa.array(values[cells])], ["cell", NUMBER])


def value_sums(
    batches: Iterable[pa.RecordBatch], question: q.AttributeValues, abstraction: Abstraction
) -> Iterator[pa.RecordBatch]:
    """Yield what the encoded cases add to the values of an attribute."""
    for batch in batches:
        for content in batch.column(0).to_pylist():
            found = pickle.loads(content).under(abstraction).value_sums(question)
            values = [pa.array([*found], pa.string()), pa.array([*found.values()], pa.int64())]
            yield pa.RecordBatch.from_arrays(values, ["cell", NUMBER])
