"""Writing pictures: the format by suffix, written like every other file. One that exists is replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

from ..errors import OutputError
from ..plots.figures import PictureFormat, draw_release
from ..plots.map_graph import Intervals, release_graph
from ..plots.map_picture import map_svg
from ..releases.process_map import MapRelease
from ..releases.release import ReleasedLog
from .atomic import atomic_output

_ALL: tuple[PictureFormat, ...] = get_args(PictureFormat)


def write_picture(path: Path, draw: Callable[[PictureFormat], bytes]) -> Path:
    """Write a picture as `.png`, `.svg` or `.pdf`. `draw` is called after the path was checked."""
    return _write(path, draw, _ALL)


def write_release_picture(release: ReleasedLog, path: Path) -> Path:
    """Write a picture of a release: public."""
    return _write(path, lambda form: draw_release(release, form), _ALL)


def write_map_picture(release: MapRelease, path: Path, intervals: Intervals) -> Path:
    """Write a picture of a process map as SVG: public."""
    return _write(path, lambda _: map_picture(release, intervals).encode(), ("svg",))


def map_picture(release: MapRelease, intervals: Intervals = "hidden") -> str:
    """Draw the most frequent paths of a process map as SVG."""
    return map_svg(release_graph(release, intervals))


def check_map_picture(path: Path) -> None:
    """Raise OutputError if a picture of a process map cannot have this name."""
    _format(path, ("svg",))


def _write(path: Path, draw: Callable[[PictureFormat], bytes], formats: tuple[PictureFormat, ...]) -> Path:
    form = _format(path, formats)
    try:
        with atomic_output(path, "replace") as partial:
            partial.write_bytes(draw(form))
    except OutputError as error:
        raise OutputError(str(error), field="plot") from None
    return path


def _format(path: Path, formats: tuple[PictureFormat, ...]) -> PictureFormat:
    for form in formats:
        if path.suffix.lower() == f".{form}":
            return form
    known = ", ".join(f".{form}" for form in formats)
    raise OutputError(f"{path}: unsupported format of this picture; supported: {known}", field="plot")
