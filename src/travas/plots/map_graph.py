"""A process map as plain values, before it has coordinates: from the traces of a release, or from a released map.

Nodes are keyed by number, never by name: start, end and `other` cannot be confused with activities.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

from .. import explain
from ..log.traces import Trace
from ..releases.process_map import MapNode, MapPair, MapRelease, NodeKind
from ..trusted.numbers import as_text
from .svg import activity_text

START, END = "start", "end"
"""The keys of the first and the last node."""

MOST_ACTIVITIES, MOST_PAIRS = 38, 80
IN_A_BROWSER = 100, 400  # activities and pairs of a map that can be searched and zoomed
"""What a picture shows at most, with start and end 40 nodes; pages with sliders and the file have more."""

NodeKey = str
Edge = tuple[NodeKey, NodeKey]


@dataclass(frozen=True)
class GraphNode:
    """A node: its name, what is written below it, and how often it occurs. `about` is shown on hovering."""

    key: NodeKey
    kind: NodeKind
    name: str
    count: float
    below: str = ""
    about: str = ""


@dataclass(frozen=True)
class GraphPair:
    """A directly-follows pair, with its median duration in seconds where durations were released."""

    before: NodeKey
    after: NodeKey
    count: float
    label: str
    about: str = ""
    seconds: float | None = None

    @property
    def edge(self) -> Edge:
        return self.before, self.after


@dataclass(frozen=True)
class ProcessGraph:
    """Activities and directly-follows pairs.

    Attributes:
        nodes: Start, end and the activities, most frequent first.
        pairs: The pairs, most frequent first.
        noun: What the numbers count.
        captions: What is written below a picture of it.
    """

    nodes: tuple[GraphNode, ...]
    pairs: tuple[GraphPair, ...]
    noun: Literal["cases", "times"]
    captions: tuple[str, ...] = ()

    @cached_property
    def places(self) -> dict[NodeKey, float]:
        """How far every node is from start (0) to end (1): the mean of its neighbours, weighted by their numbers."""
        near: defaultdict[NodeKey, list[tuple[NodeKey, float]]] = defaultdict(list)
        for pair in self.pairs:
            if pair.before != pair.after:
                weight = max(pair.count, 1e-9)  # an estimate may be 0
                near[pair.before].append((pair.after, weight))
                near[pair.after].append((pair.before, weight))
        inner = [node.key for node in self.nodes if node.key not in (START, END) and near[node.key]]
        heights = {node.key: 0.5 for node in self.nodes} | {START: 0.0, END: 1.0}
        for _ in range(200):
            for key in inner:
                total = sum(weight for _, weight in near[key])
                heights[key] = sum(heights[other] * weight for other, weight in near[key]) / total
        return heights

    def captioned(self, *captions: str) -> ProcessGraph:
        """The same graph with other captions; none for pages that write them elsewhere."""
        return replace(self, captions=captions)

    def most_frequent(self, activities: int = MOST_ACTIVITIES, pairs: int = MOST_PAIRS) -> ProcessGraph:
        """The graph of the most frequent activities and pairs; every activity keeps its strongest way in and out."""
        terminals = {START, END}
        shown = terminals | {node.key for node in [n for n in self.nodes if n.key not in terminals][:activities]}
        possible = [pair for pair in self.pairs if pair.before in shown and pair.after in shown]
        kept = {pair.edge for pair in _strongest(possible)}
        for pair in possible:
            if len(kept) >= pairs:
                break
            kept.add(pair.edge)
        shown_pairs = tuple(pair for pair in possible if pair.edge in kept)
        used = {key for pair in shown_pairs for key in pair.edge}
        rest = len(self.pairs) - len(shown_pairs)
        captions = (*self.captions, f"{rest:,} rarer pairs are not shown.") if rest else self.captions
        nodes = tuple(node for node in self.nodes if node.key in used)
        return replace(self, nodes=nodes, pairs=shown_pairs, captions=captions)


def _strongest(pairs: Collection[GraphPair]) -> list[GraphPair]:
    """The first pair into and out of every node, from pairs sorted by number; a loop leads nowhere."""
    seen: set[tuple[int, NodeKey]] = set()
    kept = []
    for pair in pairs:
        sides = {(0, pair.before), (1, pair.after)} if pair.before != pair.after else set()
        if sides - seen:
            kept.append(pair)
        seen |= sides
    return kept


def directly_follows(variants: Sequence[Trace], counts: Sequence[float]) -> ProcessGraph:
    """How often which activity directly follows which."""
    often: Counter[str] = Counter()
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    for trace, count in zip(variants, counts, strict=True):
        names = list(map(activity_text, trace))
        for name in names:
            often[name] += count  # type: ignore[assignment]  # estimates are not whole numbers
        for pair in pairwise([None, *names, None]):
            pairs[pair] += count  # type: ignore[assignment]
    ranked = sorted(often, key=lambda name: (-often[name], name))
    keys = {name: f"n{number}" for number, name in enumerate(ranked)}
    total = sum(counts)
    nodes = [GraphNode(START, "start", "start", total), GraphNode(END, "end", "end", total)]
    nodes += [_activity(keys[name], name, often[name]) for name in ranked]
    arrows = [
        GraphPair(
            START if before is None else keys[before],
            END if after is None else keys[after],
            count,
            f"{count:,.0f}",
            f"{before or '(start)'} → {after or '(end)'}\n{count:,.0f} times",
        )
        for (before, after), count in pairs.items()
    ]
    return ProcessGraph(tuple(nodes), _sorted(arrows), "times")


def _activity(key: NodeKey, name: str, count: float) -> GraphNode:
    return GraphNode(key, "activity", name, count, f"{count:,.0f}", f"{name}\n{count:,.0f} times")


def _sorted(pairs: Sequence[GraphPair]) -> tuple[GraphPair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (-pair.count, pair.edge)))


# --------------------------------------------------------------------------------------------------- released maps

Intervals = Literal["hidden", "shown"]


def released_graph(release: MapRelease, intervals: Intervals = "hidden") -> ProcessGraph:
    """The graph of a process map that was released: numbers of cases, with their intervals on hovering."""
    inner = [MapNode("activity", activity.activity) for activity in release.activities] + [MapNode("other")]
    keys = {MapNode("start"): START, MapNode("end"): END} | {node: f"n{number}" for number, node in enumerate(inner)}
    pairs = _sorted([_released_pair(pair, keys, intervals) for pair in release.pairs])
    used = {key for pair in pairs for key in pair.edge}
    nodes = [_released_node(keys[node], node, release, pairs) for node in keys if keys[node] in used]
    ranked = sorted(nodes, key=lambda node: (node.kind not in ("start", "end"), -node.count, node.key))
    return ProcessGraph(tuple(ranked), pairs, "cases", _captions(release))


def _released_node(key: NodeKey, node: MapNode, release: MapRelease, pairs: Sequence[GraphPair]) -> GraphNode:
    name, count = _name(node), sum(pair.count for pair in pairs if pair.after == key)
    if node.kind == "other":
        return GraphNode(
            key, "other", "other", count, "all other activities", "other: all activities that were not selected"
        )
    for activity in release.activities if node.kind == "activity" else ():
        if activity.activity == node.activity and activity.present is not None and activity.repeated is not None:
            below = f"{round(activity.present.value):,} cases"
            about = f"{name}\n{below}, repeated in {round(activity.repeated.value):,}"
            return GraphNode(key, "activity", name, activity.present.value, below, about)
    return GraphNode(key, node.kind, name if node.activity is not None else node.kind, count, about=name)


def _released_pair(pair: MapPair, keys: dict[MapNode, NodeKey], intervals: Intervals) -> GraphPair:
    cases = max(1, round(pair.cases.value))
    interval = f"{math.floor(pair.cases.low):,} to {math.ceil(pair.cases.high):,}"
    about = f"{_name(pair.before)} → {_name(pair.after)}\n{cases:,} cases (95 %: {interval})"
    if pair.duration is not None:
        about += f"\nmedian {duration_text(pair.duration.median)}, half of them between "
        about += f"{duration_text(pair.duration.lower_quartile)} and {duration_text(pair.duration.upper_quartile)}"
    return GraphPair(
        keys[pair.before],
        keys[pair.after],
        cases,
        f"{cases:,}" if intervals == "hidden" else f"{cases:,} ({interval})",
        about,
        None if pair.duration is None else pair.duration.median,
    )


def _captions(release: MapRelease) -> tuple[str, ...]:
    guarantee, total = release.guarantee, release.total
    false = f"About {release.expected_false_pairs:.1f} pairs are expected to be there by noise alone."
    line = (
        f"ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)}: {guarantee.standing}. "
        f"{math.floor(total.low):,} to {math.ceil(total.high):,} {explain.original_cases(release.mechanism)} (95 %). {false}"
    )
    if "durations" not in release.parts:
        return (line,)
    return line, "Colour: median time between two activities, from short (blue) to long (red)."


def _name(node: MapNode) -> str:
    return f"({node.kind})" if node.activity is None else activity_text(node.activity)


def duration_text(seconds: float) -> str:
    """A duration with two digits and its unit.

    >>> duration_text(0), duration_text(75), duration_text(7200), duration_text(86400 * 3.5)
    ('below 1 s', '75 s', '2.0 h', '3.5 d')
    """
    if seconds < 1:
        return "below 1 s"
    for size, unit in ((86400 * 365.25, "y"), (86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (unit != "min" and seconds >= size * 1.5):
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
