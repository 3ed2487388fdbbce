"""Writing process maps, by suffix: data, graphs, pictures and the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ..plots.figures import PictureFormat
from ..plots.map_figure import map_figure
from ..plots.map_graph import Intervals, released_graph
from ..plots.map_picture import drawing, map_svg
from ..releases.process_map import MapRelease, map_release
from ..releases.release import Release
from .json_writer import write_json
from .map_page import write_page
from .map_writers import write_dot, write_graphml, write_map_csv
from .picture_file import write_picture


def map_picture(release: MapRelease, form: PictureFormat, intervals: Intervals = "hidden") -> bytes:
    """Draw a process map: SVG needs no extra, other formats need matplotlib.

    Args:
        release: The map.
        form: The format of the picture.
        intervals: Whether 95 % intervals are written next to the numbers.

    Returns:
        The content of the file.
    """
    graph = released_graph(release, intervals).most_frequent()
    return map_svg(graph).encode() if form == "svg" else map_figure(drawing(graph), form)


def write_map_picture(release: MapRelease, path: Path, intervals: Intervals) -> Path:
    """Write a picture of a process map: public. See `write_picture`."""
    return write_picture(path, lambda form: map_picture(release, form, intervals))


def _picture(form: PictureFormat, release: MapRelease, path: Path) -> None:
    path.write_bytes(map_picture(release, form))


def _of_map(write: Callable[[MapRelease, Path], None]) -> Callable[[Release, Path], None]:
    """A writer of maps among the writers of releases."""
    return lambda release, path: write(map_release(release), path)


MAP_WRITERS: dict[str, Callable[[Release, Path], None]] = {
    ".json": write_json,
    ".csv": _of_map(write_map_csv),
    ".graphml": _of_map(write_graphml),
    ".dot": _of_map(write_dot),
    ".html": _of_map(write_page),
    ".svg": _of_map(partial(_picture, "svg")),
    ".png": _of_map(partial(_picture, "png")),
    ".pdf": _of_map(partial(_picture, "pdf")),
}
"""The writer of each format of a process map, by suffix."""
