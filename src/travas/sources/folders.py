"""The files of a folder or a glob: all of them, or an error. Nothing is skipped silently."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from ..errors import LogError, is_encodable

_HIDDEN = (".", "_")
_SHOWN = 3


def is_pattern(name: str) -> bool:
    """Whether a name contains a mark of a glob pattern: `*`, `?` or `[`."""
    return any(mark in name for mark in "*?[")


@dataclass(frozen=True)
class Listing:
    """The files of one log, sorted by name, and notes about files that are not read."""

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def listing(path: Path, suffixes: tuple[str, ...]) -> Listing:
    """List the files of a log: a file, a folder or a glob; a path that exists is not a glob.

    Other files in a folder than those with the suffixes are noted. Unreadable folders, links to folders and dangling links
    are refused.
    """
    try:
        if path.is_dir():
            return _readable(_sorted(path, list(_tree(path)), suffixes))
        if not path.exists() and is_pattern(str(path)):
            parts = path.relative_to(path.anchor).parts
            return _readable(_sorted(path, list(_matches(Path(path.anchor), parts))))
    except LogError:
        raise
    except (OSError, ValueError) as error:
        raise unopened(Path(getattr(error, "filename", None) or path), error) from None
    return _readable(Listing((path,)))


def _readable(listed: Listing) -> Listing:
    """Refuse names that Polars cannot open."""
    for file in listed.files:
        if not is_encodable(str(file)):
            raise LogError(f"{str(file)!r}: the name is not valid UTF-8; rename the file or its folder")
    return listed


def unopened(path: Path, error: Exception) -> LogError:
    """Return the error for a path that cannot be opened."""
    reason = getattr(error, "strerror", None) or "not a path"
    return LogError(f"{path}: cannot be opened ({reason}); check the path and your permissions")


def _sorted(path: Path, present: Sequence[Path], suffixes: tuple[str, ...] = ("",)) -> Listing:
    files = sorted(file for file in present if file.name.lower().endswith(suffixes))
    if not files:
        raise LogError(f"{path}: contains no log; use a file, or a folder or glob of files of one format")
    others = sorted(set(present) - set(files))
    if not others:
        return Listing(tuple(files))
    names = ", ".join(repr(str(file.relative_to(path))) for file in others[:_SHOWN])
    more = ", …" if len(others) > _SHOWN else ""
    what = "1 file is" if len(others) == 1 else f"{len(others):,} files are"
    return Listing(tuple(files), (f"{what} not read because of the file extension: {names}{more}",))


def _tree(folder: Path) -> Iterator[Path]:
    """Return all files below a folder, except names that begin with a dot or an underscore, as in data lakes."""
    for entry in _entries(folder):
        if entry.name.startswith(_HIDDEN):
            continue
        if not entry.is_dir():
            yield Path(entry)
        elif entry.is_symlink():
            raise LogError(
                f"{entry.path}: a link to a folder, which is not followed; replace it with the folder, or use a glob "
                "that matches its files"
            )
        else:
            yield from _tree(Path(entry))


def _matches(base: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Return the files that match a glob."""
    name, *rest = parts
    if name == "**":
        folders = [base, *_folders(base)]
        yield from (file for folder in folders for file in _matches(folder, rest or ["*"]))
    elif not is_pattern(name):
        path = base / name
        if rest:
            yield from _matches(path, rest) if path.is_dir() else ()
        elif path.exists() and not path.is_dir():
            yield path
    else:
        for entry in _entries(base):
            if fnmatch(entry.name, name) and entry.is_dir() == bool(rest):
                yield from _matches(Path(entry), rest) if rest else [Path(entry)]


def _folders(base: Path) -> Iterator[Path]:
    for entry in _entries(base):
        if entry.is_dir() and entry.is_symlink():
            raise LogError(f"{entry.path}: a link to a folder, which '**' does not follow; replace it with the folder")
        if entry.is_dir():
            yield Path(entry)
            yield from _folders(Path(entry))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder; raises OSError if it is unreadable, LogError for a dangling link."""
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if entry.is_symlink() and not Path(entry).exists() and not entry.name.startswith(_HIDDEN):
            raise LogError(f"{entry.path}: a dangling link; remove it, or restore the file")
    return ordered
