"""The formats of event logs, by file extension. The content never decides, except for compression, by its magic bytes."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Literal

Format = Literal["xes", "csv", "tsv", "parquet", "arrow", "xlsx"]

_PACKED = ("", ".gz", ".zst")
_TEXT: dict[str, Format] = {".xes": "xes", ".csv": "csv", ".tsv": "tsv", ".txt": "csv"}
_BINARY: dict[str, Format] = {
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}
FORMATS: dict[str, Format] = {suffix + packed: form for suffix, form in _TEXT.items() for packed in _PACKED} | _BINARY
"""The format of each extension. `.txt` is CSV, whose delimiter is detected from the header as always."""

XES_SUFFIXES = (".xes", ".xes.gz")
CSV_SUFFIXES = (".csv", ".csv.gz")
PARQUET_SUFFIXES = (".parquet",)
RELEASE_SUFFIXES = (".json",)
ARCHIVE_SUFFIXES = (".zip",)
SUFFIXES = (*FORMATS, *RELEASE_SUFFIXES, *ARCHIVE_SUFFIXES)
"""All extensions that can be read."""

FOLDER_SUFFIXES = tuple(suffix for suffix in FORMATS if not suffix.startswith(".txt"))
"""The extensions that are read in a folder, in which other files are listed in a note."""


def suffix_of(path: Path, suffixes: tuple[str, ...]) -> str | None:
    """Return the suffix of a file name, if it is one of `suffixes`."""
    return suffix_of_name(path.name, suffixes)


def suffix_of_name(name: str, suffixes: tuple[str, ...]) -> str | None:
    """Return the longest of `suffixes` that a file name ends with."""
    lower = PurePath(name).name.lower()
    return max((end for end in suffixes if lower.endswith(end) and lower != end), key=len, default=None)


def format_of(name: str) -> Format | None:
    """Return the format of a file name by its extension.

    >>> format_of("log.csv.gz"), format_of("log.TSV"), format_of("log.pdf")
    ('csv', 'tsv', None)
    """
    suffix = suffix_of_name(name, tuple(FORMATS))
    return None if suffix is None else FORMATS[suffix]
