"""Tables: Parquet files, and counting the variants of any table with Polars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...errors import LogError
from ...model.traces import CODE, CODE_BYTES, Activity, Codes
from ...model.variants import Variants
from ..reading import Reading, released_columns
from ..wording import NO_EVENTS, several_values_notes
from .encoded_tables import CaseEncoder
from .events import COUNT, Events
from .table_columns import lifecycle_note


def read_parquet(paths: Sequence[Path], reading: Reading, where: str) -> Variants:
    """Read the variants of `.parquet` files; the order of the files is the order of the rows."""
    with polars_faults(where, "Parquet"):
        table = scan_parquet(paths)
        return variants_of(Events(table, reading, where, hashed=True), table.select(pl.len()).collect().item())


def read_arrow(paths: Sequence[Path], reading: Reading, where: str) -> Variants:
    """Read the variants of Arrow IPC files, also called Feather; the order of the files is the order of the rows."""
    with polars_faults(where, "Arrow"):
        table = scan_arrow(paths)
        return variants_of(Events(table, reading, where), table.select(pl.len()).collect().item())


def scan_parquet(paths: Sequence[Path]) -> pl.LazyFrame:
    """Return the rows of `.parquet` files."""
    return pl.scan_parquet(list(paths), glob=False, hive_partitioning=False)


def scan_arrow(paths: Sequence[Path]) -> pl.LazyFrame:
    """Return the rows of Arrow IPC files."""
    return pl.scan_ipc(list(paths), glob=False, hive_partitioning=False)


@contextmanager
def polars_faults(where: str, form: str) -> Iterator[None]:
    """Replace the errors of Polars: their messages may quote the data, and a damaged file can make it panic."""
    try:
        yield
    except LogError:
        raise
    except pl.exceptions.SchemaError:
        raise LogError(f"{where}: the files have different columns or types; use the files of one log") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        raise LogError(
            f"{where}: cannot be read as {form} ({type(error).__name__}); check that the file is complete"
        ) from None


def variants_of(events: Events, rows: int = 0) -> Variants:
    """Count the variants of a table. `rows` is the approximate number of rows, if known."""
    reading = events.reading
    passes, codes, encoder = events.passes(rows), Codes(), CaseEncoder(events)
    keys: list[bytes] = []
    counts = pl.Series(COUNT, dtype=pl.Int64)
    for number in range(passes):
        traces, cases = events.traces(number, passes)
        keys += keys_of(traces, events.parts, codes)
        if cases is not None:
            encoder.add(cases, codes_of(cases, events.parts, codes))
        counts.append(traces[COUNT].cast(pl.Int64))
    if passes > 1:
        totals = pl.DataFrame({"key": keys, COUNT: counts}).group_by("key").agg(pl.col(COUNT).sum())
        keys, counts = totals["key"].to_list(), totals[COUNT]
    notes = tuple(events.notes) if keys or events.notes else (NO_EVENTS,)
    notes += lifecycle_note(reading, events.present) + several_values_notes(events.several)
    return Variants(
        list(codes),
        keys,
        counts.to_numpy(),
        released_columns(events.columns.activities),
        notes,
        unit=reading.privacy_unit,
        counted=reading.counts_of,
        roles=events.columns.roles,
        totals=encoder.totals(codes) if reading.details else None,
    )


def keys_of(traces: pl.DataFrame, parts: Sequence[str], codes: Codes) -> list[bytes]:
    """Return the keys of traces, from lists of categoricals; parallel lists if an activity has several parts."""
    content = codes_of(traces, parts, codes).tobytes()
    sizes = traces[parts[0]].list.len().to_numpy().astype(np.int64) * CODE_BYTES
    ends = np.cumsum(sizes)
    return [content[start:end] for start, end in zip((ends - sizes).tolist(), ends.tolist(), strict=True)]


def codes_of(traces: pl.DataFrame, parts: Sequence[str], codes: Codes) -> NDArray[np.uint32]:
    """Return the codes of all activities of traces, one after another."""
    names = traces.select(pl.col(part).explode() for part in parts)
    kinds = names.unique()
    rows = kinds.select(pl.all().cast(pl.String)).rows()
    activities: list[Activity] = [row[0] for row in rows] if len(parts) == 1 else list(rows)
    new = np.array([codes[activity] for activity in activities], dtype=CODE)
    if len(parts) == 1:
        old = kinds.to_series().to_physical().to_numpy()
        dense = np.zeros(int(old.max(initial=0)) + 1, dtype=CODE)
        dense[old] = new
        coded = dense[names.to_series().to_physical().to_numpy()]
    else:
        kinds = kinds.with_columns(pl.Series("code", new))
        coded = names.join(kinds, on=list(parts), how="left", maintain_order="left")["code"].to_numpy()
    result: NDArray[np.uint32] = coded.astype(CODE, copy=False)
    return result
