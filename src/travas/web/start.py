"""Start: a card for each data set with what is left of its budget and its releases, and the place to drop a log."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .workbench import page, workbench


async def start(request: Request) -> Response:
    """The first screen."""
    bench = workbench(request)
    return page("start.html", records=bench.archive.records())


async def words(request: Request) -> Response:
    """The glossary."""
    return page("words.html")


ROUTES = [Route("/", start), Route("/words", words)]
