"""The app: all routes, errors, and a server on loopback until Ctrl-C."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from ..budget.ledger import Ledger
from ..errors import ParameterError, TravasError
from . import check, release, result, start
from .drafts import Drafts
from .releases import Archive
from .security import Access, Gate, own_name
from .workbench import Workbench, in_words, page

LOGGER = logging.getLogger("travas.web")


def build(bench: Workbench, access: Access) -> Starlette:
    """The app on a workbench, for browsers that have access."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(bench.close)

    static = StaticFiles(directory=Path(__file__).with_name("static"), packages=[("travas.plots", "browser")])
    app = Starlette(
        routes=[*start.ROUTES, *release.ROUTES, *result.ROUTES, *check.ROUTES, Mount("/static", static)],
        middleware=[Middleware(Gate, access=access)],
        exception_handlers={404: _missing, 405: _missing, TravasError: _refused, Exception: _failed},
        lifespan=lifespan,
    )
    app.state.workbench = bench
    return app


async def _missing(request: Request, error: Exception) -> Response:
    return page("error.html", 404, words="There is nothing at this address.")


async def _refused(request: Request, error: Exception) -> Response:
    return page("error.html", 409, words=in_words(error))


async def _failed(request: Request, error: Exception) -> Response:
    """Say what went wrong without the text of the error, which may quote the log."""
    LOGGER.error("%s: %s", request.url.path, in_words(error))
    return page("error.html", 500, words=in_words(error))


def serve(
    opened: socket.socket,
    has_own_name: bool,
    ledger: Ledger,
    folders: Sequence[Path],
    archive: Path | None,
    ready: Callable[[Access, Path], None],
    renewed: Callable[[Access], None],
) -> None:
    """Serve the app on a socket until Ctrl-C, under a name that only the owner knows, or its address.

    `ready` gets a file that leads a browser to the link, for the owner only.
    """
    for folder in folders:
        if not folder.is_dir():
            raise ParameterError(f"folder is {str(folder)!r}: there is no such folder", field="folder")
    os.umask(0o077)  # whatever is written is for the owner only
    host, port = opened.getsockname()[:2]
    kept = Archive(archive or ledger.path.with_suffix(".releases"))
    kept.tidy(ledger)
    bench = Workbench(ledger, kept, Drafts(), tuple(folder.resolve() for folder in folders))
    access = Access(own_name(kept.path) if has_own_name else f"[{host}]" if ":" in host else host, port)
    opener = bench.drafts.path / "open.html"

    def renew() -> None:
        opener.write_text(f'<meta http-equiv="refresh" content="0;url={access.link}">', encoding="utf-8")

    def use() -> None:
        renew()
        renewed(access)

    renew()
    access.renewed = use
    config = uvicorn.Config(build(bench, access), log_level="error", server_header=False, timeout_graceful_shutdown=2)
    ready(access, opener)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([opened])
