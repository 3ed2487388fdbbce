"""The pictures of the web app in docs/images, of the built-in log, which is made up: `make screenshots`."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser import Server, browsing, serving
from map_measures import SCREENS
from playwright.sync_api import expect
from web_flow import drawn, settled, watched

from travas.outputs.write import write_hospital_log

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
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
"""What is shown, on which screen and in which colours."""


def main(folder: Path = IMAGES, shots: dict[str, tuple[str, str, str]] = SHOTS) -> None:
    with bench() as (tab, addresses):
        for name, (what, screen, theme) in shots.items():
            kind, _, panel = what.partition("/")
            width, height = SCREENS[screen]
            tab.set_viewport_size({"width": width, "height": height})
            tab.emulate_media(color_scheme=theme)
            tab.goto(addresses[kind] + (f"/{panel}" if panel else ""))
            drawn(tab)
            if kind == "release":
                expect(tab.locator("#preview[data-ready]:not(.waiting)")).to_have_count(1)
            settled(tab)
            tab.screenshot(path=folder / f"web-{name}.png")


@contextmanager
def bench() -> Iterator[tuple[Any, dict[str, str]]]:
    """A tab, and the addresses of all screens, after a release of each kind and a check of the last one."""
    with tempfile.TemporaryDirectory() as scratch, browsing() as browser:
        log, bundle = Path(scratch) / "hospital.csv", Path(scratch) / "release.zip"
        write_hospital_log(log)
        with serving(Path(scratch)) as server:
            tab = watched(browser.new_context(accept_downloads=True, device_scale_factor=1.25), server)
            addresses = {"": f"{server.address}/"} | {kind: released(tab, server, log, kind) for kind in KINDS}
            with tab.expect_download() as download:
                tab.get_by_role("link", name="Download").click()
            download.value.save_as(bundle)
            tab.goto(f"{server.address}/check")
            tab.locator("input[type=file]").set_input_files(bundle)
            tab.get_by_role("heading", name="The guarantee holds").wait_for()
            addresses["check"] = tab.url
            addresses["release"] = prepared(tab, server, log)
            yield tab, addresses


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
