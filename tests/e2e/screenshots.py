"""The pictures of the page and of the report in docs/images, from the built-in log: `make screenshots`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from browser import browsing, serving
from web_flow import result_tab

from travas.cli.demo_command import demo

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
WIDTH = 960


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server, browsing() as browser:
        tab = browser.new_context(viewport={"width": WIDTH, "height": 700}, accept_downloads=True).new_page()
        tab.goto(server.link)

        def step(heading: str, button: str | None = None) -> None:
            tab.get_by_role("heading", name=heading, exact=True).wait_for()
            tab.wait_for_timeout(400)
            if button is not None:
                tab.get_by_role("button", name=button).click()

        step("Home", "Start a release")
        step("Choose an event log")
        step("Choose an event log", "made-up")
        tab.get_by_text("What the doctor found").wait_for()
        step("Choose an event log", "Continue")
        step("Columns")
        shoot(tab, "web-columns")
        step("Columns", "Continue")
        step("Protect")
        tab.get_by_role("group", name="keep-probability curve").locator("svg").wait_for()
        shoot(tab, "web-protection")
        step("Protect", "Continue")
        step("Forecast", "Read the log")
        tab.get_by_text("Share of cases covered").wait_for(timeout=120_000)
        shoot(tab, "web-forecast")
        step("Forecast", "Continue")
        step("Confirm")
        tab.get_by_label("Data set in the ledger").fill("hospital")
        tab.get_by_role("button", name="without a budget").click()
        tab.get_by_text("before: 0 releases").wait_for()
        tab.get_by_label("Why these parameters").fill("Agreed with the data protection officer.")
        tab.get_by_role("button", name="Release for").click()
        step("Released")
        shoot(tab, "web-result")
        for name in ("Variants", "Map", "Hand over"):
            result_tab(tab, name)
            tab.mouse.move(0, 0)
            tab.locator(".card").screenshot(path=IMAGES / f"web-{name.lower().replace(' ', '-')}.png")
        with tab.expect_download() as download:
            tab.get_by_role("button", name="Download release.xes.gz.report.html", exact=True).click()
        report = Path(folder) / "report.html"
        download.value.save_as(report)
        tab.set_viewport_size({"width": WIDTH, "height": 1200})
        tab.goto(report.as_uri())
        tab.screenshot(path=IMAGES / "report.png")
        demo_pictures(browser, Path(folder) / "demo")


def demo_pictures(browser: Any, folder: Path) -> None:
    """The pictures of the README and the gallery, from the page that `travas demo` writes."""
    demo(folder)
    tab = browser.new_context(viewport={"width": 1200, "height": 900}, device_scale_factor=1.5).new_page()
    tab.goto((folder / "index.html").as_uri())
    tab.locator("#before-after").screenshot(path=IMAGES / "before-after.png")
    tab.locator(".chevrons table").screenshot(path=IMAGES / "demo-variants.png")


def shoot(tab: Any, name: str) -> None:
    tab.mouse.move(0, 0)
    tab.evaluate("document.activeElement.blur()")
    tab.wait_for_timeout(300)
    tab.screenshot(path=IMAGES / f"{name}.png", full_page=True)


if __name__ == "__main__":
    main()
