"""The grid of an experiment, from a TOML file: docs/experiments.md."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs

from ..budget.policy import check_keys, load_toml, value_of
from ..errors import LogError, MissingExtraError, ParameterError, TravasError, shown
from ..mechanisms import find_mechanism, from_description
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.registry import options_of
from ..outputs.guarantee_file import file_digest
from ..releases.release import Frequencies, check_frequencies
from ..sources.reading import DEFAULT_READING, Reading
from ..trusted.numbers import as_text, exact, exact_delta, exact_epsilon, whole_number
from .compare import METRICS, find_metric

ORIGINAL = "original"
"""The label of the original log compared with itself, which no release can exceed."""

NUMBERS = tuple(
    name
    for name, metric in METRICS.items()
    if name not in ("directly_follows_difference", "trace_lengths", "top_variants") and metric.original == "full"
)
"""Metrics with a numeric value."""

_SECTIONS = ("logs", "mechanisms", "metrics", "epsilon", "delta", "data")

_NO_VARIANTS = {"details", "period", "times", "attributes", "counted"}
"""Options of readings and mechanisms that no metric of variants can judge."""

_READING = [field.name for field in attrs.fields(Reading) if field.name not in _NO_VARIANTS]
_TYPES: dict[str, type] = {"max_cases": int, "activities": list}
"""Options of a reading that are not text."""

MODULES = {"metrics": ("rapidfuzz", "ot"), "models": ("pm4py",)}
"""The packages that each extra needs."""


@dataclass(frozen=True)
class LogFile:
    """A log of the grid: its name, file, reading and digest."""

    name: str
    path: Path
    reading: Reading
    digest: str

    @property
    def of_cases(self) -> Reading:
        """The reading without its unit: of all cases."""
        return attrs.evolve(self.reading, unit=None, max_cases=None)


@dataclass(frozen=True)
class Cell:
    """One run of one mechanism at one (ε, δ) on one log, and what to measure."""

    log: LogFile
    label: str
    mechanism: str
    options: tuple[tuple[str, int | str], ...]
    frequencies: Frequencies
    epsilon: str
    delta: str
    run: int
    metrics: tuple[str, ...]

    def describe(self) -> dict[str, Any]:
        """The description of the mechanism."""
        unit = self.log.reading.privacy_unit
        protected = {} if unit.is_case else {"unit": {"name": unit.name, "max_cases": unit.max_cases}}
        at = {"mechanism": self.mechanism, "epsilon": self.epsilon, "delta": self.delta}
        return at | protected | dict(self.options)

    def build(self) -> Mechanism:
        """The mechanism of the cell."""
        return from_description(self.describe(), references="follow")

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

    def options_at(self, log: str, row: int, column: int) -> tuple[tuple[str, int | str], ...]:
        at: dict[str, int | str] = {}
        for option, value in self.options[log].items():
            if not isinstance(value, int | str) and not self._is_table(value):
                raise LogError(
                    f"{self.label}: {option} on {log} is {shown(value)}; use one number or text, or a table of "
                    f"{len(self.epsilon)} rows (ε) by {len(self.delta)} columns (δ)"
                )
            at[option] = value if isinstance(value, int | str) else value[row][column]
        return tuple(sorted(at.items()))

    def _is_table(self, value: Any) -> bool:
        rows = value if isinstance(value, list) else []
        return len(rows) == len(self.epsilon) and all(
            isinstance(row, list) and len(row) == len(self.delta) and all(isinstance(cell, int | str) for cell in row)
            for row in rows
        )


@dataclass(frozen=True)
class Grid:
    """Logs × mechanisms × ε × δ × runs × metrics; `metrics` has the number of runs of each metric."""

    logs: tuple[LogFile, ...]
    entries: tuple[GridEntry, ...]
    metrics: Mapping[str, int]

    def cells(self) -> list[Cell]:
        """Return every run, log by log; of each log the original first."""
        return [cell for log in self.logs for cell in (self._original(log), *self._releases(log))]

    def _original(self, log: LogFile) -> Cell:
        return Cell(log, ORIGINAL, ORIGINAL, (), "noisy", "", "", 0, tuple(self.metrics))

    def _releases(self, log: LogFile) -> Iterator[Cell]:
        for entry in self.entries:
            for row, epsilon in enumerate(entry.epsilon):
                for column, delta in enumerate(entry.delta):
                    options = entry.options_at(log.name, row, column)
                    for run in range(max(self.metrics.values())):
                        measured = tuple(name for name, runs in self.metrics.items() if run < runs)
                        at = (epsilon, delta, run, measured)
                        yield Cell(log, entry.label, entry.mechanism, options, entry.frequencies, *at)


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
        _check_extras(path, grid)
        _check_mechanisms(grid)
        return grid
    except (ParameterError, LogError) as error:
        raise LogError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None


def _check_extras(path: Path, grid: Grid) -> None:
    """Raise MissingExtraError if a package that the metrics and mechanisms need is not installed."""
    needed = {name: find_metric(name).extra for name in grid.metrics}
    for entry in grid.entries:
        maker = find_mechanism(entry.mechanism, "follow")
        needed[entry.mechanism] = getattr(maker, "extra", None)
    for name, extra in needed.items():
        if extra is not None and not all(map(find_spec, MODULES.get(extra, ()))):
            raise MissingExtraError(f"{path}: {name}", extra)


def _check_mechanisms(grid: Grid) -> None:
    """Build each mechanism once: one that cannot be built is an error in the grid, not a result."""
    built = set()
    for cell in grid.cells():
        parts = (cell.mechanism, cell.epsilon, cell.delta, cell.options, cell.log.reading.privacy_unit)
        if cell.label == ORIGINAL or parts in built:
            continue
        built.add(parts)
        try:
            mechanism = cell.build()
            mechanism.guarantee()
            cell.log.reading.for_counts_of(mechanism.counted)
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
    file = value_of(where, table, "file", str)
    if file is None:
        raise LogError(f"{where} has no file")
    stated = {key: value_of(where, table, key, _TYPES.get(key, str)) for key in table if key != "file"}
    if "activities" in stated:
        stated["activities"] = tuple(stated["activities"])
    path = folder / file
    try:
        return LogFile(name, path, Reading(**stated), file_digest(path)[:16])  # another log of this name is run again
    except OSError as error:
        raise LogError(f"{path}: cannot be opened ({error.strerror}); check `data` and `logs` of the grid") from None


def _entry(label: str, given: Any, content: Mapping[str, Any], logs: list[str]) -> GridEntry:
    where = f"mechanisms.{label}"
    if label == ORIGINAL or not isinstance(given, dict):
        raise LogError(f"the mechanism {label!r} must be a table with a name other than {ORIGINAL!r}")
    name = given.get("mechanism", label)
    maker = find_mechanism(name, "follow")
    if getattr(maker, "kind", "") == "process map":
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
        if name in METRICS and name not in NUMBERS:
            raise LogError(f"metric is {name!r}, which is not numeric; available: {', '.join(NUMBERS)}")
        find_metric(name)
        whole_number(runs, f"the runs of {name}", 1, 100_000)
    return given
