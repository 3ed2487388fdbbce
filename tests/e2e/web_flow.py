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


def tick(tab: Any, name: str) -> None:
    """Tick a checkbox, whose state comes back from the server."""
    box = tab.get_by_role("checkbox", name=name)
    box.click()
    tab.get_by_role("checkbox", name=name, checked=True).wait_for()


def upload(tab: Any, *files: Any) -> None:
    tab.locator("input[type=file]").set_input_files(list(files))


def content(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def to_columns(tab: Any) -> None:
    """From a log that was opened to its columns."""
    tab.get_by_text(re.compile("^Open: ")).wait_for()
    press(tab, "Continue")
    heading(tab, "Columns")


def to_confirm(tab: Any) -> None:
    """From the third step to the last one before the release."""
    heading(tab, "Protect")
    press(tab, "Continue")
    heading(tab, "Forecast")
    press(tab, "Continue")
    heading(tab, "Confirm")


def to_release(tab: Any, epsilon: str = "1", delta: str = "1e-6") -> None:
    """From the log or its columns to the last step before the release."""
    tab.get_by_role("heading", name=re.compile("^(Choose an event log|Columns)$")).wait_for()
    if tab.get_by_role("heading", name="Columns", exact=True).count() == 0:
        to_columns(tab)
    press(tab, "Continue")
    heading(tab, "Protect")
    tab.get_by_label("epsilon", exact=True).fill(epsilon)
    tab.get_by_label("delta", exact=True).fill(delta)
    tab.get_by_text(re.compile("^δ: ")).wait_for()
    to_confirm(tab)


def name_data_set(tab: Any, name: str = "") -> None:
    """Create a data set for this log, unless this tab has created the one that it has."""
    field = tab.get_by_label("Data set in the ledger")
    value = field.input_value()
    wanted = name or (value if value == getattr(tab, "data_set", "") else f"data {next(NUMBERS)}")
    tab.data_set = wanted
    if value != wanted:
        field.fill(wanted)
    create = tab.get_by_role("button", name=f"Create the data set '{wanted}' without a budget")
    account = tab.get_by_role("cell", name=re.compile("^before: "))
    is_new = value != wanted and not name  # until it is looked up, another account may be shown
    (create if is_new else create.or_(account).first).wait_for()
    if create.is_visible():
        create.click()
    account.wait_for()


def release(tab: Any, title: str = "Released") -> None:
    name_data_set(tab)
    tab.get_by_role("button", name=re.compile("^Release (for|again)")).click()
    heading(tab, title)


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


def shown_variants(tab: Any) -> list[str]:
    """The traces at the top of the table, in order."""
    result_tab(tab, "Variants")
    script = """rows => rows.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) =>
      [...row.querySelectorAll(".chevron")].map((one) => one.textContent).join(" → ")).filter(Boolean)"""
    return list(map(str, tab.locator(".ag-row").evaluate_all(script)))


def saved(tab: Any, link: str, folder: Path, name: str) -> Path:
    """Download a file of the release, on the tab Hand over."""
    result_tab(tab, "Hand over")
    with tab.expect_download() as download:
        tab.get_by_role("button", name=f"Download {link}", exact=True).click()
    path = folder / name
    download.value.save_as(path)
    return path


def alert(tab: Any) -> str:
    return str(tab.get_by_role("alert").inner_text())


def to_protection(tab: Any) -> None:
    press(tab, "Try it with a made-up hospital log")
    to_columns(tab)
    press(tab, "Continue")
    heading(tab, "Protect")


def card(tab: Any, name: str) -> None:
    """Choose a card, whose state comes back from the server."""
    tab.get_by_role("radio", name=name, exact=True).click()
    tab.get_by_role("radio", name=name, exact=True, checked=True).wait_for()


def protect_persons(tab: Any, column: str, most: str) -> None:
    """Protect the persons of a column, on the step Protect."""
    card(tab, "One person")
    choose(tab, "Column that identifies the person", column)
    tab.get_by_label("Maximum number of cases per person").fill(most)


def choose(tab: Any, label: str, option: str) -> None:
    tab.get_by_label(label, exact=True).click()
    tab.get_by_role("option", name=option, exact=True).click()
    tab.locator("[role=option]").first.wait_for(state="hidden")
