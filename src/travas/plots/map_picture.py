"""A process map as a static SVG: what `browser/map.js` draws at first, laid out by the Graphviz in `pygraphviz`."""

from __future__ import annotations

import json
import math
from textwrap import wrap
from threading import Lock
from typing import Any

from ..errors import MissingExtraError
from ..explain import duration_text
from .map_graph import LABEL_SIZE, NAME_SIZE, NUMBER_SIZE, Edge, GraphNode, GraphPath, ProcessGraph
from .svg import INK, document, escape_markup, scale, text

Point = tuple[float, float]

_PAPER, _QUIET, _BLUE, _ROPE = "#ffffff", "#5a6773", "#0a5f9e", "#33414d"  # charts.css has those of dark pages
_MARGIN, _CAPTION = 12, 18
_ONE_AT_A_TIME = Lock()  # Graphviz has one global state


def map_svg(graph: ProcessGraph) -> str:
    """What of a graph is shown at first, as SVG without scripts or style sheets.

    Raises:
        MissingExtraError: pygraphviz is not installed.
    """
    shown = graph.first
    if not shown.paths:
        return document(640, 40, "The process map is empty.", [text(8, 24, "The process map is empty.")])
    width, height, at, ways = _layout(graph.dot(shown))
    shade = scale([node.count for node in graph.reachable.nodes if node.kind == "activity"], 1.6)
    times = [path.time.median for path in shown.paths if path.time is not None]
    lines, labels = [], []
    for path in reversed(shown.paths):
        points, (x, y) = ways[path.edge]
        rope = graph.ropes[path.edge]
        lines.append(_arrow(path, points, rope))
        labels.append(_label(path, (x - graph.slots(path)[0] / 2 + 5 + 6 * rope, y)))
    boxes = [_box(node, at[node.key], shade(node.count)) for node in shown.nodes]
    captions = shown.captions
    if times:
        kind = "waiting times" if graph.is_paired else "times"
        captions += (
            f"Median {kind} between two activities, {graph.times}: {duration_text(min(times))} to {duration_text(max(times))}.",
        )
    parts = [f'<g transform="translate({_MARGIN} {_MARGIN})">', *lines, *boxes, *labels, "</g>"]
    wide, below = math.ceil(max(width + 2 * _MARGIN, 480)), height + 2 * _MARGIN
    rows = [row for words in captions for row in wrap(words, wide // 7)]
    parts += [text(_MARGIN, below + _CAPTION * (row + 0.5), words, colour=_QUIET) for row, words in enumerate(rows)]
    return document(wide, math.ceil(below + _CAPTION * len(rows)), _words(shown), parts)


def picture_or_reason(graph: ProcessGraph) -> tuple[str, str]:
    """The picture, or the line that says which extra it needs."""
    try:
        return map_svg(graph), ""
    except MissingExtraError as error:
        return "", str(error)


def _layout(dot: str) -> tuple[float, float, dict[str, Point], dict[Edge, tuple[list[Point], Point]]]:
    """Width and height; where nodes are, and the curve and the label of every path; y grows downwards."""
    try:
        from pygraphviz import AGraph
    except ImportError:
        raise MissingExtraError("a picture of a process map", "plot") from None
    with _ONE_AT_A_TIME:
        found: dict[str, Any] = json.loads(AGraph(string=dot).draw(format="json0", prog="dot"))
    left, bottom, right, top = map(float, found["bb"].split(","))

    def point(words: str) -> Point:
        x, y = map(float, words.split(","))
        return x - left, top - y

    names = {one["_gvid"]: one["name"] for one in found["objects"]}
    at = {one["name"]: point(one["pos"]) for one in found["objects"] if "pos" in one}
    ways = {
        (names[one["tail"]], names[one["head"]]): (list(map(point, one["pos"].split())), point(one["lp"]))
        for one in found.get("edges", ())
    }
    return right - left, top - bottom, at, ways


def _arrow(path: GraphPath, points: list[Point], rope: float) -> str:
    """A line from hair to rope that ends where its head begins."""
    width, (x, y) = 1 + (4 if path.before == path.after else 8) * rope, points[-1]
    a, b = next((one for one in reversed(points[:-1]) if math.dist(one, points[-1]) > 0.5), points[0])
    length = math.hypot(x - a, y - b) or 1
    dx, dy, size, half = (x - a) / length, (y - b) / length, 6 + 1.1 * width, 2.6 + 0.75 * width
    curve = points[:-2] + [(one - dx * size * 0.9, other - dy * size * 0.9) for one, other in points[-2:]]
    way = f"M{_at(curve[0])}C{' '.join(map(_at, curve[1:]))}"
    corners = (
        (x, y),
        (x - dx * size - dy * half, y - dy * size + dx * half),
        (x - dx * size + dy * half, y - dy * size - dx * half),
    )
    look = ' stroke-dasharray="2 5"' if path.uncertain else ""
    return (
        f'<g opacity="{(0.58 + 0.42 * rope) * (0.6 if path.uncertain else 1):.2f}">'
        f'<path d="{way}" fill="none" stroke="{_ROPE}" stroke-width="{width:.1f}"{look}/>'
        f'<path d="M{"L".join(map(_at, corners))}Z" fill="{_ROPE}"/></g>'
    )


def _at(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _label(path: GraphPath, at: Point) -> str:
    colour = _QUIET if path.uncertain else INK
    return (
        f'<text x="{at[0]:.1f}" y="{at[1] + 4.5:.1f}" font-size="{LABEL_SIZE}" fill="{colour}" '
        f'stroke="{_PAPER}" stroke-width="4" paint-order="stroke">{escape_markup(path.label)}</text>'
    )


def _box(node: GraphNode, at: Point, shade: float) -> str:
    (width, height), number = node.size, node.numbers[0]
    is_inner, is_end = node.kind == "activity", node.kind in ("start", "end")
    fill = INK if is_end else _BLUE if is_inner else _PAPER
    look = f' fill-opacity="{0.07 + 0.93 * shade:.2f}" stroke-opacity="0.45"' if is_inner else ' stroke-dasharray="5 4"'
    ink = _PAPER if is_end or (is_inner and shade > 0.58) else INK if is_inner else _QUIET
    border = "none" if is_end else _BLUE if is_inner else _QUIET
    row = at[1] - ((NAME_SIZE + 3) * len(node.lines) + (NUMBER_SIZE + 3) * bool(number)) / 2 - 4.5
    words = []
    for name in node.lines:
        row += NAME_SIZE + 3
        words.append(f'<g font-weight="600">{text(at[0], row, name, "middle", ink, NAME_SIZE)}</g>')
    if number:
        words.append(text(at[0], row + NUMBER_SIZE + 3, number, "middle", ink, NUMBER_SIZE))
    return (
        f'<rect x="{at[0] - width / 2:.1f}" y="{at[1] - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="{height / 2 if is_end else 7:.1f}" fill="{fill}" stroke="{border}"{look}/>{"".join(words)}'
    )


def _words(graph: ProcessGraph) -> str:
    names = {node.key: node.name for node in graph.nodes}
    steps = [f"{names[path.before]} to {names[path.after]}, {path.label} {graph.noun}" for path in graph.paths[:8]]
    return f"Process map. Most frequent paths: {'; '.join(steps)}"
