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
    assert page.evaluate("window.hacked") is None and page.locator("img").count() == 0
    visible = page.locator(".pair:not(.hidden)")
    every = visible.count()
    assert every >= 6
    page.locator("#filter").fill(page.locator("#filter").get_attribute("max"))
    assert visible.count() < every
    page.locator("#filter").fill("0")
    assert visible.count() == every
    page.locator("#search").fill("onerror")
    assert page.locator(".pair.faint").count() >= 3
    page.locator("#search").fill("")
    before = float(page.locator("#map svg").get_attribute("width"))
    page.locator("#closer").click()
    assert float(page.locator("#map svg").get_attribute("width")) > before
    page.locator("#whole").click()
    page.locator(".node").first.hover()
    page.locator(".pair text").first.hover(force=True)
    assert "95 %" in page.locator("#detail").text_content()
