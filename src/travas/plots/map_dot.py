"""Layout by Graphviz: the program `dot` on the server, where it is installed, and the same text in the browser.

The text has keys and sizes only, never names: nothing of a log is interpreted as DOT.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

from .map_graph import Edge, GraphNode, GraphPair, ProcessGraph
from .map_layout import BezierCurve, Layout, Position, Route, Sizes

HEADER = (
    "digraph { graph [nodesep=0.3 ranksep=0.35 pad=0 margin=0]; "
    'node [shape=box fixedsize=true label=""]; edge [arrowhead=none]; '
)
_POINTS, _SECONDS, _MARGIN = 72, 10, 8
_LABEL = (
    'label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="0" FIXEDSIZE="TRUE" WIDTH="{:.0f}" '
    'HEIGHT="{:.0f}"><TR><TD></TD></TR></TABLE>>'
)


def node_statement(node: GraphNode, sizes: Sizes) -> str:
    """A node as DOT: start on top, end at the bottom."""
    width, height = sizes.nodes[node.key]
    own = f"{node.key} [width={width / _POINTS:.3f} height={height / _POINTS:.3f}]"
    rank = {"start": "source", "end": "sink"}.get(node.kind)
    return f"{{rank={rank}; {own}}};" if rank else f"{own};"


def pair_statement(pair: GraphPair, sizes: Sizes, most: float) -> str:
    """A pair as DOT: frequent pairs should be short and straight."""
    weight = 1 + round(9 * pair.count / most) if most > 0 else 1
    return f"{pair.before} -> {pair.after} [weight={weight} {_LABEL.format(*sizes.labels[pair.edge])}];"


def dot_source(graph: ProcessGraph, sizes: Sizes) -> str:
    """The whole graph as DOT: nodes by their position between start and end, so that most arrows lead downwards."""
    most = max((pair.count for pair in graph.pairs), default=0)
    nodes = sorted(graph.nodes, key=lambda node: (graph.places[node.key], node.key))
    statements = [node_statement(node, sizes) for node in nodes]
    statements += [pair_statement(pair, sizes, most) for pair in graph.pairs]
    return HEADER + " ".join(statements) + " }"


def graphviz_layout(graph: ProcessGraph, sizes: Sizes) -> Layout | None:
    """Lay out a graph with the program `dot`."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        ran = subprocess.run(
            [program, "-Tjson0"], input=dot_source(graph, sizes).encode(), capture_output=True, timeout=_SECONDS,
            check=True,
        )  # fmt: skip
        return parsed(json.loads(ran.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return None


def parsed(graph: dict[str, Any]) -> Layout:
    """Read Graphviz's `json0`: origin at the bottom left, all in points."""
    left, bottom, right, top = map(float, graph["bb"].split(","))

    def position(text: str) -> Position:
        x, y = map(float, text.split(","))
        return x - left + _MARGIN, top - y + _MARGIN

    names = {thing["_gvid"]: thing["name"] for thing in graph["objects"] if "pos" in thing}
    at = {thing["name"]: position(thing["pos"]) for thing in graph["objects"] if "pos" in thing}
    routes: dict[Edge, Route] = {}
    for thing in graph.get("edges", ()):
        points = [position(text) for text in thing["pos"].split()]
        curves: list[BezierCurve] = [(points[n], points[n + 1], points[n + 2]) for n in range(1, len(points) - 2, 3)]
        routes[names[thing["tail"]], names[thing["head"]]] = Route(points[0], tuple(curves), position(thing["lp"]))
    return Layout(at, routes, right - left + 2 * _MARGIN, top - bottom + 2 * _MARGIN)
