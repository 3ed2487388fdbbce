"""The browsers that have proven a key, and the drafts of their tabs."""

from __future__ import annotations

import secrets
import shutil
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import OutputError, TravasError
from .access import fresh_secret, secret_digest
from .activity import ActivityLog
from .sessions import Session
from .settings import Settings
from .storage import Storage

MAX_DRAFTS = 20
"""The number of drafts of one browser."""

_SECONDS_UNUSED = 30


@dataclass(eq=False)
class Browser:
    """One browser: its owner-only folder, the name that its user typed, and its drafts by their identifiers."""

    id: str
    folder: Path
    activity: ActivityLog
    name: str = ""
    seen: float = field(default_factory=time.monotonic)
    drafts: dict[str, Session] = field(default_factory=dict)

    def touch(self) -> None:
        self.seen = time.monotonic()

    def start_draft(self, viewed: str = "") -> Session:
        """Start a draft. Empty ones whose tab was closed make room."""
        for draft in list(self.drafts.values()):
            if (draft.is_empty or draft.viewed) and time.monotonic() - draft.seen > _SECONDS_UNUSED:
                self.end_draft(draft)
        if len(self.drafts) >= MAX_DRAFTS:
            raise TravasError(f"{MAX_DRAFTS} drafts are open in this browser: close their tabs and wait some minutes")
        draft_id = secrets.token_urlsafe(6)
        folder = self.folder / draft_id
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise OutputError(f"{self.folder}: the files of a draft cannot be stored ({error.strerror})") from None
        draft = self.drafts[draft_id] = Session(draft_id, folder, self, viewed)
        return draft

    def end_draft(self, draft: Session) -> None:
        """Forget a draft and delete its files."""
        del self.drafts[draft.id]
        draft.close()

    def close(self) -> None:
        """End all drafts, each of them whatever happens to another."""
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            for draft in list(self.drafts.values()):
                stack.callback(self.end_draft, draft)


class Browsers:
    """All browsers by key. A draft that was not shown for some minutes is deleted with its files; so is a browser."""

    def __init__(self, storage: Storage, settings: Settings, activity: ActivityLog) -> None:
        self.activity = activity
        self.storage, self.minutes_kept, self.max_sessions = storage, settings.minutes_kept, settings.max_sessions
        self._browsers: dict[str, Browser] = {}

    def open(self, key: str) -> Browser:
        """Find or add a browser that has proven its key."""
        browser = self.get(key)
        if browser is not None:
            return browser
        if len(self._browsers) >= self.max_sessions:
            raise TravasError(
                f"{self.max_sessions} sessions are open, which is the limit: close the page in another browser and wait "
                f"{self.minutes_kept:g} minutes, or restart travas serve with a larger --max-sessions"
            )
        browser = Browser(secret_digest(key), self.storage.folder(fresh_secret()), self.activity)
        self._browsers[browser.id] = browser
        return browser

    def get(self, key: str) -> Browser | None:
        """The browser of a key, if it has a session."""
        browser = self._browsers.get(secret_digest(key))
        if browser is not None:
            browser.touch()
        return browser

    def sweep(self) -> None:
        """Delete abandoned drafts and browsers; called regularly."""
        oldest = time.monotonic() - 60 * self.minutes_kept
        for browser in list(self._browsers.values()):
            for draft in list(browser.drafts.values()):
                draft.settle()
                if draft.seen < oldest and not draft.charging:
                    browser.end_draft(draft)
            if browser.seen < oldest and not browser.drafts:
                del self._browsers[browser.id]
                browser.close()

    def close(self) -> None:
        """End all browsers and delete all logs. Releases that are charged are finished first."""
        with ExitStack() as stack:
            stack.callback(self.storage.close)
            for browser in self._browsers.values():
                stack.callback(browser.close)
        self._browsers.clear()
