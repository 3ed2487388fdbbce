"""Files: XES with a streaming parser, CSV and Parquet with Polars; a folder or glob of tables is one log."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import LogError, ParameterError
from ..model.mechanism import Progress
from ..model.traces import Trace
from ..model.variants import Variants
from .columns import Reading
from .folders import listing, unopened

XES_SUFFIXES = (".xes", ".xes.gz")
CSV_SUFFIXES = (".csv", ".csv.gz")
PARQUET_SUFFIXES = (".parquet",)
RELEASE_SUFFIXES = (".json",)
_KNOWN = XES_SUFFIXES + CSV_SUFFIXES + PARQUET_SUFFIXES + RELEASE_SUFFIXES


def suffix_of(path: Path, suffixes: tuple[str, ...]) -> str | None:
    """Return the suffix of a file name, if it is one of `suffixes`."""
    name = path.name.lower()
    return next((suffix for suffix in suffixes if name.endswith(suffix) and name != suffix), None)


@dataclass(frozen=True)
class Files:
    """The default engine. Memory holds a few numbers per event, for one pass over the log at a time."""

    progress: Progress

    def variants(self, source: str | Path, reading: Reading) -> Variants:
        """Return the variants of a file, or of the tables of a folder or glob as one log, ordered by file name."""
        for name in ("table", "query"):
            if getattr(reading, name) is not None:
                raise ParameterError(
                    f"{name} is set but {source} is not a database; see docs/engines.md for database URLs", field=name
                )
        path = Path(source)
        if (path / "_delta_log").is_dir() or any((path / "metadata").glob("*.metadata.json")):
            raise LogError(
                f"{path}: a Delta or Iceberg table, whose files must not be read directly; read it with Spark"
            )
        listed = listing(path, _KNOWN)
        for file in listed.files:
            _check(file)
        variants = self._variants(listed.files, reading, str(source))
        return replace(variants, notes=(*listed.notes, *variants.notes)) if listed.notes else variants

    def _variants(self, paths: Sequence[Path], reading: Reading, where: str) -> Variants:
        kinds = {suffix_of(path, _KNOWN) for path in paths}
        if kinds <= {*CSV_SUFFIXES}:
            from .csv_reader import read_csv

            return read_csv(paths, reading, where, self.progress)
        if kinds <= {*PARQUET_SUFFIXES}:
            from .tables import read_parquet

            return read_parquet(paths, reading, where)
        if len(paths) > 1:
            raise LogError(f"{where}: several files are one log only if all are CSV or all are Parquet")
        if kinds <= {*RELEASE_SUFFIXES}:
            if reading.unit is not None:
                raise no_unit(reading, f"the release {where}")
            return _read_release(paths[0])
        from .xes_reader import read_xes

        return read_xes(paths[0], reading, self.progress)


def _check(path: Path) -> None:
    if suffix_of(path, _KNOWN) is None:
        raise LogError(f"{path}: unsupported file extension; supported: {', '.join(_KNOWN)}")
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its writer
            raise LogError(f"{path}: not a regular file; save the log to a file first")
        path.open("rb").close()
    except FileNotFoundError:
        raise LogError(f"{path}: no such file; check the path") from None
    except LogError:
        raise
    except (OSError, ValueError) as error:
        raise unopened(path, error) from None
    if not status.st_size:
        raise LogError(f"{path}: the file is empty; check that it is the right file")


def no_unit(reading: Reading, what: str) -> LogError:
    """Return the error for counts that cannot be counted again by unit."""
    return LogError(
        f"unit is {reading.unit!r} but {what} contains counts, not cases; pass a log with a column of this name",
        field="unit",
    )


def merged(traces: Sequence[Trace], counts: Sequence[int]) -> dict[Trace, int]:
    """Sum counts by trace; in a ladder release, a trace can be on several rungs."""
    counts_by_trace: dict[Trace, int] = {}
    for trace, count in zip(traces, counts, strict=True):
        counts_by_trace[trace] = counts_by_trace.get(trace, 0) + count
    return counts_by_trace


def strict_json(text: str) -> Any:
    """Parse JSON; raises ValueError for Infinity and NaN, which are not JSON but which Python's parser accepts."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def _read_release(path: Path) -> Variants:
    """Read the variants and counts of a `.json` release."""
    try:
        content = strict_json(path.read_text(encoding="utf-8"))
        columns = tuple(map(str, content["columns"]))
        traces = [tuple(a if isinstance(a, str) else tuple(a) for a in trace) for trace in content["variants"]]
        return Variants.from_mapping(merged(traces, content["counts"]), columns)
    except LogError as error:
        raise LogError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LogError(
            f"{path}: not a release of travas; use a .json file written by `travas anonymize`, or a log"
        ) from None


@dataclass(frozen=True)
class Frames:
    """Polars and pandas data frames."""

    def variants(self, source: object, reading: Reading) -> Variants:
        """Return the variants of a data frame."""
        from .frames import read_frame

        return read_frame(source, reading)
