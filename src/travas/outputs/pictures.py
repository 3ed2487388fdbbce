"""Pictures of releases as SVG, written like every other file. One that exists is replaced."""

from __future__ import annotations

from pathlib import Path

from ..errors import OutputError
from ..plots.map_graph import release_graph
from ..plots.map_picture import map_svg
from ..releases.release import Release
from .atomic import atomic_output


def picture(release: Release) -> str:
    """Draw the most frequent paths of a release as SVG: public."""
    return map_svg(release_graph(release))


def write_picture(release: Release, path: Path) -> Path:
    """Write the picture of a release."""
    if path.suffix.lower() != ".svg":
        raise OutputError(f"{path}: unsupported format of a picture; supported: .svg")
    with atomic_output(path, "replace") as partial:
        partial.write_text(picture(release), encoding="utf-8", newline="\n")
    return path
