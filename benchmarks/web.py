"""What the web app needs until a release is downloaded, in a real browser: `make bench-web`."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness import finish, row

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "e2e"))

from browser import Server, browsing, serving
from web_flow import WORDS, watched

from travas.outputs.write import write_hospital_log

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
FETCHED = """() => ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
  .reduce((sum, one) => sum + one.transferSize, 0)"""
RUNS = 5


def first_page(browser: Any, server: Server) -> tuple[float, float]:
    """Seconds until something is painted in a new browser, the slowest of some, and the kB that were fetched."""
    seconds, kilobytes = [], 0.0
    for _ in range(RUNS):
        context = browser.new_context()
        tab = watched(context, server)
        while (painted := tab.evaluate(PAINT)) is None:
            tab.wait_for_timeout(10)
        seconds.append(painted / 1000)
        kilobytes = tab.evaluate(FETCHED) / 1000
        context.close()
    return max(seconds), kilobytes


def memory(server: Server) -> float:
    """What the server itself occupies, in MB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def from_log_to_zip(browser: Any, server: Server, log: Path) -> tuple[int, int]:
    """The clicks and the words of a release by the defaults."""
    clicks = 0

    def click(tab: Any, role: str, name: str) -> None:
        nonlocal clicks
        clicks += 1
        tab.get_by_role(role, name=name).click()

    tab = watched(browser.new_context(accept_downloads=True), server)
    words = tab.evaluate(WORDS)
    with tab.expect_file_chooser() as chooser:
        clicks += 1
        tab.get_by_text("Choose a log").click()
    chooser.value.set_files(log)
    tab.locator(".chips").wait_for()
    words += tab.evaluate(WORDS)
    click(tab, "button", "Release")
    tab.wait_for_url(re.compile("/result/"))
    with tab.expect_download():
        click(tab, "link", "Download")
    return clicks, len(words)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, browsing() as browser:
        write_hospital_log(Path(folder) / "hospital.csv")
        with serving(Path(folder)) as server:
            seconds, kilobytes = first_page(browser, server)
            row("first contentful paint of a new browser, the slowest of five", seconds, 0.4, "≤", "s")
            row("fetched before a map is shown", kilobytes, 300, "≤", "kB")
            clicks, words = from_log_to_zip(browser, server, Path(folder) / "hospital.csv")
            row("clicks from the log to the zip", clicks, 3, "≤", "")
            row("words until the release", words, 120, "≤", "")
            row("memory of the server, after a release", memory(server), 90, "≤", "MB")
    finish()


if __name__ == "__main__":
    main()
