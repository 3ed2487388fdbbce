"""From a German export to the zip by keyboard alone: no wrong turn, few words, and nothing that axe finds."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

from browser import browsing, serving
from playwright.sync_api import expect
from web_flow import WORDS, drawn, violations, watched

ROWS = "Fallnummer;Tätigkeit;Zeitpunkt;Status;Patient\n" + "".join(
    f"F{case};{activity};{1 + case % 27:02d}.02.2025 {hour + minutes:02d}:00;{status};P{case * 2 // 3}\n"
    for case in range(900)
    for hour, activity in enumerate(("Aufnahme", *["Röntgen"] * (case % 3), "Entlassung"), 8)
    for minutes, status in enumerate(("start", "complete"))
)


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached")


def found_on(page: Any) -> list[str]:
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return violations(page)


def test_from_drop_to_download_by_keyboard(tmp_path: Path) -> None:
    log = tmp_path / "krankenhaus.csv"
    log.write_bytes(ROWS.encode("cp1252"))
    with serving(tmp_path) as server, browsing() as browser:
        page = watched(browser.new_context(accept_downloads=True, viewport={"width": 1280, "height": 800}), server)
        found = found_on(page)
        words = page.evaluate(WORDS)
        with page.expect_file_chooser() as chooser:
            tab_to(page, "#log")
            page.keyboard.press("Enter")
        chooser.value.set_files(log)
        page.locator(".chips").wait_for()
        words += page.evaluate(WORDS)
        assert len(words) <= 120, words
        expect(page.locator("#case")).to_have_value("Fallnummer")
        for read_as in ("cp1252", "%d.%m.%Y", "complete"):
            expect(page.locator(".read-as summary")).to_contain_text(read_as)
        found += found_on(page)
        tab_to(page, "#unit")
        with page.expect_response(re.compile("/release/")):
            page.keyboard.press("ArrowDown")  # the column that may be a person comes first
        expect(page.locator("#unit")).to_have_value("Patient")
        page.keyboard.press("Tab")
        for epsilon, is_affordable in (("8", False), ("1", True)):
            page.locator("#epsilon").fill(epsilon)
            page.keyboard.press("Tab")
            expect(page.locator("#release")).to_be_enabled(enabled=is_affordable)
        page.locator("#epsilon").focus()
        tab_to(page, "#release")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/result/"))
        expect(page.locator(".promise")).to_contain_text("a given person")
        tab_to(page, ".get a")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        download.value.save_as(tmp_path / "r.zip")
        with zipfile.ZipFile(tmp_path / "r.zip") as packed:
            assert {"README.txt", "map.html", "report.html"} < set(packed.namelist())
        page.set_viewport_size({"width": 390, "height": 844})
        for screen in ("", "check", "words", "release/x"):
            page.goto(f"{server.address}/{screen}")
            found += found_on(page)
        assert not found, "\n".join(found)
        assert not page.foreign and not page.broken
