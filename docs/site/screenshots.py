"""The pictures of maps and of the web app in docs/images, of the built-in log, which is made up: `make screenshots`."""

import re
import tempfile
from pathlib import Path
from typing import Any

from browser import Server, browsing, serving
from map_measures import SCREENS
from playwright.sync_api import expect
from web_flow import drawn, settled, watched

from travas.cli.tools import demo
from travas.outputs.write import write_hospital_log
from travas.verification.opened import open_release

IMAGES = Path(__file__).resolve().parents[1] / "images"
KINDS = ("synthetic log", "variants", "process map")
SHOTS = {
    "start": ("", "desktop", "light"),
    "release": ("release", "desktop", "light"),
    "result": ("process map", "desktop", "light"),
    "variants": ("synthetic log/variants", "desktop", "light"),
    "dark": ("synthetic log/times", "desktop", "dark"),
    "phone": ("variants", "phone", "light"),
    "check": ("check", "desktop", "light"),
}
"""What is shown of the web app, on which screen and in which colours."""


def main(images: Path = IMAGES) -> None:
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, browsing() as browser:
        maps(browser, Path(scratch), images)
        web_app(browser, Path(scratch), images)


# ------------------------------------------------------------------------------------------------------------ maps


def maps(browser: Any, folder: Path, images: Path) -> None:
    """A map with numbers, with times, an uncertain path in the dark, and on a phone; and the page of `travas demo`."""
    demo(folder / "demo")
    page = open_release(folder / "demo" / "demo-map.json").write(folder / "map.html")
    tab = opened(browser, page)
    tab.screenshot(path=images / "map.png")
    tab.get_by_role("button", name="Show median times").click()
    tab.screenshot(path=images / "map-times.png")
    tab = opened(browser, page, scheme="dark")
    tab.locator(".labels .uncertain text, .labels text").first.hover(force=True)
    tab.locator(".map-tip").wait_for()
    settled(tab)
    tab.screenshot(path=images / "map-dark.png")
    opened(browser, page, "phone").screenshot(path=images / "map-phone.png", full_page=True)
    tab = opened(browser, folder / "demo" / "index.html")
    shoot(tab, "#before-after", images / "before-after.png")
    tab.locator("#synthetic-log").get_by_role("button", name="Show median times").click()
    shoot(tab, "#synthetic-log", images / "map-synthetic.png")
    shoot(tab, ".chevrons table", images / "demo-variants.png")


def opened(browser: Any, page: Path, screen: str = "desktop", scheme: str = "light") -> Any:
    """A tab in which every map of the page is drawn."""
    width, height = SCREENS[screen]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1.25
    )
    tab = context.new_page()
    tab.goto(page.as_uri())
    drawn(tab)
    return tab


def shoot(tab: Any, part: str, path: Path) -> None:
    """A part of a page, with some room around it."""
    tab.locator(part).scroll_into_view_if_needed()
    box = tab.locator(part).bounding_box()
    top = box["y"] + tab.evaluate("scrollY")
    clip = {"x": box["x"] - 16, "y": top - 16, "width": box["width"] + 32, "height": box["height"] + 32}
    tab.screenshot(path=path, clip=clip, full_page=True)


# ------------------------------------------------------------------------------------------------------ the web app


def web_app(browser: Any, scratch: Path, images: Path) -> None:
    """The screens of the web app, after a release of each kind and a check of the last one."""
    with serving(scratch) as server:
        tab = watched(browser.new_context(accept_downloads=True, device_scale_factor=1.25), server)
        addresses = screens(tab, server, scratch)
        for name, (what, screen, theme) in SHOTS.items():
            kind, _, panel = what.partition("/")
            width, height = SCREENS[screen]
            tab.set_viewport_size({"width": width, "height": height})
            tab.emulate_media(color_scheme=theme)
            tab.goto(addresses[kind] + (f"/{panel}" if panel else ""))
            drawn(tab)
            if kind == "release":
                expect(tab.locator("#preview[data-ready]:not(.waiting)")).to_have_count(1)
            settled(tab)
            tab.screenshot(path=images / f"web-{name}.png")


def screens(tab: Any, server: Server, scratch: Path) -> dict[str, str]:
    """The addresses of all screens."""
    log, bundle = write_hospital_log(scratch / "hospital.csv"), scratch / "release.zip"
    addresses = {"": f"{server.address}/"} | {kind: released(tab, server, log, kind) for kind in KINDS}
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download").click()
    download.value.save_as(bundle)
    tab.goto(f"{server.address}/check")
    tab.locator("input[type=file]").set_input_files(bundle)
    tab.get_by_role("heading", name="The guarantee holds").wait_for()
    addresses["check"] = tab.url
    return addresses | {"release": prepared(tab, server, log)}


def prepared(tab: Any, server: Server, log: Path) -> str:
    """The page of a draft with this log."""
    tab.goto(f"{server.address}/")
    tab.locator("#log").set_input_files(log)
    tab.locator(".chips").wait_for()
    return str(tab.url)


def released(tab: Any, server: Server, log: Path, kind: str) -> str:
    """The page of a new release of this kind."""
    prepared(tab, server, log)
    with tab.expect_response(re.compile("/release/")):
        tab.locator("#stated_cases").fill("4000")
        tab.locator("#stated_cases").press("Tab")
    if not tab.locator(f"[name=kind][value='{kind}']").is_checked():
        with tab.expect_response(re.compile("/release/")):
            tab.locator(f"[name=kind][value='{kind}']").check()
    tab.locator("#release").click()
    tab.wait_for_url(re.compile("/result/"))
    tab.get_by_role("link", name="Download").wait_for()
    return str(tab.url)


if __name__ == "__main__":
    main()
