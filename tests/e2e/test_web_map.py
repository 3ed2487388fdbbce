"""The process map in a browser: layout by Graphviz under the app's policy, filters, zoom, hovering and export."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from browser import browsing
from map_harness import FAULTS, serving_maps

import travas
from conftest import DATA
from travas.plots.map_graph import END, START, GraphNode, GraphPair, ProcessGraph, directly_follows
from travas.sources.example_log import PAPER_LOG

HOSTILE = '<img src=x onerror=window.hacked=1>"\\N&#60;'
LAYOUT_BAR, REDRAW_BAR = 500, 100  # milliseconds

LOGS = sorted(path.name for path in DATA.glob("*.gz"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture
def show(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page with maps and waits until they are laid out. Nothing may be refused by the policy."""
    closing = []

    def opened(*graphs: ProcessGraph, name: str = "map") -> Any:
        server = serving_maps(graphs, name)
        address = server.__enter__()
        tab = browser.new_page(viewport={"width": 1440, "height": 900}, accept_downloads=True)
        tab.set_default_timeout(30_000)
        closing.append((server, tab))
        tab.broken, tab.foreign = [], []
        tab.on("console", lambda line: tab.broken.append(line.text))
        tab.on("pageerror", lambda error: tab.broken.append(str(error)))
        tab.on("request", lambda ask: ask.url.startswith((address, "data:")) or tab.foreign.append(ask.url))
        tab.goto(address)
        tab.locator("#map[data-shown]").wait_for()
        return tab

    yield opened
    for server, tab in closing:
        assert tab.broken == [] and tab.foreign == []
        tab.close()
        server.__exit__(None, None, None)


def slide(tab: Any, label: str, value: int) -> None:
    """Move a slider and wait until the map shows it."""
    tab.evaluate("delete document.getElementById('map').dataset.shown")
    tab.get_by_label(label).fill(str(value))
    tab.locator("#map[data-shown]").wait_for()


def graph_of(name: str) -> ProcessGraph:
    log = dict(travas.read(DATA / name).items())
    return directly_follows(list(log), list(log.values())).most_frequent(100, 400)


def hospital() -> ProcessGraph:
    return directly_follows(list(PAPER_LOG), list(PAPER_LOG.values()))


def check_bars(tab: Any) -> None:
    """The bars of a map at the default sliders. The first layout waits for Graphviz; a second one is measured."""
    for _ in range(2):
        found = tab.evaluate(FAULTS)
        assert found["nodes"] <= 40 and 0 < found["pairs"] <= 80
        wrong = {
            name: found[name] for name in ("labels", "labelsOnBoxes", "boxes", "outside", "through") if found[name]
        }
        assert wrong == {}
        paths = tab.get_by_label("Paths")
        slide(tab, "Paths", max(1, int(paths.input_value()) - 1))
        assert int(tab.locator("#map").get_attribute("data-redraw")) <= REDRAW_BAR
        assert int(tab.locator("#map").get_attribute("data-layout")) <= LAYOUT_BAR


def test_no_overlaps_and_no_arrows_through_boxes(show: Callable[..., Any]) -> None:
    check_bars(show(hospital()))


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
def test_the_limits_hold_on_every_public_log(name: str, show: Callable[..., Any]) -> None:
    check_bars(show(graph_of(name)))


def test_the_sliders_choose_what_the_server_would(show: Callable[..., Any]) -> None:
    many = {tuple(f"{(i * j) % 25}" for j in range(12)): i + 1 for i in range(200)}
    graph = directly_follows(list(many), list(many.values()))
    tab = show(graph)
    for activities, paths in ((20, 45), (8, 45), (8, 12), (25, 200)):
        slide(tab, "Activities", activities)
        slide(tab, "Paths", paths)
        expected = graph.most_frequent(activities, paths)
        pairs = tab.locator(".pair:not(.hidden)").evaluate_all(
            "all => all.map((one) => [one.dataset.before, one.dataset.after])"
        )
        assert {tuple(pair) for pair in pairs} == {pair.edge for pair in expected.pairs}
        assert tab.locator(".node:not(.hidden)").count() == len(expected.nodes)


def test_hovering_shows_paths_and_numbers_and_names_are_text(show: Callable[..., Any]) -> None:
    log = {("a", HOSTILE, "c"): 900, ("a", "b", "c"): 3000}
    tab = show(directly_follows(list(log), list(log.values())))
    assert tab.evaluate("window.hacked") is None and tab.locator("img").count() == 0
    tab.locator(".node", has_text="b").first.hover()
    assert tab.get_by_role("status").text_content() == "b\n3,000 times"
    assert tab.locator(".pair.faint").count() == 4 and tab.locator(".node.faint").count() == 3
    tab.get_by_label("Find").fill("onerror")
    tab.mouse.move(0, 0)
    assert tab.locator(".pair:not(.faint)").count() == 2
    hostile = tab.locator(".node", has_text="<img").locator("title").text_content()
    assert hostile == f"{HOSTILE}\n900 times"


def test_zoom_fit_and_keys(show: Callable[..., Any]) -> None:
    tab = show(hospital())
    picture = tab.locator(".map-frame svg")

    def width() -> float:
        return float(picture.get_attribute("viewBox").split()[2])

    tab.get_by_role("button", name="Fit the whole map").click()
    whole = width()
    tab.get_by_role("button", name="Zoom in").click()
    assert width() < whole
    tab.get_by_role("button", name="Zoom out").click()
    assert abs(width() - whole) < 1
    tab.get_by_role("group", name="map 0").focus()
    before = picture.get_attribute("viewBox").split()
    tab.keyboard.press("ArrowRight")
    after = picture.get_attribute("viewBox").split()
    assert float(after[0]) > float(before[0]) and after[1:] == before[1:]
    tab.keyboard.press("+")
    assert width() < whole
    tab.keyboard.press("0")
    assert abs(width() - whole) < 1


def test_export_has_what_is_shown_only(show: Callable[..., Any], tmp_path: Path) -> None:
    tab = show(hospital())
    slide(tab, "Paths", 5)
    shown = tab.locator(".pair:not(.hidden)").count()
    for words, suffix in (("Export as SVG", ".svg"), ("Export as PNG", ".png")):
        with tab.expect_download() as download:
            tab.get_by_role("button", name=words).click()
        assert download.value.suggested_filename == f"map{suffix}"
        download.value.save_as(tmp_path / f"map{suffix}")
    root = ElementTree.parse(tmp_path / "map.svg").getroot()
    assert len([one for one in root.iter() if one.get("class", "").split()[:1] == ["pair"]]) == shown
    assert not [one for one in root.iter() if one.get("class") == "hit"]
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG" and (tmp_path / "map.png").stat().st_size > 5000


def test_a_map_without_a_name_cannot_be_exported_and_twins_move_together(show: Callable[..., Any]) -> None:
    tab = show(hospital(), hospital(), name="")
    assert tab.get_by_role("button", name="Export").count() == 0
    tab.get_by_role("button", name="Zoom in").click()
    first, second = (picture.get_attribute("viewBox") for picture in tab.locator(".map-frame svg").all())
    assert first == second
    slide(tab, "Paths", 5)
    assert (
        tab.locator(".map-frame").first.locator(".pair:not(.hidden)").count() * 2
        == tab.locator(".pair:not(.hidden)").count()
    )


def test_durations_can_be_shown_instead_of_numbers(show: Callable[..., Any]) -> None:
    nodes = (
        GraphNode(START, "start", "start", 9),
        GraphNode(END, "end", "end", 9),
        GraphNode("n0", "activity", "a", 9),
    )
    pairs = (GraphPair(START, "n0", 9, "9"), GraphPair("n0", END, 9, "9"), GraphPair("n0", "n0", 4, "4", "", 7200.0))
    tab = show(ProcessGraph(nodes, pairs, "cases"))
    line = tab.locator(".pair[data-before=n0][data-after=n0]")
    assert line.locator(".number").is_visible() and not line.locator(".duration").is_visible()
    plain = line.locator("path").first.get_attribute("stroke")
    tab.get_by_label("Show").select_option("duration")
    assert line.locator(".duration").is_visible() and not line.locator(".number").is_visible()
    assert line.locator(".duration").text_content() == "2.0 h"
    assert line.locator("path").first.get_attribute("stroke") != plain
    assert tab.evaluate(FAULTS)["outside"] == 0
