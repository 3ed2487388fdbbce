"""A process map as plain values: the map of a release, what of it is shown first, and the model that pages draw.

Nodes are keyed by number, never by name: start, end and `other` cannot be confused with activities, and nothing of a
log is interpreted as DOT.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from .. import explain
from ..explain import duration_text
from ..log.calendar import SECOND
from ..log.questions import DURATION_EDGES
from ..log.traces import Trace
from ..releases.map_numbers import Quartiles
from ..releases.process_map import MapNode, MapRelease, NodeKind
from ..releases.release import Release, ReleasedLog
from ..releases.synthetic_log import SyntheticRelease
from ..synthesis.measurements import MeasuredNumber
from ..trusted.numbers import as_text
from ..trusted.samplers import Integers
from .svg import activity_text, fitted, scale, text_width, wrapped

START, END = "start", "end"
"""The keys of the first and the last node."""

COVERED, FEW_PATHS, MANY_PATHS = 0.8, 20, 30
"""A map opens with at most 20 paths if they cover 80 % of the steps, else with the fewest that do, and at most 30."""

MOST_ACTIVITIES, MOST_PATHS = 100, 400
"""What the sliders of a page reach; the files have everything."""

NAME_SIZE, NUMBER_SIZE, LABEL_SIZE = 14, 13, 13  # sizes of text; line heights are those plus 3
_ROOM, _PADDING = 150, 8
_FAN = 5  # activities beside each other to which the main ways lead from the same one; the next are a row lower
DOT_HEADER = (
    "digraph { graph [nodesep=0.15 ranksep=0.15 pad=0 margin=0]; "
    'node [shape=box fixedsize=true label=""]; edge [arrowhead=none]; '
)
_DOT_LABEL = (
    '<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="0" FIXEDSIZE="TRUE" WIDTH="SLOT" '
    'HEIGHT="12"><TR><TD></TD></TR></TABLE>>'
)

NodeKey = str
Edge = tuple[NodeKey, NodeKey]
Interval = tuple[float, float]
Noun = Literal["cases", "times"]
Steps = Mapping[tuple[str | None, str | None], float]
"""Numbers by names of activities; None is the start, or the end, of a case."""


@dataclass(frozen=True)
class GraphNode:
    """A node: its name, how often it occurs, and what else is known of it.

    Attributes:
        key: What paths call it.
        kind: Start, end, an activity, or `other`.
        name: What is written in it.
        count: How often it occurs; decides the order and the shade.
        number: What is written below the name; empty if no number of the node itself was released.
        interval: The 95 % interval of the number.
        repeated: In how many cases it occurs more than once.
        seconds: The median time since the step before, or of service.
        original: CONFIDENTIAL: how often it occurs in the original log, in a comparison.
    """

    key: NodeKey
    kind: NodeKind
    name: str
    count: float
    number: str = ""
    interval: Interval | None = None
    repeated: float | None = None
    seconds: float | None = None
    original: float | None = None

    @property
    def weight(self) -> float:
        """How often it occurs in the log that has it more often."""
        return max(self.count, self.original or 0)

    @property
    def lines(self) -> tuple[str, ...]:
        """The name in at most two lines."""
        return wrapped(self.name, NAME_SIZE, _ROOM)

    @property
    def numbers(self) -> tuple[str, str]:
        """What is written below the name: a number, or a time."""
        return fitted(self.number, NUMBER_SIZE, _ROOM), "" if self.seconds is None else duration_text(self.seconds)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the box."""
        widths = [text_width(line, NAME_SIZE) for line in self.lines]
        widths += [text_width(number, NUMBER_SIZE) for number in self.numbers]
        below = (NUMBER_SIZE + 3) * any(self.numbers)
        return max(*widths, 24) + 2 * _PADDING + 2, (NAME_SIZE + 3) * len(self.lines) + below + _PADDING


@dataclass(frozen=True)
class GraphPath:
    """A directly-follows pair.

    Attributes:
        before: The key of its first node.
        after: The key of its second node.
        count: How often it occurs.
        interval: The 95 % interval of the number.
        label: The number as it is written beside the path.
        time: The time between both, or the waiting time.
        uncertain: Whether noise alone may have made it.
        original: CONFIDENTIAL: how often it occurs in the original log, in a comparison.
    """

    before: NodeKey
    after: NodeKey
    count: float
    label: str
    interval: Interval | None = None
    time: Quartiles | None = None
    uncertain: bool = False
    original: float | None = None

    @property
    def edge(self) -> Edge:
        """Both keys."""
        return self.before, self.after

    @property
    def weight(self) -> float:
        """How often it occurs in the log that has it more often; an estimate may be 0."""
        return max(self.count, self.original or 0, 1e-9)

    @property
    def labels(self) -> tuple[str, str]:
        """What is written beside it: a number, or a time."""
        return self.label, "" if self.time is None else duration_text(self.time.median)


@dataclass(frozen=True)
class Throughput:
    """How long cases take: shares of the buckets of `DURATION_EDGES`, with quartiles in seconds."""

    shares: tuple[float, ...]
    quartiles: Quartiles

    @property
    def bars(self) -> list[tuple[str, float, bool]]:
        """The buckets that are used: their ends in words, their share, and whether the median is in it."""
        ends = [0.0, *(edge / SECOND for edge in DURATION_EDGES), math.inf]
        used = [index for index, share in enumerate(self.shares) if share >= 0.005]  # less is not visible
        return [
            (
                f"over {duration_text(ends[index])}" if math.isinf(ends[index + 1])
                else f"{duration_text(ends[index])} to {duration_text(ends[index + 1])}" if index else duration_text(0),
                self.shares[index],
                ends[index] <= self.quartiles.median < ends[index + 1],
            )
            for index in range(used[0], used[-1] + 1)
        ]  # fmt: skip


@dataclass(frozen=True)
class ProcessGraph:
    """Activities and directly-follows pairs.

    Attributes:
        nodes: Start, end and the activities, most frequent first.
        paths: The pairs, most frequent first.
        noun: What the numbers count.
        captions: What is written below a picture of it.
        times: Whether its times were measured or generated; empty without times.
        is_paired: Whether those of nodes are service times, and those of paths waiting times.
        throughput: How long cases take; None if that was not released.
        headline: CONFIDENTIAL: of a comparison, how much of the original log is in the release.
    """

    nodes: tuple[GraphNode, ...]
    paths: tuple[GraphPath, ...]
    noun: Noun
    captions: tuple[str, ...] = ()
    times: Literal["", "measured", "generated"] = ""
    throughput: Throughput | None = None
    headline: str = ""
    is_paired: bool = False

    @property
    def named_paths(self) -> list[tuple[tuple[str | None, str | None], GraphPath]]:
        """The names of every path, which different activities may share, and the path."""
        terms: dict[NodeKind, str | None] = {"start": None, "end": None, "other": "(other)"}
        names = {node.key: terms.get(node.kind, node.name) for node in self.nodes}
        return [((names[path.before], names[path.after]), path) for path in self.paths]

    @property
    def by_names(self) -> Steps:
        """The numbers of all paths, by names."""
        return {pair: path.count for pair, path in self.named_paths}

    @cached_property
    def places(self) -> dict[NodeKey, float]:
        """How far every node is from start (0) to end (1): the mean of its neighbours, weighted by their numbers."""
        near: defaultdict[NodeKey, list[tuple[NodeKey, float]]] = defaultdict(list)
        for path in self.paths:
            if path.before != path.after:
                near[path.before].append((path.after, path.weight))
                near[path.after].append((path.before, path.weight))
        inner = [node.key for node in self.nodes if node.key not in (START, END) and near[node.key]]
        heights = {node.key: 0.5 for node in self.nodes} | {START: 0.0, END: 1.0}
        for _ in range(200):
            for key in inner:
                total = sum(weight for _, weight in near[key])
                heights[key] = sum(heights[other] * weight for other, weight in near[key]) / total
        return heights

    @cached_property
    def _from_start(self) -> dict[NodeKey, GraphPath]:
        return _main_ways(self.paths, START, "after")

    # ---------------------------------------------------------------------------------------- what is shown at first

    @cached_property
    def steps(self) -> tuple[dict[NodeKey, int], dict[Edge, int]]:
        """From which step of the activity slider every node is shown, and every path without which one is not connected.

        Each step adds an activity with the main way from the start to it and from it to the end, and the activities on
        these ways: the one with the largest number for each activity that comes with it. So all that is shown is connected.
        """
        ways = self._from_start, _main_ways(self.paths, END, "before")
        needed = {}
        for node in self.nodes:
            keys, edges, waiting = {START, END}, dict[Edge, None](), [node.key]
            while waiting:
                key = waiting.pop()
                if key not in keys:
                    keys.add(key)
                    found = [way[key] for way in ways if key in way]
                    edges |= dict.fromkeys(path.edge for path in found)
                    waiting += [end for path in found for end in path.edge]
            needed[node.key] = keys, edges
        of_node, of_path = dict.fromkeys((START, END), 0), dict[Edge, int]()
        left = {node.key: node.weight for node in self.nodes if node.key not in of_node}
        while left and len(of_node) < MOST_ACTIVITIES:
            chosen = max(left, key=lambda key: left[key] / len(needed[key][0] - of_node.keys()))
            step = max(of_node.values()) + 1
            for key in needed[chosen][0]:
                of_node.setdefault(key, step)
                left.pop(key, None)
            for edge in needed[chosen][1]:
                of_path.setdefault(edge, step)
        return of_node, of_path

    def part(self, step: int, paths: int, covered: float = math.inf) -> ProcessGraph:
        """The graph of the first steps: the paths that connect it, and the most frequent others up to a number or a total."""
        of_node, of_path = self.steps
        shown = {key for key, first in of_node.items() if first <= step}
        possible = [path for path in self.paths if path.before in shown and path.after in shown]
        kept = {path.edge: path.count for path in possible if of_path.get(path.edge, math.inf) <= step}
        total = sum(kept.values())
        for path in possible:
            if len(kept) >= paths or total >= covered:
                break
            if path.edge not in kept:
                kept[path.edge], total = path.count, total + path.count
        rest = len(self.paths) - len(kept)
        captions = (*self.captions, f"{rest:,} rarer paths are not shown.") if rest else self.captions
        nodes = tuple(node for node in self.nodes if node.key in shown and kept)
        return replace(
            self, nodes=nodes, paths=tuple(path for path in possible if path.edge in kept), captions=captions
        )

    @cached_property
    def opening(self) -> tuple[int, int]:
        """The step and the number of paths with which the map opens: about 20 paths that cover 80 % of the steps."""
        wanted = COVERED * self.total
        parts = [self.part(step, MANY_PATHS, wanted) for step in range(1, max(self.steps[0].values()) + 1)]
        found = [(len(part.paths), part.total, step) for step, part in enumerate(parts, start=1)]
        readable = [one for one in found if one[0] <= MANY_PATHS] or found[:1] or [(0, 0, 0)]
        if enough := [one for one in readable if one[1] >= wanted]:
            most = max(FEW_PATHS, min(number for number, _, _ in enough))
            number, _, step = max((one for one in enough if one[0] <= most), key=lambda one: one[2])
        else:  # too many different steps: what covers most of them
            number, _, step = max(readable, key=lambda one: (one[1], -one[0]))
        return step, len(self.part(step, max(number, FEW_PATHS)).paths)

    @property
    def total(self) -> float:
        """The number of all steps."""
        return sum(path.count for path in self.paths)

    @property
    def first(self) -> ProcessGraph:
        """What is shown at first, and in static pictures."""
        return self.part(*self.opening)

    @property
    def reachable(self) -> ProcessGraph:
        """What the sliders of a page reach."""
        return self.part(len(self.nodes), MOST_PATHS)

    # ------------------------------------------------------------------------------------------- Graphviz, and pages

    def statements(self) -> tuple[dict[NodeKey, str], dict[Edge, str]]:
        """Nodes and paths as DOT, from start to end; frequent paths are short and straight, wide fans in several rows."""
        nodes = {}
        for node in sorted(self.nodes, key=lambda node: (self.places[node.key], node.key)):
            width, height = node.size
            own = f"{node.key} [width={width / 72:.3f} height={height / 72:.3f}]"
            rank = {START: "source", END: "sink"}.get(node.key)
            nodes[node.key] = f"{{rank={rank}; {own}}};" if rank else f"{own};"
        most, fans = max((path.weight for path in self.paths), default=1), Counter[NodeKey]()
        paths = {}
        for path in self.paths:
            is_main, weight = self._from_start.get(path.after) is path, 1 + round(9 * path.weight / most)
            row = 1 + is_main * fans[path.before] // _FAN
            fans[path.before] += is_main
            paths[path.edge] = f"{path.before} -> {path.after} [weight={weight} minlen={row} label={_DOT_LABEL}];"
        return nodes, paths

    @cached_property
    def ropes(self) -> dict[Edge, float]:
        """How thick every path is, from 0 to 1."""
        thick = scale([path.weight for path in self.reachable.paths], 2.5)
        return {path.edge: thick(path.weight) for path in self.reachable.paths}

    def slots(self, path: GraphPath) -> tuple[int, ...]:
        """The room beside a path, from its middle, for its number and for its time."""
        return tuple(round(text_width(label, LABEL_SIZE) + 6 + 6 * self.ropes[path.edge]) for label in path.labels)

    def dot(self, shown: ProcessGraph) -> str:
        """A part of the graph as DOT, as `browser/map.js` has it: keys and sizes only, never names."""
        (nodes, paths), keys = self.reachable.statements(), {node.key for node in shown.nodes}
        chosen = [dot for key, dot in nodes.items() if key in keys]
        chosen += [paths[path.edge].replace("SLOT", str(self.slots(path)[0])) for path in shown.paths]
        return DOT_HEADER + " ".join(chosen) + " }"

    def model(self) -> dict[str, Any]:
        """What `browser/map.js` draws, as JSON."""
        graph, (of_node, of_path), (step, number) = self.reachable, self.steps, self.opening
        nodes, paths = graph.statements()
        by_key = {node.key: node for node in graph.nodes}

        def activity(node: GraphNode) -> dict[str, Any]:
            drawn = {"lines": node.lines, "numbers": node.numbers, "size": node.size}
            return asdict(node) | drawn | {"step": of_node[node.key], "dot": nodes[node.key]}

        def way(path: GraphPath) -> dict[str, Any]:
            drawn = {"labels": path.labels, "slots": self.slots(path), "time": path.time and _times(path.time)}
            return asdict(path) | drawn | {"step": of_path.get(path.edge), "dot": paths[path.edge]}

        bars = [] if self.throughput is None else self.throughput.bars
        return {
            "noun": self.noun,
            "times": self.times,
            "is_paired": self.is_paired,
            "header": DOT_HEADER,
            "opening": {"step": step, "paths": number},
            "activities": [activity(by_key[key]) for key in nodes],
            "paths": [way(path) for path in graph.paths],
            "captions": graph.captions,
            "headline": self.headline,
            "throughput": self.throughput
            and _times(self.throughput.quartiles)
            | {"bars": [{"label": label, "share": share, "median": is_median} for label, share, is_median in bars]},
        }


def _times(time: Quartiles) -> dict[str, Any]:
    return {
        "seconds": time.median,
        "median": duration_text(time.median),
        "lower": duration_text(time.lower_quartile),
        "upper": duration_text(time.upper_quartile),
    }


def _main_ways(
    paths: Sequence[GraphPath], source: NodeKey, end: Literal["before", "after"]
) -> dict[NodeKey, GraphPath]:
    """For every node the last path on the main way between the source and it: short, and of frequent paths.

    That is the way with the least sum of 1/number (Dijkstra).
    """
    other = "before" if end == "after" else "after"
    at: defaultdict[NodeKey, list[GraphPath]] = defaultdict(list)
    for path in paths:  # most frequent first
        at[getattr(path, other)].append(path)
    length, last, waiting = {source: 0.0}, {}, [(0.0, source)]
    while waiting:
        so_far, key = heappop(waiting)
        for path in at[key]:
            reached, way = getattr(path, end), so_far + 1 / path.weight
            if way < length.get(reached, math.inf):
                length[reached], last[reached] = way, path
                heappush(waiting, (way, reached))
    return last


# ------------------------------------------------------------------------------------------------ maps of releases


def release_graph(release: Release) -> ProcessGraph:
    """The map of any release, with captions that say where its numbers come from."""
    if isinstance(release, MapRelease):
        return released_map(release)
    if isinstance(release, SyntheticRelease):
        return synthetic_map(release)
    assert isinstance(release, ReleasedLog)
    words = "How often an activity directly follows another, by the estimates of the released variants."
    return directly_follows(release.variants, release.estimated_counts, (words,))


def steps_of(variants: Sequence[Trace], counts: Sequence[float], noun: Noun) -> Steps:
    """How often which activity directly follows which, or in how many cases."""
    steps = defaultdict[tuple[str | None, str | None], float](float)
    each: Callable[[Iterable[Any]], Iterable[Any]] = list if noun == "times" else set
    for trace, count in zip(variants, counts, strict=True):
        for pair in each(pairwise([None, *map(activity_text, trace), None])):
            steps[pair] += count
    return steps


def directly_follows(
    variants: Sequence[Trace], counts: Sequence[float], captions: tuple[str, ...] = ()
) -> ProcessGraph:
    """The graph of how often which activity directly follows which."""
    return _counted_graph(steps_of(variants, counts, "times"), "times", sum(counts), captions)


def _counted_graph(steps: Steps, noun: Noun, total: float, captions: tuple[str, ...] = ()) -> ProcessGraph:
    often = _arrivals(steps)
    ranked = sorted(often, key=lambda name: (-often[name], name))
    keys = {name: f"n{number}" for number, name in enumerate(ranked)}
    nodes = [GraphNode(START, "start", "start", total), GraphNode(END, "end", "end", total)]
    nodes += [GraphNode(keys[name], "activity", name, often[name], f"{often[name]:,.0f}") for name in ranked]
    paths = [
        GraphPath(
            START if before is None else keys[before], END if after is None else keys[after], count, f"{count:,.0f}"
        )
        for (before, after), count in steps.items()
    ]
    return ProcessGraph(tuple(nodes), _sorted(paths), noun, captions)


def _arrivals(steps: Steps) -> dict[str, float]:
    """How often every activity is the second one of a step."""
    often = {name: 0.0 for pair in steps for name in pair if name is not None}
    for (_, name), count in steps.items():
        if name is not None:
            often[name] += count
    return often


def _sorted(paths: Sequence[GraphPath]) -> tuple[GraphPath, ...]:
    return tuple(sorted(paths, key=lambda path: (-path.weight, path.edge)))


def released_map(release: MapRelease) -> ProcessGraph:
    """The graph of a process map that was released: numbers of cases with their intervals."""
    inner = [MapNode("activity", activity.activity) for activity in release.activities] + [MapNode("other")]
    keys = {MapNode("start"): START, MapNode("end"): END} | {node: f"n{number}" for number, node in enumerate(inner)}
    found = []
    for pair in release.pairs:
        cases, interval = max(1, round(pair.cases.value)), _interval(pair.cases)
        edge = keys[pair.before], keys[pair.after]
        found.append(GraphPath(*edge, cases, f"{cases:,}", interval, pair.duration, uncertain=interval[0] <= 0))
    paths = _sorted(found)
    used = {key for path in paths for key in path.edge}
    nodes = [_released_node(keys[node], node, release, paths) for node in keys if keys[node] in used]
    ranked = sorted(nodes, key=lambda node: (node.kind not in (START, END), -node.count, node.key))
    throughput = None
    if release.throughput is not None:
        throughput = Throughput(release.times.throughput_shares, release.throughput)
    times: Literal["", "measured"] = "measured" if "durations" in release.parts else ""
    is_paired = "service" in release.parts
    return ProcessGraph(tuple(ranked), paths, "cases", _captions(release), times, throughput, is_paired=is_paired)


def _interval(number: MeasuredNumber) -> tuple[int, int]:
    return math.floor(number.low), math.ceil(number.high)


def _released_node(key: NodeKey, node: MapNode, release: MapRelease, paths: Sequence[GraphPath]) -> GraphNode:
    name = node.kind if node.activity is None else activity_text(node.activity)
    number = "all other activities" if node.kind == "other" else ""
    seconds = _time_before(key, paths)
    if "service" in release.parts:
        service = None if key in (START, END) else release.times.of_node.get(int(key[1:]))
        seconds = None if service is None else service.median
    found = GraphNode(
        key, node.kind, name, sum(path.count for path in paths if path.after == key), number, seconds=seconds
    )
    for activity in release.activities:
        if activity.activity == node.activity and activity.present is not None and activity.repeated is not None:
            cases, repeated = activity.present.value, activity.repeated.value
            number, interval = f"{round(cases):,} cases", _interval(activity.present)
            return replace(found, count=cases, number=number, interval=interval, repeated=repeated)
    return found


def _time_before(key: NodeKey, paths: Sequence[GraphPath]) -> float | None:
    """The median time of the paths into a node, weighted by their numbers; None without times."""
    times = sorted((path.time.median, path.count) for path in paths if path.after == key and path.time is not None)
    half, below = sum(count for _, count in times) / 2, 0.0
    for time, count in times:
        below += count
        if below >= half:
            return time
    return None


def _captions(release: MapRelease) -> tuple[str, ...]:
    guarantee, (low, high) = release.guarantee, _interval(release.total)
    return (
        f"ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)}: {guarantee.standing}. "
        f"{low:,} to {high:,} {explain.original_cases(release)} (95 %). "
        f"Paths expected to be there by noise alone: about {round(release.expected_false_pairs, 1):g}.",
        *explain.service_in_words(release.mechanism),
    )


def synthetic_map(release: SyntheticRelease) -> ProcessGraph:
    """The graph of a synthetic log, with its generated times; paths that may be noise alone are uncertain."""
    words = "How often an activity directly follows another in the synthetic log, including generated cases."
    captions = (words, *explain.service_in_words(release.mechanism))
    graph = directly_follows(release.variants, release.counts, captions)
    noise = {
        tuple(None if one is None else activity_text(one) for one in (pair.before, pair.after))
        for pair in release.quality().mostly_noise
    }
    moments, is_paired = release.event_times, release.event_starts is not None
    found = _NO_TIMES if moments is None or not len(moments) else _generated_times(release, moments)
    times, service, throughput = found
    paths = tuple(replace(path, uncertain=pair in noise, time=times.get(pair)) for pair, path in graph.named_paths)
    nodes = tuple(
        replace(node, seconds=service.get(node.name) if is_paired else _time_before(node.key, paths))
        for node in graph.nodes
    )
    kind: Literal["", "generated"] = "generated" if throughput else ""
    return replace(graph, nodes=nodes, paths=paths, times=kind, throughput=throughput, is_paired=is_paired)


_GeneratedTimes = tuple[dict[tuple[str | None, str | None], Quartiles], dict[str, float], Throughput | None]
_NO_TIMES: _GeneratedTimes = {}, {}, None


def _generated_times(release: SyntheticRelease, moments: Integers) -> _GeneratedTimes:
    """Quartiles of the generated times of every pair of activities, median service times, and times of all cases."""
    import polars as pl

    traces = [list(map(activity_text, trace)) for trace in release.variants]
    lengths = np.repeat([len(trace) for trace in traces], release.counts)
    ends = np.cumsum(lengths)
    cases = moments[ends - 1] - moments[ends - lengths]
    begin, starts = pl.Series(moments), release.event_starts
    if starts is not None:
        begin = pl.Series(np.where(starts.missing, moments, starts.values))
    events = pl.DataFrame(
        {
            "activity": [name for trace, count in zip(traces, release.counts, strict=True) for name in trace * count],
            "case": np.repeat(np.arange(len(lengths)), lengths),
            "waiting": (begin - pl.Series(moments).shift()).clip(0),
            "service": pl.Series(moments) - begin,
            "has_start": False if starts is None else ~starts.missing,
        }
    ).with_columns(before=pl.col("activity").shift().over("case"))
    quartiles = [pl.col("waiting").quantile(share, "linear").alias(f"{share}") for share in (0.25, 0.5, 0.75)]
    found = events.drop_nulls("before").group_by("before", "activity").agg(quartiles)
    service = events.filter("has_start").group_by("activity").agg(pl.col("service").median())
    shares = np.bincount(np.searchsorted(np.array(DURATION_EDGES) / SECOND, cases, "right"), minlength=16) / len(cases)
    return (
        {(before, after): Quartiles(*rest) for before, after, *rest in found.iter_rows()},
        dict(service.iter_rows()),
        Throughput(tuple(shares.tolist()), Quartiles(*np.quantile(cases, (0.25, 0.5, 0.75)).tolist())),
    )


def compared_graph(original: Steps, released: Steps, noun: Noun) -> ProcessGraph:
    """CONFIDENTIAL: both logs on one map, from numbers by names. The numbers of the graph are those of the release."""
    both = {pair: max(original.get(pair, 0), released.get(pair, 0)) for pair in [*original, *released]}
    before, after = _arrivals(original), _arrivals(released)
    graph = _counted_graph(both, noun, 0)
    paths = [
        replace(path, count=released.get(pair, 0), original=original.get(pair, 0)) for pair, path in graph.named_paths
    ]
    nodes = [
        replace(node, count=after.get(node.name, 0), original=before.get(node.name, 0))
        if node.kind == "activity"
        else node
        for node in graph.nodes
    ]
    shared = sum(min(count, released.get(pair, 0)) for pair, count in original.items())
    headline = f"{100 * shared / max(sum(original.values()), 1):.0f} % of the original's steps are in the release"
    return replace(graph, nodes=tuple(nodes), paths=_sorted(paths), headline=headline)
