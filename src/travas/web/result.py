"""Result: the map of a release, its numbers, the download, and who has approved it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .workbench import page, workbench


async def show(request: Request) -> Response:
    """The page of a release."""
    record = workbench(request).archive.get(request.path_params["release"])
    return page("result.html", 200 if record else 404, record=record)


ROUTES = [Route("/result/{release}", show)]
