"""A process map as a picture: line width by number of cases, colour by median duration. SVG, and matplotlib for the rest.

Nodes are keyed by number, never by name: start, end and `other` cannot be confused with activities. All text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ..maps.map_release import END as END_NODE
from ..maps.map_release import START as START_NODE
from ..maps.map_release import MapNode, MapPair, MapRelease
from ..privacy.numbers import as_text
from .map_layout import END, HEIGHT, START, WIDTH, Graph, layout
from .svg import BLUE, GREY, INK, document, escape, name_of, shortened, text

MOST_ACTIVITIES, MOST_PAIRS = 40, 80
"""What a picture shows at most; the page with filters and the file have more."""

Intervals = Literal["hidden", "shown"]
Position = tuple[float, float]
_COLOURS = (
    "#2166ac",
    "#4393c3",
    "#92c5de",
    "#f4a582",
    "#d6604d",
    "#b2182b",
)  # short to long; also apart in greyscale ends
_LEGEND = 46


@dataclass(frozen=True)
class DrawnNode:
    """A node of the picture: where it is, and what is written on it."""

    key: str
    kind: str
    name: str
    below: str
    about: str
    at: Position


@dataclass(frozen=True)
class DrawnPair:
    """An arrow of the picture: cubic curves from `start`, each of two control points and an end."""

    before: str
    after: str
    start: Position
    curves: tuple[tuple[Position, Position, Position], ...]
    label_at: Position
    label: str
    about: str
    width: float
    colour: str
    is_forward: bool
    cases: int


@dataclass(frozen=True)
class Drawing:
    """A process map with all coordinates."""

    width: int
    height: int
    nodes: tuple[DrawnNode, ...]
    pairs: tuple[DrawnPair, ...]
    captions: tuple[str, ...]
    alternative: str


def drawing(
    release: MapRelease,
    intervals: Intervals = "hidden",
    most_activities: int = MOST_ACTIVITIES,
    most_pairs: int = MOST_PAIRS,
) -> Drawing:
    """Lay out a process map.

    Args:
        release: The map.
        intervals: Whether 95 % intervals are written next to the numbers.
        most_activities: How many activities are shown at most: those of the most frequent pairs.
        most_pairs: How many pairs are shown at most.

    Returns:
        The drawing.
    """
    pairs = _shown(release.pairs, most_activities, most_pairs)
    captions = _captions(release, len(release.pairs) - len(pairs))
    keys = _keys(release)
    if not pairs:
        return Drawing(640, 40, (), (), captions, "The process map is empty.")
    edges = {(keys[pair.before], keys[pair.after]): max(1, round(pair.cases.value)) for pair in pairs}
    nodes = {key: 1 for edge in edges for key in edge if key not in (START, END)}
    places = _places(edges) | {START: -1.0, END: 2.0}
    plan = layout(Graph(nodes, edges, places, 0))
    most, scale = max(edges.values()), _scale(pairs)
    node_of = {key: node for node, key in keys.items()}
    drawn = [_pair(pair, keys, plan.at, plan.paths, most, scale, intervals) for pair in pairs]
    return Drawing(
        plan.width,
        plan.height + _LEGEND,
        tuple(_node(key, node_of[key], release, plan.at[key]) for key in sorted(places)),
        tuple(sorted(drawn, key=lambda pair: pair.cases)),
        captions,
        _words(pairs),
    )


def map_svg(release: MapRelease, intervals: Intervals = "hidden") -> str:
    """The map as SVG, without scripts or style sheets; every node and pair has a title for hovering."""
    return as_svg(drawing(release, intervals))


def as_svg(plan: Drawing) -> str:
    """A drawing as SVG."""
    parts = [_ARROWS, *map(_arrow, plan.pairs), *map(_box, plan.nodes)]
    top = plan.height - _LEGEND if plan.nodes else 0
    parts += [
        text(8, top + 14 + 15 * line, words, colour="#555555", size=11) for line, words in enumerate(plan.captions)
    ]
    height = top + 20 + 15 * len(plan.captions)
    return document(max(plan.width, 640), height, plan.alternative, parts)


# ------------------------------------------------------------------------------------------------- what is shown


def _keys(release: MapRelease) -> dict[MapNode, str]:
    named = [MapNode("activity", activity.activity) for activity in release.activities]
    keys = {node: f"n{number}" for number, node in enumerate([*named, MapNode("other")])}
    return {START_NODE: START, END_NODE: END} | keys


def _shown(pairs: Sequence[MapPair], most_activities: int, most_pairs: int) -> list[MapPair]:
    """The most frequent pairs, among those of the activities that come first in this order."""
    ranked = sorted(pairs, key=lambda pair: -pair.cases.value)
    nodes: set[MapNode] = set()
    shown: list[MapPair] = []
    for pair in ranked:
        new = {pair.before, pair.after} - nodes
        if len(shown) < most_pairs and len(nodes | new) <= most_activities + 2:
            nodes |= new
            shown.append(pair)
    return shown


def _places(edges: dict[tuple[str, str], int]) -> dict[str, float]:
    """How far every node is from start (0) to end (1): the mean of its neighbours, weighted by numbers of cases."""
    nodes = sorted({key for edge in edges for key in edge})
    place = dict.fromkeys(nodes, 0.5) | {START: 0.0, END: 1.0}
    near: dict[str, list[tuple[str, int]]] = {node: [] for node in place}
    for (before, after), cases in edges.items():
        if before != after:
            near[before].append((after, cases))
            near[after].append((before, cases))
    for _ in range(200):
        for node in nodes:
            if node not in (START, END) and near[node]:
                weight = sum(cases for _, cases in near[node])
                place[node] = sum(place[other] * cases for other, cases in near[node]) / weight
    return place


def _captions(release: MapRelease, left_out: int) -> tuple[str, ...]:
    guarantee, total = release.guarantee, release.total
    false = f"About {release.expected_false_pairs:.1f} pairs are expected to be there by noise alone."
    lines = [
        f"ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)}: {guarantee.standing}. "
        f"{math.floor(total.low):,} to {math.ceil(total.high):,} cases (95 %). {false}"
    ]
    if left_out:
        lines.append(f"{left_out:,} rarer pairs are not shown.")
    if "durations" in release.parts:
        lines.append("Colour: median time between two activities, from short (blue) to long (red).")
    return tuple(lines)


def _words(pairs: Sequence[MapPair]) -> str:
    steps = "; ".join(f"{_name(p.before)} to {_name(p.after)}, {round(p.cases.value):,} cases" for p in pairs[:8])
    return f"Process map. Most frequent pairs: {steps}"


def _name(node: MapNode) -> str:
    return f"({node.kind})" if node.activity is None else name_of(node.activity)


# ----------------------------------------------------------------------------------------------------- geometry


def _node(key: str, node: MapNode, release: MapRelease, at: Position) -> DrawnNode:
    below, about = "", _name(node)
    if node.kind == "other":
        below, about = "all other activities", "other: all activities that were not selected"
    for activity in release.activities if node.kind == "activity" else ():
        if activity.activity == node.activity and activity.present is not None and activity.repeated is not None:
            below = f"{round(activity.present.value):,} cases"
            about += f"\n{below}, repeated in {round(activity.repeated.value):,}"
    return DrawnNode(key, node.kind, _name(node), below, about, at)


def _pair(
    pair: MapPair,
    keys: dict[MapNode, str],
    at: dict[str, Position],
    paths: dict[tuple[str, str], list[str]],
    most: int,
    scale: tuple[float, float],
    intervals: Intervals,
) -> DrawnPair:
    edge = keys[pair.before], keys[pair.after]
    points = [at[key] for key in paths.get(edge, edge)]
    start, curves, label_at = _curve(points, edge in paths, edge[0] == edge[1])
    cases = max(1, round(pair.cases.value))
    interval = f"{math.floor(pair.cases.low):,} to {math.ceil(pair.cases.high):,}"
    about = f"{_name(pair.before)} → {_name(pair.after)}\n{cases:,} cases (95 %: {interval})"
    label = f"{cases:,}" if intervals == "hidden" else f"{cases:,} ({interval})"
    if pair.duration is not None:
        about += f"\nmedian {in_words(pair.duration.median)}, half of them between "
        about += f"{in_words(pair.duration.lower_quartile)} and {in_words(pair.duration.upper_quartile)}"
    width = 0.8 + 4.2 * math.sqrt(cases / most)
    colour = "#555555" if pair.duration is None else _colour(pair.duration.median, scale)
    return DrawnPair(*edge, start, curves, label_at, label, about, width, colour, edge in paths, cases)


def _curve(
    points: list[Position], is_forward: bool, is_loop: bool
) -> tuple[Position, tuple[tuple[Position, Position, Position], ...], Position]:
    """Forward pairs as curves downwards, loops and pairs upwards along the right."""
    (x1, y1), (x2, y2) = points[0], points[-1]
    half, down = WIDTH / 2, HEIGHT / 2
    if is_loop:
        x = x1 + half
        return (x, y1 - 8), (((x + 28, y1 - 22), (x + 28, y1 + 22), (x + 2, y1 + 8)),), (x + 26, y1 + 4)
    if not is_forward:
        side = max(x1, x2) + half + 34
        return (x1 + half, y1), (((side, y1), (side, y2), (x2 + half, y2)),), (side - 16, (y1 + y2) / 2)
    stops = [(x1, y1 + down), *points[1:-1], (x2, y2 - down)]
    curves = tuple(((a, (b + d) / 2), (c, (b + d) / 2), (c, d)) for (a, b), (c, d) in pairwise(stops))
    (a, b), (c, d) = stops[0], stops[1]
    return stops[0], curves, ((a + c) / 2, (b + d) / 2)


def _scale(pairs: Sequence[MapPair]) -> tuple[float, float]:
    times = [math.log1p(pair.duration.median) for pair in pairs if pair.duration is not None]
    return (min(times), max(times)) if times else (0.0, 0.0)


def _colour(seconds: float, scale: tuple[float, float]) -> str:
    low, high = scale
    share = (math.log1p(seconds) - low) / (high - low) if high > low else 0.0
    return _COLOURS[min(int(share * len(_COLOURS)), len(_COLOURS) - 1)]


def in_words(seconds: float) -> str:
    """A duration with two digits and its unit.

    >>> in_words(0), in_words(75), in_words(7200), in_words(86400 * 3.5)
    ('below 1 s', '75 s', '2.0 h', '3.5 d')
    """
    if seconds < 1:
        return "below 1 s"
    for size, unit in ((86400 * 365.25, "y"), (86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (unit != "min" and seconds >= size * 1.5):
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


# ----------------------------------------------------------------------------------------------------------- SVG

_ARROWS = (
    '<defs><marker id="travas-map-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>'
)


def _arrow(pair: DrawnPair) -> str:
    way = f"M{pair.start[0]:.0f} {pair.start[1]:.0f}" + "".join(
        "C" + " ".join(f"{x:.0f} {y:.0f}" for x, y in curve) for curve in pair.curves
    )
    dash = "" if pair.is_forward else ' stroke-dasharray="6 3"'
    return (
        f'<g class="pair" data-cases="{pair.cases}" data-before="{pair.before}" data-after="{pair.after}">'
        f'<title>{escape(pair.about)}</title><path d="{way}" fill="none" stroke="{pair.colour}" '
        f'stroke-width="{pair.width:.1f}"{dash} marker-end="url(#travas-map-arrow)"/>'
        f'<text x="{pair.label_at[0]:.0f}" y="{pair.label_at[1]:.0f}" font-size="10" text-anchor="middle" '
        f'stroke="#ffffff" stroke-width="3" paint-order="stroke">{escape(pair.label)}</text></g>'
    )


def _box(node: DrawnNode) -> str:
    x, y = node.at[0] - WIDTH / 2, node.at[1] - HEIGHT / 2
    title = f'<g class="node" data-key="{node.key}"><title>{escape(node.about)}</title>'
    if node.kind in ("start", "end"):
        return (
            f'{title}<rect x="{x + 35:.0f}" y="{y + 6:.0f}" width="{WIDTH - 70}" height="{HEIGHT - 12}" rx="13" '
            f'fill="#ffffff" stroke="{INK}"/>' + text(node.at[0], node.at[1] + 4, node.kind, "middle") + "</g>"
        )
    border = f'stroke="{GREY}" stroke-dasharray="5 3"' if node.kind == "other" else f'stroke="{BLUE}"'
    name = shortened("other" if node.kind == "other" else node.name, 22)
    lines = text(node.at[0], node.at[1] + (4 if not node.below else -2), name, "middle")
    lines += text(node.at[0], node.at[1] + 13, node.below, "middle", "#555555", 11) if node.below else ""
    return (
        f'{title}<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#ffffff" {border} '
        f'stroke-width="2"/>{lines}</g>'
    )
