"""Writing process maps, by suffix: a table of pairs (CSV), DOT, SVG, JSON and a page for browsers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OutputError
from ..explain import in_a_phrase
from ..log.escaped_names import escape_cell, escape_name
from ..plots.html import map_assets, render
from ..plots.map_graph import release_graph
from ..plots.map_picture import map_svg
from ..releases.process_map import END, OTHER, START, MapNode, MapPair, MapRelease, map_release
from ..releases.release import Release
from ..trusted.guarantee import Standing
from .atomic import atomic_output
from .json_writer import QUARTILES, write_json

if TYPE_CHECKING:
    import polars as pl


def map_table(release: MapRelease, written: Callable[[str], str] = str) -> pl.DataFrame:
    """The pairs as a table; without an established guarantee every row says so."""
    import polars as pl

    columns: dict[str, list[Any]] = {}
    for side in ("before", "after"):
        nodes: list[MapNode] = [getattr(pair, side) for pair in release.pairs]
        columns[f"{side}_kind"] = [node.kind for node in nodes]
        for index, column in enumerate(release.columns):
            name = side if len(release.columns) == 1 else f"{side}:{written(column)}"
            columns[name] = [_part(node, index, written) for node in nodes]
    types: dict[str, Any] = dict.fromkeys(columns, pl.String)
    for index, name in enumerate(("cases", "low", "high")):
        columns[name] = [_cases(pair)[index] for pair in release.pairs]
        types[name] = pl.Int64
    if "durations" in release.parts:
        for name in QUARTILES:
            columns[name] = [pair.duration and round(getattr(pair.duration, name), 1) for pair in release.pairs]
            types[name] = pl.Float64
    standing = release.guarantee.standing
    if standing is Standing.NOT_ESTABLISHED:
        columns["privacy:standing"] = [str(standing)] * len(release.pairs)
        types["privacy:standing"] = pl.String
    return pl.DataFrame(columns, schema=types)


def _cases(pair: MapPair) -> tuple[int, int, int]:
    """The number of cases of a pair, and its interval."""
    return max(1, round(pair.cases.value)), math.floor(pair.cases.low), math.ceil(pair.cases.high)


def _part(node: MapNode, index: int, written: Callable[[str], str]) -> str | None:
    if node.activity is None:
        return None
    return written(node.activity if isinstance(node.activity, str) else node.activity[index])


# ------------------------------------------------------------------------------------------------------- graphs


def map_dot(release: MapRelease) -> str:
    """The map for Graphviz: line width by number of cases."""
    most = max((pair.cases.value for pair in release.pairs), default=1.0)
    lines = ["// " + text.replace("--", "- -") for text in _headers(release)]
    lines += ["digraph map {", 'node [shape=box, fontname="sans-serif"];', 'edge [fontname="sans-serif"];']
    shapes = {"start": "shape=circle", "end": "shape=doublecircle", "other": "style=dashed", "activity": "shape=box"}
    names = (MapNode("activity", activity.activity) for activity in release.activities)
    ids = {node: number for number, node in enumerate((START, *names, OTHER, END))}
    lines += [f"n{ids[node]} [label={_quoted(release.label(node))}, {shapes[node.kind]}];" for node in ids]
    for pair in release.pairs:
        words = "{} ({} to {})".format(*_cases(pair))
        width = 0.5 + 4.5 * math.sqrt(pair.cases.value / max(most, 1.0))
        lines.append(f'n{ids[pair.before]} -> n{ids[pair.after]} [label="{words}", penwidth={width:.2f}];')
    return "\n".join([*lines, "}", ""])


def _headers(release: MapRelease) -> Iterator[str]:
    """What a file says about the map as a whole."""
    yield f"{release.title}; {in_a_phrase(release.guarantee)}"
    yield from release.notices.values()
    yield f"about {release.expected_false_pairs:.1f} of the pairs are expected to be there by noise alone"


def _quoted(name: str) -> str:
    """A name as a DOT string: control characters are escaped as in other files, then backslashes and quotes."""
    text = escape_name(name).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", " ")
    return f'"{text}"'


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


def _text(content: Callable[[MapRelease], str]) -> Callable[[Release, Path], object]:
    """A writer of maps as text, among the writers of releases."""
    return lambda release, path: path.write_text(content(map_release(release)), encoding="utf-8", newline="\n")


def write_picture(release: Release, path: Path) -> Path:
    """Draw the most frequent paths of any release as SVG. A picture that exists is replaced."""
    if path.suffix.lower() != ".svg":
        raise OutputError(f"{path}: unsupported format of a picture; supported: .svg")
    with atomic_output(path, "replace") as partial:
        partial.write_text(map_svg(release_graph(release)), encoding="utf-8", newline="\n")
    return path


MAP_WRITERS: dict[str, Callable[[Release, Path], object]] = {
    ".json": write_json,
    ".csv": _text(lambda release: map_table(release, escape_cell).write_csv()),
    ".dot": _text(map_dot),
    ".html": _text(map_page),
    ".svg": _text(lambda release: map_svg(release_graph(release))),
}
"""The writer of each format of a process map, by suffix."""
