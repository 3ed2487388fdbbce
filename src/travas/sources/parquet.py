"""Parquet and Arrow IPC files (Feather): the types of the columns come from the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import polars as pl

from ..errors import LogError
from ..log.log import Log
from .events import table_variants
from .reading import Reading

ArrowFormat = Literal["parquet", "arrow"]


def read_arrow(paths: Sequence[Path], reading: Reading, where: str, form: ArrowFormat) -> Log:
    """Read the variants of Parquet files, or of Arrow IPC files (Feather); their order is that of the rows."""
    with polars_faults(where, form.capitalize()):
        rows = scan_arrow(paths, form)
        return table_variants(rows, reading, where, height=rows.select(pl.len()).collect().item())


def scan_arrow(paths: Sequence[Path], form: ArrowFormat) -> pl.LazyFrame:
    """Return the rows of the files."""
    scan = pl.scan_parquet if form == "parquet" else pl.scan_ipc
    return scan(list(paths), glob=False, hive_partitioning=False)


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
