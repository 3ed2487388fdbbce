"""Writing process maps, by suffix: a table of pairs (CSV), SVG, JSON and a page for browsers."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..errors import OutputError
from ..explain import in_a_phrase
from ..log.escaped_names import escape_cell
from ..plots.html import map_assets, render
from ..plots.map_graph import release_graph
from ..plots.map_picture import map_svg
from ..releases.process_map import MapNode, MapPair, MapRelease, map_release
from ..releases.release import STANDING, Release
from ..trusted.guarantee import Standing
from .atomic import atomic_output
from .json_writer import write_json

if TYPE_CHECKING:
    import polars as pl


_QUARTILES = ("lower_quartile", "median", "upper_quartile")


def map_table(release: MapRelease, written: Callable[[str], str] = str) -> pl.DataFrame:
    """The pairs as a table; without an established guarantee every row says so."""
    import polars as pl

    pairs, columns = release.pairs, list[pl.Series]()
    for side in ("before", "after"):
        nodes: list[MapNode] = [getattr(pair, side) for pair in pairs]
        columns.append(pl.Series(f"{side}_kind", [node.kind for node in nodes], pl.String))
        for index, column in enumerate(release.columns):
            name = side if len(release.columns) == 1 else f"{side}:{written(column)}"
            columns.append(pl.Series(name, [_part(node, index, written) for node in nodes], pl.String))
    for index, name in enumerate(("cases", "low", "high")):
        columns.append(pl.Series(name, [_cases(pair)[index] for pair in pairs], pl.Int64))
    for name in _QUARTILES if "durations" in release.parts else ():
        values = [pair.duration and round(getattr(pair.duration, name), 1) for pair in pairs]
        columns.append(pl.Series(name, values, pl.Float64))
    if release.guarantee.standing is Standing.NOT_ESTABLISHED:
        columns.append(pl.repeat(str(Standing.NOT_ESTABLISHED), len(pairs), eager=True).alias(STANDING))
    return pl.DataFrame(columns)


def _cases(pair: MapPair) -> tuple[int, int, int]:
    """The number of cases of a pair, and its interval."""
    return max(1, round(pair.cases.value)), math.floor(pair.cases.low), math.ceil(pair.cases.high)


def _part(node: MapNode, index: int, written: Callable[[str], str]) -> str | None:
    if node.activity is None:
        return None
    return written(node.activity if isinstance(node.activity, str) else node.activity[index])


# --------------------------------------------------------------------------------------------------------- page


def map_page(release: Release) -> str:
    """The map of any release as one page that needs nothing else: Graphviz is in it, and nothing is requested.

    Names are escaped, and the policy in the page allows its own script and style only.
    """
    style = files(__package__).joinpath("templates/map_page.css").read_text(encoding="utf-8")
    about = f"{release.headline}. {in_a_phrase(release.guarantee)}."
    model = release_graph(release).model()
    values = {"title": release.title.capitalize(), "about": about, "model": model, **map_assets(style)}
    return render(__package__, "map_page.html", values) + "\n"


def _text(content: Callable[[MapRelease], str]) -> Callable[[Release, BinaryIO], object]:
    """A writer of maps as text, among the writers of releases."""
    return lambda release, out: out.write(content(map_release(release)).encode())


def write_picture(release: Release, path: Path) -> Path:
    """Draw the most frequent paths of any release as SVG. A picture that exists is replaced."""
    if path.suffix.lower() != ".svg":
        raise OutputError(f"{path}: unsupported format of a picture; supported: .svg")
    with atomic_output(path, "replace") as partial:
        partial.write_text(map_svg(release_graph(release)), encoding="utf-8", newline="\n")
    return path


MAP_WRITERS: dict[str, Callable[[Release, BinaryIO], object]] = {
    ".json": write_json,
    ".csv": _text(lambda release: map_table(release, escape_cell).write_csv()),
    ".html": _text(map_page),
    ".svg": _text(lambda release: map_svg(release_graph(release))),
}
"""The writer of each format of a process map, by suffix."""
