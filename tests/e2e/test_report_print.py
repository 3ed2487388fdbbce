"""The report on paper: A4, and the decision on its first page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import browsing

import travas
from travas.outputs.guarantee_file import guarantee_path
from travas.report.report_file import write_report
from travas.sources.example_log import PAPER_LOG

MILLIMETRE = 96 / 25.4
ROOM = 174 * MILLIMETRE, 261 * MILLIMETRE  # A4 without margins of 18 mm
LOG = {trace: 40 * cases for trace, cases in PAPER_LOG.items()}


def released(kind: str, folder: Path) -> Path:
    if kind == "map":
        return travas.process_map(LOG, epsilon=2, delta="1e-4").write(folder / "release.json")
    if kind == "synthetic":
        return travas.synthesize(LOG, epsilon=2, delta="1e-4").write(folder / "release.json")
    return travas.anonymize(LOG, epsilon=1, delta="1e-4").write(folder / "release.json")


@pytest.mark.parametrize("kind", ["variants", "synthetic", "map"])
def test_the_decision_is_the_first_page_of_a4(kind: str, tmp_path: Path) -> None:
    path = released(kind, tmp_path)
    reason = "Decided with the works council. " * 8
    report = write_report(
        guarantee_path(path), path, tmp_path / "r.html", reason=reason, signed_off_by="A. Officer, 2026-11-16"
    )
    with browsing() as browser:
        tab = browser.new_page(viewport={"width": int(ROOM[0]), "height": int(ROOM[1])})
        tab.goto(report.as_uri())
        tab.emulate_media(media="print")
        bottom = tab.evaluate("document.querySelector('.decision').getBoundingClientRect().bottom + scrollY")
        assert bottom <= ROOM[1]
        assert tab.evaluate("getComputedStyle(document.querySelector('.decision')).breakAfter") == "page"
        assert tab.evaluate("document.documentElement.scrollWidth") <= int(ROOM[0])
        assert "Signed off\tby A. Officer, 2026-11-16" in tab.locator(".decision").inner_text()
        assert tab.locator(".process-map svg").count() == 1
        pdf = tab.pdf(prefer_css_page_size=True)
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert len(sizes) >= 2 and {(round(float(width)), round(float(height))) for width, height in sizes} == {(595, 842)}
