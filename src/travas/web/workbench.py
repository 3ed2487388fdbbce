"""What all screens share: the ledger, the archive, drafts and jobs, pages from templates, and errors in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ..budget.ledger import Ledger
from ..errors import TravasError, is_out_of_memory, system_reason
from ..plots.html import render

if TYPE_CHECKING:
    from .drafts import Drafts
    from .jobs import Job
    from .releases import Archive


@attrs.define(eq=False)
class Workbench:
    """What the app works on.

    `folders` are those whose files may be opened besides uploads, `pictures` the jobs that draw made-up pictures, and `said`
    what went wrong after a release was charged.
    """

    ledger: Ledger
    archive: Archive
    drafts: Drafts
    folders: tuple[Path, ...] = ()
    jobs: dict[str, Job] = attrs.field(factory=dict)
    pictures: dict[tuple[str, str], Job] = attrs.field(factory=dict)
    said: dict[str, str] = attrs.field(factory=dict)

    def start(self, job: Job) -> Job:
        """Start a job. A page asks for its progress at `/jobs/NUMBER`."""
        self.jobs[job.number] = job
        job.start()
        return job

    def close(self) -> None:
        """End what can be ended and wait for what is paid for; then delete the uploads."""
        for job in self.jobs.values():
            job.cancel()
        for job in self.jobs.values():
            job.join()
        self.drafts.close()


def workbench(request: Request) -> Workbench:
    """The workbench of the app that a request is for."""
    return cast(Workbench, request.app.state.workbench)


def page(template: str, /, status: int = 200, **values: Any) -> Response:
    """Answer with a whole page, or with a fragment for HTMX."""
    return HTMLResponse(render(__package__, template, values), status)


def go(request: Request, address: str) -> Response:
    """Lead the browser to another address: HTMX by its header, a form by a redirect."""
    if "hx-request" in request.headers:
        return Response(headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)


def in_words(error: BaseException) -> str:
    """What a page says about an error: the message of one of travas; of others the kind, as their text may quote the log."""
    if isinstance(error, TravasError):
        return " ".join(str(error).splitlines())
    if is_out_of_memory(error):
        return "not enough memory for this log"
    if isinstance(error, OSError) and error.errno:
        return f"a file or folder cannot be used ({system_reason(error)}); check the disk and the permissions of travas serve"
    return f"something is wrong in travas ({type(error).__name__}); please report it, without the log"


@contextmanager
def known_as(names: Mapping[str, str]) -> Iterator[None]:
    """Let errors of travas name files as the page shows them."""
    try:
        yield
    except TravasError as error:
        message = str(error.args[0])
        for stored, known in names.items():
            message = message.replace(stored, known)
        error.args = (message,)
        raise
