"""The steps of a new release in a real browser, and everything that can go wrong on the way."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from browser import Server
from web_flow import (
    HOSTILE,
    alert,
    card,
    choose,
    content,
    heading,
    name_data_set,
    press,
    release,
    result_tab,
    saved,
    shown_variants,
    tick,
    to_columns,
    to_confirm,
    to_protection,
    to_release,
    upload,
)

import travas as package
from conftest import DATA
from travas.outputs.example import write_hospital_log

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


def test_an_upload_shows_its_progress_and_can_be_cancelled(page: Any) -> None:
    field = page.get_by_label("Drop an event log here, or choose a file")
    zone = page.locator(".drop-zone").bounding_box()
    box = field.bounding_box()
    assert box["width"] >= zone["width"] - 5 and box["height"] >= zone["height"] - 5  # a file dropped there is its file
    log = content("log.csv", b"case_id,activity,timestamp\n1,visit,2025-01-01\n")
    page.route("**/upload?*", lambda route: None)  # it never arrives
    upload(page, log)
    page.get_by_role("progressbar", name="upload").wait_for()
    assert "MB" in page.get_by_role("status").inner_text()
    press(page, "Cancel the upload")
    page.get_by_role("progressbar", name="upload").wait_for(state="detached")
    page.unroute("**/upload?*")
    upload(page, log)
    to_columns(page)


def test_a_wrong_column_is_one_line_and_can_be_fixed(page: Any) -> None:
    rows = "".join(f"{n},visit,later,2025-01-01\n{n},release,soon,2025-01-02\n" for n in range(300))
    upload(page, content("log.csv", b"patient,what,when,day\n" + rows.encode()))
    to_columns(page)
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
    assert "(“Format of timestamps”, step Columns, More) [confidential" in alert(page)
    press(page, "2 Columns")
    page.get_by_label("Timestamp, for the order of events", exact=True).click()
    page.get_by_role("option", name="day", exact=True).click()
    to_release(page)
    release(page)
    assert "visit → release" in shown_variants(page)


def test_another_delimiter_gives_other_columns(page: Any) -> None:
    upload(page, content("log.csv", b"case_id^activity^activity\n" + b"".join(b"%d^visit^x\n" % n for n in range(300))))
    to_columns(page)
    page.get_by_text("More: order").click()
    page.get_by_label("Delimiter (CSV)").fill("^")
    press(page, "Read the columns again")
    page.get_by_role("columnheader", name="activity: activity").first.wait_for()
    press(page, "Show the values")
    page.get_by_role("gridcell", name="visit").first.wait_for()
    page.get_by_text("More: order").click()
    assert page.get_by_label("Delimiter (CSV)").input_value() == "^"
    press(page, "2 Columns")


def test_a_cancelled_run_leaves_nothing(page: Any, server: Server) -> None:
    press(page, "Try it with a made-up hospital log")
    page.get_by_text("What the doctor found").wait_for()
    to_release(page)
    name_data_set(page)
    page.get_by_role("button", name=re.compile("^Release for")).click()
    press(page, "Cancel")
    heading(page, "Confirm")
    page.wait_for_timeout(300)
    assert server.children() == []
    assert page.get_by_role("button", name="6 Result").is_disabled()
    release(page)


def test_a_release_that_is_being_charged_has_no_cancel(page: Any, server: Server) -> None:
    """Here the charge takes long, because another process writes to the ledger."""
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


def test_a_mechanism_with_its_own_options(page: Any) -> None:
    to_protection(page)
    page.get_by_text("More: mechanism").click()
    choose(page, "Mechanism", "prefix-tree")
    page.get_by_text("prefix-tree needs max_length").wait_for()
    press(page, "Continue")
    page.get_by_role("alert").filter(has_text="prefix-tree needs max_length").wait_for()
    page.get_by_label("Activities of the longest variant").fill("five")
    page.get_by_text("a whole number, or nothing").wait_for()
    page.get_by_label("Activities of the longest variant").fill("5")
    page.get_by_label("Noisy counts must exceed").fill("100")
    page.get_by_label("Activities, one per line (required").fill("register\ntriage\nrelease")
    page.get_by_label("Activities, one per line (required").blur()
    page.get_by_text("What is kept depends on more").wait_for()
    to_confirm(page)
    release(page)
    assert ": proven" in page.locator(".card").inner_text()


def test_persons_need_a_column_and_a_number(page: Any) -> None:
    to_protection(page)
    card(page, "One person")
    press(page, "Continue")
    page.get_by_role("alert").filter(has_text="no column is chosen that identifies the person").wait_for()
    choose(page, "Column that identifies the person", "patient")
    press(page, "Continue")
    page.get_by_role("alert").filter(has_text="max_cases is not set").wait_for()
    assert "--" not in alert(page)
    page.get_by_label("Maximum number of cases per person").fill("1001")
    page.get_by_role("alert").filter(has_text="max_cases is 1001: it must be a whole number").wait_for()
    page.get_by_label("Maximum number of cases per person").fill("2")
    page.get_by_role("alert").wait_for(state="detached")
    page.get_by_text("guess whether a given patient was in the log").wait_for()


def test_chips_transform_a_made_up_trace(page: Any) -> None:
    to_protection(page)
    page.get_by_text("Generalise traces before counting").click()
    counted = page.get_by_role("group", name="what is counted of it").locator("svg")
    counted.wait_for()
    whole = counted.get_attribute("aria-label")
    press(page, "First occurrences only")
    page.wait_for_function(
        "old => !document.querySelector(`[aria-label='what is counted of it'] [aria-label='${old}']`)", arg=whole
    )
    assert counted.get_attribute("aria-label") == "register → triage → test → treat → release"
    press(page, "Only the first activities")
    choose(page, "How many of the first activities", "3")
    page.get_by_role("group", name="what is counted of it").get_by_label(
        "register → triage → test", exact=True
    ).wait_for()
    assert page.get_by_role("button", name="1. First occurrences").get_attribute("aria-pressed") == "true"
    card(page, "One person")
    choose(page, "Column that identifies the person", "patient")
    page.get_by_label("Maximum number of cases per person").fill("2")
    page.get_by_role("alert").filter(has_text="and would count it several times").wait_for()
    card(page, "One case")
    page.get_by_text(re.compile("^δ: ")).wait_for()
    to_confirm(page)
    assert page.get_by_role("cell", name="first | prefix:3").count() == 1
    release(page)
    assert "first | prefix:3" in result_tab(page, "Variants")


def test_presets_fields_and_sliders_agree(page: Any) -> None:
    to_protection(page)
    epsilon, delta = (page.get_by_label(name, exact=True) for name in ("epsilon", "delta"))
    card(page, "Strong: ε = 0.5, δ = 1e-8")
    page.get_by_role("img", name="at most 62.25 %").wait_for()
    assert (epsilon.input_value(), delta.input_value()) == ("0.5", "1e-8")
    epsilon.fill("0.7")
    page.get_by_role("img", name="at most 66.82 %").wait_for()
    assert page.get_by_role("radio", name="Strong", exact=False).is_checked() is False
    delta.fill("1e-6")
    epsilon.fill("1")
    page.get_by_role("img", name="at most 73.11 %").wait_for()
    assert page.get_by_role("radio", name="Balanced: ε = 1, δ = 1e-6").is_checked()
    point = page.locator(".hover-labels .at").nth(13)
    point.locator("rect").hover()
    point.locator("text").wait_for()
    label = str(point.locator("text").text_content())
    cases = int(label.partition(" ")[0])
    share = package.Optimal(epsilon=1, delta="1e-6").keep_probability(cases)
    assert label == f"{cases} cases: {float(share or 0):.1%}"
    assert page.locator(".hover-labels .at text:visible").count() == 1


def test_a_process_map_has_the_parts_that_were_chosen(page: Any, server: Server) -> None:
    to_protection(page)
    card(page, "Process map")
    tick(page, "Durations: how long a step takes")
    tick(page, "Rework: in how many cases an activity is repeated")
    to_confirm(page)
    assert page.get_by_role("cell", name="map (parts durations and rework)").count() == 1


def test_the_doctor_fixes_how_a_log_is_read(page: Any) -> None:
    rows = "".join(f"{n};Aufnahme;{13 + n % 9}.02.2024 08:00\n{n};Prüfung;27.02.2024 09:00\n" for n in range(300))
    upload(page, content("log.csv", f"Fallnummer;Tätigkeit;Zeit\n{rows}".encode("cp1252")))
    page.get_by_text("What the doctor found").wait_for()
    press(page, "Set the encoding to cp1252")
    page.get_by_role("button", name="Set the encoding to cp1252").wait_for(state="detached")
    press(page, "Set the time format to %d.%m.%Y %H:%M")
    page.get_by_role("button", name="Set the time format").wait_for(state="detached")
    to_columns(page)
    assert page.locator(".blurred").count() == 1 and "Aufnahme" not in page.content()
    page.get_by_role("columnheader", name="activity: Tätigkeit").wait_for()
    press(page, "Show the values")
    page.get_by_role("gridcell", name="Aufnahme").first.wait_for()
    assert page.locator(".blurred").count() == 0
    to_release(page)
    release(page)
    assert "Aufnahme → Prüfung" in shown_variants(page)


def test_a_look_at_the_log_is_behind_a_gate_and_in_the_report(page: Any, tmp_path: Path) -> None:
    to_protection(page)
    press(page, "Continue")
    heading(page, "Forecast")
    page.get_by_role("heading", name="Recommendation").wait_for()
    page.get_by_label("Number of cases, as you state it").fill("200")
    page.get_by_text("With 200 cases at ε = 1 a synthetic log is weak").wait_for()
    assert page.get_by_role("region", name="confidential").count() == 0
    advice = page.locator(".words").all_inner_texts()
    press(page, "Read the log for a forecast")
    page.get_by_role("rowheader", name="process map (steps)").wait_for(timeout=120_000)
    assert page.locator("td.heat").count() == 12 and page.get_by_role("region", name="confidential").count() == 1
    page.get_by_role("heading", name="Recommendation").wait_for()
    assert page.locator(".words").all_inner_texts() == advice
    press(page, "Continue")
    release(page)
    report = saved(page, "release.json.report.html", tmp_path, "r.html").read_text()
    assert "the data owner looked at a forecast that has read the original log" in report


def test_sepsis_as_a_synthetic_log_in_few_clicks(page: Any, tmp_path: Path) -> None:
    """From the drop to the zip: nothing is typed, and a click is a click."""
    log = DATA / "sepsis.xes.gz"
    page.evaluate("window.clicks = 0; addEventListener('click', event => { window.clicks += event.isTrusted }, true)")
    upload(page, log if log.exists() else write_hospital_log(tmp_path / "hospital.csv"))
    to_columns(page)
    press(page, "Continue")
    heading(page, "Protect")
    card(page, "Synthetic log")
    to_confirm(page)
    page.get_by_role("button", name=re.compile("without a budget$")).click()
    page.get_by_role("cell", name="before: 0 releases").wait_for()
    page.get_by_role("button", name=re.compile("^Release for")).click()
    heading(page, "Synthetic log")
    with ZipFile(saved(page, "release.zip", tmp_path, "r.zip")) as bundle:
        assert {"release.xes.gz", "release.xes.gz.guarantee.json"} <= {Path(name).name for name in bundle.namelist()}
    assert 0 < page.evaluate("window.clicks") <= 12


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
    press(page, "5 Confirm")
    page.get_by_role("alert").wait_for()
    assert "hospital: ε = 0.5, δ = 9e-6 left" in alert(page) and "this release needs" in alert(page)
    assert page.get_by_role("button", name="Release again").is_disabled()
    account = package.Ledger(server.storage.parent / "ledger.db").account("hospital")
    assert len(account.entries) == 1


def test_an_account_takes_no_clicks_while_another_one_is_looked_up(page: Any, server: Server) -> None:
    """A click on Set this budget would set that of the account before."""
    press(page, "Try it with a made-up hospital log")
    to_release(page)
    name_data_set(page)
    with closing(sqlite3.connect(server.storage.parent / "ledger.db")) as other:
        other.execute("begin exclusive")
        page.get_by_label("Data set in the ledger").fill("another one")
        page.locator("[inert]").get_by_text("Set a budget").wait_for()
    page.get_by_role("button", name="Create the data set 'another one' without a budget").wait_for()
    assert not page.locator("[inert]").count()


def test_files_of_allowed_folders_only(page: Any) -> None:
    page.get_by_label("File", exact=True).click()
    page.get_by_role("option").first.wait_for()
    names = page.get_by_role("option").all_inner_texts()
    assert [name.rpartition("/")[2] for name in names] == ["allowed.csv"]
    page.get_by_role("option").first.click()
    press(page, "Open")
    to_release(page)
    assert page.get_by_role("button", name="Release for").is_disabled()
    tick(page, "No budget: only releases of this file are added up")
    page.get_by_role("button", name="Release for", disabled=False).click()
    heading(page, "Released")
