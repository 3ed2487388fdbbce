"""The page of a process map that travas writes, in a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from playwright.sync_api import expect

import travas

HOSTILE = "<img src=x onerror=window.hacked=1>"
expect.set_options(timeout=120_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


def test_the_page_of_a_map_filters_searches_zooms_and_shows_numbers(browser: Any, tmp_path: Path) -> None:
    """It runs under its own policy, and requests nothing."""
    counts: dict[Any, int] = {("a", "b", "c"): 3000, ("a", HOSTILE, "c"): 900, ("a", "c"): 400}
    path = travas.process_map(counts, epsilon=2, delta="1e-6").write(tmp_path / "map.html")
    requested, broken = [], []
    page = browser.new_page()
    page.on("request", lambda request: requested.append(request.url))
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.on("console", lambda line: broken.append(line.text))
    page.goto(path.as_uri())
    page.locator("[data-ready]").wait_for()
    assert page.evaluate("window.hacked") is None and page.locator("img").count() == 0
    visible = page.locator(".lines .path")
    every = visible.count()
    assert every >= 6
    activities = page.get_by_label("Activities")
    activities.fill("1")
    expect(visible).not_to_have_count(every)
    activities.fill(activities.get_attribute("max"))
    expect(visible).to_have_count(every)
    page.get_by_label("Find").fill("onerror")
    expect(page.locator(".node:not(.faint)", has_text="onerror")).to_have_count(1)
    expect(page.locator(".lines .path:not(.faint)")).not_to_have_count(every)
    page.get_by_label("Find").fill("")
    expect(page.locator(".lines .path:not(.faint)")).to_have_count(every)
    picture = page.locator(".map-picture")
    whole = picture.get_attribute("viewBox")
    page.get_by_role("button", name="Zoom in").click()
    expect(picture).not_to_have_attribute("viewBox", whole)
    page.get_by_role("button", name="Fit the whole map").click()
    page.locator(".labels .label").first.hover(force=True)
    expect(page.locator(".map-tip")).to_contain_text("95 %")
    page.get_by_role("button", name="Move tokens").click()
    assert page.locator(".token").count() > 0
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the map as SVG").click()
    assert "<svg" in Path(download.value.path()).read_text()
    assert {one for one in requested if not one.startswith(("blob:", "data:"))} == {path.as_uri()} and broken == []
    page.close()
