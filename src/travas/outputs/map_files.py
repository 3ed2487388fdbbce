"""Writing process maps, by suffix: a table of pairs (CSV), DOT, SVG, JSON and the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OutputError
from ..log.escaped_names import escape_cell, escape_name
from ..plots.map_graph import Intervals, released_graph
from ..plots.map_picture import map_svg
from ..releases.process_map import END, OTHER, START, MapNode, MapPair, MapRelease, map_release
from ..releases.release import Release
from ..trusted.guarantee import Standing
from ..trusted.numbers import as_text
from .atomic import atomic_output
from .json_writer import write_json
from .map_page import write_page

if TYPE_CHECKING:
    import polars as pl

SECONDS = ("lower_quartile", "median", "upper_quartile")
"""The quartiles of durations, in seconds."""


def map_table(release: MapRelease, written: Callable[[str], str] = str) -> pl.DataFrame:
    """The pairs as a table; without an established guarantee every row says so.

    Args:
        release: The map.
        written: How a name is written.

    Returns:
        One row per pair. An activity of several columns has a column for each of them.
    """
    import polars as pl

    columns: dict[str, list[Any]] = {}
    for side in ("before", "after"):
        nodes: list[MapNode] = [getattr(pair, side) for pair in release.pairs]
        columns[f"{side}_kind"] = [node.kind for node in nodes]
        for index, column in enumerate(release.columns):
            name = side if len(release.columns) == 1 else f"{side}:{written(column)}"
            columns[name] = [_part(node, index, written) for node in nodes]
    types: dict[str, Any] = dict.fromkeys(columns, pl.String)
    columns["cases"] = [max(1, round(pair.cases.value)) for pair in release.pairs]
    columns["low"] = [math.floor(pair.cases.low) for pair in release.pairs]
    columns["high"] = [math.ceil(pair.cases.high) for pair in release.pairs]
    types |= dict.fromkeys(("cases", "low", "high"), pl.Int64)
    if "durations" in release.parts:
        for name in SECONDS:
            columns[name] = [pair.duration and round(getattr(pair.duration, name), 1) for pair in release.pairs]
            types[name] = pl.Float64
    standing = release.guarantee.standing
    if standing is Standing.NOT_ESTABLISHED:
        columns["privacy:standing"] = [str(standing)] * len(release.pairs)
        types["privacy:standing"] = pl.String
    return pl.DataFrame(columns, schema=types)


def write_map_csv(release: MapRelease, path: Path) -> None:
    """Write the pairs as a table."""
    map_table(release, escape_cell).write_csv(path)


def _part(node: MapNode, index: int, written: Callable[[str], str]) -> str | None:
    if node.activity is None:
        return None
    return written(node.activity if isinstance(node.activity, str) else node.activity[index])


# ------------------------------------------------------------------------------------------------------- graphs


def write_dot(release: MapRelease, path: Path) -> None:
    """Write the map for Graphviz: line width by number of cases."""
    most = max((pair.cases.value for pair in release.pairs), default=1.0)
    lines = [f"// {_comment(text)}" for text in _headers(release)]
    lines += ["digraph map {", 'node [shape=box, fontname="sans-serif"];', 'edge [fontname="sans-serif"];']
    shapes = {"start": "shape=circle", "end": "shape=doublecircle", "other": "style=dashed", "activity": "shape=box"}
    for number, node in _numbered(release):
        lines.append(f"n{number} [label={_quoted(release.label(node))}, {shapes[node.kind]}];")
    ids = {node: number for number, node in _numbered(release)}
    for pair in release.pairs:
        facts = _edge_facts(pair)
        words = f"{facts['cases']} ({facts['low']} to {facts['high']})"
        width = 0.5 + 4.5 * math.sqrt(pair.cases.value / max(most, 1.0))
        lines.append(f'n{ids[pair.before]} -> n{ids[pair.after]} [label="{words}", penwidth={width:.2f}];')
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8", newline="\n")


def _headers(release: MapRelease) -> Iterator[str]:
    """What a file says about the map as a whole."""
    guarantee = release.guarantee
    yield f"{release.title}; ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)}: {guarantee.standing}"
    yield from release.notices.values()
    yield f"about {release.expected_false_pairs:.1f} of the pairs are expected to be there by noise alone"


def _comment(text: str) -> str:
    return text.replace("--", "- -")


def _numbered(release: MapRelease) -> Iterator[tuple[int, MapNode]]:
    names = (MapNode("activity", activity.activity) for activity in release.activities)
    yield from enumerate((START, *names, OTHER, END))


def _edge_facts(pair: MapPair) -> dict[str, Any]:
    facts = {
        "cases": max(1, round(pair.cases.value)),
        "low": math.floor(pair.cases.low),
        "high": math.ceil(pair.cases.high),
    }
    return facts if pair.duration is None else facts | {"median": round(pair.duration.median, 1)}


def _quoted(name: str) -> str:
    """A name as a DOT string: control characters are escaped as in other files, then backslashes and quotes."""
    return (
        '"' + escape_name(name).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", " ") + '"'
    )


def check_map_picture(path: Path) -> None:
    """Raise OutputError if a picture of a process map cannot have this name."""
    if path.suffix.lower() != ".svg":
        raise OutputError(f"{path}: unsupported picture format of a process map; use .svg", field="plot")


def write_map_picture(release: MapRelease, path: Path, intervals: Intervals) -> Path:
    """Write a picture of a process map as SVG: public. One that exists is replaced."""
    check_map_picture(path)
    try:
        with atomic_output(path, "replace") as partial:
            _write_svg(release, partial, intervals)
    except OutputError as error:
        raise OutputError(str(error), field="plot") from None
    return path


def _write_svg(release: MapRelease, path: Path, intervals: Intervals = "hidden") -> None:
    path.write_text(map_svg(released_graph(release, intervals).most_frequent()), encoding="utf-8", newline="\n")


def _of_map(write: Callable[[MapRelease, Path], None]) -> Callable[[Release, Path], None]:
    """A writer of maps among the writers of releases."""
    return lambda release, path: write(map_release(release), path)


MAP_WRITERS: dict[str, Callable[[Release, Path], None]] = {
    ".json": write_json,
    ".csv": _of_map(write_map_csv),
    ".dot": _of_map(write_dot),
    ".html": _of_map(write_page),
    ".svg": _of_map(_write_svg),
}
"""The writer of each format of a process map, by suffix."""
