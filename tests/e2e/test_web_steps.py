"""The steps of a new release in a real browser, and everything that can go wrong on the way."""

from __future__ import annotations

import gzip
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from browser import Server, serving
from web_flow import (
    HOSTILE,
    alert,
    choose,
    content,
    heading,
    name_data_set,
    opened,
    press,
    release,
    saved,
    to_protection,
    to_release,
    upload,
)

import travas as package

pytest_plugins = ["web_fixtures"]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("notes.txt", b"hello", "unsupported file extension"),
        ("log.xes", b"<html>hello", "not an XES log"),
        ("log.xes.gz", b"<log/>", "not compressed with gzip"),
        ("log.csv", b"", "the file is empty"),
        ("log.parquet", b"PAR1xxxxPAR1", "cannot be read as Parquet"),
        (f"{HOSTILE}.xes", b"x", "not an XES log"),
    ],
)
def test_a_wrong_file_is_one_line(page: Any, name: str, data: bytes, why: str) -> None:
    upload(page, content(name, data))
    page.get_by_role("alert").wait_for()
    assert why in alert(page) and len(alert(page).splitlines()) == 1
    assert page.evaluate("window.hacked") is None
    heading(page, "Choose an event log")


def test_a_wrong_column_is_one_line_and_can_be_mended(page: Any) -> None:
    rows = "".join(f"{n},visit,later,2025-01-01\n{n},release,soon,2025-01-02\n" for n in range(300))
    upload(page, content("log.csv", b"patient,what,when,day\n" + rows.encode()))
    heading(page, "Columns")
    press(page, "Continue")
    page.get_by_role("alert").wait_for()
    assert "no column for the activity is chosen" in alert(page)
    for label, name in (("Case", "patient"), ("Activity", "what"), ("Timestamp, for the order of events", "when")):
        page.get_by_label(label, exact=True).click()
        page.get_by_role("option", name=name, exact=True).click()
        page.keyboard.press("Escape")
        page.locator("[role=option]").first.wait_for(state="hidden")
    to_release(page)
    name_data_set(page)
    page.get_by_role("button", name=re.compile("^Release for")).click()
    page.get_by_role("alert").wait_for()
    assert (
        "is not a timestamp" in alert(page) and "[confidential" in alert(page) and "/" not in alert(page).split(":")[0]
    )
    press(page, "2 Columns")
    page.get_by_label("Timestamp, for the order of events", exact=True).click()
    page.get_by_role("option", name="day", exact=True).click()
    to_release(page)
    release(page)
    assert "visit → release" in page.locator(".q-tab-panel").inner_text()


def test_another_delimiter_gives_other_columns(page: Any) -> None:
    upload(page, content("log.csv", b"case_id^activity^activity\n" + b"".join(b"%d^visit^x\n" % n for n in range(300))))
    heading(page, "Columns")
    page.get_by_text("More: order").click()
    page.get_by_label("Delimiter (CSV)").fill("^")
    press(page, "Read the columns again")
    page.get_by_role("cell", name="visit").first.wait_for()
    page.get_by_text("More: order").click()
    assert page.get_by_label("Delimiter (CSV)").input_value() == "^"
    press(page, "2 Columns")


def test_a_cancelled_run_leaves_nothing(page: Any, server: Server) -> None:
    press(page, "Try it with a made-up hospital log")
    to_release(page)
    name_data_set(page)
    page.get_by_role("button", name=re.compile("^Release for")).click()
    press(page, "Cancel")
    heading(page, "Release")
    page.wait_for_timeout(300)
    assert server.children() == []
    assert page.get_by_role("button", name="6 Result").is_disabled()
    release(page)


def test_a_release_that_is_being_charged_has_no_cancel(page: Any, server: Server) -> None:
    """Here the charge takes long, since somebody else writes to the ledger."""
    press(page, "Try it with a made-up hospital log")
    to_release(page)
    name_data_set(page)
    with closing(sqlite3.connect(server.storage.parent / "ledger.db", isolation_level=None)) as ledger:
        ledger.execute("BEGIN IMMEDIATE")
        page.get_by_role("button", name=re.compile("^Release for")).click()
        page.get_by_text("charging the ledger … this cannot be cancelled").wait_for()
        assert not page.get_by_role("button", name="Cancel").is_visible()
        ledger.execute("ROLLBACK")
    heading(page, "Released")


def test_a_mechanism_with_options_of_its_own(page: Any) -> None:
    press(page, "Try it with a made-up hospital log")
    heading(page, "Columns")
    press(page, "Continue")
    heading(page, "What protects whom")
    page.get_by_label("Mechanism", exact=True).click()
    page.get_by_role("option", name="prefix-tree", exact=True).click()
    press(page, "4 Privacy")
    page.get_by_text("prefix-tree needs max_length").wait_for()
    assert page.get_by_role("button", name="Continue").is_disabled()
    press(page, "3 Protection")
    page.get_by_label("Activities of the longest variant").fill("five")
    page.get_by_text("a whole number, or nothing").wait_for()
    page.get_by_label("Activities of the longest variant").fill("5")
    page.get_by_label("Noisy counts must exceed").fill("100")
    page.get_by_label("Activities, one per line").fill("register\ntriage\nrelease")
    press(page, "Continue")
    page.get_by_text("What is kept depends on more").wait_for()
    press(page, "Continue")
    release(page)
    assert "· proven" in page.locator(".card").inner_text()


def test_a_wrong_abstraction_is_one_line(page: Any, tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("visit")
    to_protection(page)
    field = page.get_by_label("Abstraction (empty: the trace as it is)")
    for text, why in (
        ("prefx:3", "which does not exist"),
        (f"only:{rules}", "files are not read here"),
        ("first | group:../../etc/passwd", "files are not read here"),
        ("prefix:0", "whole number from 1"),
    ):
        field.fill(text)
        page.get_by_role("alert").filter(has_text=why).wait_for()
        assert len(alert(page).splitlines()) == 1
    press(page, "4 Privacy")
    heading(page, "How much privacy: ε and δ")
    page.get_by_text("prefix has the length '0'").wait_for()
    assert page.get_by_role("button", name="Continue").is_disabled()
    press(page, "3 Protection")
    heading(page, "What protects whom")
    field.fill("first | prefix:3")
    choose(page, "Unit", "one patient")
    page.get_by_label("Maximum number of cases per patient").fill("2")
    page.get_by_role("alert").filter(has_text="and would count it several times").wait_for()
    assert "--ladder" not in alert(page)
    choose(page, "Unit", "one case")
    press(page, "Continue")
    heading(page, "How much privacy: ε and δ")
    page.get_by_text(re.compile("^δ: ")).wait_for()
    press(page, "Continue")
    release(page)
    assert "first | prefix:3" in page.locator(".q-tab-panel").inner_text()


def test_over_budget_is_refused_before_anything_is_read(page: Any, server: Server, tmp_path: Path) -> None:
    press(page, "Try it with a made-up hospital log")
    to_release(page)
    name_data_set(page, "hospital")
    page.get_by_text("Set a budget").first.click()
    page.get_by_label("ε of all releases").fill("1.5")
    page.get_by_label("δ of all releases").fill("1e-5")
    press(page, "Set this budget")
    page.get_by_text("left of ε = 1.5").wait_for()
    release(page)
    assert "charged to hospital. ε = 0.5, δ = 9e-6 left" in page.locator(".card").inner_text()
    report = saved(page, "release.json.report.html", tmp_path, "r.html").read_text()
    assert "Data set: hospital." in report and "left of ε = 1.5" in report
    press(page, "5 Release")
    page.get_by_role("alert").wait_for()
    assert "hospital: ε = 0.5, δ = 9e-6 left" in alert(page) and "this release needs" in alert(page)
    assert page.get_by_role("button", name="Release again").is_disabled()
    account = package.Ledger(server.storage.parent / "ledger.db").account("hospital")
    assert len(account.entries) == 1


def test_files_of_allowed_folders_only(page: Any) -> None:
    page.get_by_label("File", exact=True).click()
    page.get_by_role("option").first.wait_for()
    names = page.get_by_role("option").all_inner_texts()
    assert [name.rpartition("/")[2] for name in names] == ["allowed.csv"]
    page.get_by_role("option").first.click()
    press(page, "Open")
    heading(page, "Columns")


def test_a_compressed_log_that_unpacks_to_too_much(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path, "--upload-limit", 0.0002) as small:
        context = browser.new_context()
        tab = opened(context, small)
        bomb = gzip.compress(b"case_id,activity,timestamp\n" + b"1,visit,2025-01-01\n" * 200_000)
        upload(tab, content("bomb.csv.gz", bomb))
        to_release(tab)
        name_data_set(tab)
        tab.get_by_role("button", name=re.compile("^Release for")).click()
        tab.get_by_role("alert").wait_for()
        assert "unpacks to more than" in alert(tab)
        context.close()
    assert not list((tmp_path / f"travas-web-{os.getuid()}").iterdir())
