"""Checks that an output does not overwrite its inputs: the log, the ledger, or the release of a report."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from ..errors import OutputError
from ..sources.files import is_pattern, matches_of
from .readme_file import release_files


def check_not_input(output: Path, log: str | Path | None, ledger: Path | None = None) -> None:
    """Raise OutputError if a release, or a file beside it, would overwrite one of its inputs or become part of the log.

    Links are followed, also inside folders.
    """
    targets = release_files(output, "synthetic log")[::-1]
    if log is not None:
        check_not_same(targets, [Path(log)], "the log itself")
        for target in targets:
            if _is_part(target, Path(log)):
                raise OutputError(f"{target}: would become part of the log {str(log)!r}; use another", field="output")
        if any(map(os.path.lexists, targets)):
            check_not_same(targets, _files_of(Path(log)), "a file of the log")
    if ledger is not None:
        check_not_same(targets, [ledger], "the ledger")


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


def _files_of(log: Path) -> list[Path]:
    """What a folder contains or a glob matches."""
    with suppress(OSError, ValueError):
        return list(log.rglob("*") if os.path.lexists(log) else matches_of(log))
    return []


def _is_part(target: Path, log: Path) -> bool:
    """Whether a folder contains a file, or a glob would match it once it exists."""
    if os.path.lexists(log) or not is_pattern(str(log)):
        return target.resolve().is_relative_to(log.resolve())
    folders = matches_of(log.parent) if is_pattern(str(log.parent)) else [log.parent]
    return fnmatch(target.name, log.name) and any(_is_same(target.parent, folder) for folder in folders)
