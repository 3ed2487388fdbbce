"""Release: three questions on the left, and on the right a picture of a made-up process with the noise that is chosen."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .workbench import go, page, workbench


async def create(request: Request) -> Response:
    """Make a draft from an upload, a file of an allowed folder, or a project file."""
    bench = workbench(request)
    return go(request, f"/release/{bench.drafts.new().id}")


async def show(request: Request) -> Response:
    """The page of a draft."""
    draft = workbench(request).drafts.get(request.path_params["draft"])
    if draft is None:
        return go(request, "/")
    return page("release.html", draft=draft)


async def progress(request: Request) -> Response:
    """The progress of a job; when it has ended, the browser goes on to its target."""
    job = workbench(request).jobs.get(request.path_params["job"])
    if job is None or job.done:
        return go(request, "/" if job is None else job.target)
    return page("progress.html", job=job, number=request.path_params["job"])


async def cancel(request: Request) -> Response:
    """Kill a job, unless it charges the ledger or has done so."""
    job = workbench(request).jobs.get(request.path_params["job"])
    if job is not None:
        job.cancel()
    return await progress(request)


ROUTES = [
    Route("/drafts", create, methods=["POST"]),
    Route("/release/{draft}", show),
    Route("/jobs/{job}", progress),
    Route("/jobs/{job}/cancel", cancel, methods=["POST"]),
]
