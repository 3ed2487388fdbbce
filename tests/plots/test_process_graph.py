"""What a process map shows, and where: plain values and pictures, without a browser."""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import travas
from travas.errors import MissingExtraError
from travas.log.questions import Details
from travas.plots.map_graph import (
    COVERED,
    END,
    FEW_PATHS,
    MANY_PATHS,
    START,
    ProcessGraph,
    compared_graph,
    directly_follows,
    release_graph,
    steps_of,
)
from travas.plots.map_picture import map_svg, picture_or_reason
from travas.sources.example_log import PAPER_LOG, ExampleLog

HOSTILE = '</text></script><script>alert(1)</script>"&\x07'
GRAPH = directly_follows(list(PAPER_LOG), list(PAPER_LOG.values()))


def random_graph(activities: int, paths: int, seed: int) -> ProcessGraph:
    """Traces that follow a chain with jumps, so that there is a main road and much beside it."""
    random = np.random.default_rng(seed)
    log: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for _ in range(paths):
        at, trace = 0, list[str]()
        while at < activities and len(trace) < 60:
            trace.append(str(at))
            at = max(0, at + int(random.choice([1, 1, 1, 1, 2, 3, -1, -2])))
        log[tuple(trace)] += float(random.pareto(1) * 10)
    return directly_follows(list(log), list(log.values()))


def reached(graph: ProcessGraph, start: str, backwards: bool) -> set[str]:
    """The nodes to which a way leads from a node."""
    found, waiting = {start}, [start]
    while waiting:
        key = waiting.pop()
        for path in graph.paths:
            before, after = (path.after, path.before) if backwards else (path.before, path.after)
            if before == key and after not in found:
                found.add(after)
                waiting.append(after)
    return found


def test_the_graph_counts_steps() -> None:
    keys = {node.name: node.key for node in GRAPH.nodes}
    counts = {node.name: node.count for node in GRAPH.nodes}
    paths = {path.edge: path.count for path in GRAPH.paths}
    assert counts["register"] == 43 and paths[keys["register"], keys["visit"]] == 35
    assert paths[keys["blood-test"], keys["blood-test"]] == 5
    assert sum(paths.values()) == sum((len(trace) + 1) * count for trace, count in PAPER_LOG.items())
    assert GRAPH.by_names["register", "visit"] == 35 and GRAPH.by_names[None, "register"] == 43
    assert steps_of([("a", "a", "a"), ("a",)], [10.4, 2.3], "cases") == {
        (None, "a"): 12.7,
        ("a", "a"): 10.4,
        ("a", None): 12.7,
    }


@pytest.mark.parametrize("graph", [GRAPH, *(random_graph(size, 40 * size, size) for size in (4, 12, 25, 60))])
def test_a_map_opens_with_few_paths_that_connect_and_cover(graph: ProcessGraph) -> None:
    step, number = graph.opening
    first = graph.first
    keys = {node.key for node in first.nodes}
    assert reached(first, START, False) == reached(first, END, True) == keys and len(first.paths) == number
    assert number <= MANY_PATHS or step == 1  # a long road to the most frequent activity
    total, covered = (sum(path.count for path in one.paths) for one in (graph, first))
    if covered < COVERED * total:  # then 30 paths cannot
        most = max(sum(path.count for path in graph.part(at, MANY_PATHS).paths) for at in range(step + 1))
        assert covered >= 0.9 * most
    elif number > FEW_PATHS:
        fewer = (graph.part(at, number - 1) for at in range(max(graph.steps[0].values()) + 1))
        assert all(sum(path.count for path in one.paths) < COVERED * total or len(one.paths) >= number for one in fewer)
    for at in range(max(graph.steps[0].values()) + 1):  # and at every place of the slider
        part = graph.part(at, 0)
        assert reached(part, START, False) == {node.key for node in part.nodes} or not part.paths
    assert graph.part(10**6, 10**6).paths == graph.paths


def test_an_activity_may_be_named_like_a_terminal() -> None:
    graph = directly_follows([("start", "end")], [3])
    assert len(graph.nodes) == 4 and len(graph.paths) == 3


def test_a_page_of_a_map_is_small_and_names_cannot_end_its_model(tmp_path: Path) -> None:
    counts: dict[Any, int] = {("a", HOSTILE): 3000}
    page = travas.process_map(counts, epsilon=2, delta="1e-6").write(tmp_path / "map.html").read_text()
    assert len(page.encode()) < 1_600_000 and page.count("</script>") == 3
    model = json.loads(page.partition('<script type="application/json">')[2].partition("</script>")[0])
    assert "</script>" in next(one["name"] for one in model["activities"] if "alert" in one["name"])


def test_without_pygraphviz_the_picture_is_left_out_with_the_name_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(MissingExtraError, match="plot"):
        map_svg(GRAPH)
    svg, reason = picture_or_reason(GRAPH)
    assert svg == "" and "travas[plot]" in reason
    counts = {trace: 100 * count for trace, count in PAPER_LOG.items()}
    page = travas.process_map(counts, epsilon=2, delta="1e-4")._repr_html_()
    assert "<svg" not in page and "travas[plot]" in page


def test_a_map_with_all_parts_has_times_intervals_rework_and_throughput() -> None:
    counts = travas.read(ExampleLog(), travas.Reading(details=Details(times="if recorded")))
    mechanism = travas.ProcessMap(1, "1e-6", parts=("durations", "rework", "throughput"))
    release = mechanism.release(counts)
    graph = release_graph(release)
    assert graph.times == "measured" and any(path.time for path in graph.paths)
    assert all(path.uncertain == (path.interval is not None and path.interval[0] <= 0) for path in graph.paths)
    assert any(node.repeated for node in graph.nodes) and graph.throughput is not None
    assert sum(share for _, share, _ in graph.throughput.bars) == pytest.approx(1)
    assert sum(is_median for *_, is_median in graph.throughput.bars) == 1
    assert isinstance(release, travas.MapRelease) and release.throughput is not None
    assert json.loads(json.dumps(graph.model()))["throughput"]["seconds"] == release.throughput.median


def test_the_times_of_a_synthetic_log_are_those_of_its_events(tmp_path: Path) -> None:
    log = travas.read(ExampleLog(), travas.Reading(details=Details(times="if recorded")))
    release = travas.Synthesis(1, "1e-6", times=travas.Times()).release(log)
    graph = release_graph(release)
    frame = release.to_polars()
    assert graph.times == "generated" and graph.throughput is not None
    spans = [
        one["time:timestamp"].max() - one["time:timestamp"].min() for one in frame.partition_by("case:concept:name")
    ]
    median = float(np.median([span.total_seconds() for span in spans]))
    assert graph.throughput.quartiles.median == pytest.approx(median)


def test_both_logs_are_on_one_map() -> None:
    graph = compared_graph({(None, "a"): 10, ("a", None): 10}, {(None, "a"): 8, ("b", None): 3}, "cases")
    names = {node.key: node.name for node in graph.nodes}
    found = {(names[path.before], names[path.after]): (path.original, path.count) for path in graph.paths}
    assert found == {("start", "a"): (10, 8), ("a", "end"): (10, 0), ("b", "end"): (0, 3)}
    assert graph.headline == "40 % of the original's steps are in the release"
