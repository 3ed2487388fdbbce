"""The page: a row of steps, one of which is open. It shows the state of the session and changes only the session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

from nicegui import Client, ui

from ..budget.ledger import Ledger
from ..errors import TravasError
from ..pipeline import Phase
from ..plots.svg import BLUE
from .access import STORED_KEY, Access
from .entrance import ENTERED
from .jobs import Job
from .parts import refusal
from .sessions import Session, Sessions
from .settings import Settings
from .steps import choose_columns, choose_log, choose_privacy, choose_protection, make_release, show_result
from .tickets import Tickets
from .transfers import prepare

_SECONDS_TO_PROVE = 30


@dataclass(frozen=True)
class PageStep:
    """One step: its name, its draw function, and whether the session is ready for it."""

    name: str
    draw: Callable[[Page], None]
    ready: Callable[[Session], bool]


def _has_log(session: Session) -> bool:
    return session.log is not None


STEPS = (
    PageStep("Log", choose_log.draw, lambda session: True),
    PageStep("Columns", choose_columns.draw, _has_log),
    PageStep("Protection", choose_protection.draw, _has_log),
    PageStep("Privacy", choose_privacy.draw, _has_log),
    PageStep("Release", make_release.draw, _has_log),
    PageStep("Result", show_result.draw, lambda session: session.released is not None),
)
"""The steps in order. A new step is a new line here."""


class Page:
    """The content of one tab."""

    def __init__(self, session: Session, settings: Settings, ledger: Ledger, tickets: Tickets) -> None:
        self.session, self.settings, self.ledger, self.tickets = session, settings, ledger, tickets
        self.client = ui.context.client
        self.shown = session.version
        self.bar: ui.linear_progress | None = None
        self.doing: ui.label | None = None
        self.cancel: ui.button | None = None

    def build(self) -> None:
        with ui.row().classes("w-full items-baseline"):
            ui.html("<h1>travas</h1>", sanitize=False)
            ui.label("hand out an event log without handing out the people in it").classes("note")
        self.body()
        ui.timer(0.15, self.tick)

    def go(self, step: int) -> None:
        """Open a step and focus its heading."""
        self.session.step, self.session.error = step, ""
        self.session.version += 1
        self.refresh()
        self.client.run_javascript("setTimeout(() => document.getElementById('step-title')?.focus(), 60)")

    def refuse(self, words: str) -> None:
        """Show an error and leave the rest of the page unchanged."""
        self.session.error = words
        self.alert.refresh()

    async def download(self, name: str) -> None:
        """Start the download of a file of the release, with a one-time ticket."""
        try:
            path = await prepare(self.session, name)
        except TravasError as error:
            self.refuse(str(error))
            return
        self.client.download(f"/download/{self.tickets.issue(path)}/{path.name}")

    def refresh(self) -> None:
        self.shown = self.session.version
        self.body.refresh()

    def tick(self) -> None:
        """Poll running work and show changes, including those of other tabs of this browser."""
        session = self.session
        session.touch()
        session.settle()
        if session.version != self.shown:
            self.refresh()
        elif session.job is not None and self.bar is not None and self.doing is not None:
            self.bar.value = round(session.job.share, 2)
            self.doing.text = _doing(session.job)
            if self.cancel is not None:
                self.cancel.set_visibility(not session.job.charging)

    @ui.refreshable_method
    def body(self) -> None:
        session = self.session
        self.bar = self.doing = self.cancel = None
        with ui.element("nav").props('aria-label="steps"'), ui.element("ol").classes("steps"):
            for number, step in enumerate(STEPS):
                with ui.element("li"):
                    button = ui.button(f"{number + 1}  {step.name}", on_click=lambda number=number: self.go(number))
                    here = number == session.step
                    button.props("no-caps dense unelevated" + (" aria-current=step" if here else " outline"))
                    button.set_enabled(step.ready(session) and session.job is None)
        with ui.column().classes("card"):
            self.alert()
            if session.job is not None:
                self.working()
            else:
                STEPS[session.step].draw(self)

    @ui.refreshable_method
    def alert(self) -> None:
        if self.session.error:
            refusal(self.session.error)

    def working(self) -> None:
        """Show running background work with its progress and a cancel button."""
        job = self.session.job
        assert job is not None
        self.doing = ui.label(_doing(job)).props("role=status")
        self.bar = ui.linear_progress(job.share, show_value=False).props('aria-label="progress"')
        self.cancel = ui.button("Cancel", on_click=self.session.stop).props("no-caps outline")
        self.cancel.set_visibility(not job.charging)


def _doing(job: Job) -> str:
    """What a job does, how far it is, and whether it can still be cancelled."""
    if not job.charging:
        return f"{job.words} … {job.share:.0%}"
    return f"{job.words} … " + ("this cannot be cancelled" if job.words == Phase.CHARGING else "charged, finishing")


def add_page(settings: Settings, ledger: Ledger, access: Access, sessions: Sessions, tickets: Tickets) -> None:
    """The one page, at `/`: empty until the browser has proven its key over the socket."""

    @ui.page("/")
    async def index(client: Client) -> None:
        _shell()
        try:
            await client.connected(timeout=_SECONDS_TO_PROVE)
            key = await client.run_javascript(f"localStorage.getItem('{STORED_KEY}')", timeout=_SECONDS_TO_PROVE)
        except TimeoutError:
            key = None
            client.delete()
        if client.is_deleted:
            return
        try:
            session = _proven(key, access, sessions)
        except TravasError as error:
            refusal(str(error))
            return
        Page(session, settings, ledger, tickets).build()


def _shell() -> None:
    """Return what every browser with the cookie gets: only the style sheet."""
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    ui.add_head_html(f"<style>{style}</style><script>sessionStorage.removeItem('{ENTERED}')</script>")
    ui.colors(primary=BLUE)


def _proven(key: object, access: Access, sessions: Sessions) -> Session:
    """Return the session of a browser; raises TravasError if the key is wrong, or there are too many sessions."""
    if not isinstance(key, str) or not access.is_key(key):
        raise TravasError("this browser has no key for this page: open the newest link of travas serve")
    return sessions.open(key)
