"""Writing a release, its guarantee and its README together, in a format given by the suffix.

with reserved_release(path, "fail", kind) as output:   # raises if it cannot be written, before anything is charged
    ...                                          # read, charge, draw
    output.write(release)                        # all files, complete and on the disk, under partial names
    output.publish()                             # they appear, the release last
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from ..errors import OutputError
from ..releases.release import EVENT_LOGS, Kind, Release, frequencies_of, kind_of
from ..sources.example_log import hospital_log
from ..sources.files import suffix_of
from .atomic import Existing, Reservation, atomic_output, reserved, writing
from .event_tables import write_csv, write_parquet
from .guarantee_file import describe, file_digest, measurements_path
from .json_writer import write_json
from .map_files import MAP_WRITERS
from .readme_file import readme_text, release_files
from .xes_writer import write_xes

Writer = Callable[[Any, BinaryIO], object]

WRITERS: dict[str, Writer] = {
    ".xes": write_xes, ".xes.gz": write_xes, ".csv": write_csv, ".csv.gz": write_csv, ".parquet": write_parquet,
    ".json": write_json,
}  # fmt: skip
"""The writer of each format of an event log, by suffix."""


def writers(kind: Kind) -> dict[str, Writer]:
    """The writers for a kind of release, by suffix."""
    return WRITERS if kind in EVENT_LOGS else MAP_WRITERS


def write_content(release: Release, path: Path, suffix: str) -> None:
    """Write the release alone in a format. What is compressed has the same bytes in every run.

    Level 3 of gzip is an eighth larger than level 6 and takes less than half the time.
    """
    with ExitStack() as opened:
        out: Any = opened.enter_context(path.open("wb"))
        if suffix.endswith(".gz"):
            out = opened.enter_context(gzip.GzipFile("", "wb", 3, out, mtime=0))
        writers(kind_of(release.mechanism))[suffix](release, out)


@dataclass(frozen=True)
class ReservedRelease:
    """The reserved names of a release, its guarantee and its README.

    Attributes:
        target: The release.
    """

    target: Path
    _files: Reservation

    def write(self, release: Release, about: Sequence[str] = ()) -> None:
        """Write the release, its guarantee and its README in full; none is visible yet."""
        readme, promise, content = map(self._files.partial, release_files(self.target))
        with writing(self.target):
            suffix = _suffix(self.target, kind_of(release.mechanism))
            write_content(release, content, suffix)
            facts: dict[str, Any] = {
                "format": suffix[1:],
                "frequencies": frequencies_of(release),
                "notices": release.notices,
                "abstractions": [rule.as_json() for rule in release.used_abstractions],
                "sha256": file_digest(content),
            }
            if (measurements := measurements_path(self.target)) in self._files.targets[:-1]:
                write_content(release, self._files.partial(measurements), ".json")
                facts["measurements"] = file_digest(self._files.partial(measurements))
            facts["assumptions"] = list(release.assumptions)
            stated = {name: value for name, value in facts.items() if value}
            text = json.dumps(describe(release.mechanism, stated, release.reading), indent=2, ensure_ascii=False)
            promise.write_text(text + "\n", encoding="utf-8")
            readme.write_text(readme_text(release, self.target, about), encoding="utf-8", newline="\n")

    def publish(self) -> None:
        """Publish the files, the release last."""
        self._files.publish()


@contextmanager
def reserved_release(target: Path, existing: Existing, kind: Kind) -> Iterator[ReservedRelease]:
    """Reserve the names of a release, its guarantee and its README."""
    _suffix(target, kind)  # raises
    with reserved(release_files(target, kind), existing) as files:
        yield ReservedRelease(target, files)


def _suffix(target: Path, kind: Kind) -> str:
    """The format of a release, by its name."""
    known = tuple(writers(kind))
    suffix = suffix_of(target, known)
    if suffix is None:
        what = "release" if kind in EVENT_LOGS else kind
        raise OutputError(
            f"{target}: unsupported file extension for a {what}; supported: {', '.join(known)}", field="output"
        )
    return suffix


def segment_path(target: Path, segment: str, kind: Kind) -> Path:
    """The file of a segment: `release-A.csv` for the value A; what is no letter or digit is escaped as in URLs."""
    suffix = _suffix(target, kind)
    name = "".join(letter if letter.isalnum() or letter in "_-" else quote(letter, safe="") for letter in segment)
    return target.with_name(f"{target.name[: -len(suffix)]}-{name.replace('.', '%2E')}{suffix}")


def write_release(release: Release, path: Path, existing: Existing, about: Sequence[str] = ()) -> Path:
    """Write a release, its guarantee and its README; none is visible before all are complete."""
    with reserved_release(path, existing, kind_of(release.mechanism)) as output:
        output.write(release, about)
        output.publish()
    return path


def write_hospital_log(path: Path) -> Path:
    """Write the example log, for the demo and the web app; its folder is made if needed."""
    content = hospital_log().encode()
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_bytes() != content:
            raise OutputError(f"{path}: exists and is not the demo's log; choose another directory", field="output")
    with atomic_output(path, "replace") as partial:
        partial.write_bytes(content)
    return path
