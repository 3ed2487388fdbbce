"""Writing a release, its guarantee and its README together, in a format given by the suffix.

with reserved_release(path, "fail", kind) as output:   # raises if it cannot be written, before anything is charged
    ...                                          # read, charge, draw
    output.write(release)                        # all files, complete and on the disk, under partial names
    output.publish()                             # they appear, the release last
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import OutputError
from ..model.mechanism import Kind
from ..model.release import Release
from ..plots.figures import new_figure
from ..sources.formats import suffix_of
from .atomic import Existing, Reservation, cannot_write, check_target, is_system_error, reserved
from .event_tables import write_csv, write_csv_gz, write_parquet
from .guarantee_file import describe, file_digest, guarantee_path
from .json_writer import write_json
from .readme_file import readme_path, readme_text, release_files
from .xes_writer import write_xes, write_xes_gz

WRITERS: dict[str, Callable[[Release, Path], None]] = {
    ".xes": write_xes,
    ".xes.gz": write_xes_gz,
    ".csv": write_csv,
    ".csv.gz": write_csv_gz,
    ".parquet": write_parquet,
    ".json": write_json,
}
"""The writer of each format of an event log, by suffix."""

MAP_SUFFIXES = (".json", ".csv", ".graphml", ".dot", ".html", ".svg", ".png", ".pdf")
"""The formats of a process map."""


def _write_map(suffix: str, release: Release, path: Path) -> None:
    from .map_files import MAP_WRITERS  # it imports numpy, which not every program needs

    MAP_WRITERS[suffix](release, path)


def writers(kind: Kind) -> dict[str, Callable[[Release, Path], None]]:
    """The writers for a kind of release, by suffix."""
    return WRITERS if kind != "process map" else {suffix: partial(_write_map, suffix) for suffix in MAP_SUFFIXES}


@dataclass(frozen=True)
class ReservedRelease:
    """The reserved names of a release, its guarantee and its README.

    Attributes:
        path: The release.
        suffix: Its format.
    """

    path: Path
    suffix: str
    _files: Reservation

    def write(self, release: Release, about: Sequence[str] = ()) -> None:
        """Write the release, its guarantee and its README in full; none is visible yet.

        Args:
            release: What to write.
            about: What its owner says about it in the README.

        Raises:
            OutputError: The disk is full or the system refused.
        """
        partial, promise = self._files.partial(self.path), self._files.partial(guarantee_path(self.path))
        try:
            writers(release.mechanism.kind)[self.suffix](release, partial)
            facts: dict[str, Any] = {"format": self.suffix[1:], "frequencies": release.frequencies}
            facts |= {"timestamps": "none"} if release.timestamps == "none" else {}
            facts |= {"notices": release.notices} if release.notices else {}
            facts |= {
                "abstractions": [rule.as_json() for rule in release.used_abstractions],
                "sha256": file_digest(partial),
            }
            facts |= {"assumptions": list(release.assumptions)} if release.assumptions else {}
            text = json.dumps(describe(release.mechanism, facts, release.reading), indent=2, ensure_ascii=False)
            promise.write_text(text + "\n", encoding="utf-8")
            readme = self._files.partial(readme_path(self.path))
            readme.write_text(readme_text(release, self.path, about), encoding="utf-8", newline="\n")
        except Exception as error:
            if is_system_error(error):
                raise cannot_write(self.path, error) from None
            raise

    def publish(self) -> None:
        """Publish the files: the README, the guarantee, then the release.

        Raises:
            OutputError: The file system refused, or another run has written one of the files in the meantime.
        """
        self._files.publish()


@contextmanager
def reserved_release(path: Path, existing: Existing, kind: Kind) -> Iterator[ReservedRelease]:
    """Reserve the names of a release, its guarantee and its README.

    Args:
        path: The release; the suffix determines the format.
        existing: `"fail"` refuses names that exist; `"replace"` replaces the files when they are published.
        kind: The kind of release.

    Yields:
        The reservation. When the block ends, unpublished files are removed.

    Raises:
        OutputError: The suffix is not supported, or a file exists, cannot be written, or is reserved by another run.
    """
    suffix = check_output(path, existing, kind)
    with reserved(release_files(path), existing) as files:
        yield ReservedRelease(path, suffix, files)


def check_output(path: Path, existing: Existing, kind: Kind) -> str:
    """Raise OutputError if a release cannot be written, without changing anything.

    Args:
        path: The release.
        existing: Whether existing files may be replaced.
        kind: The kind of release.

    Returns:
        The suffix, a key of `writers(kind)`.

    Raises:
        OutputError: The suffix is not supported, or one of the files cannot be written.
    """
    suffix = suffix_of(path, tuple(writers(kind)))
    if suffix is None:
        what = "process map" if kind == "process map" else "release"
        raise OutputError(
            f"{path}: unsupported file extension for a {what}; supported: {', '.join(writers(kind))}", field="output"
        )
    if kind == "process map" and suffix in (".png", ".pdf"):
        new_figure((1, 1))  # raises if the extra is missing
    for target in release_files(path):
        check_target(target, existing)
    return suffix


def write_release(release: Release, path: Path, existing: Existing) -> Path:
    """Write a release, its guarantee and its README; none is visible before all are complete.

    Args:
        release: The release.
        path: The file to write; the suffix determines the format.
        existing: `"fail"` refuses names that exist; `"replace"` replaces them.

    Returns:
        The path of the release.

    Raises:
        OutputError: The files cannot be written; nothing is left behind.
    """
    with reserved_release(path, existing, release.mechanism.kind) as output:
        output.write(release)
        output.publish()
    return path
