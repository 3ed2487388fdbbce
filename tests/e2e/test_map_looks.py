"""The maps of two public logs open readable, on a screen and on a phone, in light and in dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from map_measures import SCHEMES, SCREENS, measured

import travas


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
        assert found["paths"] >= 8 and found["kilobytes"] <= 1600
