"""What users do with the web app, in a real browser, and what others try to do with it. One server, one Chromium."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from browser import Server, browsing, serving
from playwright.sync_api import expect
from strangers import Stranger, ask, stranger
from web_flow import (
    card,
    content,
    heading,
    name_data_set,
    opened,
    press,
    release,
    release_button,
    result_tab,
    saved,
    to_columns,
    to_confirm,
    to_protection,
    upload,
    violations,
    watched,
)

import travas as package
from travas.web.archive import Archive
from travas.web.archive_list import listed

HOSTILE = "<img src=x onerror=window.hacked=1>"
SECRET = content("log.csv", b"case_id,activity\n1,diagnosis of the mayor\n")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    """A tab of a separate browser. Nothing may be fetched from elsewhere, and no script may fail."""
    context = browser.new_context(viewport={"width": 1100, "height": 900}, accept_downloads=True)
    tab = opened(context, server)
    yield tab
    assert tab.foreign == [] and tab.broken == []
    context.close()


def test_from_upload_to_a_release_that_its_recipient_can_verify(page: Any, server: Server, tmp_path: Path) -> None:
    """A table from a hospital: the doctor fixes how it is read, and values are hidden until they are asked for."""
    rows = "".join(f"{n};Aufnahme;{13 + n % 9}.02.2024 08:00\n{n};Prüfung;27.02.2024 09:00\n" for n in range(300))
    upload(page, content("log.csv", f"Fallnummer;Tätigkeit;Zeit\n{rows}".encode("cp1252")))
    for fix in ("Set the encoding to cp1252", "Set the time format to %d.%m.%Y %H:%M"):
        press(page, fix)
        expect(page.get_by_role("button", name=fix)).to_have_count(0)
    to_columns(page)
    page.get_by_role("columnheader", name="activity: Tätigkeit").wait_for()
    expect(page.locator(".blurred")).to_have_count(1)
    assert "Aufnahme" not in page.content()
    press(page, "Show the values")
    page.get_by_role("gridcell", name="Aufnahme").first.wait_for()
    press(page, "Continue")
    to_confirm(page)
    page.get_by_label("Why these parameters").fill("Agreed with the <works council>")
    release(page)
    assert "Prüfung" in result_tab(page, "Variants")
    files = {suffix: saved(page, f"release{suffix}", tmp_path, f"r{suffix}") for suffix in (".xes.gz", ".json", ".csv")}
    counts = [dict(package.read(path).items()) for path in files.values()]
    assert counts[0] == counts[1] == counts[2] and ("Aufnahme", "Prüfung") in counts[0]
    guarantee = saved(page, "release.xes.gz.guarantee.json", tmp_path, "g.json")
    assert package.verify(guarantee, files[".xes.gz"]).digest_checked
    report = saved(page, "release.xes.gz.report.html", tmp_path, "r.html").read_text()
    assert "Agreed with the &lt;works council&gt;" in report
    for path in (server.storage, *server.storage.rglob("*"), *(server.storage.parent / "ledger.releases").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize(("kind", "title"), [("Synthetic log", "Synthetic log"), ("Process map", "Process map")])
def test_other_kinds_of_release(kind: str, title: str, page: Any, tmp_path: Path) -> None:
    to_protection(page)
    card(page, kind)
    to_confirm(page)
    release(page, title)
    result_tab(page, "Map")
    file = saved(page, "release.json", tmp_path, "r.json")
    guarantee = saved(page, "release.json.guarantee.json", tmp_path, "r.json.guarantee.json")
    assert package.verify(guarantee, file).digest_checked


def test_a_reload_is_not_leaving(page: Any) -> None:
    to_protection(page)
    to_confirm(page, "0.7", "1/5000")
    page.reload()
    heading(page, "Confirm")
    press(page, "3 Protect")
    expect(page.get_by_label("epsilon", exact=True)).to_have_value("0.7")
    expect(page.get_by_label("delta", exact=True)).to_have_value("1/5000")
    to_confirm(page, "0.7", "1/5000")
    name_data_set(page)
    release_button(page).click()
    page.get_by_role("button", name="Cancel").or_(page.get_by_role("heading", name="Released")).first.wait_for()
    page.reload()
    heading(page, "Released")


def test_each_tab_has_its_own_draft_and_no_other_browser_sees_it(page: Any, browser: Any, server: Server) -> None:
    to_protection(page)
    second = watched(page.context, server)
    second.goto(f"{server.address}/new")
    heading(second, "Choose an event log")
    upload(second, SECRET)
    to_columns(second)
    assert page.url != second.url
    second.reload()
    heading(second, "Columns")
    press(second, "Show the values")
    second.get_by_role("gridcell", name="diagnosis of the mayor").first.wait_for()
    page.reload()
    heading(page, "Protect")
    press(page, "2 Columns")
    press(page, "Show the values")
    page.get_by_role("gridcell", name="register").first.wait_for()
    assert "mayor" not in page.content()
    context = browser.new_context()
    other = opened(context, server)
    other.goto(second.url)
    heading(other, "This draft has ended")
    assert second.foreign == second.broken == []
    context.close()


def test_a_run_can_be_cancelled_until_it_is_charged(page: Any, server: Server) -> None:
    """The first run is stopped before its charge; the second one waits for another writer of the ledger while it charges."""
    to_protection(page)
    to_confirm(page)
    name = name_data_set(page)
    book = package.Ledger(server.storage.parent / "ledger.db")
    wait_until(lambda: server.children() == [])  # the doctor has ended
    release_button(page).click()
    wait_until(server.children)
    for worker in server.children():
        os.kill(int(worker), signal.SIGSTOP)  # it cannot be faster than the click
    press(page, "Cancel")
    heading(page, "Confirm")
    expect(page.get_by_role("button", name="6 Result")).to_be_disabled()
    wait_until(lambda: server.children() == [])
    assert not book.account(name).entries
    with closing(sqlite3.connect(book.path, isolation_level=None)) as ledger:
        ledger.execute("BEGIN IMMEDIATE")
        release_button(page).click()
        page.get_by_text("charging the ledger … this cannot be cancelled").wait_for()
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
        ledger.execute("ROLLBACK")
    heading(page, "Released")
    assert len(book.account(name).entries) == 1


def wait_until(condition: Any) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_file_that_was_sent_is_checked_and_not_kept(page: Any, server: Server, tmp_path: Path) -> None:
    package.anonymize({("a", "b"): 500, ("a",): 300}, epsilon=1, delta="1e-6").write(tmp_path / "sent.json")
    sent = [content(name, (tmp_path / name).read_bytes()) for name in ("sent.json", "sent.json.guarantee.json")]
    changed = content("<b>x</b>.json", sent[0]["buffer"] + b" ")
    for files, found in (
        (sent, ".good"), ([sent[0]], ".refusal"), ([changed, sent[1]], ".refusal"),
        ([sent[0], content("a.guarantee.json", b"{")], ".refusal"),
    ):  # fmt: skip
        page.goto(f"{server.address}/check")
        heading(page, "Check a file")
        page.get_by_label("Release and guarantee").set_input_files(files)
        page.locator(found).first.wait_for()
        wait_until(lambda: not [path for path in server.storage.rglob("check-*/*") if path.is_file()])


def test_a_file_that_is_no_log_is_refused(page: Any) -> None:
    upload(page, content(f"{HOSTILE}.xes", b"<html>hello"))
    expect(page.get_by_role("alert")).to_contain_text("not an XES log")
    heading(page, "Choose an event log")
    assert page.evaluate("window.hacked") is None


def test_names_are_text_wherever_they_come_from(page: Any) -> None:
    rows = "".join(
        f'{n},"{HOSTILE}",1,2025-01-01\n{n},"\'"" `x` ${{y}} </script><script>window.hacked=2</script>",2,2025-01-02\n'
        for n in range(400)
    )
    upload(page, content(f"{HOSTILE}.csv", f'case_id,activity,"{HOSTILE}",timestamp\n{rows}'.encode()))
    page.get_by_text("What the doctor found").wait_for()
    to_columns(page)
    press(page, "Show the values")
    page.get_by_role("gridcell", name=HOSTILE).first.wait_for()
    page.get_by_role("columnheader", name=HOSTILE, exact=True).wait_for()
    press(page, "Continue")
    to_confirm(page)
    release(page)
    for tab in ("Variants", "Map"):
        assert HOSTILE[:9] in result_tab(page, tab)
    assert page.evaluate("window.hacked") is None and page.locator("img[src=x]").count() == 0


def test_a_killed_server_loses_no_release_that_was_charged(browser: Any, tmp_path: Path) -> None:
    """The charge waits for another writer of the ledger; while it waits, the server is killed. Then all goes on."""
    with serving(tmp_path) as server, closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as ledger:
        context = browser.new_context()
        tab = opened(context, server)
        to_protection(tab)
        to_confirm(tab, "1", "1e-3")
        name_data_set(tab, "clinic")
        ledger.execute("BEGIN IMMEDIATE")
        release_button(tab).click()
        tab.get_by_text("charging the ledger … this cannot be cancelled").wait_for()
        server.process.kill()
        server.process.wait()
        ledger.execute("ROLLBACK")
        context.close()
    book, archive = package.Ledger(tmp_path / "ledger.db"), Archive(tmp_path / "ledger.releases")
    wait_until(lambda: [release.state for release in listed(archive, book)] == ["released"])
    with serving(tmp_path) as server:
        context = browser.new_context(accept_downloads=True)
        tab = watched(context, server)
        tab.goto(server.link)
        heading(tab, "Home")
        tab.get_by_role("meter").or_(tab.get_by_role("row").filter(has_text="clinic")).first.wait_for()
        tab.goto(f"{server.address}/releases")
        tab.get_by_role("link", name="Open the release of").first.click()
        heading(tab, "Released")
        tab.get_by_text("Sign off this release").click()
        tab.get_by_label("Name of the person who signs off").fill("Grace <b>Hopper</b>")
        tab.get_by_role("button", name="Sign off", exact=True).click()
        tab.get_by_text("Signed off by Grace <b>Hopper</b>").wait_for()
        file = saved(tab, "release.json", tmp_path, "r.json")
        guarantee = saved(tab, "release.json.guarantee.json", tmp_path, "r.json.guarantee.json")
        assert package.verify(guarantee, file).digest_checked
        assert "Grace &lt;b&gt;Hopper" in saved(tab, "release.json.report.html", tmp_path, "r.html").read_text()
        press(tab, "Delete this release")
        press(tab, "Delete it")
        heading(tab, "Releases")
        expect(tab.get_by_role("link", name="Open the release of")).to_have_count(0)
        assert len(book.account("clinic").entries) == 1
        context.close()


def test_no_screen_or_step_has_a_violation_in_light_and_dark(page: Any, server: Server) -> None:
    found: dict[str, list[str]] = {}

    def check(state: str) -> None:
        found[state] = violations(page)

    press(page, "Try it with a made-up hospital log")
    page.get_by_text("What the doctor found").wait_for()
    check("log")
    to_columns(page)
    press(page, "Show the values")
    page.get_by_role("gridcell", name="register").first.wait_for()
    check("columns")
    press(page, "Continue")
    page.get_by_role("group", name="keep-probability curve").locator("svg").wait_for()
    page.get_by_text("Generalise traces before counting").click()
    page.get_by_text("More: mechanism").click()
    page.get_by_label("First day of the period").wait_for()
    check("protect")
    press(page, "Continue")
    page.get_by_role("heading", name="Recommendation").wait_for()
    check("forecast")
    press(page, "Continue")
    heading(page, "Confirm")
    release(page)
    for name in ("Summary", "Variants", "Map", "Before and after", "Hand over"):
        result_tab(page, name)
        check(name)
    for path, title in (("/", "Home"), ("/releases", "Releases"), ("/activity", "Activity log"),
                        ("/budgets", "Budgets"), ("/check", "Check a file")):  # fmt: skip
        page.goto(f"{server.address}{path}")
        heading(page, title)
        expect(page.get_by_text("Loading …")).to_have_count(0)
        check(title)
    lines = sorted({f"{state}: {problem}" for state, problems in found.items() for problem in problems})
    assert not lines, "\n".join(lines)


def test_names_of_uploads_keep_to_their_place(page: Any, server: Server) -> None:
    before = set(server.storage.parent.rglob("*.csv"))
    for name in ("../../evil.csv", "/etc/evil.csv", "C:\\evil.csv"):
        upload(page, content(name, SECRET["buffer"]))
        page.get_by_text(re.compile("^Open: .*evil")).wait_for()
        new = set(server.storage.parent.rglob("*.csv")) - before
        assert new and all(path.is_relative_to(server.storage) and path.name.startswith("log-") for path in new)


# ------------------------------------------------------------------------------------------ another user of the machine


@pytest.fixture(scope="module")
def other() -> Iterator[Stranger]:
    with stranger() as running:
        yield running


def test_cookies_that_another_port_received_open_nothing(
    page: Any, browser: Any, server: Server, other: Stranger
) -> None:
    upload(page, SECRET)
    to_columns(page)
    page.context.new_page().goto(other.address)
    stolen = other.cookies()[-1]
    assert "travas" in stolen  # cookies do not know ports: this cannot be prevented
    context = browser.new_context()
    for cookie in stolen.split("; "):
        name, _, value = cookie.partition("=")
        context.add_cookies([{"name": name, "value": value, "url": server.address}])
    thief = context.new_page()
    thief.goto(page.url)
    thief.get_by_text(re.compile("this browser has no key", re.IGNORECASE)).wait_for()
    assert "mayor" not in thief.content() and thief.locator("input[type=file]").count() == 0
    headers = {"Cookie": stolen, "Sec-Fetch-Site": "same-origin"}
    assert ask(server.port, "/download/release.json", headers)[0] == 404
    context.close()


def test_a_cookie_that_was_planted_neither_shares_nor_locks_a_session(
    page: Any, server: Server, other: Stranger
) -> None:
    to_protection(page)
    page.context.new_page().goto(f"{other.address}?cookie=travas-token-{server.port}=planted")
    page.reload()
    heading(page, "Protect")  # the key in localStorage has brought the cookie back
    assert ask(server.port, "/", {"Cookie": f"travas-token-{server.port}=planted", "Sec-Fetch-Site": "none"})[0] == 401
