"""The pictures of the page and of the report in docs/images, from the built-in log: `make screenshots`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from browser import Server, browsing, serving
from web_flow import heading, press, result_tab, settled, to_columns, watched

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
SIZE = {"width": 1100, "height": 720}


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server, browsing() as browser:
        tab = watched(browser.new_context(viewport=SIZE, accept_downloads=True), server)
        tab.goto(server.link)
        heading(tab, "Home")
        press(tab, "Start a release")
        steps(tab)
        address = tab.url
        result(tab, Path(folder))
        screens(tab, server, Path(folder))
        tab.emulate_media(color_scheme="dark")
        tab.goto(address)
        heading(tab, "Released")
        result_tab(tab, "Map")
        shoot(tab, "web-map-dark")


def steps(tab: Any) -> None:
    """The steps of a new release, up to the release."""
    heading(tab, "Choose an event log")
    press(tab, "Try it with a made-up hospital log")
    tab.get_by_text("What the doctor found").wait_for()
    to_columns(tab)
    press(tab, "Show the values")
    tab.get_by_role("gridcell", name="register").first.wait_for()
    press(tab, "Continue")
    heading(tab, "Protect")
    tab.get_by_role("group", name="keep-probability curve").locator("svg").wait_for()
    shoot(tab, "web-protection")
    press(tab, "Continue")
    press(tab, "Read the log")
    tab.get_by_text("Share of cases covered").wait_for(timeout=120_000)
    tab.get_by_role("heading", name="Recommendation", exact=True).wait_for()
    shoot(tab, "web-forecast")
    press(tab, "Continue")
    heading(tab, "Confirm")
    tab.get_by_text("Create it with a budget").first.click()
    tab.get_by_label("ε of all releases").fill("4")
    tab.get_by_label("δ of all releases").fill("1e-5")
    press(tab, "Set this budget")
    tab.get_by_role("img", name="0% spent").wait_for()
    tab.get_by_label("Why these parameters").fill("Agreed with the data protection officer.")
    tab.get_by_role("button", name="Release for").and_(tab.locator(":enabled")).wait_for()
    tab.get_by_role("button", name="Release for").click()
    heading(tab, "Released")


def result(tab: Any, folder: Path) -> None:
    """The tabs of a result, and the report."""
    shoot(tab, "web-result")
    for name in ("Variants", "Map"):
        result_tab(tab, name)
        shoot(tab, f"web-{name.lower().replace(' ', '-')}")
    for name in ("release.json", "release.json.guarantee.json", "release.json.report.html"):
        with tab.expect_download() as download:
            tab.get_by_role("button", name=f"Download {name}", exact=True).click()
        download.value.save_as(folder / name)


def screens(tab: Any, server: Server, folder: Path) -> None:
    """Home, with one release that is signed off, and the report."""
    tab.goto(f"{server.address}/releases")
    tab.get_by_role("link", name="Open the release of").click()
    press(tab, "Sign off this release")
    tab.get_by_label("Name of the person who signs off").fill("Grace Hopper")
    tab.get_by_role("button", name="Sign off", exact=True).click()
    tab.get_by_text("Signed off by Grace Hopper").wait_for()
    tab.goto(f"{server.address}/")
    tab.get_by_role("meter").wait_for()
    shoot(tab, "web-home")
    tab.set_viewport_size({"width": 960, "height": 1200})
    tab.goto((folder / "release.json.report.html").as_uri())
    tab.screenshot(path=IMAGES / "report.png")
    tab.set_viewport_size(SIZE)


def shoot(tab: Any, name: str) -> None:
    """A picture of the whole page from its top, without a pointer or a focus."""
    tab.evaluate("scrollTo(0, 0)")
    tab.mouse.move(0, 0)
    tab.evaluate("document.activeElement.blur()")
    tab.evaluate("document.fonts.ready")
    settled(tab)
    tab.screenshot(path=IMAGES / f"{name}.png", full_page=True)


if __name__ == "__main__":
    main()
