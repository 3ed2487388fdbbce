"""Experiments on grids of (log, mechanism, ε, δ, run): seeded, resumable and parallel. The results are confidential.

A grid is a TOML file: docs/experiments.md. Every finished run is immediately written as a line to a journal next to the
results, so that a killed experiment loses only unfinished runs. A failed run is a result: its release counts as empty,
and its error is recorded. Only a missing extra ends the experiment.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..errors import LogError, MissingExtraError, OutputError, TravasError
from ..log.log import Log
from ..mechanisms import MECHANISMS
from ..mechanisms.mechanism import Mechanism, Progress
from ..outputs.atomic import atomic_output, check_target
from ..releases.release import Release, ReleasedLog, VariantRelease
from ..sources.engine import read
from ..sources.reading import Reading
from ..trusted.numbers import whole_number
from ..trusted.samplers import Seeded
from .compare import METRICS, MODEL_METRICS, find_metric
from .grid import ORIGINAL, Cell, Grid

if TYPE_CHECKING:
    import polars as pl

KILLED = "the process was killed, possibly because it ran out of memory"


def experiment(grid: Grid, results: str | Path, progress: Progress, workers: int | None = None) -> pl.DataFrame:
    """Run the unfinished cells of a grid, and write and return all results. They are confidential.

    Runs are reproducible: the seed is a function of the cell and the run alone.
    """
    processes = os.cpu_count() or 1 if workers is None else whole_number(workers, "workers", 1)
    path = Path(results)
    if path.suffix != ".parquet":
        raise OutputError(f"{path}: unsupported file extension; use .parquet")
    check_target(path, "replace")
    with _journal(path) as journal:
        done = _finished(path, journal)
        cells = grid.cells()
        waiting = [cell for cell in cells if cell.key not in done]
        left = len(waiting)
        for rows in _measured(waiting, processes):
            journal.writelines(json.dumps(row) + "\n" for row in rows)
            journal.flush()
            os.fsync(journal.fileno())
            done |= {row["key"]: row for row in rows}
            left -= len(rows)
            progress(1 - left / len(cells))
        table = _table(grid, [done[cell.key] | cell.facts() for cell in cells])
        _write(table, path)
        journal.truncate(0)
    return table


def finished(grid: Grid, results: str | Path) -> pl.DataFrame:
    """Return the results of the runs that are finished, also while an experiment is under way. They are confidential."""
    path = Path(results)
    lines = journal.read_text(encoding="utf-8") if (journal := _journal_path(path)).exists() else ""
    done = _results(path) | _rows(lines)[0]
    return _table(grid, [done[cell.key] | cell.facts() for cell in grid.cells() if cell.key in done])


def measure(cell: Cell) -> dict[str, Any]:
    """Run one cell and return the row of results: metrics, or the error."""
    started = time.perf_counter()
    log = _read(cell, cell.log.of_cases)
    row: dict[str, Any] = {**cell.facts(), "error": None}
    released: Release | Log
    if cell.label == ORIGINAL:
        released = log
    else:
        try:
            released = seeded_release(cell)
        except MissingExtraError:
            raise
        except Exception as error:
            row["error"] = _failure(error, is_ours=cell.mechanism in MECHANISMS)
            released = Log.from_mapping({})
    counts = released.counts
    row |= {"variants": len(counts), "cases": int(sum(counts))}
    for name in cell.metrics:
        try:
            row[name] = (
                0.0 if name in MODEL_METRICS and not len(counts) else float(find_metric(name).measure(log, released))
            )
        except MissingExtraError:
            raise
        except Exception as error:
            row |= {name: None, "error": f"{name}: {_failure(error, is_ours=name in METRICS)}"}
    return row | {"seconds": round(time.perf_counter() - started, 3)}


def _failure(error: Exception, *, is_ours: bool) -> str:
    """Return why a run failed. An unexpected error of travas is raised: it is a bug. One of another package is a result."""
    if isinstance(error, TravasError | MemoryError | ArithmeticError):
        return str(error) or type(error).__name__
    if is_ours:
        raise error
    return type(error).__name__


def seeded_release(cell: Cell) -> ReleasedLog:
    """Return the release of a run, from its seed, and therefore without a guarantee."""
    mechanism = _prepared(cell.build())
    log = _read(cell, cell.log.reading.for_counts_of(mechanism.counted))
    seeded = mechanism.with_random_bytes(Seeded(cell.seed))
    released: ReleasedLog = seeded.release(log)
    return replace(released, frequencies=cell.frequencies) if isinstance(released, VariantRelease) else released


@lru_cache(maxsize=4)
def _log(path: str, reading: Reading, digest: str) -> Log:
    return read(path, reading).canonical()


def _read(cell: Cell, reading: Reading) -> Log:
    return _log(str(cell.log.path), reading, cell.log.digest)


@lru_cache(maxsize=8)
def _prepared(mechanism: Mechanism) -> Mechanism:
    """Return an equal mechanism, with its tables built."""
    mechanism.guarantee()
    return mechanism


def _measured(cells: Sequence[Cell], workers: int) -> Iterator[list[dict[str, Any]]]:
    """Yield rows as they are finished, all runs of a mechanism at one (ε, δ) on one log together.

    Runs lost with a killed process are tried again, one by one; a run that kills its process again has failed.
    """
    jobs = [
        list(runs) for _, runs in groupby(cells, key=lambda cell: (cell.log.name, cell.label, cell.epsilon, cell.delta))
    ]
    waiting = list(reversed(jobs))
    suspects: list[list[Cell]] = []
    while waiting:
        with _pool(workers) as pool:
            flying: dict[Future[list[dict[str, Any]]], list[Cell]] = {}
            try:
                while waiting or flying:
                    while waiting and len(flying) < workers + 1:
                        job = waiting.pop()
                        flying[pool.submit(_measure_all, job)] = job
                    for future in wait(flying, return_when=FIRST_COMPLETED).done:
                        rows = future.result()
                        del flying[future]
                        yield rows
            except BrokenProcessPool:
                suspects += flying.values()
    for cell in (cell for job in suspects for cell in job):
        with _pool(1) as pool:
            try:
                yield pool.submit(_measure_all, [cell]).result()
            except BrokenProcessPool:
                nothing = {"variants": 0, "cases": 0, "error": KILLED, "seconds": 0.0}
                yield [cell.facts() | nothing | dict.fromkeys(cell.metrics)]


def _pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes; forked ones would inherit the running threads of Polars."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def _measure_all(cells: list[Cell]) -> list[dict[str, Any]]:
    return [measure(cell) for cell in cells]


# ------------------------------------------------------------------------------------------- journal and results


def _journal_path(path: Path) -> Path:
    return path.with_name(path.name + ".journal")


@contextmanager
def _journal(path: Path) -> Iterator[IO[str]]:
    """Open the journal next to the results, for one process at a time. An empty journal is removed."""
    import fcntl

    try:
        with _journal_path(path).open("a+", encoding="utf-8") as journal:
            try:
                fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise OutputError(
                    f"{path}: another experiment is writing this file; wait, or use another name"
                ) from None
            try:
                yield journal
            finally:
                if not os.fstat(journal.fileno()).st_size:
                    _journal_path(path).unlink(missing_ok=True)
    except PermissionError as error:
        raise OutputError(f"{path}: cannot be written, {error.strerror}; use another path") from None


def _finished(path: Path, journal: IO[str]) -> dict[str, dict[str, Any]]:
    """Return the rows of earlier runs by key. An incomplete last line is removed."""
    earlier = _results(path)
    journal.seek(0)
    rows, complete = _rows(journal.read())
    journal.truncate(complete)
    return earlier | rows


def _results(path: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of the results by key."""
    import polars as pl

    if not path.exists():
        return {}
    try:
        return {row["key"]: row for row in pl.read_parquet(path).to_dicts()}
    except (pl.exceptions.PolarsError, KeyError, OSError):
        raise LogError(f"{path}: not the results of an experiment; use another name for the results") from None


def _rows(journal: str) -> tuple[dict[str, dict[str, Any]], int]:
    """Return the rows of a journal by key, and the size of its complete lines in bytes."""
    complete = journal[: journal.rfind("\n") + 1]
    rows = map(json.loads, complete.splitlines())
    return {row["key"]: row for row in rows}, len(complete.encode())


def _table(grid: Grid, rows: list[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    schema = {
        "log": pl.String,
        "unit": pl.String,
        "max_cases": pl.Int64,
        **dict.fromkeys(("label", "mechanism", "options", "frequencies"), pl.String),
        **dict.fromkeys(("epsilon", "delta"), pl.Float64),
        "run": pl.Int64,
        "seed": pl.UInt64,
        "variants": pl.Int64,
        "cases": pl.Int64,
        **dict.fromkeys(grid.metrics, pl.Float64),
        "error": pl.String,
        "seconds": pl.Float64,
        "key": pl.String,
    }
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def _write(table: pl.DataFrame, path: Path) -> None:
    """The results, on the disk: the journal is emptied only after."""
    try:
        with atomic_output(path, "replace") as partial:
            table.write_parquet(partial)
    except OutputError as error:
        raise OutputError(f"{error}; the journal keeps the runs", field="output") from None
