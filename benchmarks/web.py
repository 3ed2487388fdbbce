"""The page's speed and memory, in a real browser: `make bench-web`.

The first page on a warm machine, from a slider's key to the redrawn curve, the server's memory while 1 GB is uploaded,
and how fast the page answers while a log of 10 M events is released.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from core import BIG, GENERATE
from harness import SCRATCH, finish, measure, row

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "e2e"))

from browser import Server, browsing, serving

LARGE = SCRATCH / "large.csv"
GIGABYTE = 1 << 30

SLIDE = """
key => new Promise(done => {
  const slider = document.querySelectorAll('.q-slider')[0].querySelector('[tabindex]');
  const drawing = document.querySelector('.picture');
  const began = performance.now();
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  });
  watch.observe(drawing, {childList: true, subtree: true, characterData: true});
  slider.focus();
  slider.dispatchEvent(new KeyboardEvent('keydown', {key, keyCode: key === 'ArrowLeft' ? 37 : 39, bubbles: true}));
  slider.dispatchEvent(new KeyboardEvent('keyup', {key, keyCode: key === 'ArrowLeft' ? 37 : 39, bubbles: true}));
})
"""


def heading(tab: Any, name: str) -> None:
    tab.get_by_role("heading", name=name, exact=True).wait_for(timeout=300_000)


def start(tab: Any, server: Server) -> None:
    """From the link to the first step of a new release."""
    tab.goto(server.link)
    tab.get_by_role("button", name="Start a release").click()
    heading(tab, "Choose an event log")


def first_page(browser: Any, server: Server) -> float:
    seconds = []
    for _ in range(4):
        context = browser.new_context()
        tab = context.new_page()
        began = time.perf_counter()
        tab.goto(server.link)
        heading(tab, "Home")
        seconds.append(time.perf_counter() - began)
        context.close()
    return max(seconds[1:])


def slide(browser: Any, server: Server) -> float:
    """Through all stops of ε at the smallest δ of the slider, where tables are longest; the curve is not cached."""
    tab = browser.new_context().new_page()
    start(tab, server)
    tab.get_by_role("button", name="made-up").click()
    tab.get_by_text("Open: ").wait_for()
    tab.get_by_role("button", name="3 Protect").click()
    heading(tab, "Protect")
    tab.get_by_label("delta", exact=True).fill("1e-12")
    tab.wait_for_timeout(500)
    found: list[float] = [tab.evaluate(SLIDE, "ArrowLeft") for _ in range(13)]
    return max(median(found), *found) / 1000


def memory(server: Server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def upload(browser: Any, server: Server) -> tuple[float, float]:
    """Megabytes above idle while the file goes up, and how long that takes."""
    tab = browser.new_context().new_page()
    start(tab, server)
    idle = peak = memory(server)
    began = time.perf_counter()
    tab.locator("input[type=file]").set_input_files(LARGE)
    while not tab.get_by_text("Open: ").is_visible():
        peak = max(peak, memory(server))
        if time.perf_counter() - began > 400:
            raise SystemExit("the upload did not end")
    return peak - idle, time.perf_counter() - began


def responsive(browser: Any, server: Server) -> tuple[float, float]:
    """The slowest of many first pages of another browser while 10 M events are released, and how long that takes."""
    tab = browser.new_context().new_page()
    start(tab, server)
    tab.get_by_label("File", exact=True).click()
    tab.get_by_role("option").first.click()
    tab.get_by_role("button", name="Open").click()
    tab.get_by_text("Open: ").wait_for()
    for name in ("Columns", "Protect", "Forecast", "Confirm"):
        tab.get_by_role("button", name="Continue").click()
        heading(tab, name)
    tab.get_by_role("checkbox", name="No budget: only releases of this file are added up").check()
    began = time.perf_counter()
    tab.get_by_role("button", name="Release for").click()
    slowest = 0.0
    other = browser.new_context().new_page()
    while not tab.get_by_role("heading", name="Released", exact=True).is_visible():
        asked = time.perf_counter()
        other.goto(server.link)
        heading(other, "Home")
        slowest = max(slowest, time.perf_counter() - asked)
    return slowest, time.perf_counter() - began


def main() -> None:
    if not BIG.exists():
        measure(GENERATE + "\nbegin(); end()", PATH=BIG)
    if not LARGE.exists():
        lines = "".join(f"case-{n},activity {n % 40},2025-01-01 08:00:00,{'x' * 40}\n" for n in range(100_000)).encode()
        with LARGE.open("wb") as out:
            out.write(b"case_id,activity,timestamp,note\n")
            while out.tell() < GIGABYTE:
                out.write(lines)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        (Path(folder) / "logs").mkdir()
        (Path(folder) / "logs" / "big.parquet").hardlink_to(BIG)
        with serving(Path(folder), "--folder", Path(folder) / "logs") as server, browsing() as browser:
            row("first page, warm, a new browser", first_page(browser, server), 2, "≤", "s")
            row("from the slider to the redrawn curve, the slowest stop", slide(browser, server), 0.1, "≤", "s")
            above, seconds = upload(browser, server)
            row("server's memory above idle while 1 GB is uploaded", above, 300, "≤", "MB", f"in {seconds:.1f} s")
            slowest, seconds = responsive(browser, server)
            row(
                "another browser's page while 11 M events are released", slowest, 2, "≤", "s", f"run of {seconds:.1f} s"
            )
    finish()


if __name__ == "__main__":
    main()
