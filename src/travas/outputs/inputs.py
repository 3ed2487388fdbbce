"""Checks that an output does not overwrite its inputs: the log, the ledger, or the release of a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from ..errors import OutputError
from ..sources.files import is_pattern, matches_of
from .readme_file import release_files


def check_not_input(output: Path, inputs: Iterable[str | Path], ledger: Path | None = None) -> None:
    """Raise OutputError if a release would overwrite one of its inputs or become part of the log.

    Links are followed, also inside folders. Its guarantee file and README are checked as well.
    """
    targets = release_files(output, "synthetic log")[::-1]
    for log in map(Path, inputs):
        check_not_same(targets, [log], "the log itself")
        is_glob = _is_glob(log)
        for target in targets:
            if _matches(target, log) if is_glob else target.resolve().is_relative_to(log.resolve()):
                raise OutputError(f"{target}: would become part of the log {str(log)!r}; use another", field="output")
        if any(map(os.path.lexists, targets)):
            check_not_same(targets, _files_of(log), "a file of the log")
    if ledger is not None:
        journals = [ledger.with_name(ledger.name + end) for end in ("-journal", "-wal")]
        check_not_same(targets, [ledger, *journals], "the ledger")


def check_not_same(targets: Iterable[Path], files: Iterable[Path], what: str) -> None:
    """Raise OutputError if an output is one of these files, under any name."""
    known = list(files)
    for target in targets:
        if any(_is_same(target, file) for file in known):
            raise OutputError(f"{target}: is {what}; choose another output", field="output")


def _is_same(target: Path, file: Path) -> bool:
    with suppress(OSError, ValueError):
        return target.samefile(file)
    return target.absolute() == file.absolute()


def _is_glob(path: Path) -> bool:
    return is_pattern(str(path)) and not os.path.lexists(path)


def _files_of(log: Path) -> Iterator[Path]:
    """What a folder contains or a glob matches."""
    with suppress(OSError, ValueError, NotImplementedError, IndexError):
        yield from matches_of(log) if _is_glob(log) else log.rglob("*")


def _matches(target: Path, pattern: Path) -> bool:
    """Return whether the glob would match the target once it exists."""
    folders = _files_of(pattern.parent) if _is_glob(pattern.parent) else [pattern.parent]
    return fnmatch(target.name, pattern.name) and any(_is_same(target.parent, folder) for folder in folders)
