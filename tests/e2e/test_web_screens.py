"""Home, Releases, Budgets, the activity log and Check a file in a real browser, with the archive behind them."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from browser import Server, browsing, serving
from web_flow import content, heading, name_data_set, opened, press, release, saved, to_release, violations, watched

import travas as package
from travas.budget.account import Approval
from travas.budget.ledger import Ledger
from travas.web.archive import Archive, Signature, now
from travas.web.archive_list import listed, reconcile
from travas.web.recipe import Recipe

SCREENS = {
    "/": "Home",
    "/releases": "Releases",
    "/activity": "Activity log",
    "/budgets": "Budgets",
    "/check": "Check a file",
    "/nowhere": "There is no such screen",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def context(browser: Any, server: Server) -> Iterator[Any]:
    """A browser that has made one release, of the data set `clinic` with a budget."""
    made = browser.new_context(viewport={"width": 1100, "height": 900}, accept_downloads=True)
    tab = opened(made, server)
    press(tab, "Try it with a made-up hospital log")
    to_release(tab, "1", "1e-3")
    name_data_set(tab, "clinic")
    tab.get_by_text("Set a budget").first.click()
    tab.get_by_label("ε of all releases").fill("4")
    tab.get_by_label("δ of all releases").fill("1e-2")
    press(tab, "Set this budget")
    release(tab)
    tab.close()
    yield made
    made.close()


@pytest.fixture
def page(context: Any, server: Server) -> Iterator[Any]:
    tab = watched(context, server)
    yield tab
    assert tab.foreign == [] and tab.broken == []
    tab.close()


def visit(tab: Any, server: Server, path: str) -> None:
    """Open a screen by its address and wait until what it looks up is there."""
    if path == "/nowhere":
        tab.goto(f"{server.address}/")
        heading(tab, "Home")
        tab.evaluate("emitEvent('travas-path', '/nowhere')")
    else:
        tab.goto(f"{server.address}{path}")
    heading(tab, SCREENS[path])
    tab.get_by_text("Loading …").wait_for(state="detached")


def open_release(tab: Any, server: Server) -> None:
    visit(tab, server, "/releases")
    tab.get_by_role("link", name="Open the release of").first.click()
    heading(tab, "Released")


def test_home_shows_budgets_releases_and_what_is_protected(page: Any, server: Server) -> None:
    visit(page, server, "/")
    meter = page.get_by_role("meter", name="Budget of clinic: spent")
    assert meter.get_attribute("aria-valuenow") == "25" and meter.get_attribute("aria-valuetext") == "25% spent"
    row = page.get_by_role("row").filter(has_text="clinic")
    assert "variants" in row.inner_text() and "verified" in row.inner_text()
    assert "Protected:" in page.content() and "Not protected:" in page.content()
    press(page, "Check a file I was sent")
    heading(page, "Check a file")
    page.wait_for_url(f"{server.address}/check")  # the address follows the heading
    page.go_back()
    heading(page, "Home")


def test_budgets_list_what_was_charged(page: Any, server: Server) -> None:
    visit(page, server, "/budgets")
    account = Ledger(server.storage.parent / "ledger.db").account("clinic")
    assert account.left == (Fraction(3), Fraction("0.009")) and account.remainder in page.content()
    assert "optimal" in page.get_by_role("table").inner_text()


def test_a_release_stays_when_the_draft_is_gone_and_is_signed_off(page: Any, server: Server, tmp_path: Path) -> None:
    open_release(page, server)
    address = page.url
    page.reload()
    heading(page, "Released")
    assert page.url == address and page.get_by_text("CONFIDENTIAL: about").count() == 0  # it was not kept
    page.get_by_text("Sign off this release").click()
    page.get_by_label("Your name").fill("Ada Lovelace")
    page.get_by_label("Name of the person who signs off").fill("Grace <b>Hopper</b>")
    page.get_by_role("button", name="Sign off", exact=True).click()
    page.get_by_text("Signed off by Grace <b>Hopper</b>").wait_for()
    file = saved(page, "release.json", tmp_path, "r.json")
    guarantee = saved(page, "release.json.guarantee.json", tmp_path, "r.json.guarantee.json")
    assert package.verify(guarantee, file).digest_checked
    report = saved(page, "release.json.report.html", tmp_path, "r.html").read_text()
    assert "Grace &lt;b&gt;Hopper&lt;/b&gt;" in report
    visit(page, server, "/releases")
    assert "Grace <b>Hopper</b>, 20" in page.get_by_role("table").inner_text()
    visit(page, server, "/activity")
    text = page.get_by_role("table").inner_text()
    assert all(kind in text for kind in ("charge", "sign-off", "download")) and "release.json" in text
    assert page.evaluate("localStorage.getItem('travas-name')") == "Ada Lovelace" and "Ada Lovelace" in text
    with page.expect_download() as download:
        press(page, "Export the activity log")
    download.value.save_as(tmp_path / "activity.jsonl")
    lines = [json.loads(line)["activity"] for line in (tmp_path / "activity.jsonl").read_text().splitlines()]
    assert {line["kind"] for line in lines} >= {"charge", "sign-off", "download"}
    assert not any(name in json.dumps(lines) for name in ("register", "triage", "patient"))  # values of the log


def test_the_archive_is_for_its_owner_only(context: Any, server: Server) -> None:
    archive = server.storage.parent / "ledger.releases"
    assert list(archive.glob("*/release.json"))
    for path in (archive, *archive.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_kill_9_and_a_restart_lose_nothing(browser: Any, tmp_path: Path) -> None:
    """A release is there after it, and a deleted or unfinished one has a statement."""
    with serving(tmp_path) as first:
        context = browser.new_context()
        tab = opened(context, first)
        press(tab, "Try it with a made-up hospital log")
        to_release(tab, "1", "1e-3")
        name_data_set(tab, "clinic")
        release(tab)
        context.close()
        first.process.kill()
        first.process.wait()
    ledger = Ledger(tmp_path / "ledger.db")
    lost = package.mechanism("optimal", "1/2", "1e-3")
    ledger.charge("clinic", None, lost, "case_id", approval=Approval(reference="0" * 16))
    with serving(tmp_path) as second:
        context = browser.new_context()
        tab = watched(context, second)
        tab.goto(second.link)
        heading(tab, "Home")
        tab.get_by_text("Charged by a web app with another archive").wait_for()
        open_release(tab, second)
        press(tab, "Delete this release")
        press(tab, "Delete it")
        heading(tab, "Releases")
        tab.get_by_text("Deleted. The charge stands.").wait_for()
        context.close()


def test_a_server_killed_while_it_charges_still_delivers(browser: Any, tmp_path: Path) -> None:
    """The charge waits for another writer of the ledger; while it waits, the server is killed."""
    with serving(tmp_path) as server, closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as ledger:
        context = browser.new_context()
        tab = opened(context, server)
        press(tab, "Try it with a made-up hospital log")
        to_release(tab, "1", "1e-3")
        name_data_set(tab, "clinic")
        ledger.execute("BEGIN IMMEDIATE")
        tab.get_by_role("button", name=re.compile("^Release for")).click()
        tab.get_by_text("charging the ledger … this cannot be cancelled").wait_for()
        server.process.kill()
        server.process.wait()
        ledger.execute("ROLLBACK")
        context.close()
    book, archive = Ledger(tmp_path / "ledger.db"), Archive(tmp_path / "ledger.releases")
    end = time.monotonic() + 60
    while [release.state for release in listed(archive, book)] != ["released"] and time.monotonic() < end:
        time.sleep(0.1)
    assert [release.state for release in listed(archive, book)] == ["released"]
    reconcile(archive, book)
    assert [line.kind for line in archive.activity.read()[0]] == ["charge"]


def checked(tab: Any, *files: Any) -> str:
    sent = [content(file.name, file.read_bytes()) if isinstance(file, Path) else file for file in files]
    tab.get_by_label("Release and guarantee").set_input_files(sent)
    found = tab.locator(".good, .refusal").first
    found.wait_for()
    return str(found.inner_text())


def test_a_file_that_was_sent_is_checked_and_not_kept(page: Any, server: Server, tmp_path: Path) -> None:
    counts = {("a", "b"): 500, ("a",): 300}
    package.anonymize(counts, epsilon=1, delta="1e-6").write(tmp_path / "sent.json")
    file, guarantee = tmp_path / "sent.json", tmp_path / "sent.json.guarantee.json"
    visit(page, server, "/check")
    assert "verified, and the release is the one" in checked(page, file, guarantee)
    assert "ε, δ" in page.get_by_role("table").inner_text()
    assert not [path for path in server.storage.rglob("check-*/*") if path.is_file()]
    for files, why in (
        ([guarantee], "Without the release"),
        ([file], "Not verified: drop one guarantee file"),
        ([content("<b>x</b>.json", file.read_bytes() + b" "), guarantee], "<b>x</b>.json: its SHA-256 does not match"),
        ([content("a.guarantee.json", b"{"), file], "a.guarantee.json: not a guarantee file"),
        ([file, guarantee, content("more.json", b"{}")], "at most 2 files"),
    ):
        visit(page, server, "/check")
        assert why in checked(page, *files)
    assert not [path for path in server.storage.rglob("check-*/*") if path.is_file()]


def test_every_screen_is_accessible(context: Any, server: Server) -> None:
    tab = watched(context, server)
    for path in SCREENS:
        visit(tab, server, path)
        assert violations(tab) == [], path
    tab.close()


def test_every_screen_fits(context: Any, server: Server) -> None:
    tab = watched(context, server)
    for path in SCREENS:
        visit(tab, server, path)
        for width in (320, 390, 1024, 1440):
            tab.set_viewport_size({"width": width, "height": 900})
            wide = tab.evaluate("document.fonts.ready.then(() => document.documentElement.scrollWidth)")
            assert wide <= width, (path, width)
    tab.close()


def test_the_rail_is_reached_by_keyboard(page: Any, server: Server) -> None:
    visit(page, server, "/")
    for name, title in (("Releases", "Releases"), ("Budgets", "Budgets"), ("Check a file", "Check a file")):
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('nav') && document.activeElement.innerText") == name:
                break
        page.keyboard.press("Enter")
        heading(page, title)
        page.wait_for_function("document.activeElement.id === 'step-title'")  # where a reader goes on
        page.evaluate("document.querySelector('.rail a').focus()")


def test_a_damaged_release_and_a_removed_archive_are_stated(page: Any, server: Server) -> None:
    """The charge stands in both cases, and what is damaged can be deleted."""
    ledger, archive = Ledger(server.storage.parent / "ledger.db"), Archive(server.storage.parent / "ledger.releases")
    ledger.create_account("damaged")
    asked = archive.begin(Signature("", "user", now()), "damaged", "log.csv", Recipe(), "", ledger.path)
    ledger.charge("damaged", None, asked.recipe.build(), "case_id", approval=Approval(reference=asked.id))
    for name in ("release.json", "release.json.guarantee.json"):
        (archive.folder(asked.id) / name).write_text("{")
    archive.close()
    page.goto(f"{server.address}/releases/{asked.id}")
    heading(page, "This release cannot be opened")
    assert page.get_by_role("alert").filter(has_text="the charge stands").count() == 1
    page.get_by_text("Delete this release").click()
    press(page, "Delete it")
    heading(page, "Releases")
    page.get_by_text("Deleted. The charge stands.").first.wait_for()
    moved = archive.path.with_name("moved")
    archive.path.rename(moved)
    try:
        visit(page, server, "/")
        assert page.get_by_text("or its folder was removed. The charge stands.").count() >= 2
    finally:
        moved.rename(archive.path)
