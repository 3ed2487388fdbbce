"""The pictures of maps in docs/images, from the page that `travas demo` writes and a map of its log: `make screenshots`."""

import tempfile
from pathlib import Path
from typing import Any

from browser import browsing
from map_measures import SCREENS

from travas.cli.demo_command import demo
from travas.verification.opened import open_release

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browsing() as browser:
        demo(Path(folder))
        page = open_release(Path(folder) / "demo-map.json").write(Path(folder) / "map.html")
        pages_of_maps(browser, page)
        page_of_the_demo(browser, Path(folder) / "index.html")


def opened(browser: Any, page: Path, screen: str = "desktop", scheme: str = "light") -> Any:
    """A tab in which every map of the page is drawn."""
    width, height = SCREENS[screen]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1.25
    )
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.locator(".travas-map:not([data-ready])").first.wait_for(state="detached")
    return tab


def pages_of_maps(browser: Any, page: Path) -> None:
    """The map: numbers, times, an uncertain path in the dark, and on a phone."""
    tab = opened(browser, page)
    tab.screenshot(path=IMAGES / "map.png")
    tab.get_by_role("button", name="Show median times").click()
    tab.screenshot(path=IMAGES / "map-times.png")
    tab = opened(browser, page, scheme="dark")
    tab.locator(".labels .uncertain text, .labels text").first.hover(force=True)
    tab.locator(".map-tip").wait_for()
    tab.wait_for_timeout(300)  # the rest fades
    tab.screenshot(path=IMAGES / "map-dark.png")
    tab = opened(browser, page, "phone")
    tab.screenshot(path=IMAGES / "map-phone.png", full_page=True)


def page_of_the_demo(browser: Any, page: Path) -> None:
    """Before and after, the synthetic log with its times, and the variants."""
    tab = opened(browser, page)
    shoot(tab, "#before-after", "before-after")
    log = tab.locator("#synthetic-log")
    log.get_by_role("button", name="Show median times").click()
    shoot(tab, "#synthetic-log", "map-synthetic")
    shoot(tab, ".chevrons table", "demo-variants")


def shoot(tab: Any, part: str, name: str) -> None:
    """A part of a page, with some room around it."""
    tab.locator(part).scroll_into_view_if_needed()
    box = tab.locator(part).bounding_box()
    scrolled = tab.evaluate("scrollY")
    clip = {"x": box["x"] - 16, "y": box["y"] + scrolled - 16, "width": box["width"] + 32, "height": box["height"] + 32}
    tab.screenshot(path=IMAGES / f"{name}.png", clip=clip, full_page=True)


if __name__ == "__main__":
    main()
