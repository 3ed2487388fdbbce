"""What a user does in the web app: the steps that its browser tests, the screenshots and the benchmark share.

Every step waits for what the next one needs: for an element, a value or an address, never for a time.
"""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

from browser import Server
from playwright.sync_api import expect

NUMBERS = count(1)
PATIENCE = 120_000
"""Milliseconds until a test fails, so that a busy machine is slow and not broken."""
expect.set_options(timeout=PATIENCE)


def watched(context: Any, server: Server) -> Any:
    """A tab that lists what it fetched from elsewhere and which scripts failed."""
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.foreign, tab.broken = [], []
    tab.on(
        "request", lambda request: request.url.startswith((server.address, "data:")) or tab.foreign.append(request.url)
    )
    tab.on("pageerror", lambda error: tab.broken.append(str(error)))
    tab.on("console", lambda line: "Content Security" in line.text and tab.broken.append(line.text))
    return tab


def opened(context: Any, server: Server) -> Any:
    """A tab of a browser that enters, at the first step of a new release."""
    tab = watched(context, server)
    tab.goto(server.link)
    heading(tab, "Home")
    press(tab, "Start a release")
    heading(tab, "Choose an event log")
    return tab


def violations(tab: Any) -> list[str]:
    """What axe finds wrong with the page as it is shown, in light and dark: the rules, and where."""
    from axe_playwright_python.sync_playwright import Axe

    lines = []
    for theme in ("dark", "light"):
        tab.emulate_media(color_scheme=theme)
        tab.wait_for_function(
            "dark => document.body.classList.contains('body--dark') === dark", arg=theme == "dark"
        )  # the page follows the system
        settled(tab)
        found = Axe().run(tab).response["violations"]
        lines += [
            f"{theme}, {rule['id']}: {node['html'][:200]} {node['failureSummary']}"
            for rule in found
            for node in rule["nodes"]
        ]
    return lines


def settled(tab: Any) -> None:
    """Wait until nothing on the page is animated."""
    tab.wait_for_function("document.getAnimations().every((each) => each.playState !== 'running')")


def heading(tab: Any, name: str) -> None:
    tab.get_by_role("heading", name=name, exact=True).wait_for()


def press(tab: Any, name: str) -> None:
    tab.get_by_role("button", name=name).click()


def upload(tab: Any, *files: Any) -> None:
    tab.locator("input[type=file]").set_input_files(list(files))


def content(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def to_columns(tab: Any) -> None:
    """From a log that was opened to its columns."""
    tab.get_by_text(re.compile("^Open: ")).wait_for()
    press(tab, "Continue")
    heading(tab, "Columns")


def to_protection(tab: Any) -> None:
    press(tab, "Try it with a made-up hospital log")
    to_columns(tab)
    press(tab, "Continue")
    heading(tab, "Protect")


def to_confirm(tab: Any, epsilon: str = "1", delta: str = "1e-6") -> None:
    """From the third step to the last one before the release, with these parameters."""
    heading(tab, "Protect")
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        tab.get_by_label(name, exact=True).fill(value)
    tab.get_by_text(re.compile("^δ: ")).wait_for()
    press(tab, "Continue")
    heading(tab, "Forecast")
    press(tab, "Continue")
    heading(tab, "Confirm")


def name_data_set(tab: Any, name: str = "") -> str:
    """Create a data set for this log; without a name, one that no other test has."""
    wanted = name or f"data {next(NUMBERS)}"
    tab.get_by_label("Data set in the ledger").fill(wanted)
    press(tab, f"Create the data set '{wanted}' without a budget")
    tab.get_by_role("cell", name=re.compile("^before: ")).wait_for()
    return wanted


def release_button(tab: Any) -> Any:
    return tab.get_by_role("button", name=re.compile("^Release (for|again)"))


def release(tab: Any, title: str = "Released", name: str = "") -> str:
    """Create a data set and release; returns the name of the data set."""
    used = name_data_set(tab, name)
    release_button(tab).click()
    heading(tab, title)
    return used


def result_tab(tab: Any, name: str) -> str:
    """Open a tab of the result, and return its text."""
    tab.get_by_role("tab", name=name, exact=True).click()
    panel = tab.locator(".q-tab-panel")
    ready = {
        "Summary": ".verdict",
        "Variants": ".chevron",
        "Map": "[data-shown]",
        "Before and after": ":text('original log')",
        "Hand over": "table",
    }
    panel.locator(ready[name]).first.wait_for()
    return str(panel.inner_text())


def saved(tab: Any, link: str, folder: Path, name: str) -> Path:
    """Download a file of the release, on the tab Hand over."""
    result_tab(tab, "Hand over")
    with tab.expect_download() as download:
        tab.get_by_role("button", name=f"Download {link}", exact=True).click()
    path = folder / name
    download.value.save_as(path)
    return path


def card(tab: Any, name: str) -> None:
    """Choose a card, whose state comes back from the server."""
    tab.get_by_role("radio", name=name, exact=True).click()
    tab.get_by_role("radio", name=name, exact=True, checked=True).wait_for()
