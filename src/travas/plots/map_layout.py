"""The directly-follows graph of a release as SVG, with a simple layered layout. Public: from a release only.

Layers by longest path along forward edges (by the mean position of an activity in its traces), order within a layer by
barycentres, edges across several layers by invisible nodes (Sugiyama, Tagawa, Toda 1981); positions by moving every
node towards its neighbours, as far as the nodes next to it allow.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ..model.traces import Trace
from .svg import BLUE, GREY, INK, document, escape, name_of, shortened, text

MOST_ACTIVITIES, MOST_EDGES = 30, 50
START, END = "▶ start", "■ end"
WIDTH, HEIGHT, _GAP_X, _GAP_Y = 150, 38, 26, 56

Edge = tuple[str, str]


@dataclass(frozen=True)
class Graph:
    """The frequencies of activities and of directly-follows steps in a release."""

    nodes: dict[str, int]
    edges: dict[Edge, int]
    places: dict[str, float]
    left_out: int


def directly_follows(variants: Sequence[Trace], counts: Sequence[int]) -> Graph:
    """The graph with its most frequent activities and edges; every activity keeps its strongest way in and out."""
    nodes: Counter[str] = Counter()
    edges: Counter[Edge] = Counter()
    sums: defaultdict[str, float] = defaultdict(float)
    for trace, count in zip(variants, counts, strict=True):
        names = list(map(name_of, trace))
        for place, name in enumerate(names):
            nodes[name] += count
            sums[name] += count * (place + 1) / (len(names) + 1)
        for edge in zip([START, *names], [*names, END], strict=True):
            edges[edge] += count
    shown = dict(sorted(nodes.items(), key=lambda item: (-item[1], item[0]))[:MOST_ACTIVITIES])
    places = {name: sums[name] / nodes[name] for name in shown} | {START: -1.0, END: 2.0}
    possible = sorted(
        ((edge, count) for edge, count in edges.items() if edge[0] in places and edge[1] in places),
        key=lambda item: (-item[1], item[0]),
    )
    kept: dict[Edge, int] = {}
    for side in (0, 1):
        seen: set[str] = set()
        for edge, count in possible:
            if edge[side] not in seen:
                seen.add(edge[side])
                kept[edge] = count
    for edge, count in possible:
        if len(kept) >= MOST_EDGES:
            break
        kept.setdefault(edge, count)
    return Graph(shown, kept, places, len(edges) - len(kept))


def process_map(variants: Sequence[Trace], counts: Sequence[int]) -> str:
    """Draw activities as boxes and steps as arrows, both with frequencies."""
    graph = directly_follows(variants, counts)
    if not graph.nodes:
        return document(
            300, 40, "The release is empty: there is no process map.", [text(10, 24, "The release is empty.")]
        )
    plan = layout(graph)
    at, paths = plan.at, plan.paths
    most = max(graph.edges.values())
    parts = [_ARROW]
    for edge, count in sorted(graph.edges.items(), key=lambda item: item[1]):
        points = [at[node] for node in paths.get(edge, edge)]
        parts.append(
            _arrow(points, "forward" if edge in paths else "loop" if edge[0] == edge[1] else "back", count, most)
        )
    parts += [_box(node, at[node], graph.nodes.get(node)) for node in graph.places]
    height = plan.height
    steps = sorted(graph.edges.items(), key=lambda item: -item[1])[:8]
    words = f"Process map of {len(graph.nodes)} activities. Most frequent steps: " + "; ".join(
        f"{first} to {second}, {count:,} times" for (first, second), count in steps
    )
    if graph.left_out:
        parts.append(text(8, height + 4, f"{graph.left_out:,} rarer steps are not shown", colour="#555555", size=11))
    return document(plan.width, height + 12, words, parts)


@dataclass(frozen=True)
class Layout:
    """Where the nodes of a graph are drawn.

    Attributes:
        at: The centre of every node, invisible ones included.
        paths: For every edge downwards, the nodes that it passes; other edges are drawn beside.
        width: The width of the picture.
        height: Its height.
    """

    at: dict[str, tuple[float, float]]
    paths: dict[Edge, list[str]]
    width: int
    height: int


def layout(graph: Graph) -> Layout:
    """Place the nodes of a graph in layers; `START` is on top and `END` at the bottom."""
    forward = [edge for edge in graph.edges if graph.places[edge[0]] < graph.places[edge[1]]]
    layer = _layers(graph, forward)
    rows, paths = _ordered(layer, forward)
    across = _placed(rows, paths)
    left = min(across[node] - _size(node) / 2 for node in across) - _GAP_X
    width = max(across[node] + _size(node) / 2 for node in across) - left + 90
    at = {
        node: (across[node] - left, _GAP_X + number * (HEIGHT + _GAP_Y) + HEIGHT / 2)
        for number, row in enumerate(rows)
        for node in row
    }
    return Layout(at, paths, int(width), len(rows) * (HEIGHT + _GAP_Y))


def _layers(graph: Graph, forward: list[Edge]) -> dict[str, int]:
    """Return the length of the longest path from the start along forward edges, which have no cycle."""
    layer = dict.fromkeys(graph.places, 0)
    for node in sorted(graph.places, key=lambda name: (graph.places[name], name)):
        for first, second in forward:
            if first == node:
                layer[second] = max(layer[second], layer[node] + 1)
    layer[END] = max([*(value + 1 for name, value in layer.items() if name != END), 1])
    for name in graph.nodes:
        layer[name] = max(layer[name], 1)
    return layer


def _ordered(layer: dict[str, int], forward: list[Edge]) -> tuple[list[list[str]], dict[Edge, list[str]]]:
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
            place = {node: (number + 0.5) / len(line) for line in rows for number, node in enumerate(line)}
            row.sort(
                key=lambda node: (sum(place[n] for n in near[node]) / len(near[node]) if near[node] else 0.5, node)
            )
    return rows, paths


def _size(node: str) -> int:
    return 30 if node.startswith("\0") else WIDTH


def _placed(rows: list[list[str]], paths: dict[Edge, list[str]]) -> dict[str, float]:
    """Return the horizontal position of every node."""
    above: defaultdict[str, list[str]] = defaultdict(list)
    below: defaultdict[str, list[str]] = defaultdict(list)
    for way in paths.values():
        for one, other in pairwise(way):
            below[one].append(other)
            above[other].append(one)
    across = {node: float(place * WIDTH) for row in rows for place, node in enumerate(row)}
    for sweep in range(12):
        near = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [
                sum(across[other] for other in near[node]) / len(near[node]) if near[node] else across[node]
                for node in row
            ]
            across |= zip(row, _apart(row, wanted), strict=True)
    return across


def _apart(row: list[str], wanted: list[float]) -> list[float]:
    """Return the positions closest to the desired ones (least squares) that keep the order and do not overlap.

    Without minimum distances this is isotonic regression: neighbours that would cross are pooled to their mean.
    """
    offsets = [0.0]
    for one, other in pairwise(row):
        offsets.append(offsets[-1] + (_size(one) + _size(other)) / 2 + _GAP_X)
    pools: list[tuple[float, float, int]] = []  # mean, weight, number of nodes
    for node, place, offset in zip(row, wanted, offsets, strict=True):
        mean, weight, size = place - offset, 3.0 if node.startswith("\0") else 1.0, 1  # long edges should be straight
        while pools and pools[-1][0] > mean:
            earlier, heavier, more = pools.pop()
            mean = (mean * weight + earlier * heavier) / (weight + heavier)
            weight, size = weight + heavier, size + more
        pools.append((mean, weight, size))
    means = [mean for mean, _, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


_ARROW = (
    '<defs><marker id="travas-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>'
)


def _arrow(points: list[tuple[float, float]], kind: Literal["forward", "back", "loop"], count: int, most: int) -> str:
    """Draw the edges: forward edges as curves downwards, backward edges dashed along the right."""
    weight = 0.8 + 3.2 * math.log1p(count) / math.log1p(most)
    (x1, y1), (x2, y2) = points[0], points[-1]
    half, down = WIDTH / 2, HEIGHT / 2
    if kind == "loop":
        way = f"M{x1 + half:.0f} {y1 - 8:.0f}c28 -14 28 30 2 16"
        label = (x1 + half + 22, y1 + 4)
    elif kind == "back":
        side = max(x1, x2) + half + 34
        way = f"M{x1 + half:.0f} {y1:.0f}C{side:.0f} {y1:.0f} {side:.0f} {y2:.0f} {x2 + half:.0f} {y2:.0f}"
        label = (side - 18, (y1 + y2) / 2)
    else:
        stops = [(x1, y1 + down), *points[1:-1], (x2, y2 - down)]
        way = f"M{stops[0][0]:.0f} {stops[0][1]:.0f}"
        for (a, b), (c, d) in pairwise(stops):
            middle = (b + d) / 2
            way += f"C{a:.0f} {middle:.0f} {c:.0f} {middle:.0f} {c:.0f} {d:.0f}"
        (a, b), (c, d) = stops[0], stops[1]
        label = (a + (c - a) * 0.5, b + (d - b) * 0.5)
    dash, colour = ("", "#555555") if kind == "forward" else (' stroke-dasharray="5 3"', GREY)
    return (
        f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="{weight:.1f}"{dash} marker-end="url(#travas-arrow)"/>'
        f'<text x="{label[0]:.0f}" y="{label[1]:.0f}" font-size="10" text-anchor="middle" stroke="#ffffff" '
        f'stroke-width="3" paint-order="stroke">{count:,}</text>'
    )


def _box(node: str, at: tuple[float, float], count: int | None) -> str:
    x, y = at[0] - WIDTH / 2, at[1] - HEIGHT / 2
    if count is None:
        return (
            f'<rect x="{x + 35:.0f}" y="{y + 6:.0f}" width="{WIDTH - 70}" height="{HEIGHT - 12}" rx="13" fill="#ffffff" '
            f'stroke="{INK}"/>' + text(at[0], at[1] + 4, node, "middle")
        )
    return (
        f'<g><title>{escape(node)}</title><rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="4" '
        f'fill="#ffffff" stroke="{BLUE}" stroke-width="2"/>'
        + text(at[0], at[1] - 2, shortened(node, 22), "middle")
        + text(at[0], at[1] + 13, f"{count:,}", "middle", "#555555", 11)
        + "</g>"
    )
