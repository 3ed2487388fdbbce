"""The flow through the web app that its browser tests share: what a user does on each step."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

from browser import Server

NUMBERS = count(1)
HOSTILE = "<img src=x onerror=window.hacked=1>"


def watched(context: Any, server: Server) -> Any:
    """A tab that lists what it fetched from elsewhere and which scripts failed."""
    tab = context.new_page()
    tab.set_default_timeout(30_000)
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
    """What axe finds wrong with the page as it is shown: the rules, and where."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(tab).response["violations"]
    return [f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}" for rule in found for node in rule["nodes"]]


def heading(tab: Any, name: str) -> None:
    tab.get_by_role("heading", name=name, exact=True).wait_for()


def press(tab: Any, name: str) -> None:
    tab.get_by_role("button", name=name).click()


def upload(tab: Any, *files: Any) -> None:
    tab.locator("input[type=file]").set_input_files(list(files))


def content(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def to_release(tab: Any, epsilon: str = "1", delta: str = "1e-6") -> None:
    """From the columns to the last step before the release."""
    heading(tab, "Columns")
    press(tab, "Continue")
    heading(tab, "What protects whom")
    press(tab, "Continue")
    heading(tab, "How much privacy: ε and δ")
    tab.get_by_label("epsilon", exact=True).fill(epsilon)
    tab.get_by_label("delta", exact=True).fill(delta)
    tab.get_by_text(re.compile("^δ: ")).wait_for()
    press(tab, "Continue")
    heading(tab, "Release")


def name_data_set(tab: Any, name: str = "") -> None:
    """Create a data set for this log, unless it has one."""
    field = tab.get_by_label("Data set in the ledger")
    if not field.input_value():
        field.fill(name or f"data {next(NUMBERS)}")
        tab.get_by_role("button", name=re.compile("without a budget$")).click()
        tab.get_by_text("before: 0 releases").wait_for()


def release(tab: Any, title: str = "Released") -> None:
    name_data_set(tab)
    tab.get_by_role("button", name=re.compile("^Release (for|again)")).click()
    heading(tab, title)


def saved(tab: Any, link: str, folder: Path, name: str) -> Path:
    with tab.expect_download() as download:
        tab.get_by_role("button", name=f"Download {link}", exact=True).click()
    path = folder / name
    download.value.save_as(path)
    return path


def alert(tab: Any) -> str:
    return str(tab.get_by_role("alert").inner_text())


def to_protection(tab: Any) -> None:
    press(tab, "Try it with a made-up hospital log")
    heading(tab, "Columns")
    press(tab, "Continue")
    heading(tab, "What protects whom")


def choose(tab: Any, label: str, option: str) -> None:
    tab.get_by_label(label, exact=True).click()
    tab.get_by_role("option", name=option, exact=True).click()
    tab.locator("[role=option]").first.wait_for(state="hidden")
