"""One zip for the recipient of a release: the release, its guarantee, the report and a README."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from ...outputs.atomic import atomic_output
from ...outputs.readme_file import release_files
from ...releases.release import Release, ReleasedLog
from ..jobs import JobWatch

BUNDLE = "release.zip"
"""The name of the zip."""

_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can hold: times of files are not part of it


def bundled(release: Release) -> str:
    """Return the name of the release in the zip: an event log, or the map with its measurements."""
    return "release.xes.gz" if isinstance(release, ReleasedLog) else "release.json"


def contents(release: Path) -> list[Path]:
    """Return the files of the zip: those of the release, and its report."""
    return [*release_files(release), release.with_name(f"{release.name}.report.html")]


def pack(files: Sequence[Path], target: Path, watch: JobWatch) -> None:
    """Write the zip, under another name until it is complete."""
    watch("packing", 0.0)
    with atomic_output(target, "replace") as partial:
        partial.chmod(0o600)
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                entry = zipfile.ZipInfo(path.name, _TIME)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
                archive.writestr(entry, path.read_bytes())
