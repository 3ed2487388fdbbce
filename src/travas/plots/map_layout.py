"""Where the parts of a process map are drawn. The layouter here needs no program; Graphviz is in map_dot.py.

Layers by longest path along forward edges, order within a layer by barycentres, edges across several layers by invisible
nodes (Sugiyama, Tagawa, Toda 1981); positions by moving every node towards its neighbours, as far as the nodes next to
it allow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from .map_graph import END, START, Edge, NodeKey, ProcessGraph

Position = tuple[float, float]
Size = tuple[float, float]
BezierCurve = tuple[Position, Position, Position]

_GAP_X, _GAP_Y, _ROOM = 26, 56, 90


@dataclass(frozen=True)
class Sizes:
    """The width and height of every node, and of the label of every pair."""

    nodes: Mapping[NodeKey, Size]
    labels: Mapping[Edge, Size]


@dataclass(frozen=True)
class Route:
    """An arrow: cubic curves from `start`, each of two control points and an end, and the centre of its label."""

    start: Position
    curves: tuple[BezierCurve, ...]
    label_at: Position


@dataclass(frozen=True)
class Layout:
    """The centre of every node and the route of every pair, in a picture of a size."""

    at: Mapping[NodeKey, Position]
    routes: Mapping[Edge, Route]
    width: float
    height: float


def layered(graph: ProcessGraph, sizes: Sizes) -> Layout:
    """Place the nodes of a graph in layers, start on top and end at the bottom."""
    heights = graph.places
    forward = [pair.edge for pair in graph.pairs if heights[pair.before] < heights[pair.after]]
    rows, paths = _ordered(_layers(graph, forward), forward)
    across = _placed(rows, paths, sizes)
    left = min(across[node] - _width(node, sizes) / 2 for node in across) - _GAP_X
    width = max(across[node] + _width(node, sizes) / 2 for node in across) - left + _ROOM
    tall = max(height for _, height in sizes.nodes.values())
    at = {
        node: (across[node] - left, _GAP_X + number * (tall + _GAP_Y) + tall / 2)
        for number, row in enumerate(rows)
        for node in row
    }
    routes = {
        pair.edge: _route([at[node] for node in paths.get(pair.edge, pair.edge)], pair.edge, pair.edge in paths, sizes)
        for pair in graph.pairs
    }
    return Layout({node.key: at[node.key] for node in graph.nodes}, routes, width, len(rows) * (tall + _GAP_Y))


def _layers(graph: ProcessGraph, forward: list[Edge]) -> dict[NodeKey, int]:
    """Return the length of the longest path from the start along forward edges, which have no cycle."""
    layer = {node.key: 0 if node.key == START else 1 for node in graph.nodes}
    after: defaultdict[NodeKey, list[NodeKey]] = defaultdict(list)
    for first, second in forward:
        after[first].append(second)
    for node in sorted(layer, key=lambda key: (graph.places[key], key)):
        for second in after[node]:
            layer[second] = max(layer[second], layer[node] + 1)
    if END in layer:
        layer[END] = max(value + 1 for key, value in layer.items() if key != END)
    return layer


def _ordered(layer: dict[NodeKey, int], forward: list[Edge]) -> tuple[list[list[str]], dict[Edge, list[str]]]:
    """Return the nodes of each layer from left to right, including invisible ones, and the path of every forward edge."""
    rows: list[list[str]] = [[] for _ in range(max(layer.values()) + 1)]
    for node in sorted(layer):
        rows[layer[node]].append(node)
    paths: dict[Edge, list[str]] = {}
    near: defaultdict[str, list[str]] = defaultdict(list)
    for edge in forward:
        first, second = edge
        if layer[first] >= layer[second]:
            continue
        hidden = [f"\0{first}\0{second}\0{number}" for number in range(layer[first] + 1, layer[second])]
        for number, node in enumerate(hidden, start=layer[first] + 1):
            rows[number].append(node)
        paths[edge] = [first, *hidden, second]
        for one, other in pairwise(paths[edge]):
            near[one].append(other)
            near[other].append(one)
    for sweep in range(8):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            position = {node: (number + 0.5) / len(line) for line in rows for number, node in enumerate(line)}
            row.sort(
                key=lambda node: (sum(position[n] for n in near[node]) / len(near[node]) if near[node] else 0.5, node)
            )
    return rows, paths


def _width(node: str, sizes: Sizes) -> float:
    return 30 if node.startswith("\0") else sizes.nodes[node][0]


def _placed(rows: list[list[str]], paths: dict[Edge, list[str]], sizes: Sizes) -> dict[str, float]:
    """Return the horizontal position of every node."""
    above: defaultdict[str, list[str]] = defaultdict(list)
    below: defaultdict[str, list[str]] = defaultdict(list)
    for way in paths.values():
        for one, other in pairwise(way):
            below[one].append(other)
            above[other].append(one)
    across = {node: index * 150.0 for row in rows for index, node in enumerate(row)}
    for sweep in range(12):
        near = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [
                sum(across[other] for other in near[node]) / len(near[node]) if near[node] else across[node]
                for node in row
            ]
            across |= zip(row, _apart(row, wanted, sizes), strict=True)
    return across


def _apart(row: list[str], wanted: list[float], sizes: Sizes) -> list[float]:
    """Return the positions closest to the desired ones (least squares) that keep the order and do not overlap.

    Without minimum distances this is isotonic regression: neighbours that would cross are pooled to their mean.
    """
    offsets = [0.0] if row else []
    for one, other in pairwise(row):
        offsets.append(offsets[-1] + (_width(one, sizes) + _width(other, sizes)) / 2 + _GAP_X)
    pools: list[tuple[float, float, int]] = []  # mean, weight, number of nodes
    for node, target, offset in zip(row, wanted, offsets, strict=True):
        mean, weight, size = target - offset, 3.0 if node.startswith("\0") else 1.0, 1  # long edges should be straight
        while pools and pools[-1][0] > mean:
            earlier, heavier, more = pools.pop()
            mean = (mean * weight + earlier * heavier) / (weight + heavier)
            weight, size = weight + heavier, size + more
        pools.append((mean, weight, size))
    means = [mean for mean, _, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _route(points: list[Position], edge: Edge, is_forward: bool, sizes: Sizes) -> Route:
    """Forward pairs as curves downwards, loops and pairs upwards along the right."""
    (x1, y1), (x2, y2) = points[0], points[-1]
    (wide1, tall1), (wide2, tall2) = sizes.nodes[edge[0]], sizes.nodes[edge[1]]
    right1, right2 = x1 + wide1 / 2, x2 + wide2 / 2
    if edge[0] == edge[1]:
        way = (right1 + 28, y1 - 22), (right1 + 28, y1 + 22), (right1 + 2, y1 + 8)
        return Route((right1, y1 - 8), (way,), (right1 + 26, y1))
    if not is_forward:
        side = max(right1, right2) + 34
        return Route((right1, y1), (((side, y1), (side, y2), (right2, y2)),), (side - 16, (y1 + y2) / 2))
    stops = [(x1, y1 + tall1 / 2), *points[1:-1], (x2, y2 - tall2 / 2)]
    curves = tuple(((a, (b + d) / 2), (c, (b + d) / 2), (c, d)) for (a, b), (c, d) in pairwise(stops))
    (a, b), (c, d) = stops[0], stops[1]
    return Route(stops[0], curves, ((a + c) / 2, (b + d) / 2))
