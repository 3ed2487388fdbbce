"""The page in a real browser: the whole flow, and everything that can go wrong on the way."""

from __future__ import annotations

import gzip
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from browser import Server, browsing, serving

import travas as package
from conftest import DATA, Run
from travas.outputs.example import write_hospital_log

NUMBERS = count(1)
HOSTILE = "<img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("logs")
    write_hospital_log(folder / "allowed.csv")
    (folder / "out.csv").symlink_to("/etc/passwd")
    with serving(tmp_path_factory.mktemp("server"), "--folder", folder, "--max-sessions", 100) as running:
        yield running


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    """A tab of a browser of its own. Nothing may be fetched from elsewhere, and no script may fail."""
    context = browser.new_context(viewport={"width": 1100, "height": 900}, accept_downloads=True)
    tab = opened(context, server)
    yield tab
    assert tab.foreign == [] and tab.broken == []
    context.close()


def opened(context: Any, server: Server) -> Any:
    tab = context.new_page()
    tab.set_default_timeout(30_000)
    tab.foreign, tab.broken = [], []
    tab.on(
        "request", lambda request: request.url.startswith((server.address, "data:")) or tab.foreign.append(request.url)
    )
    tab.on("pageerror", lambda error: tab.broken.append(str(error)))
    tab.on("console", lambda line: "Content Security" in line.text and tab.broken.append(line.text))
    tab.goto(server.link)
    heading(tab, "Choose an event log")
    return tab


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


def test_from_upload_to_a_verified_release(page: Any, server: Server, tmp_path: Path) -> None:
    log = DATA / "sepsis.xes.gz"
    if not log.exists():
        log = write_hospital_log(tmp_path / "hospital.csv")
    upload(page, log)
    to_release(page, "3", "1e-3")
    press(page, "Look at the original log")
    page.get_by_text("Expected to be kept").wait_for()
    assert page.get_by_text("CONFIDENTIAL: about the original log").count() >= 1
    page.get_by_label("Why these parameters").fill("Agreed with the <works council>")
    release(page)
    files = {suffix: saved(page, f"release{suffix}", tmp_path, f"r{suffix}") for suffix in (".xes.gz", ".json", ".csv")}
    true = dict(package.read(log).items())
    found = {suffix: dict(package.read(path).items()) for suffix, path in files.items()}
    assert found[".xes.gz"] == found[".json"] == found[".csv"] and set(found[".json"]) <= set(true) and found[".json"]
    guarantee = saved(page, "release.xes.gz.guarantee.json", tmp_path, "g.json")
    assert package.verify(guarantee, files[".xes.gz"]).digest_checked
    report = saved(page, "release.xes.gz.report.html", tmp_path, "r.html").read_text()
    assert "Agreed with the &lt;works council&gt;" in report and "95 % interval" in report
    for tab in ("Explorer", "Process map"):
        page.get_by_role("tab", name=tab).click()
        page.locator(".q-tab-panel svg").first.wait_for()
    folders = [path for path in server.storage.rglob("*") if path.is_dir()]
    assert all(path.stat().st_mode & 0o777 == 0o700 for path in [server.storage, *folders])


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


def to_protection(tab: Any) -> None:
    press(tab, "Try it with a made-up hospital log")
    heading(tab, "Columns")
    press(tab, "Continue")
    heading(tab, "What protects whom")


def choose(tab: Any, label: str, option: str) -> None:
    tab.get_by_label(label, exact=True).click()
    tab.get_by_role("option", name=option, exact=True).click()
    tab.locator("[role=option]").first.wait_for(state="hidden")


def test_a_release_that_protects_patients(page: Any, travas: Run, tmp_path: Path) -> None:
    to_protection(page)
    choose(page, "Unit", "one patient")
    press(page, "Continue")
    page.get_by_role("alert").wait_for()
    assert "max_cases is not set" in alert(page) and "--" not in alert(page)
    page.get_by_label("Maximum number of cases per patient").fill("1001")
    page.get_by_text("max_cases is 1001: it must be a whole number").wait_for()
    page.get_by_label("Maximum number of cases per patient").fill("2")
    page.get_by_role("alert").wait_for(state="detached")
    press(page, "Continue")
    heading(page, "How much privacy: ε and δ")
    page.get_by_text("guess whether a given patient was in the log").wait_for()
    half = page.get_by_text(
        re.compile("different patient values is released with a probability above 50 %")
    ).inner_text()
    press(page, "Continue")
    heading(page, "Release")
    assert page.get_by_role("cell", name="all cases of one patient more or less").count() == 1
    press(page, "Look at the original log")
    page.get_by_text("counted by patient").wait_for()
    release(page)
    card = page.locator(".card").inner_text()
    assert "all cases of one patient more or less · proven" in card and "standing for" not in card
    heads = page.locator(".q-tab-panel th").all_inner_texts()
    assert heads == ["Variant", "Estimated number of different patient values", "95 % interval", "Count in the file"]
    assert "patient–variant pairs" in card and "Not released: roughly" in card
    for suffix in (".xes.gz", ".json"):
        file = saved(page, f"release{suffix}", tmp_path, f"r{suffix}")
        promise = saved(page, f"release{suffix}.guarantee.json", tmp_path, f"r{suffix}.guarantee.json")
        assert travas("verify", promise, file).code == 0
    chosen = package.verify(promise).mechanism
    assert chosen.unit == package.PrivacyUnit("patient", 2)
    first = next(n for n in range(1, 1000) if (chosen.keep_probability(n) or 0) >= 0.5)
    assert f"A variant of {first:,} " in half
    report = saved(page, "release.xes.gz.report.html", tmp_path, "r.html").read_text()
    assert "at most 2 different variants per patient are counted, each once" in report


def test_a_ladder_from_rungs_to_a_verified_release(page: Any, travas: Run, tmp_path: Path) -> None:
    to_protection(page)
    choose(page, "Mechanism", "ladder")
    page.get_by_label("Rungs, from fine to coarse").fill("full, only:/etc/passwd")
    page.get_by_text("abstraction has the step only").wait_for()
    page.get_by_label("Rungs, from fine to coarse").fill("full, first, prefix:2")
    page.get_by_label("Shares of ε and δ").fill("1/2, 1/2")
    page.get_by_text("2 shares for 3 rungs").wait_for()
    page.get_by_label("Shares of ε and δ").fill("1/2, 1/4, 1/4")
    page.get_by_role("alert").wait_for(state="detached")
    press(page, "Continue")
    page.get_by_text("On a ladder it depends on the rung; here: full").wait_for()
    press(page, "Continue")
    press(page, "Look at the original log")
    page.get_by_text("on the rung full; coarser rungs add cases").wait_for()
    release(page)
    shown = page.locator(".q-tab-panel").inner_text()
    assert "Abstraction" in shown and "prefix:2" in shown and "full" in shown
    page.get_by_role("tab", name="Explorer").click()
    page.get_by_text("· prefix:2").first.wait_for()
    for suffix in (".csv", ".json"):
        file = saved(page, f"release{suffix}", tmp_path, f"r{suffix}")
        promise = saved(page, f"release{suffix}.guarantee.json", tmp_path, f"r{suffix}.guarantee.json")
        assert travas("verify", promise, file).code == 0
    report = saved(page, "release.csv.report.html", tmp_path, "r.html").read_text()
    assert "Step by step" in report and "95 % interval" in report and "prefix:2: The first n activities" in report


def test_a_synthetic_log_is_called_one_on_every_page(page: Any, travas: Run, tmp_path: Path) -> None:
    to_protection(page)
    choose(page, "Mechanism", "synthesis")
    page.get_by_text("This is a synthetic log").wait_for()
    assert page.get_by_label(re.compile("^Activities, one per line .optional")).count() == 1
    press(page, "Continue")
    page.get_by_text("Noise: discrete Gaussian").wait_for()
    press(page, "Continue")
    heading(page, "Release")
    release(page, "Synthetic log")
    card = page.locator(".card").inner_text()
    assert "generated cases of" in card and "have a variant that was released as such" in card
    assert page.locator(".q-tab-panel th").all_inner_texts() == ["Trace", "Origin", "Cases"]
    page.get_by_role("tab", name="Process map").click()
    page.get_by_text("Of a synthetic log").wait_for()
    for suffix in (".xes.gz", ".json"):
        file = saved(page, f"release{suffix}", tmp_path, f"r{suffix}")
        promise = saved(page, f"release{suffix}.guarantee.json", tmp_path, f"r{suffix}.guarantee.json")
        assert travas("verify", promise, file).code == 0
    assert package.read_synthetic(tmp_path / "r.json").origins
    report = saved(page, "release.xes.gz.report.html", tmp_path, "r.html").read_text()
    assert "Synthetic log." in report and "<td>generated</td>" in report


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


def test_a_reload_is_not_leaving(page: Any) -> None:
    press(page, "Try it with a made-up hospital log")
    to_release(page, "0.7", "1/5000")
    page.reload()
    heading(page, "Release")
    page.get_by_role("button", name="4 Privacy").click()
    assert page.get_by_label("epsilon", exact=True).input_value() == "0.7"
    assert page.get_by_label("delta", exact=True).input_value() == "1/5000"
    press(page, "Continue")
    name_data_set(page)
    page.get_by_role("button", name=re.compile("^Release for")).click()
    page.get_by_role("button", name="Cancel").wait_for()
    page.reload()
    heading(page, "Released")


def test_two_browsers_do_not_see_each_other(page: Any, browser: Any, server: Server) -> None:
    press(page, "Try it with a made-up hospital log")
    to_release(page)
    release(page)
    context = browser.new_context()
    other = opened(context, server)
    assert other.get_by_role("button", name="6 Result").is_disabled()
    upload(other, content("other.csv", b"case_id,activity,timestamp\n1,secret of the other,2020-01-01\n"))
    heading(other, "Columns")
    context.close()
    page.reload()
    heading(page, "Released")
    assert "secret of the other" not in page.content()


def test_names_are_text_wherever_they_come_from(page: Any) -> None:
    rows = "".join(
        f'{n},"{HOSTILE}",1,2025-01-01\n{n},"\'"" `x` ${{y}} </script><script>window.hacked=2</script>",2,2025-01-02\n'
        for n in range(400)
    )
    upload(page, content(f"{HOSTILE}.csv", f'case_id,activity,"{HOSTILE}",timestamp\n{rows}'.encode()))
    heading(page, "Columns")
    assert page.get_by_text(HOSTILE).count() >= 1
    press(page, "Continue")
    choose(page, "Unit", f"one {HOSTILE}")
    page.get_by_label(f"Maximum number of cases per {HOSTILE}").fill("2")
    press(page, "Continue")
    page.get_by_text(f"guess whether a given {HOSTILE} was in the log").wait_for()
    press(page, "3 Protection")
    choose(page, "Unit", "one case")
    press(page, "2 Columns")
    to_release(page)
    release(page)
    assert HOSTILE in page.locator(".q-tab-panel").inner_text()
    for tab in ("Explorer", "Process map"):
        page.get_by_role("tab", name=tab).click()
        page.locator(".q-tab-panel svg").first.wait_for()
    page.reload()
    heading(page, "Released")
    assert page.evaluate("window.hacked") is None and page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1920, 1080)])
def test_every_step_fits_the_screen(browser: Any, server: Server, width: int, height: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": height})
    tab = opened(context, server)

    def fits() -> None:
        wide = tab.evaluate("document.fonts.ready.then(() => document.documentElement.scrollWidth)")
        assert wide <= width  # before its font is there, an icon is a long word

    fits()
    press(tab, "Try it with a made-up hospital log")
    for name in ("Columns", "What protects whom", "How much privacy: ε and δ", "Release"):
        heading(tab, name)
        fits()
        if name != "Release":
            press(tab, "Continue")
    release(tab)
    fits()
    context.close()


def test_the_keyboard_is_enough(page: Any) -> None:
    def tab_to(name: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            focused = "e => (e.closest('[aria-label]')?.getAttribute('aria-label') || '') + e.innerText"
            if name in str(page.locator("*:focus").evaluate(focused)):
                return
        raise AssertionError(f"the keyboard does not reach {name}")

    tab_to("made-up hospital log")
    page.keyboard.press("Enter")
    for name in ("Columns", "What protects whom"):
        heading(page, name)
        page.wait_for_function("document.activeElement.id === 'step-title' || document.activeElement === document.body")
        tab_to("Continue")
        page.keyboard.press("Enter")
    heading(page, "How much privacy: ε and δ")
    page.wait_for_timeout(200)
    before = page.locator(".picture svg").get_attribute("aria-label")
    tab_to("epsilon, smaller protects more")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "old => document.querySelector('.picture svg').getAttribute('aria-label') !== old", arg=before
    )
    assert page.get_by_label("epsilon", exact=True).input_value() == "0.8"


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
