"""Process models of released logs and maps, their fitness and precision. The only file that imports pm4py, when used.

The inductive miner (IMf, noise threshold 0.2) discovers a Petri net from the released log, and the original log is
replayed on it: log fitness by token-based replay, precision by ETConformance on such a replay. Discovery and replay are
those of pm4py, with identical results but for names with a comma, at which pm4py splits; and faster:
a replay depends on the past only through the marking it has reached. So pm4py computes what an event does in a marking
once per marking, and the cases follow these results.
"""

from __future__ import annotations

import contextlib
import functools
import io
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from ..errors import LogError, MissingExtraError, OutputError, ParameterError
from ..log.escaped_names import escape_name
from ..log.log import Log
from ..log.rules import Rules
from ..log.traces import Activity
from ..outputs.atomic import Existing, atomic_output
from ..releases.process_map import MapNode, MapRelease, ModelFormat
from .metrics import Counts, both

Cases = frozenset[tuple[tuple[str, ...], int]]
"""A log as a hashable value, used as a cache key."""

NOISE_THRESHOLD = 0.2


def fitness(original: Any, released: Any) -> float:
    """Return the log fitness (token-based replay) of the original log on the model of the released one, from 0 to 1."""
    return fitness_and_precision(original, released)[0]


def precision(original: Any, released: Any) -> float:
    """Return the precision (token-based ETConformance) of the original log on the model of the released one, from 0 to 1."""
    return fitness_and_precision(original, released)[1]


def fitness_and_precision(original: Any, released: Any) -> tuple[float, float]:
    """Return both, from one discovery. Raises LogError for an empty released log, which has no model."""
    before, after = (_cases(log) for log in both(original, released))
    if not after:
        raise LogError("the released log is empty, so it has no model; fitness and precision are undefined")
    with _pm4py("fitness and precision"):
        return _scores(before, _discover(after))


def map_fitness_and_precision(original: Counts | Log, released: MapRelease) -> tuple[float, float]:
    """Return fitness and precision of the original log on the model of a process map; of an empty map both are 0."""

    def name(node: MapNode) -> str:
        return released.label(node) if node.activity is None else _name(node.activity)

    with _pm4py("fitness and precision"):
        tree = _discover_map(released, name)
        return (0.0, 0.0) if tree is None else _scores(_cases(original), tree)


# ------------------------------------------------------------------------------------------- models of process maps


def write_model(release: MapRelease, path: Path, existing: Existing) -> Path:
    """Discover a model from a process map and write it: post-processing, no privacy cost. See `MapRelease.model`."""
    if path.suffix[1:].lower() not in get_args(ModelFormat):
        raise OutputError(f"{path}: unsupported file extension for a model; use .bpmn, .pnml or .ptml", field="model")
    with _pm4py("models"), atomic_output(path, existing) as partial:
        tree = _discover_map(release, lambda node: escape_name(release.label(node)))
        if tree is None:
            raise OutputError(f"{path}: the map has no pairs, so there is no model", field="model")
        _write_tree(tree, path.suffix[1:].lower(), partial)
    return path


def _discover_map(release: MapRelease, name: Callable[[MapNode], str]) -> Hashable | None:
    """The process tree of a map, by the inductive miner on directly-follows graphs; None without pairs.

    The miner needs a way from the start to the end through every activity. Where noise has hidden it, one is added.
    """
    from pm4py import discover_process_tree_inductive
    from pm4py.objects.dfg.obj import DFG
    from pm4py.objects.process_tree.utils.generic import tree_sort

    pairs, starts, ends = release.graph(name)
    if not pairs and not starts and not ends:
        return None
    forward, backward = _shortest(pairs, starts), _shortest({(b, a): n for (a, b), n in pairs.items()}, ends)
    nodes = {*starts, *ends, *(name for pair in pairs for name in pair)}
    starts = starts | dict.fromkeys(sorted(nodes - forward.keys()), 1)
    ends = ends | dict.fromkeys(sorted(nodes - backward.keys()), 1)
    graph = DFG(dict(sorted(pairs.items())), dict(sorted(starts.items())), dict(sorted(ends.items())))
    try:
        tree: Hashable = discover_process_tree_inductive(graph, noise_threshold=NOISE_THRESHOLD, multi_processing=False)
    except IndexError:  # pm4py fails where a part of the graph has no way from the start to the end
        tree = _discover(_walks(pairs, starts, ends))
    tree_sort(tree)
    return tree


def _walks(pairs: Mapping[tuple[str, str], int], starts: Iterable[str], ends: Iterable[str]) -> Cases:
    """For every pair, the shortest trace through it from the start to the end: a log with these pairs and no others."""
    first = _shortest(pairs, starts)
    last = _shortest({(after, before): cases for (before, after), cases in pairs.items()}, ends)
    through = {(*first[before], *reversed(last[after])): cases for (before, after), cases in sorted(pairs.items())}
    return frozenset(({(*first[name], *reversed(last[name][:-1])): 1 for name in sorted(first)} | through).items())


def _shortest(pairs: Mapping[tuple[str, str], int], starts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    ways: dict[str, tuple[str, ...]] = {name: (name,) for name in sorted(starts)}
    queue = list(ways)
    for name in queue:  # which grows
        for before, after in sorted(pairs):
            if before == name and after not in ways:
                ways[after] = (*ways[name], after)
                queue.append(after)
    return ways


def _write_tree(tree: Any, form: str, path: Path) -> None:
    """Write a model by pm4py's exporters, which take the format from the name."""
    import pm4py

    target = path.with_name(f"{path.name}.{form}")
    try:
        if form == "pnml":
            net, initial, final = pm4py.convert_to_petri_net(tree)
            net.name = "model"  # pm4py's own name contains the time
            pm4py.write_pnml(net, initial, final, str(target))
        elif form == "bpmn":
            pm4py.write_bpmn(pm4py.convert_to_bpmn(tree), str(target), auto_layout=False)
        else:
            pm4py.write_ptml(tree, str(target), auto_layout=False)
        target.replace(path)
    finally:
        target.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------------- reference models

MOST_STATES = 20_000
_MODEL = "reference_model"


def rules_of_model(path: Path) -> Rules:
    """The footprints of a BPMN model, Petri net or process tree: with which activities it starts and ends, and its pairs."""
    form = path.suffix[1:].lower()
    with _pm4py("reference models"):
        import pm4py

        try:
            model = getattr(pm4py, f"read_{form}")(str(path))
            net, initial, final = model if form == "pnml" else pm4py.convert_to_petri_net(model)
        except Exception as error:  # whatever is in the file
            raise ParameterError(
                f"{path}: cannot be read ({type(error).__name__}); use a valid .bpmn, .pnml or .ptml file", field=_MODEL
            ) from None
        return _footprints(path, net, initial, final)


def _footprints(path: Path, net: Any, initial: Any, final: Any) -> Rules:
    """Found on all reachable markings, each with the activity that came last."""
    from pm4py.objects.petri_net.semantics import enabled_transitions, execute

    pairs, ends = set[tuple[str, str]](), set[str]()
    states: list[tuple[str, Any]] = [("", initial)]
    seen = set(states)
    for last, marking in states:  # which grows
        if marking == final:
            ends.add(last)
        for transition in enabled_transitions(net, marking):
            activity = transition.label or last
            if transition.label:
                pairs.add((last, activity))
            if (state := (activity, execute(transition, net, marking))) not in seen:
                seen.add(state)
                states.append(state)
        if len(states) > MOST_STATES:
            raise ParameterError(f"{path}: has more than {MOST_STATES:,} states; use a smaller model", field=_MODEL)
    if not ends - {""}:
        raise ParameterError(f"{path}: no activity leads from its start to its end; use a sound model", field=_MODEL)
    return Rules(
        starts_with=tuple(sorted(activity for last, activity in pairs if not last)),
        ends_with=tuple(sorted(ends - {""})),
        follows=tuple(f"{last} > {activity}" for last, activity in sorted(pairs) if last),
    )


def _cases(log: Counts | Log) -> Cases:
    """The log as a value. pm4py supports one column only: the columns of an activity are joined without commas."""
    return frozenset((tuple(map(_name, variant)), count) for variant, count in log.items())


def _name(activity: Activity) -> str:
    return activity if isinstance(activity, str) else " + ".join(map(repr, activity))


@contextlib.contextmanager
def _pm4py(purpose: str) -> Iterator[None]:
    """pm4py, imported without its banner and used without its warnings."""
    nowhere = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                import pm4py  # noqa: F401
        except ImportError:
            raise MissingExtraError(purpose, "models") from None
        yield


@functools.lru_cache(maxsize=16)
def _discover(cases: Cases) -> Hashable:
    """The process tree of a log. pm4py sorts trees and compares them by structure: equal models are equal keys."""
    # What `pm4py.discover_process_tree_inductive` does once it has counted the cases of every variant.
    from pm4py.algo.discovery.inductive.dtypes.im_ds import IMDataStructureUVCL
    from pm4py.algo.discovery.inductive.variants.imf import IMFUVCL
    from pm4py.objects.process_tree.utils.generic import fold, tree_sort

    options = {"noise_threshold": NOISE_THRESHOLD, "multiprocessing": False}
    tree: Hashable = fold(IMFUVCL(options).apply(IMDataStructureUVCL(Counter(dict(sorted(cases)))), options))
    tree_sort(tree)
    return tree


@functools.lru_cache(maxsize=1024)
def _scores(cases: Cases, tree: Hashable) -> tuple[float, float]:
    """Fitness and precision of a log on a model: releases that lead to the same model are replayed once.

    Fitness is ½(1 − missing/consumed) + ½(1 − remaining/produced), of the tokens of all cases. Precision is
    1 − escaping/offered, of the activities that the model offers the cases after each prefix that fits: no step so far
    had a token missing.
    """
    from pm4py import convert_to_petri_net

    model = _Model(*convert_to_petri_net(tree))
    taken: Counter[_Step] = Counter()
    steps = [model.start]  # the last one of every prefix
    prefixes: dict[tuple[int, str], int] = {}  # each by the one before and its last event
    going_on, following = Counter[int](), defaultdict[int, set[str]](set)  # after each prefix that fits
    for variant, count in cases:
        prefix, fits = 0, True
        for activity in variant:
            taken[steps[prefix]] += count
            if fits:
                going_on[prefix] += count
                following[prefix].add(activity)
            if (prefix, activity) not in prefixes:
                prefixes[prefix, activity] = len(steps)
                steps.append(model.step(steps[prefix].marking, activity))
            prefix = prefixes[prefix, activity]
            fits = fits and not steps[prefix].missing
        taken[steps[prefix]] += count
        taken[model.finish(steps[prefix].marking)] += count
    missing = sum(count * step.missing for step, count in taken.items())
    consumed = sum(count * step.consumed for step, count in taken.items())
    produced = sum(count * step.produced for step, count in taken.items())
    produced += sum(count for _, count in cases)  # the token in the source, with which every case begins
    remaining = produced + missing - consumed
    offered = sum(len(steps[prefix].offers) * count for prefix, count in going_on.items())
    escaping = sum(len(steps[prefix].offers - following[prefix]) * count for prefix, count in going_on.items())
    fitness = 0.5 * (1 - missing / consumed) + 0.5 * (1 - remaining / produced)
    return fitness, 1 - escaping / offered if offered else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """What an event or the end of a trace does: where it leads, the tokens that this takes, and what can come next."""

    marking: Any
    missing: int
    consumed: int
    produced: int
    offers: frozenset[str]


class _Model:
    """A Petri net of the inductive miner, and pm4py's replay on it. Results are cached."""

    def __init__(self, net: Any, initial: Any, final: Any) -> None:
        from pm4py.algo.conformance.tokenreplay.variants import token_replay

        depth = token_replay.TechnicalParameters.MAX_REC_DEPTH.value
        self.routes = token_replay.get_places_shortest_path_by_hidden(net, depth)
        self.net, self.final = net, final
        self.step = functools.cache(lambda marking, event: self._ask(marking, [event], {}))
        self.finish = functools.cache(lambda marking: self._ask(marking, [], self.final))
        self.start = self._ask(initial, [], {})

    def _ask(self, marking: Any, events: list[str], final: Any) -> _Step:
        """Replay from a marking. The final one, if there is one, is to be reached and its tokens are consumed."""
        from pm4py.algo.conformance.tokenreplay.algorithm import apply as replay
        from pm4py.objects.log.obj import Event, EventLog, Trace

        log = EventLog([Trace([Event({"concept:name": event}) for event in events])])
        parameters = {
            "show_progress_bar": False,
            "try_to_reach_final_marking_through_hidden": bool(final),
            "places_shortest_path_by_hidden": self.routes,
        }
        (answer,) = replay(log, self.net, marking, final, parameters)
        return _Step(
            marking=answer["reached_marking"],
            missing=answer["missing_tokens"],
            consumed=answer["consumed_tokens"],
            produced=answer["produced_tokens"] - sum(marking.values()),  # where pm4py counts those it began with
            offers=frozenset(transition.label for transition in answer["enabled_transitions_in_marking"]),
        )
