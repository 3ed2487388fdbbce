"""A process map as a picture: line width by number, colour by median duration. SVG, and matplotlib for the rest.

This SVG is the only one: pages move its parts (outputs/map_view/map_view.js) and draw nothing themselves. All text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .map_dot import HEADER, graphviz_layout, node_statement, pair_statement
from .map_graph import GraphNode, GraphPair, ProcessGraph, duration_text
from .map_layout import Layout, Position, Route, Size, Sizes, layered
from .svg import BLUE, GREY, INK, document, escape_markup, fitted, text, text_width, wrapped

_COLOURS = ("#2166ac", "#4393c3", "#92c5de", "#f4a582", "#d6604d", "#b2182b")  # short to long
_PLAIN = "#555555"
_NAME, _SMALL, _LABEL, _LINE = 12, 11, 10, 15  # sizes of text, and the height of a line
_ROOM, _PADDING, _CAPTION, _NARROWEST = 150, 9, 15, 640


@dataclass(frozen=True)
class DrawnNode:
    """A node of the picture: where it is, and what is written in it."""

    node: GraphNode
    lines: tuple[str, ...]
    size: Size
    at: Position
    statement: str


@dataclass(frozen=True)
class DrawnPair:
    """An arrow of the picture; `colour` is that of its median duration, if it has one."""

    pair: GraphPair
    route: Route
    size: Size
    width: float
    colour: str
    statement: str


@dataclass(frozen=True)
class Drawing:
    """A process map with all coordinates; nodes from start to end, pairs from rare to frequent."""

    width: float
    height: float
    nodes: tuple[DrawnNode, ...]
    pairs: tuple[DrawnPair, ...]
    captions: tuple[str, ...]
    alternative: str

    @property
    def whole_height(self) -> float:
        """The height of the picture with its captions."""
        return self.height + 8 + _CAPTION * len(self.captions)


_NOWHERE = Route((0, 0), (), (0, 0))


def drawing(graph: ProcessGraph, layout: Layout | None = None) -> Drawing:
    """Draw a process map."""
    if not graph.pairs:
        return Drawing(_NARROWEST, 12, (), (), graph.captions, "The process map is empty.")
    lines = {node.key: _lines(node) for node in graph.nodes}
    sizes = Sizes(
        {node.key: _node_size(node, lines[node.key]) for node in graph.nodes},
        {pair.edge: _label_size(pair) for pair in graph.pairs},
    )
    laid = layout or graphviz_layout(graph, sizes) or layered(graph, sizes)
    most, scale = max(pair.count for pair in graph.pairs), _scale(graph.pairs)
    nodes = sorted(graph.nodes, key=lambda node: (graph.places[node.key], node.key))
    return Drawing(
        max(laid.width, _NARROWEST),
        laid.height,
        tuple(
            DrawnNode(
                node,
                lines[node.key],
                sizes.nodes[node.key],
                laid.at.get(node.key, (0, 0)),
                node_statement(node, sizes),
            )
            for node in nodes
        ),
        tuple(
            DrawnPair(
                pair,
                laid.routes.get(pair.edge, _NOWHERE),
                sizes.labels[pair.edge],
                0.8 + 4.2 * math.sqrt(max(pair.count, 0) / most) if most > 0 else 0.8,
                _PLAIN if pair.seconds is None else _colour(pair.seconds, scale),
                pair_statement(pair, sizes, most),
            )
            for pair in reversed(graph.pairs)
        ),
        graph.captions,
        _words(graph),
    )


UNPLACED = Layout({}, {}, 0, 0)
"""For pages that place the parts themselves."""


def map_svg(graph: ProcessGraph, layout: Layout | None = None) -> str:
    """The map as SVG, without scripts or style sheets; every node and pair has a title for hovering."""
    return as_svg(drawing(graph, layout))


def as_svg(plan: Drawing) -> str:
    """A drawing as SVG. The parts have what a page needs to place them again."""
    parts = [_ARROWS, f'<g class="map" data-dot="{escape_markup(HEADER)}">']
    parts += [*map(_arrow, plan.pairs), *map(_box, plan.nodes), "</g>"]
    parts += [
        text(8, plan.height + _CAPTION * (line + 1), words, colour="#555555", size=_SMALL)
        for line, words in enumerate(plan.captions)
    ]
    return document(math.ceil(plan.width), math.ceil(plan.whole_height), plan.alternative, parts)


# -------------------------------------------------------------------------------------------------- sizes and words


def _lines(node: GraphNode) -> tuple[str, ...]:
    """What is written in a node: its name in at most two lines, and its number."""
    names = wrapped(node.name, _NAME, _ROOM)
    return (*names, fitted(node.below, _SMALL, _ROOM)) if node.below else names


def _node_size(node: GraphNode, lines: tuple[str, ...]) -> Size:
    width = max(text_width(line, _NAME) for line in lines) + 2 * _PADDING
    return max(width, 64), _LINE * len(lines) + _PADDING


def _labels(pair: GraphPair) -> tuple[str, ...]:
    return (pair.label,) if pair.seconds is None else (pair.label, duration_text(pair.seconds))


def _label_size(pair: GraphPair) -> Size:
    return max(text_width(label, _LABEL) for label in _labels(pair)) + 6, _LABEL + 4


def _words(graph: ProcessGraph) -> str:
    names = {node.key: node.name for node in graph.nodes}
    steps = [f"{names[pair.before]} to {names[pair.after]}, {pair.label} {graph.noun}" for pair in graph.pairs[:8]]
    return f"Process map. Most frequent pairs: {'; '.join(steps)}"


def _scale(pairs: Sequence[GraphPair]) -> tuple[float, float]:
    times = [math.log1p(pair.seconds) for pair in pairs if pair.seconds is not None]
    return (min(times), max(times)) if times else (0.0, 0.0)


def _colour(seconds: float, scale: tuple[float, float]) -> str:
    low, high = scale
    share = (math.log1p(seconds) - low) / (high - low) if high > low else 0.0
    return _COLOURS[min(int(share * len(_COLOURS)), len(_COLOURS) - 1)]


# ----------------------------------------------------------------------------------------------------------- SVG

_ARROWS = (
    '<defs><marker id="travas-map-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>'
)


def _arrow(drawn: DrawnPair) -> str:
    pair, (x, y) = drawn.pair, drawn.route.label_at
    way = f"M{drawn.route.start[0]:.1f} {drawn.route.start[1]:.1f}" + "".join(
        "C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in curve) for curve in drawn.route.curves
    )
    labels = "".join(
        f'<text class="{kind}" y="3.5" font-size="{_LABEL}" text-anchor="middle" stroke="#ffffff" stroke-width="3" '
        f'paint-order="stroke"{hidden}>{escape_markup(words)}</text>'
        for kind, hidden, words in zip(("number", "duration"), ("", ' display="none"'), _labels(pair), strict=False)
    )
    return (
        f'<g class="pair" data-count="{pair.count:g}" data-before="{pair.before}" data-after="{pair.after}" '
        f'data-dot="{escape_markup(drawn.statement)}"><title>{escape_markup(pair.about)}</title><path d="{way}" fill="none" '
        f'stroke="{drawn.colour}" stroke-width="{drawn.width:.1f}" marker-end="url(#travas-map-arrow)"/>'
        f'<g class="label" transform="translate({x:.1f} {y:.1f})">{labels}</g></g>'
    )


def _box(drawn: DrawnNode) -> str:
    node, (width, height), (x, y) = drawn.node, drawn.size, drawn.at
    terminal = node.kind in ("start", "end")
    border = (
        f'stroke="{GREY}" stroke-dasharray="5 3"' if node.kind == "other" else f'stroke="{INK if terminal else BLUE}"'
    )
    top = -_LINE * (len(drawn.lines) - 1) / 2 + 4
    lines = "".join(
        text(0, top + _LINE * number, words, "middle", *(("#555555", _SMALL) if is_below else (INK, _NAME)))
        for number, words in enumerate(drawn.lines)
        for is_below in (bool(node.below) and number == len(drawn.lines) - 1,)
    )
    return (
        f'<g class="node" data-key="{node.key}" data-count="{node.count:g}" data-dot="{escape_markup(drawn.statement)}" '
        f'transform="translate({x:.1f} {y:.1f})"><title>{escape_markup(node.about or node.name)}</title>'
        f'<rect x="{-width / 2:.1f}" y="{-height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="{height / 2 if terminal else 4:.0f}" fill="#ffffff" {border} stroke-width="{1 if terminal else 2}"/>{lines}</g>'
    )
