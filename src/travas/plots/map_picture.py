"""A process map as a static SVG: what `browser/map.js` draws at first, laid out by the Graphviz in `pygraphviz`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from textwrap import wrap
from threading import Lock
from typing import Any

from ..errors import MissingExtraError
from .map_graph import LABEL_SIZE, NAME_SIZE, NUMBER_SIZE, Edge, GraphNode, GraphPath, ProcessGraph, duration_text
from .svg import INK, document, escape_markup, text

Point = tuple[float, float]

_PAPER, _QUIET, _PALE, _BLUE, _HAIR, _ROPE = "#ffffff", "#5a6773", "#eef5fb", "#0a5f9e", "#a3adb7", "#33414d"
_SHORT, _LONG = "#f3e3ee", "#8c1d63"
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
    left, top, width, height, at, ways = _layout(graph.dot(shown))
    rope = _scale([path.count for path in graph.reachable.paths], 2.5)
    shade = _scale([node.count for node in graph.reachable.nodes if node.kind == "activity"], 1.6)
    times = [path.time.median for path in shown.paths if path.time is not None]
    lines, labels = [], []
    for path in reversed(shown.paths):
        points, label = ways[path.edge]
        lines.append(_arrow(path, points, rope(path.count)))
        labels.append(_label(path, label))
    boxes = [_box(node, at[node.key], shade(node.count)) for node in shown.nodes]
    captions = shown.captions
    if times:
        captions += (
            f"Median times between two activities, {graph.times}: {duration_text(min(times))} to {duration_text(max(times))}.",
        )
    parts = [f'<g transform="translate({_MARGIN - left:.1f} {_MARGIN + top:.1f})">', *lines, *boxes, *labels, "</g>"]
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


def _layout(
    dot: str,
) -> tuple[float, float, float, float, dict[str, Point], dict[Edge, tuple[list[Point], Point]]]:
    """Left end, top, width and height; where nodes are, and the curve and the label of every path; y grows downwards."""
    try:
        from pygraphviz import AGraph
    except ImportError:
        raise MissingExtraError("a picture of a process map", "plot") from None
    with _ONE_AT_A_TIME:
        found: dict[str, Any] = json.loads(AGraph(string=dot).draw(format="json0", prog="dot"))
    left, bottom, right, top = map(float, found["bb"].split(","))

    def point(words: str) -> Point:
        x, y = map(float, words.split(","))
        return x, -y

    names = {one["_gvid"]: one["name"] for one in found["objects"]}
    at = {one["name"]: point(one["pos"]) for one in found["objects"] if "pos" in one}
    ways = {
        (names[one["tail"]], names[one["head"]]): (list(map(point, one["pos"].split())), point(one["lp"]))
        for one in found.get("edges", ())
    }
    return left, top, right - left, top - bottom, at, ways


def _scale(counts: Sequence[float], power: float) -> Callable[[float], float]:
    """From 0 for the least positive number to 1 for the largest, on a log scale."""
    logs = [math.log1p(count) for count in counts if count > 0] or [0.0]
    low, high = min(logs), max(logs)
    if high == low:
        return lambda _: 1.0
    return lambda count: float(min(max((math.log1p(max(count, 0)) - low) / (high - low), 0), 1) ** power)


def _mixed(low: str, high: str, share: float) -> str:
    """A colour between two."""
    pairs = [(int(low[at : at + 2], 16), int(high[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(one + (other - one) * share):02x}" for one, other in pairs)


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
    colour, look = (
        _mixed(_HAIR, _ROPE, 0.25 + 0.75 * rope),
        ' stroke-dasharray="2 5" opacity="0.6"' if path.uncertain else "",
    )
    return (
        f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="{width:.1f}"{look}/>'
        f'<path d="M{"L".join(map(_at, corners))}Z" fill="{colour}"/>'
    )


def _at(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _label(path: GraphPath, at: Point) -> str:
    colour = _QUIET if path.uncertain else INK
    return (
        f'<text x="{at[0]:.1f}" y="{at[1] + 4.5:.1f}" font-size="{LABEL_SIZE}" text-anchor="middle" fill="{colour}" '
        f'stroke="{_PAPER}" stroke-width="4" paint-order="stroke">{escape_markup(path.label)}</text>'
    )


def _box(node: GraphNode, at: Point, shade: float) -> str:
    (width, height), number = node.size, node.numbers[0]
    is_inner, is_end = node.kind == "activity", node.kind in ("start", "end")
    fill = INK if is_end else _mixed(_PALE, _BLUE, shade) if is_inner else _PAPER
    ink = _PAPER if is_end or (is_inner and shade > 0.58) else INK if is_inner else _QUIET
    border = "none" if is_end else _mixed(_PAPER, _BLUE, 0.45) if is_inner else _QUIET
    dashes = "" if is_inner or is_end else ' stroke-dasharray="5 4"'
    row = at[1] - ((NAME_SIZE + 3) * len(node.lines) + (NUMBER_SIZE + 3) * bool(number)) / 2 - 4.5
    words = []
    for name in node.lines:
        row += NAME_SIZE + 3
        words.append(f'<g font-weight="600">{text(at[0], row, name, "middle", ink, NAME_SIZE)}</g>')
    if number:
        words.append(text(at[0], row + NUMBER_SIZE + 3, number, "middle", ink, NUMBER_SIZE))
    return (
        f'<rect x="{at[0] - width / 2:.1f}" y="{at[1] - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="{height / 2 if is_end else 7:.1f}" fill="{fill}" stroke="{border}"{dashes}/>{"".join(words)}'
    )


def _words(graph: ProcessGraph) -> str:
    names = {node.key: node.name for node in graph.nodes}
    steps = [f"{names[path.before]} to {names[path.after]}, {path.label} {graph.noun}" for path in graph.paths[:8]]
    return f"Process map. Most frequent paths: {'; '.join(steps)}"
