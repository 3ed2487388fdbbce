"""Result and Check in a browser: the three kinds and their panels, the sign-off, the check of our own zip, before and after."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Server, browsing, serving
from playwright.sync_api import expect
from web_flow import drawn, violations, watched

from timed_log import timed_frame
from travas import Ledger
from travas.settings.project import Project
from travas.web.releases import RELEASE, Archive, finish

KINDS: dict[str, dict[str, Any]] = {
    "variants": {"mechanism": "optimal"},
    "synthetic log": {"mechanism": "synthesis", "attributes": ["sex", "age=0,30,60,90"]},
    "process map": {"mechanism": "map", "parts": ["durations", "rework", "throughput"]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("web")
    timed_frame(800).write_csv(found / "clinic.csv")
    return found


def archived(folder: Path, options: dict[str, Any]) -> str:
    """A release in the archive of the server, made without a browser."""
    from travas.web.release import draw

    ledger, archive = Ledger(folder / "ledger.db"), Archive(folder / "ledger.releases")
    if not ledger.accounts():
        ledger.create_budget("clinic", epsilon=20, delta="1e-2")
    values = {"epsilon": "2", "delta": "1e-4", "dataset": "clinic", "ledger": str(ledger.path)} | options
    project = Project(references="refuse").with_values(values)
    record = archive.begin(project, "clinic.csv", ledger.path)
    output = archive.folder(record.id) / RELEASE
    draw(project, str(folder / "clinic.csv"), "clinic.csv", "copy", record.id, output, lambda words, share: None)
    finish(output.parent, record)
    archive.ended(record.id)
    return record.id


@pytest.fixture(scope="module")
def releases(folder: Path) -> dict[str, str]:
    return {kind: archived(folder, options) for kind, options in KINDS.items()}


@pytest.fixture(scope="module")
def server(folder: Path, releases: dict[str, str]) -> Iterator[Server]:
    with serving(folder, "--folder", folder) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as running:
        yield running


@pytest.fixture(scope="module")
def page(browser: Any, server: Server) -> Iterator[Any]:
    context = browser.new_context(accept_downloads=True, viewport={"width": 1280, "height": 800})
    tab = watched(context, server)
    yield tab
    assert not tab.foreign and not tab.broken
    context.close()


def opened(page: Any, server: Server, release: str, panel: str = "") -> None:
    page.goto(f"{server.address}/result/{release}{panel}")
    drawn(page)


@pytest.mark.parametrize("kind", KINDS)
def test_the_map_fills_the_page_and_panels_switch_beside_it(
    page: Any, server: Server, releases: dict[str, str], kind: str
) -> None:
    opened(page, server, releases[kind])
    frame = page.locator(".map-frame").bounding_box()
    assert frame["height"] > 400 and frame["y"] + frame["height"] <= 800
    panels = page.get_by_role("navigation", name="Panels")
    found: list[str] = []
    for name in panels.get_by_role("link").all_inner_texts():
        panels.get_by_role("link", name=name).click()
        expect(panels.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
        drawn(page)
        found += [f"{name}: {problem}" for problem in violations(page)]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not found, "\n".join(found)
    page.go_back()
    expect(panels.get_by_role("link", name="Before and after")).to_have_attribute("aria-current", "page")


def test_the_slider_and_the_search_of_variants(page: Any, server: Server, releases: dict[str, str]) -> None:
    opened(page, server, releases["synthetic log"], "/variants")
    slider = page.get_by_role("slider", name="Share of the generated cases")
    expect(page.locator(".coverage .big")).to_contain_text("80 %")
    slider.press("ArrowLeft")
    expect(page.locator(".coverage .big")).to_contain_text("79 %")
    expect(slider).to_be_focused()
    slider.press("Home")
    expect(page.locator(".variants > li")).to_have_count(1)
    slider.press("End")
    page.get_by_role("searchbox", name="Variants with this activity").fill("transfer")
    expect(page.get_by_role("status").filter(has_text="transfer")).to_be_visible()
    first = page.locator(".variants > li").first
    first.locator("summary").press("Enter")
    expect(first.get_by_text("generated cases")).to_be_visible()


def test_on_a_phone_everything_is_within_reach(
    browser: Any, page: Any, server: Server, releases: dict[str, str]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for panel in ("", "/variants", "/times", "/attributes", "/compare", "/details"):
        opened(page, server, releases["synthetic log"], panel)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{server.address}/check")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 800})


def test_our_own_zip_gets_a_green_seal_and_a_changed_one_a_red_one(
    page: Any, server: Server, folder: Path, releases: dict[str, str], tmp_path: Path
) -> None:
    path = next((folder / "ledger.releases" / releases["synthetic log"]).glob("*.zip"))
    page.goto(f"{server.address}/check")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_role("heading", name="The guarantee holds").wait_for()
    drawn(page)
    assert not violations(page)
    page.get_by_role("link", name="Times").click()
    page.get_by_role("heading", name="Throughput", exact=True).wait_for()
    with zipfile.ZipFile(path) as packed:
        packed.extractall(tmp_path)
    name = next(tmp_path.glob("*.measurements.json"))
    name.with_name(name.name.replace("measurements", "guarantee")).write_text(
        next(tmp_path.glob("*.guarantee.json")).read_text().replace('"epsilon": "2"', '"epsilon": "1"')
    )
    page.goto(f"{server.address}/check")
    page.locator("input[type=file]").set_input_files(sorted(tmp_path.glob("*.xes.gz*")))
    page.get_by_role("heading", name="The guarantee is not verified").wait_for()
    assert not violations(page)
