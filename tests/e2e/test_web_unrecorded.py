"""An activity log that cannot be written, in a real browser: nothing confidential is shown, and no release is lost."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from browser import Server
from web_flow import alert, heading, name_data_set, press, result_tab, saved, to_columns

from travas.budget.ledger import Ledger

pytest_plugins = ["web_fixtures"]


@contextmanager
def unwritable(server: Server) -> Iterator[None]:
    """The activity log is replaced by a directory: missing permissions and a full disk are reported in the same way."""
    log = server.storage.parent / "ledger.releases" / "activity.jsonl"
    kept = log.with_suffix(".kept")
    if log.exists():
        log.rename(kept)
    log.mkdir()
    yield
    log.rmdir()
    if kept.exists():
        kept.rename(log)


def wait_for_alert(tab: Any, words: str) -> None:
    tab.get_by_role("alert").filter(has_text=words).wait_for()


def test_what_cannot_be_recorded_is_refused_and_what_was_paid_for_is_kept(
    page: Any, server: Server, tmp_path: Path
) -> None:
    ledger = Ledger(server.storage.parent / "ledger.db")
    with unwritable(server):
        press(page, "Try it with a made-up hospital log")
        page.get_by_text("What the doctor found is not shown, because that cannot be recorded").wait_for()
        to_columns(page)
        press(page, "Show the values")
        wait_for_alert(page, "the values are not shown, because that cannot be recorded")
        assert page.get_by_role("gridcell", name="register").count() == 0
        press(page, "Continue")
        heading(page, "Protect")
        press(page, "Continue")
        page.get_by_role("heading", name="Recommendation", exact=True).wait_for()
        press(page, "Read the log")
        wait_for_alert(page, "the log is not read for a forecast, because that cannot be recorded")
        press(page, "Continue")
        heading(page, "Confirm")
        name_data_set(page)
        page.get_by_role("button", name=re.compile("^Release for")).click()
        wait_for_alert(page, "the activity log cannot be written (Is a directory)")
        assert ledger.account(page.data_set).entries == ()
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        page.get_by_role("button", name=re.compile("^Release for")).click()
        page.get_by_text("charging the ledger … this cannot be cancelled").wait_for()
        with unwritable(server):
            other.execute("ROLLBACK")
            heading(page, "Released")
            assert alert(page).startswith("the release is kept, but the activity log has no line about it")
            result_tab(page, "Hand over")
            page.get_by_role("button", name="Download release.json", exact=True).click()
            wait_for_alert(page, "not downloaded: ")
            result_tab(page, "Before and after")
            press(page, "Compare with the original log")
            wait_for_alert(page, "the original log is not compared, because that cannot be recorded")
    assert len(ledger.account(page.data_set).entries) == 1
    assert saved(page, "release.json", tmp_path, "release.json").stat().st_size > 100
