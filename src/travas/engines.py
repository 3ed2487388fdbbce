"""From any source to variants: the one question every engine answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import LogError
from .logs.columns import DEFAULT_READING, Reading
from .release import Progress, Release
from .variants import Trace, Variants

XES_SUFFIXES = (".xes", ".xes.gz")
CSV_SUFFIXES = (".csv", ".csv.gz")
PARQUET_SUFFIXES = (".parquet",)
RELEASE_SUFFIXES = (".json",)


def _silent(_: float) -> None:
    """Nobody watches the progress."""


def read(source: Any, reading: Reading = DEFAULT_READING, progress: Progress = _silent) -> Variants:
    """The variants of a log: a path, a DataFrame, a mapping of tuples to counts, `Variants` or a `Release`. Private."""
    return reading.abstraction.of(_read(source, reading, progress))


def _read(source: Any, reading: Reading, progress: Progress) -> Variants:
    if isinstance(source, Variants):
        if reading.unit is not None and (source.unit, source.counted) != (reading.privacy_unit, reading.counts_of):
            raise _no_unit(reading, "variants")
        return source
    if isinstance(source, Release | Mapping) and reading.unit is not None:
        raise _no_unit(reading, "a release" if isinstance(source, Release) else "a mapping")
    if isinstance(source, Release):
        return Variants.from_mapping(_merged(source.variants, source.counts), source.columns)
    if isinstance(source, str | Path):
        return _read_file(source, reading, progress)
    if isinstance(source, Mapping):
        return Variants.from_mapping(source, reading.activities)
    from .logs.tables import read_frame

    return read_frame(source, reading)


def _no_unit(reading: Reading, what: str) -> LogError:
    return LogError(
        f"unit is {reading.unit!r}, but {what} cannot be counted again by unit: give the log, with a column of this name"
    )


def suffix_of(path: Path, known: tuple[str, ...]) -> str | None:
    """The known suffix a file name ends in."""
    name = path.name.lower()
    return next((suffix for suffix in known if name.endswith(suffix) and name != suffix), None)


def _read_file(source: str | Path, reading: Reading, progress: Progress) -> Variants:
    path = Path(source)
    if "://" in str(source):
        raise LogError(f"{source}: only files can be read; download the log first and give its path")
    known = XES_SUFFIXES + CSV_SUFFIXES + PARQUET_SUFFIXES + RELEASE_SUFFIXES
    kind = suffix_of(path, known)
    if kind is None:
        raise LogError(f"{path}: not a log I can read by its suffix; take one of {', '.join(known)}")
    try:
        size = path.stat().st_size
        path.open("rb").close()
    except FileNotFoundError:
        raise LogError(f"{path}: there is no such file; check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise LogError(f"{path}: cannot be opened ({reason}); check the path and your rights") from None
    if not size:
        raise LogError(f"{path}: the file is empty; is it the right file?")
    if kind in XES_SUFFIXES:
        from .logs.xes import read_xes

        return read_xes(path, reading, progress)
    if kind in CSV_SUFFIXES:
        from .logs.csv import read_csv

        return read_csv(path, reading, progress)
    if kind in RELEASE_SUFFIXES:
        if reading.unit is not None:
            raise _no_unit(reading, f"the release {path}")
        return _read_release(path)
    from .logs.tables import read_parquet

    return read_parquet(path, reading)


def _merged(traces: Sequence[Trace], counts: Sequence[int]) -> dict[Trace, int]:
    """Counts by trace: on a ladder, one trace can be there on several rungs."""
    merged: dict[Trace, int] = {}
    for trace, count in zip(traces, counts, strict=True):
        merged[trace] = merged.get(trace, 0) + count
    return merged


def _read_release(path: Path) -> Variants:
    """The variants and counts of a `.json` release of ours."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        columns = tuple(map(str, content["columns"]))
        traces = [tuple(a if isinstance(a, str) else tuple(a) for a in trace) for trace in content["variants"]]
        return Variants.from_mapping(_merged(traces, content["counts"]), columns)
    except LogError as error:
        raise LogError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LogError(
            f"{path}: not a release of travas; give a .json that `travas anonymize` wrote, or a log"
        ) from None
