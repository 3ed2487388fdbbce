"""The maps of two public logs open readable, on a screen and on a phone, in light and in dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from map_measures import SCHEMES, SCREENS, measured

import travas
from travas.plots.html import map_assets, render
from travas.plots.map_graph import compared_graph, release_graph


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sepsis", "bpic2012"])
def test_a_map_opens_readable(name: str, data: Path, browser: Any, tmp_path: Path) -> None:
    parts = ["durations", "rework", "throughput"]
    release = travas.process_map(next(data.glob(f"{name}.*")), epsilon=1, delta="1e-6", parts=parts)
    page = release.write(tmp_path / "map.html")
    for screen, scheme in zip((*SCREENS, *SCREENS), (*SCHEMES, *reversed(SCHEMES)), strict=True):
        found = measured(browser, page, screen, scheme)
        assert found["through"] == found["over"] == found["cut"] == 0 and found["label"] >= 11, (screen, scheme, found)
        assert found["paths"] >= 12 and found["kilobytes"] <= 1600
        assert screen == "phone" or found["paths"] == len(release_graph(release).first.paths)


def test_the_handle_wipes_between_the_original_and_the_release(browser: Any, tmp_path: Path) -> None:
    """No number is cut into a false one: under the handle it is hidden."""
    graph = compared_graph({(None, "a"): 1011, ("a", None): 1011}, {(None, "a"): 791, ("a", None): 1000}, "cases")
    page = tmp_path / "compared.html"
    values = {"title": "Compared", "about": "", "model": graph.model(), **map_assets("")}
    page.write_text(render("travas.outputs", "map_page.html", values))
    tab = browser.new_page(viewport={"width": 800, "height": 600})
    tab.goto(page.as_uri())
    tab.locator("[data-ready]").wait_for()
    handle, number = tab.get_by_role("slider", name="Between the original log"), tab.locator(".original .number")
    assert tab.locator(".cut").count() == 0 and number.text_content() == "1,011"
    assert tab.locator(".count .path.lost").count() == tab.locator(".count .path.kept").count() == 2  # line and label
    start, end = handle.bounding_box(), number.bounding_box()
    tab.mouse.move(start["x"] + start["width"] / 2, start["y"] + 40)
    tab.mouse.down()
    tab.mouse.move(end["x"] + end["width"] / 2, start["y"] + 40)
    tab.mouse.up()
    moved = handle.bounding_box()
    assert moved["x"] + moved["width"] / 2 == pytest.approx(end["x"] + end["width"] / 2, abs=1)
    assert tab.locator(".number.cut").count() == 2
    handle.press("Home")
    assert handle.get_attribute("aria-valuenow") == "0" and tab.locator(".cut").count() == 0
