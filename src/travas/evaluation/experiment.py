"""Experiments on grids of (log, mechanism, ε, δ, run): seeded, resumable and parallel. Results and means are confidential.

A grid is a TOML file: docs/experiments.md. Every finished run is immediately written as a line to a journal next to the
results, so that a killed experiment loses only unfinished runs. A failed run is a result: its release counts as empty,
and its error is recorded. Only a missing extra, or a process that is killed, ends the experiment.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import groupby, product
from multiprocessing import get_context
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any

import attrs
import polars as pl

from ..budget.policy import check_keys, load_toml, value_of
from ..errors import LogError, MissingExtraError, OutputError, ParameterError, TravasError, shown
from ..log.log import Log
from ..mechanisms import MECHANISMS, find_mechanism, from_description
from ..mechanisms.mechanism import Mechanism, Progress, with_random_bytes
from ..mechanisms.registry import options_of
from ..outputs.atomic import atomic_output, check_target, locked
from ..outputs.guarantee_file import file_digest
from ..releases.release import Frequencies, ReleasedLog, VariantRelease, check_frequencies, counted_of
from ..sources.engine import read
from ..sources.files import unopened
from ..sources.reading import DEFAULT_READING, Reading
from ..trusted.numbers import as_text, exact, exact_delta, exact_epsilon, whole_number
from ..trusted.samplers import Seeded
from .compare import METRICS, MODEL_METRICS, find_metric

ORIGINAL = "original"
"""The label of the original log compared with itself, which no release can exceed."""

_SECTIONS = ("logs", "mechanisms", "metrics", "epsilon", "delta", "data")
_NO_VARIANTS = {"details", "period", "times", "attributes", "counted"}  # no metric of variants can judge these options
_READING = [field.name for field in attrs.fields(Reading) if field.name not in _NO_VARIANTS]
_TYPES: dict[str, type] = {"max_cases": int, "activity": list}  # all other options of a reading are text

Options = tuple[tuple[str, int | str], ...]


# ------------------------------------------------------------------------------------------------------- the grid


@dataclass(frozen=True)
class LogFile:
    """A log of the grid: its name, file, reading and digest."""

    name: str
    path: Path
    reading: Reading
    digest: str


@dataclass(frozen=True)
class Cell:
    """One run of one mechanism at one (ε, δ) on one log, and what to measure."""

    log: LogFile
    label: str
    mechanism: str
    options: Options
    frequencies: Frequencies
    epsilon: str
    delta: str
    run: int
    metrics: tuple[str, ...]

    def build(self) -> Mechanism:
        """The mechanism of the cell."""
        unit = self.log.reading.privacy_unit
        protected = {} if unit.is_case else {"unit": {"name": unit.name, "max_cases": unit.max_cases}}
        at = {"mechanism": self.mechanism, "epsilon": self.epsilon, "delta": self.delta}
        return from_description(at | protected | dict(self.options), references="follow")

    @property
    def _identity(self) -> list[Any]:
        """Everything that determines a release; of the reading, what differs from the default."""
        settings = {field.name: str(getattr(self.log.reading, field.name)) for field in attrs.fields(Reading)}
        reading = {name: value for name, value in settings.items() if value != str(getattr(DEFAULT_READING, name))}
        at = [self.epsilon, self.delta, self.run]
        return [self.log.name, self.log.digest, reading, self.mechanism, self.options, *at]

    @cached_property
    def seed(self) -> int:
        """The seed, a function of the cell and the run alone."""
        return int.from_bytes(hashlib.sha256(json.dumps(self._identity).encode()).digest()[:8])

    @cached_property
    def key(self) -> str:
        content = [self._identity, self.label, self.frequencies, self.metrics]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]

    def facts(self) -> dict[str, Any]:
        """Return the columns of the results that identify the cell; numbers are numbers, and null for the original."""
        unit = self.log.reading.privacy_unit
        return {
            "log": self.log.name,
            "unit": unit.name,
            "max_cases": unit.max_cases,
            "label": self.label,
            "mechanism": self.mechanism,
            "options": json.dumps(dict(self.options)),
            "frequencies": self.frequencies,
            "epsilon": float(exact(self.epsilon, "epsilon")) if self.epsilon else None,
            "delta": float(exact(self.delta, "delta")) if self.delta else None,
            "run": self.run,
            "seed": self.seed,
            "key": self.key,
        }


@dataclass(frozen=True)
class GridEntry:
    """A mechanism of the grid under its label. An option may be a table: a row for each ε, a column for each δ."""

    label: str
    mechanism: str
    frequencies: Frequencies
    epsilon: tuple[str, ...]
    delta: tuple[str, ...]
    options: Mapping[str, Mapping[str, Any]]

    def option(self, name: str, log: str, row: int, column: int) -> int | str:
        """The value of an option at one (ε, δ)."""
        given = self.options[log][name]
        rows, columns = len(self.epsilon), len(self.delta)
        is_table = (
            isinstance(given, list)
            and [len(line) if isinstance(line, list) else 0 for line in given] == [columns] * rows
        )
        value = given[row][column] if is_table else given
        if not isinstance(value, int | str):
            raise LogError(
                f"{self.label}: {name} on {log} is {shown(given)}; use one number or text, or a table of {rows} rows (ε) by "
                f"{columns} columns (δ)"
            )
        return value


@dataclass(frozen=True)
class Grid:
    """Logs × mechanisms × ε × δ × runs × metrics; `metrics` has the number of runs of each metric."""

    logs: tuple[LogFile, ...]
    entries: tuple[GridEntry, ...]
    metrics: Mapping[str, int]

    def cells(self) -> list[Cell]:
        """Return every run, log by log; of each log the original first."""
        return [cell for log in self.logs for cell in self._of(log)]

    def _of(self, log: LogFile) -> Iterator[Cell]:
        yield Cell(log, ORIGINAL, ORIGINAL, (), "noisy", "", "", 0, tuple(self.metrics))
        for entry in self.entries:
            for (row, epsilon), (column, delta) in product(enumerate(entry.epsilon), enumerate(entry.delta)):
                options = {name: entry.option(name, log.name, row, column) for name in sorted(entry.options[log.name])}
                at = tuple(options.items()), entry.frequencies, epsilon, delta
                for run in range(max(self.metrics.values())):
                    measured = tuple(name for name, runs in self.metrics.items() if run < runs)
                    yield Cell(log, entry.label, entry.mechanism, *at, run, measured)


def read_grid(path: str | Path, data: str | Path | None = None) -> Grid:
    """Read a grid from a TOML file. Logs are in `data`, otherwise in the `data` of the file, otherwise next to it."""
    path = Path(path)
    try:
        content = check_keys("the grid", load_toml(path), _SECTIONS)
        folder = Path(data or path.parent / (value_of("the grid", content, "data", str) or "."))
        logs = tuple(_log(name, given, folder) for name, given in _section(content, "logs").items())
        names = [log.name for log in logs]
        made = _section(content, "mechanisms").items()
        entries = tuple(_entry(label, given, content, names) for label, given in made)
        grid = Grid(logs, entries, _metrics(_section(content, "metrics")))
        _check(grid)
        return grid
    except (ParameterError, LogError) as error:
        raise LogError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None


def _check(grid: Grid) -> None:
    """Build each mechanism once: what fails here is no result."""
    built = set()
    for cell in grid.cells():
        parts = (cell.mechanism, cell.epsilon, cell.delta, cell.options, cell.log.reading.privacy_unit)
        if cell.label != ORIGINAL and parts not in built:
            built.add(parts)
            try:
                mechanism = cell.build()
                mechanism.guarantee()
                cell.log.reading.for_counts_of(counted_of(mechanism))
            except TravasError as error:
                raise LogError(f"{cell.label} on {cell.log.name}: {error}") from None


def _section(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = content.get(name)
    if not isinstance(section, dict) or not section:
        raise LogError(f"[{name}] is missing or empty; see: travas docs experiments")
    return section


def _log(name: str, given: Any, folder: Path) -> LogFile:
    where = f"logs.{name}"
    table = check_keys(where, {"file": given} if isinstance(given, str) else given, ("file", *_READING))
    stated = {key: value_of(where, table, key, _TYPES.get(key, str)) for key in table}
    if (file := stated.pop("file", None)) is None:
        raise LogError(f"{where} has no file")
    path = folder / file
    try:
        digest = file_digest(path)[:16]  # another log of this name is run again
    except (OSError, ValueError) as error:
        raise unopened(path, error) from None
    return LogFile(name, path, Reading(**stated), digest)


def _entry(label: str, given: Any, content: Mapping[str, Any], logs: list[str]) -> GridEntry:
    where = f"mechanisms.{label}"
    if label == ORIGINAL or not isinstance(given, dict):
        raise LogError(f"the mechanism {label!r} must be a table with a name other than {ORIGINAL!r}")
    name = given.get("mechanism", label)
    maker = find_mechanism(name, "follow")
    if getattr(maker, "_kind", "") == "process map":
        raise LogError(f"the mechanism {label!r} releases a process map, and experiments compare logs; remove it")
    options = set(options_of(maker)) - {"alphabet"} - _NO_VARIANTS
    check_keys(where, given, sorted(options | {"mechanism", "frequencies", "epsilon", "delta", "on"}))
    special = check_keys(f"{where}.on", given.get("on", {}), logs)
    for log, values in special.items():
        check_keys(f"{where}.on.{log}", values, sorted(options))
    common = {option: given[option] for option in options if option in given}
    epsilons, deltas = (given.get(key, content.get(key)) for key in ("epsilon", "delta"))
    if not isinstance(epsilons, list) or not isinstance(deltas, list) or not epsilons or not deltas:
        raise LogError("epsilon and delta must be lists of numbers")
    return GridEntry(
        label=label,
        mechanism=name,
        frequencies=check_frequencies(given.get("frequencies", "estimated")),
        epsilon=tuple(as_text(exact_epsilon(value)) for value in epsilons),
        delta=tuple(as_text(exact_delta(value)) for value in deltas),
        options={log: {**common, **special.get(log, {})} for log in logs},
    )


def _metrics(given: Mapping[str, Any]) -> Mapping[str, int]:
    for name, runs in given.items():
        find_metric(name)
        whole_number(runs, f"the runs of {name}", 1, 100_000)
    return given


# ------------------------------------------------------------------------------------------------------- the runs


def experiment(grid: Grid, results: str | Path, progress: Progress, workers: int | None = None) -> pl.DataFrame:
    """Run the unfinished cells of a grid, and write and return all results. They are confidential.

    Runs are reproducible: the seed is a function of the cell and the run alone.
    """
    processes = os.cpu_count() or 1 if workers is None else whole_number(workers, "workers", 1)
    path = Path(results)
    if path.suffix != ".parquet":
        raise OutputError(f"{path}: unsupported file extension; use .parquet")
    check_target(path, "replace")
    with locked(_journal_path(path)), _journal_path(path).open("a+", encoding="utf-8") as journal:
        done = _results(path)
        journal.seek(0)
        rows, complete = _rows(journal.read())
        journal.truncate(complete)  # an incomplete last line is removed
        done |= rows
        cells = grid.cells()
        for measured in _measured([cell for cell in cells if cell.key not in done], processes):
            journal.writelines(json.dumps(row) + "\n" for row in measured)
            journal.flush()
            os.fsync(journal.fileno())
            done |= {row["key"]: row for row in measured}
            progress(sum(cell.key in done for cell in cells) / len(cells))
        table = _table(grid, done)
        with atomic_output(path, "replace") as partial:
            table.write_parquet(partial)
        _journal_path(path).unlink()
    return table


def finished(grid: Grid, results: str | Path) -> pl.DataFrame:
    """Return the results of the runs that are finished, also while an experiment is under way. They are confidential."""
    path = Path(results)
    lines = journal.read_text(encoding="utf-8") if (journal := _journal_path(path)).exists() else ""
    return _table(grid, _results(path) | _rows(lines)[0])


def measure(cell: Cell) -> dict[str, Any]:
    """Run one cell and return the row of results: metrics, or the error."""
    started = time.perf_counter()
    log = _read(cell.log, attrs.evolve(cell.log.reading, unit=None, max_cases=None))  # all cases of all units
    row: dict[str, Any] = {**cell.facts(), "error": None}
    released: ReleasedLog | Log = log
    if cell.label != ORIGINAL:
        try:
            released = seeded_release(cell)
        except Exception as error:
            row["error"] = _failure(error, cell.mechanism in MECHANISMS)
            released = Log.from_mapping({})
    counts = released.counts
    row |= {"variants": len(counts), "cases": int(sum(counts))}
    for name in cell.metrics:
        has_model = name not in MODEL_METRICS or len(counts)
        try:
            row[name] = float(find_metric(name).measure(log, released)) if has_model else 0.0
        except Exception as error:
            row |= {name: None, "error": f"{name}: {_failure(error, name in METRICS)}"}
    return row | {"seconds": round(time.perf_counter() - started, 3)}


def _failure(error: Exception, is_ours: bool) -> str:
    """Return why a run failed. A missing extra, and an unexpected error of travas, which is a bug, are no results."""
    is_result = isinstance(error, TravasError | MemoryError | ArithmeticError)
    if isinstance(error, MissingExtraError) or (is_ours and not is_result):
        raise error
    return (is_result and str(error)) or type(error).__name__


def seeded_release(cell: Cell) -> ReleasedLog:
    """Return the release of a run, from its seed, and therefore without a guarantee."""
    mechanism = _prepared(cell.build())
    log = _read(cell.log, cell.log.reading.for_counts_of(counted_of(mechanism)))
    seeded = with_random_bytes(mechanism, Seeded(cell.seed))
    released: ReleasedLog = seeded.release(log)
    return replace(released, frequencies=cell.frequencies) if isinstance(released, VariantRelease) else released


@lru_cache(maxsize=4)
def _read(log: LogFile, reading: Reading) -> Log:
    return read(log.path, reading).canonical()


@lru_cache(maxsize=8)
def _prepared(mechanism: Mechanism) -> Mechanism:
    """Return an equal mechanism, with its tables built."""
    mechanism.guarantee()
    return mechanism


def _measured(cells: Sequence[Cell], workers: int) -> Iterator[list[dict[str, Any]]]:
    """Yield rows as they are finished, all runs of a mechanism at one (ε, δ) on one log together."""
    jobs = groupby(cells, key=lambda cell: (cell.log.name, cell.label, cell.epsilon, cell.delta))
    # spawned processes: forked ones would inherit the running threads of Polars
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        for future in as_completed([pool.submit(_measure_all, list(runs)) for _, runs in jobs]):
            yield future.result()
    except BrokenProcessPool:
        raise LogError(
            "a process of the experiment was killed, possibly because memory ran out; the finished runs are kept: run it "
            "again with fewer workers"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _measure_all(cells: list[Cell]) -> list[dict[str, Any]]:
    return [measure(cell) for cell in cells]


# ------------------------------------------------------------------------------------------- journal and results


def _journal_path(path: Path) -> Path:
    return path.with_name(path.name + ".journal")


def _results(path: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of the results by key."""
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


def _table(grid: Grid, done: Mapping[str, dict[str, Any]]) -> pl.DataFrame:
    order = ("log", "unit", "max_cases", "label", "mechanism", "options", "frequencies", "epsilon", "delta", "run")
    names = (*order, "seed", "variants", "cases", *grid.metrics, "error", "seconds", "key")
    rows = [{name: done[cell.key].get(name) for name in names} for cell in grid.cells() if cell.key in done]
    types = {"seed": pl.UInt64, "error": pl.String} | dict.fromkeys(("epsilon", "delta", *grid.metrics), pl.Float64)
    return pl.DataFrame(rows, names, schema_overrides=types, infer_schema_length=None)


# ------------------------------------------------------------------------------------------------------ the means

_T = (
    12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139, 2.200985,
    2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963, 2.079614, 2.073873,
    2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272,
)  # fmt: skip
"""The 97.5 % quantiles of Student's t distribution with 1 to 30 degrees of freedom."""

_KEYS = ("log", "unit", "max_cases", "label", "mechanism", "epsilon", "delta")


def summary(grid: Grid, results: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each log, mechanism, ε, δ and metric: the mean of its runs and the interval of the mean."""
    rows = []
    for key, runs in results.group_by(_KEYS, maintain_order=True):
        for metric, most in grid.metrics.items():
            values = runs.filter(pl.col("run") < most)[metric]
            known = values.drop_nulls().to_list()
            found = (metric, find_metric(metric).better, len(known), values.null_count(), *mean_with_interval(known))
            rows.append((*key, *found))
    names = (*_KEYS, "metric", "better", "runs", "failed", "mean", "low", "high")
    types = dict.fromkeys(("epsilon", "delta", "mean", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, names, schema_overrides=types, infer_schema_length=None, orient="row")


def mean_with_interval(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Return the mean of independent values and its 95 % interval by Student's t; None for what is not known."""
    if not values:
        return None, None, None
    mean = fmean(values)
    if len(values) == 1:
        return mean, None, None
    half = _student(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def _student(freedom: int) -> float:
    """Return the 97.5 % quantile; beyond the table, by the expansion of Cornish and Fisher."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
