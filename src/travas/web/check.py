"""Check: a release that was received, verified and shown as its reader sees it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .workbench import page


async def show(request: Request) -> Response:
    """The page on which a file is dropped."""
    return page("check.html")


ROUTES = [Route("/check", show)]
