"""From any source to variants: the one question every engine answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import LogError
from .logs.columns import Reading
from .release import Progress, Release
from .variants import Variants

if TYPE_CHECKING:
    pass

Source = "str | Path | pl.DataFrame | pl.LazyFrame | pd.DataFrame | Variants | Release | Mapping[Trace, int]"

XES_SUFFIXES = (".xes", ".xes.gz")
CSV_SUFFIXES = (".csv", ".csv.gz")
PARQUET_SUFFIXES = (".parquet",)


def _silent(_: float) -> None:
    """Nobody watches the progress."""


def read(source: Any, reading: Reading = Reading(), progress: Progress = _silent) -> Variants:  # noqa: B008
    """The variants of a log: a path, a DataFrame, a mapping of tuples to counts, `Variants` or a `Release`. Private."""
    if isinstance(source, Variants):
        return source
    if isinstance(source, Release):
        return Variants.from_mapping(dict(zip(source.variants, source.counts, strict=True)), source.columns)
    if isinstance(source, str | Path):
        return _read_file(source, reading, progress)
    if isinstance(source, Mapping):
        variants = Variants.from_mapping(source, reading.activities or ("concept:name",))
    else:
        from .logs.tables import read_frame

        variants = read_frame(source, reading)
    return variants


def suffix_of(path: Path, known: tuple[str, ...]) -> str | None:
    """The known suffix a file name ends in."""
    name = path.name.lower()
    return next((suffix for suffix in known if name.endswith(suffix) and name != suffix), None)


def _read_file(source: str | Path, reading: Reading, progress: Progress) -> Variants:
    path = Path(source)
    if "://" in str(source):
        raise LogError(f"{source}: only files can be read; download the log first and give its path")
    kind = suffix_of(path, XES_SUFFIXES + CSV_SUFFIXES + PARQUET_SUFFIXES)
    if kind is None:
        known = ", ".join(XES_SUFFIXES + CSV_SUFFIXES + PARQUET_SUFFIXES)
        raise LogError(f"{path}: not a log I can read by its suffix; take one of {known}")
    try:
        if not path.stat().st_size:
            raise LogError(f"{path}: the file is empty; is it the right file?")
        path.open("rb").close()
    except FileNotFoundError:
        raise LogError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        raise LogError(f"{path}: cannot be opened ({error.strerror}); check the path and your rights") from None
    if kind in XES_SUFFIXES:
        from .logs.xes import read_xes

        return read_xes(path, reading, progress)
    if kind in CSV_SUFFIXES:
        from .logs.csv import read_csv

        return read_csv(path, reading)
    from .logs.tables import read_parquet

    return read_parquet(path, reading)
