"""Files: XES by a streaming parser, CSV and Parquet by Polars; a folder or a glob of tables is one log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import LogError, ParameterError
from ..model.mechanism import Progress
from ..model.variants import Trace, Variants
from .columns import Reading

XES_SUFFIXES = (".xes", ".xes.gz")
CSV_SUFFIXES = (".csv", ".csv.gz")
PARQUET_SUFFIXES = (".parquet",)
RELEASE_SUFFIXES = (".json",)
_KNOWN = XES_SUFFIXES + CSV_SUFFIXES + PARQUET_SUFFIXES + RELEASE_SUFFIXES


def suffix_of(path: Path, known: tuple[str, ...]) -> str | None:
    """The known suffix a file name ends in."""
    name = path.name.lower()
    return next((suffix for suffix in known if name.endswith(suffix) and name != suffix), None)


@dataclass(frozen=True)
class Files:
    """The default engine: memory holds a few numbers per event, of one pass over the log at a time."""

    progress: Progress

    def variants(self, source: str | Path, reading: Reading) -> Variants:
        """The variants of a file, or of the tables of a folder or glob: one log, in the order of their names."""
        for name in ("table", "query"):
            if getattr(reading, name) is not None:
                raise ParameterError(
                    f"{name} is given, but {source} is not a database; see docs/engines.md for its URL"
                )
        paths = _paths(Path(source))
        for path in paths:
            _check(path)
        kinds = {suffix_of(path, _KNOWN) for path in paths}
        if kinds <= {*CSV_SUFFIXES}:
            from .csv import read_csv

            return read_csv(paths, reading, str(source), self.progress)
        if kinds <= {*PARQUET_SUFFIXES}:
            from .tables import read_parquet

            return read_parquet(paths, reading, str(source))
        if len(paths) > 1:
            raise LogError(f"{source}: only CSV files, or only Parquet files, can be one log together")
        if kinds <= {*RELEASE_SUFFIXES}:
            if reading.unit is not None:
                raise no_unit(reading, f"the release {source}")
            return _read_release(paths[0])
        from .xes import read_xes

        return read_xes(paths[0], reading, self.progress)


def _paths(path: Path) -> Sequence[Path]:
    """The files meant, sorted by name. What begins with a dot or an underscore is not data in a lake."""
    if (path / "_delta_log").is_dir() or any((path / "metadata").glob("*.metadata.json")):
        raise LogError(f"{path}: a Delta or Iceberg table, whose files alone are not the log; read it with Spark")
    try:
        if path.is_dir():
            found = [file for file in path.rglob("*") if suffix_of(file, _KNOWN) and file.is_file()]
            shown = [file for file in found if not any(p.startswith((".", "_")) for p in file.relative_to(path).parts)]
        elif any(mark in str(path) for mark in "*?[") and not path.exists():
            pattern = str(path.relative_to(path.anchor))
            shown = [file for file in Path(path.anchor).glob(pattern) if file.is_file()]
        else:
            return [path]
    except (OSError, ValueError) as error:
        raise _unopened(path, error) from None
    if not shown:
        raise LogError(f"{path}: no file there is a log; give one, or a folder or glob of CSV or Parquet files")
    return sorted(shown)


def _check(path: Path) -> None:
    if suffix_of(path, _KNOWN) is None:
        raise LogError(f"{path}: not a log I can read by its suffix; take one of {', '.join(_KNOWN)}")
    try:
        size = path.stat().st_size
        path.open("rb").close()
    except FileNotFoundError:
        raise LogError(f"{path}: there is no such file; check the path") from None
    except (OSError, ValueError) as error:
        raise _unopened(path, error) from None
    if not size:
        raise LogError(f"{path}: the file is empty; is it the right file?")


def _unopened(path: Path, error: Exception) -> LogError:
    reason = getattr(error, "strerror", None) or "not a path"
    return LogError(f"{path}: cannot be opened ({reason}); check the path and your rights")


def no_unit(reading: Reading, what: str) -> LogError:
    """What has been counted cannot be counted by unit."""
    return LogError(
        f"unit is {reading.unit!r}, but {what} cannot be counted again by unit: give the log, with a column of this name"
    )


def merged(traces: Sequence[Trace], counts: Sequence[int]) -> dict[Trace, int]:
    """Counts by trace: on a ladder, one trace can be there on several rungs."""
    found: dict[Trace, int] = {}
    for trace, count in zip(traces, counts, strict=True):
        found[trace] = found.get(trace, 0) + count
    return found


def _read_release(path: Path) -> Variants:
    """The variants and counts of a `.json` release of ours."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        columns = tuple(map(str, content["columns"]))
        traces = [tuple(a if isinstance(a, str) else tuple(a) for a in trace) for trace in content["variants"]]
        return Variants.from_mapping(merged(traces, content["counts"]), columns)
    except LogError as error:
        raise LogError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LogError(
            f"{path}: not a release of travas; give a .json that `travas anonymize` wrote, or a log"
        ) from None


@dataclass(frozen=True)
class Frames:
    """Polars and pandas data frames."""

    def variants(self, source: object, reading: Reading) -> Variants:
        """The variants of a data frame."""
        from .frames import read_frame

        return read_frame(source, reading)
