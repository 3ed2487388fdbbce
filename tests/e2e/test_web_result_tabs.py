"""The tabs of a result in a real browser: figures, table, map, comparison and zip; accessible, and on every screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from browser import Server
from map_harness import FAULTS
from web_flow import (
    card,
    content,
    opened,
    press,
    release,
    result_tab,
    saved,
    shown_variants,
    to_confirm,
    to_protection,
    to_release,
    upload,
    violations,
)

import travas as package
from conftest import Run
from travas.plots.svg import activity_text
from travas.verification.release_file import read_release
from travas.web.result.result_variants import ranking

pytest_plugins = ["web_fixtures"]

TABS = ("Summary", "Variants", "Map", "Before and after", "Hand over")
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def result(browser: Any, server: Server) -> Iterator[Any]:
    """A tab with a release of the made-up hospital log, which the tests share: none changes it."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    tab = opened(context, server)
    press(tab, "Try it with a made-up hospital log")
    to_release(tab)
    release(tab)
    yield tab
    assert tab.foreign == [] and tab.broken == []
    context.close()


SCROLL = """async () => {
  const body = document.querySelector(".ag-body-viewport");
  for (let step = 0; step < 120; step++) {
    body.scrollTop += 500;
    await new Promise(requestAnimationFrame);
  }
}"""


def longest_task(browser: Any, page: Any, script: str) -> float:
    """The longest task of the page's main thread while a script runs, in milliseconds of the processor.

    The time of the processor, so that other work on the machine does not decide; on an idle one it is the stall.
    """
    browser.start_tracing(page=page, categories=["toplevel", "__metadata"])
    page.evaluate(script)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    names = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    tasks = [
        one["tdur"] / 1000
        for one in events
        if "tdur" in one and names.get((one["pid"], one["tid"])) == "CrRendererMain"
    ]
    assert len(tasks) > 100
    return float(max(tasks))


def test_default_order_and_figures_are_those_of_the_estimates(result: Any, tmp_path: Path) -> None:
    """What the page shows is compared with the release that is downloaded."""
    guarantee = saved(result, "release.json.guarantee.json", tmp_path, "release.json.guarantee.json")
    path = saved(result, "release.json", tmp_path, "release.json")
    made = read_release(path).release(package.verify(guarantee, path).mechanism, "estimated")
    assert made is not None
    ranked = ranking(made)
    summary = result_tab(result, "Summary")
    assert f"different traces\n{len(made.variants):,}\n" in summary
    assert f"cases of these variants, as estimated\n{sum(made.estimate.counts):,.0f}\n" in summary
    traces = shown_variants(result)
    assert len(traces) >= 5
    expected = [" → ".join(map(activity_text, made.variants[place])) for place in ranked]
    assert [unfolded(trace) for trace in traces] == expected[: len(traces)]
    values = result.locator('.ag-row [col-id="value"]').all_inner_texts()
    assert sorted(values) == sorted(
        f"{made.estimate.counts[place]:,.1f}".removesuffix(".0") for place in ranked[: len(values)]
    )


def unfolded(trace: str) -> str:
    """A trace without folding: a ×2 is a → a."""
    steps = []
    for step in trace.split(" → "):
        name, _, times = step.partition(" ×")
        steps += [name] * int(times or 1)
    return " → ".join(steps)


def test_the_table_is_searched(result: Any) -> None:
    every = len(shown_variants(result))
    result.get_by_label("Search").fill("surgery")
    result.wait_for_function(f"document.querySelectorAll('.ag-row .chevrons').length < {every}")
    assert all("surgery" in trace for trace in shown_variants(result))
    result.get_by_label("Search").fill("")
    result.wait_for_function(f"document.querySelectorAll('.ag-row .chevrons').length === {every}")


def test_the_map_is_above_the_fold_and_has_no_overlaps(result: Any) -> None:
    result_tab(result, "Map")
    box = result.locator(".map-frame").bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= 900 and box["height"] >= 300
    found = result.evaluate(FAULTS)
    assert found["nodes"] >= 5
    assert {found[name] for name in ("labels", "labelsOnBoxes", "boxes", "outside", "through")} == {0}
    with result.expect_download() as download:
        press(result, "Export as SVG")
    assert download.value.suggested_filename == "process-map.svg"


def test_the_zip_can_be_checked_by_its_recipient(result: Any, travas: Run, tmp_path: Path) -> None:
    with ZipFile(saved(result, "release.zip", tmp_path, "release.zip")) as packed:
        packed.extractall(tmp_path)
        names = packed.namelist()
    log = tmp_path / "release.xes.gz"
    assert set(names) == {log.name, f"{log.name}.guarantee.json", f"{log.name}.README.txt", f"{log.name}.report.html"}
    assert travas("verify", f"{log}.guarantee.json", log).code == 0


def test_before_and_after_is_marked_and_cannot_be_exported(result: Any) -> None:
    result_tab(result, "Before and after")
    press(result, "Compare with the original log")
    result.locator("[data-shown]").wait_for()
    assert result.get_by_text("CONFIDENTIAL: about the original log").count() == 1
    assert result.get_by_text("CONFIDENTIAL: do not publish").is_visible()
    assert result.get_by_role("button", name="Export").count() == 0
    assert result.locator(".map-frame").count() == 2
    text = result.locator(".q-tab-panel").inner_text()
    assert "case coverage" in text and "Largest differences" in text
    first, second = (picture.get_attribute("viewBox") for picture in result.locator(".map-frame svg").all())
    assert first == second


def test_no_tab_has_barriers(result: Any) -> None:
    for name in TABS:
        result_tab(result, name)
        assert violations(result) == [], name


def test_nothing_overflows(result: Any) -> None:
    for name in TABS:
        result_tab(result, name)
        for width in (320, 390, 1024, 1440):
            result.set_viewport_size({"width": width, "height": 900})
            assert result.evaluate(OVERFLOW) <= 0, (name, width)
    result.set_viewport_size({"width": 1440, "height": 900})


def test_tabs_by_keyboard(result: Any) -> None:
    result_tab(result, "Summary")
    result.get_by_role("tab", name="Summary").focus()
    result.keyboard.press("ArrowRight")
    result.keyboard.press("Enter")
    result.locator(".chevron").first.wait_for()
    assert result.get_by_role("tab", name="Variants").get_attribute("aria-selected") == "true"


def test_a_process_map_has_its_own_numbers(page: Any, travas: Run, tmp_path: Path) -> None:
    to_protection(page)
    card(page, "Process map")
    to_confirm(page)
    release(page, "Process map")
    assert page.get_by_role("tab", name="Variants").count() == 0
    assert "pairs of activities that follow each other" in result_tab(page, "Summary")
    assert "expected to be there by noise alone" in result_tab(page, "Map")
    page.locator(".pair .label").first.hover(force=True)
    assert "95 %" in page.locator(".detail").inner_text()
    with ZipFile(saved(page, "release.zip", tmp_path, "release.zip")) as packed:
        packed.extractall(tmp_path)
    assert travas("verify", tmp_path / "release.json.guarantee.json", tmp_path / "release.json").code == 0
    assert json.loads((tmp_path / "release.json").read_text())["kind"] == "process map"


@pytest.mark.slow
def test_ten_thousand_variants_scroll_without_a_stall(page: Any, browser: Any) -> None:
    traces = [(f"a{n // 2 % 110}", f"b{n // 220}", "c") for n in range(24_000)]
    rows = "".join(
        f"{n},{name},2025-01-0{day}\n" for n, trace in enumerate(traces) for day, name in enumerate(trace, 1)
    )
    upload(page, content("many.csv", f"case_id,activity,timestamp\n{rows}".encode()))
    to_release(page, "10", "0.1")
    release(page)
    assert len(shown_variants(page)) > 5
    assert page.evaluate("document.querySelector('.ag-body-viewport').scrollHeight") > 9_000 * 34
    longest = longest_task(browser, page, SCROLL)
    print(longest)
    assert longest <= 100
