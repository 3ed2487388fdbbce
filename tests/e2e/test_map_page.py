"""The page of a process map in a browser: it runs under its own policy, requests nothing, filters and shows numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing

from travas import process_map
from travas.model.traces import Trace

HOSTILE = "<img src=x onerror=window.hacked=1>"
LOG: dict[Trace, int] = {("a", "b", "c"): 3000, ("a", HOSTILE, "c"): 900, ("a", "c"): 400}


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Any]:
    path = process_map(LOG, epsilon=2, delta="1e-6").write(tmp_path / "map.html")
    with browsing() as browser:
        tab = browser.new_page()
        tab.requested, tab.broken = [], []
        tab.on("request", lambda request: tab.requested.append(request.url))
        tab.on("pageerror", lambda error: tab.broken.append(str(error)))
        tab.on("console", lambda line: tab.broken.append(line.text))
        tab.goto(path.as_uri())
        yield tab
        assert tab.requested == [path.as_uri()] and tab.broken == []


def test_the_page_filters_searches_zooms_and_shows_numbers(page: Any) -> None:
    page.locator("#map[data-shown]").wait_for()
    assert page.evaluate("window.hacked") is None and page.locator("img").count() == 0
    visible = page.locator(".pair:not(.hidden)")
    every = visible.count()
    assert every >= 6
    page.get_by_label("Activities").fill("1")
    assert visible.count() < every
    page.get_by_label("Activities").fill(page.get_by_label("Activities").get_attribute("max"))
    assert visible.count() == every
    page.get_by_label("Find").fill("onerror")
    assert page.locator(".node:not(.faint)", has_text="onerror").count() == 1
    assert 2 <= page.locator(".pair:not(.faint)").count() < every
    page.get_by_label("Find").fill("")
    picture = page.locator("#map svg")
    before = float(picture.get_attribute("viewBox").split()[2])
    page.get_by_role("button", name="Zoom in").click()
    assert float(picture.get_attribute("viewBox").split()[2]) < before
    page.get_by_role("button", name="Fit the whole map").click()
    page.locator(".pair .label").first.hover(force=True)
    assert "95 %" in page.get_by_role("status").text_content()
