"""The maps of two public logs open readable, on a screen and on a phone, in light and in dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from map_measures import SCHEMES, SCREENS, measured

import travas
from travas.sources.example_log import PAPER_LOG


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


def test_one_release_gives_the_same_map_everywhere(browser: Any, tmp_path: Path) -> None:
    """Boxes of the static picture are where those of the page are, in a window in which all of it is readable."""
    counts = {trace: 40 * cases for trace, cases in PAPER_LOG.items()}
    release = travas.process_map(counts, epsilon=1, delta="1e-6")
    picture, page = release.write(tmp_path / "map.svg"), release.write(tmp_path / "map.html")
    tab = browser.new_page(viewport={"width": 1800, "height": 2000})
    where = """(selector) => [...document.querySelectorAll(selector)].map((one) => {
      const box = one.getBoundingClientRect();
      return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
    })"""
    found = []
    for file, selector in ((picture, "g rect"), (page, ".node rect")):
        tab.goto(file.as_uri())
        if file == page:
            tab.locator("[data-ready]").wait_for()
        places = tab.evaluate(where, selector)
        scale = max(y for _, y in places) - min(y for _, y in places)
        left, top = min(x for x, _ in places), min(y for _, y in places)
        found.append(sorted((round((x - left) / scale, 2), round((y - top) / scale, 2)) for x, y in places))
    assert len(found[0]) == len(found[1]) >= 5
    assert all(
        a == pytest.approx(b, abs=0.011)
        for one, other in zip(*found, strict=True)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("name", ["sepsis", "bpic2012"])
def test_a_map_opens_readable(name: str, data: Path, browser: Any, tmp_path: Path) -> None:
    parts = ["durations", "rework", "throughput"]
    release = travas.process_map(next(data.glob(f"{name}.*")), epsilon=1, delta="1e-6", parts=parts)
    page = release.write(tmp_path / "map.html")
    for screen, scheme in zip((*SCREENS, *SCREENS), (*SCHEMES, *reversed(SCHEMES)), strict=True):
        found = measured(browser, page, screen, scheme)
        assert found["through"] == found["over"] == found["cut"] == 0 and found["label"] >= 11, (screen, scheme, found)
        assert found["paths"] >= 8 and found["kilobytes"] <= 1600
