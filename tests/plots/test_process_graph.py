"""What a process map shows, and where: plain values and pictures, without a browser."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from travas.plots.map_dot import dot_source, graphviz_layout, parsed
from travas.plots.map_graph import END, START, directly_follows
from travas.plots.map_layout import Sizes, layered
from travas.plots.map_picture import drawing, map_svg
from travas.plots.svg import text_width, wrapped
from travas.sources.example_log import PAPER_LOG

HOSTILE = '</text><script>alert(1)</script>"&\x07'
GRAPH = directly_follows(list(PAPER_LOG), list(PAPER_LOG.values()))


def test_the_graph_counts_steps() -> None:
    keys = {node.name: node.key for node in GRAPH.nodes}
    counts = {node.name: node.count for node in GRAPH.nodes}
    pairs = {pair.edge: pair.count for pair in GRAPH.pairs}
    assert counts["register"] == 43 and pairs[keys["register"], keys["visit"]] == 35
    assert pairs[keys["blood-test"], keys["blood-test"]] == 5
    assert sum(pairs.values()) == sum((len(trace) + 1) * count for trace, count in PAPER_LOG.items())
    ranked = [pair.count for pair in GRAPH.pairs]
    assert ranked == sorted(ranked, reverse=True)


def test_estimates_need_not_be_whole_numbers() -> None:
    graph = directly_follows([("a", "b"), ("a",)], [10.4, 2.3])
    assert {node.name: node.below for node in graph.nodes if node.name in "ab"} == {"a": "13", "b": "10"}


def test_every_activity_keeps_its_strongest_way_in_and_out() -> None:
    many = {tuple(f"{(i * j) % 25}" for j in range(12)): i + 1 for i in range(200)}
    large = directly_follows(list(many), list(many.values()))
    small = large.most_frequent(10, 12)
    assert len(small.nodes) == 12 and len(small.pairs) < len(large.pairs)
    inner = {node.key for node in small.nodes} - {START, END}
    ways = [pair for pair in small.pairs if pair.before != pair.after]
    assert inner <= {pair.before for pair in ways} and inner <= {pair.after for pair in ways}
    assert small.captions == (f"{len(large.pairs) - len(small.pairs):,} rarer pairs are not shown.",)
    assert large.most_frequent(100, 10_000).pairs == large.pairs


def test_an_activity_may_be_named_like_a_terminal() -> None:
    graph = directly_follows([("start", "end")], [3])
    assert len(graph.nodes) == 4 and len(graph.pairs) == 3


def test_pictures_are_xml_and_names_are_text() -> None:
    log = {("a", HOSTILE, "a", "a"): 5, ((HOSTILE,) * 70): 2, ("a",): 1}
    for graph in (directly_follows(list(log), list(log.values())), directly_follows([], [])):
        root = ElementTree.fromstring(map_svg(graph))
        assert root.get("aria-label") and root.get("role") == "img"
        assert not [element for element in root.iter() if element.tag.endswith("script")]
        assert all(not name.startswith("on") and name != "style" for element in root.iter() for name in element.attrib)


def test_no_name_reaches_graphviz() -> None:
    log = {("secret name", HOSTILE): 5}
    graph = directly_follows(list(log), list(log.values()))
    sizes = Sizes({node.key: (80, 40) for node in graph.nodes}, {pair.edge: (20, 14) for pair in graph.pairs})
    source = dot_source(graph, sizes)
    assert "n0 [width=1.111" in source and "start -> " in source
    assert "secret" not in source and "script" not in source


FOUND = {
    "bb": "0,0,100,200",
    "objects": [
        {"_gvid": 0, "name": "start", "pos": "50,180"},
        {"_gvid": 1, "name": "n0", "pos": "50,20"},
        {"_gvid": 2, "name": "%3"},
    ],
    "edges": [{"tail": 0, "head": 1, "pos": "50,160 50,120 50,80 50,40", "lp": "60,100"}],
}


def test_the_layout_of_graphviz_is_read_from_the_top() -> None:
    found = parsed(FOUND)
    assert found.at["start"][1] < found.at["n0"][1] and found.at["n0"][1] - found.at["start"][1] == 160
    route = found.routes["start", "n0"]
    assert route.start[1] == found.at["start"][1] + 20 and route.curves[-1][-1][1] == found.at["n0"][1] - 20
    assert route.label_at[0] == route.start[0] + 10


@pytest.mark.parametrize(
    ("program", "works"),
    [('cat > /dev/null; cat "$0.json"', True), ("exit 1", False), ("cat > /dev/null; echo '{}'", False)],
)
def test_the_program_dot_is_used_where_it_is_installed(
    program: str, works: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that fails or answers something else leaves the layout to our own layouter."""
    dot = tmp_path / "dot"
    dot.write_text(f"#!/bin/sh\n{program}\n")
    dot.chmod(0o700)
    (tmp_path / "dot.json").write_text(json.dumps(FOUND))
    sizes = Sizes({node.key: (80, 40) for node in GRAPH.nodes}, {pair.edge: (20, 14) for pair in GRAPH.pairs})
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert graphviz_layout(GRAPH, sizes) == (parsed(FOUND) if works else None)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert graphviz_layout(GRAPH, sizes) is None


def test_our_own_layouter_places_every_part() -> None:
    plan = drawing(GRAPH, layered(GRAPH, Sizes({n.key: (120, 40) for n in GRAPH.nodes}, {})))
    tops = {drawn.node.key: drawn.at[1] for drawn in plan.nodes}
    assert min(tops, key=lambda key: tops[key]) == START and max(tops, key=lambda key: tops[key]) == END
    places = [drawn.at for drawn in plan.nodes]
    assert len(set(places)) == len(places) and all(drawn.route.curves for drawn in plan.pairs)


def test_names_are_broken_into_two_lines_that_fit() -> None:
    assert wrapped("short", 12, 150) == ("short",)
    for text in ("Confirmation of receipt of the application by mail", "W" * 60, "x " * 50):
        lines = wrapped(text, 12, 150)
        assert len(lines) == 2 and all(text_width(line, 12) <= 150 for line in lines)
