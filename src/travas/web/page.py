"""The content of one tab: the frame, and in it a screen. It shows the state of a draft and changes only the draft."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from markupsafe import Markup
from nicegui import Client, ui

from ..budget.ledger import Ledger
from ..errors import TravasError
from ..pipeline import Phase
from ..plots.html import browser_file, part
from ..plots.svg import BLUE
from .access import STORED_KEY, Access
from .activity import record
from .archive import Archive
from .browsers import Browser, Browsers
from .entrance import ENTERED
from .failures import in_words
from .frame import STORED_NAME, STORED_THEME, THEMES, Strip, link, rail
from .jobs import Job
from .locations import ROUTES, Location
from .parts import html, note, refusal, title, typed_text
from .screens import SCREENS
from .sessions import FinishedRelease, Session
from .settings import Settings
from .steps.sequence import STEPS, step_of
from .steps.state import StepName
from .tickets import Tickets
from .transfers import prepare

_SECONDS_TO_PROVE = 30
_AT_TOP = """setTimeout(() => {
  scrollTo(0, 0);
  document.getElementById('step-title')?.focus({ preventScroll: true });
}, 60)"""
_PATH_EVENT = "travas-path"
_STYLES = ("style.css", "steps.css", "result.css")


@dataclass(frozen=True)
class Services:
    """What all pages share."""

    settings: Settings
    ledger: Ledger
    access: Access
    browsers: Browsers
    tickets: Tickets
    archive: Archive


class Page:
    """One tab. A screen or step is a function `draw(page)`."""

    def __init__(self, browser: Browser, services: Services, location: Location, theme: str) -> None:
        self.browser, self.services, self.location, self.theme = browser, services, location, theme
        self.settings, self.ledger, self.tickets = services.settings, services.ledger, services.tickets
        self.client = ui.context.client
        self.shown = -1
        self.error = ""
        self.bar: ui.linear_progress | None = None
        self.doing: ui.label | None = None
        self.cancel: ui.button | None = None
        self._draft: Session | None = None
        self._is_open = False  # the screen is drawn when it is opened, and not before

    @property
    def session(self) -> Session:
        """The draft of this tab. Only the steps of a release have one."""
        if self._draft is None:
            raise RuntimeError(f"{self.location.path} has no draft")
        return self._draft

    def build(self) -> None:
        """Build the frame and open the screen of the address."""
        with ui.element("div").classes("frame"):
            with ui.element("header").classes("top"):
                html("brand", "main")
                self.links()
            with ui.element("div").classes("content"):
                self.strip = Strip(self)
                self.main = ui.element("div").classes("screen").props("id=main tabindex=-1")
                with self.main:
                    self.body()
        ui.on(_PATH_EVENT, lambda event: self.visit(str(event.args), "keep"))
        self.client.on_exception(self._failed)
        ui.timer(0.15, self.tick)
        self.visit(self.location.path, "keep")

    # ------------------------------------------------------------------------------------------------- what steps use

    def go(self, step: StepName) -> None:
        """Open a step of the draft and focus its heading."""
        self.session.step, self.session.error = step, ""
        self.session.version += 1
        self.visit(self.location_of(self.session).path)

    def refuse(self, words: str) -> None:
        """Show an error and leave the rest of the page unchanged."""
        self._errors().error = words
        self.alert.refresh()

    async def download(self, name: str) -> None:
        """Start the download of a file of the release, with a one-time ticket."""
        try:
            path = await prepare(self.session, self.services.archive, name)
            record(self.session, "download", path.name, self.session.released.id if self.session.released else "")
        except TravasError as error:
            self.refuse(f"not downloaded: {error}")
            return
        self.client.download(f"/download/{self.tickets.issue(path)}/{path.name}")

    def refresh(self) -> None:
        """Draw the screen again."""
        self.shown = -1 if self._draft is None else self._draft.version
        self.body.refresh()

    def confidential(self, shown: bool) -> None:
        """Set whether the whole screen is confidential: the strip says so, and the screen is tinted and watermarked.

        A screen that is drawn starts as public. For a part of a screen, use the box `parts.confidential`.
        """
        if shown:
            self.main.classes(add="confidential-screen")
        else:
            self.main.classes(remove="confidential-screen")

    def visit(self, path: str, history: Literal["push", "keep"] = "push") -> None:
        """Open a screen."""
        wanted, before, self._is_open = Location.parse(path), self.location, True
        self._draft, self.error, self.location = None, "", wanted or Location("missing")
        if self.location.screen == "new":
            self._open_draft(self.location)
        if self.location != (before if history == "push" else wanted) and wanted is not None:
            method = "pushState" if history == "push" else "replaceState"
            self.client.run_javascript(f"history.{method}(null, '', {json.dumps(self.location.path)})")
        self.links.refresh()
        self.refresh()
        self.client.run_javascript(_AT_TOP)

    # --------------------------------------------------------------------------------------------------- what is shown

    async def tick(self) -> None:
        """Poll running work and show changes, including those of other tabs with this draft."""
        self.browser.touch()
        session = self._draft
        if session is not None:
            session.touch()
            session.settle()
            if session.version != self.shown:
                self.visit(self.location_of(session).path)
            elif session.job is not None:
                self._progress(session.job)
        await self.strip.update(session)

    @ui.refreshable_method
    def links(self) -> None:
        rail(self)

    @ui.refreshable_method
    def body(self) -> None:
        if not self._is_open:
            return
        self.bar = self.doing = self.cancel = None
        self.confidential(False)
        if self.location.screen == "new" and self._draft is not None:
            self._draw_draft(self._draft)
        elif self.location.screen == "new":
            self._draw_ended()
        else:
            with ui.column().classes("card"):
                self.alert()
                SCREENS[self.location.screen](self)

    @ui.refreshable_method
    def alert(self) -> None:
        if self._errors().error:
            refusal(self._errors().error)

    def _failed(self, error: Exception) -> None:
        """Show an error that no handler expected."""
        words = in_words(error)
        if self._errors().error != words:
            self.refuse(words)

    def _errors(self) -> Session | Page:
        """Where the error of the screen is: of a draft, all tabs with it show it."""
        return self if self._draft is None else self._draft

    def _draw_draft(self, session: Session) -> None:
        with ui.element("nav").props('aria-label="steps"'), ui.element("ol").classes("steps"):
            for number, (name, step) in enumerate(STEPS.items(), start=1):
                with ui.element("li"):
                    button = ui.button(f"{number}  {name.capitalize()}", on_click=lambda name=name: self.go(name))
                    here = name == session.step
                    button.props("no-caps dense unelevated" + (" aria-current=step" if here else " outline"))
                    button.set_enabled(step.ready(session) and session.job is None)
        with ui.column().classes("card"):
            self.alert()
            if session.job is not None:
                self.working()
            else:
                STEPS[session.step].draw(self)

    def _draw_ended(self) -> None:
        with ui.column().classes("card"):
            title("This draft has ended")
            note("Its log was deleted. Every release that was paid for is kept under Releases.")
            link(self, "Start a release", "/new")

    def working(self) -> None:
        """Show running background work with its progress and a cancel button."""
        job = self.session.job
        assert job is not None
        self.doing = ui.label(_doing(job)).props("role=status")
        self.bar = ui.linear_progress(job.share, show_value=False).props('aria-label="progress"')
        self.cancel = ui.button("Cancel", on_click=self.session.stop).props("no-caps outline")
        self.cancel.set_visibility(not job.charging)

    def _progress(self, job: Job) -> None:
        if self.bar is not None and self.doing is not None and self.cancel is not None:
            self.bar.value = round(job.share, 2)
            self.doing.text = _doing(job)
            self.cancel.set_visibility(not job.charging)

    # --------------------------------------------------------------------------------------------------------- drafts

    def _open_draft(self, wanted: Location) -> None:
        """Open a step of a draft, or a new draft. The step is another one if the draft is not ready for it."""
        try:
            draft = self.browser.drafts.get(wanted.item) if wanted.item else self.browser.start_draft()
        except TravasError as error:
            self.error, self.location = in_words(error), Location("home")
            return
        if draft is None:
            return
        step = step_of(wanted.step)
        if step is not None and step != draft.step and STEPS[step].ready(draft) and draft.job is None:
            draft.step, draft.error = step, ""
            draft.version += 1
        self._draft, self.location = draft, self.location_of(draft)

    @staticmethod
    def location_of(draft: Session) -> Location:
        """The address of a draft: that of its step, or of the release that it shows."""
        if draft.viewed:
            return Location("releases", draft.viewed)
        return Location("new", draft.id, draft.step)

    def view_release(self, released: FinishedRelease, dataset: str) -> Session:
        """Show a release of the archive: the tab gets a draft that has nothing but it."""
        known = (draft for draft in self.browser.drafts.values() if draft.viewed == released.id)
        session = next(known, None) or self.browser.start_draft(released.id)
        session.released, session.dataset, session.error = released, dataset, ""
        self._draft, self.shown = session, session.version
        return session

    def set_name(self, name: str) -> None:
        """Set the name that the user typed, for the activity log. The browser keeps it."""
        self.browser.name = name
        self.client.run_javascript(f"localStorage.setItem('{STORED_NAME}', {json.dumps(name)})")


def _doing(job: Job) -> str:
    """What a job does, how far it is, and whether it can still be cancelled."""
    if not job.charging:
        return f"{job.words} … {job.share:.0%}"
    return f"{job.words} … " + ("this cannot be cancelled" if job.words == Phase.CHARGING else "charged, finishing")


def add_pages(services: Services) -> None:
    """One page at every address of a screen: empty until the browser has proven its key over the socket."""

    async def index(client: Client) -> None:
        _shell()
        try:
            await client.connected(timeout=_SECONDS_TO_PROVE)
            stored = await client.run_javascript(_STORED, timeout=_SECONDS_TO_PROVE)
        except TimeoutError:
            stored = None
            client.delete()
        if client.is_deleted:
            return
        key, theme, name = _texts(stored)
        try:
            browser = _proven(key, services)
        except TravasError as error:
            refusal(in_words(error))
            return
        browser.name = browser.name or name
        path = client.request.url.path
        Page(
            browser, services, Location.parse(path) or Location("home"), theme if theme in THEMES else "system"
        ).build()

    for route in ROUTES:
        ui.page(route, dark=None)(index)


_STORED = f"['{STORED_KEY}', '{STORED_THEME}', '{STORED_NAME}'].map((name) => localStorage.getItem(name) || '')"


def _texts(stored: Any) -> tuple[str, str, str]:
    """What a browser has stored, as far as it is text."""
    if not isinstance(stored, list) or len(stored) != 3 or not all(isinstance(text, str) for text in stored):
        return "", "", ""
    key, theme, name = stored
    return key, theme, typed_text(name[:200])


def _shell() -> None:
    """Return what every browser with the cookie gets: only the style sheets."""
    folder = files(__package__)
    style = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _STYLES) + browser_file("map.css")
    follow = f"addEventListener('popstate', () => emitEvent('{_PATH_EVENT}', location.pathname))"
    script = f"sessionStorage.removeItem('{ENTERED}'); {follow}"
    ui.add_head_html(str(part(__package__, "parts.html", "head", Markup(style), Markup(script))))
    ui.colors(primary=BLUE)


def _proven(key: str, services: Services) -> Browser:
    """Return the browser of a key; raises TravasError if the key is wrong, or there are too many sessions."""
    if not services.access.is_key(key):
        raise TravasError("this browser has no key for this page: open the newest link of travas serve")
    return services.browsers.open(key)
