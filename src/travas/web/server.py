"""Build the web app and serve it until Ctrl-C."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..budget.ledger import Ledger
from ..errors import MissingExtraError, ParameterError
from .settings import Settings

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from .entrance import Entrance


def serve(
    settings: Settings,
    listener: socket.socket,
    ledger: Ledger,
    archive_path: Path | None,
    ready: Callable[[Entrance], None],
    renewed: Callable[[Entrance], None],
) -> None:
    """Serve the page at the settings' address. Uploads of dead servers are deleted."""
    if os.name != "posix":
        raise ParameterError("the web app needs Linux or macOS, because it relies on their file permissions and locks")
    try:
        from nicegui import app, ui
    except ImportError:
        raise MissingExtraError("the web page", "web") from None

    from .access import Access
    from .archive import Archive
    from .archive_list import reconcile
    from .browsers import Browsers
    from .entrance import Entrance, add_entrance
    from .failures import OneLine
    from .guard import Guard
    from .jobs import warm_up
    from .page import Services, add_pages
    from .storage import Storage
    from .tickets import Tickets
    from .transfers import add_routes

    os.umask(0o077)  # whatever is written is for the owner only
    archive = Archive(archive_path or ledger.path.with_suffix(".releases"))
    reconcile(archive, ledger)
    warm_up()
    storage, access, tickets = Storage(), Access(), Tickets()
    browsers, entrance = Browsers(storage, settings, archive.activity), Entrance(settings, access, storage.path)

    def renew() -> None:
        entrance.write()
        renewed(entrance)

    access.renewed = renew
    app.add_middleware(Guard, settings=settings, access=access)
    app.add_exception_handler(404, _not_found)
    add_entrance(app, settings, access)
    add_routes(app, settings, browsers, tickets)
    logging.getLogger("nicegui").addFilter(OneLine())
    add_pages(Services(settings, ledger, access, browsers, tickets, archive))
    app.timer(10, browsers.sweep)
    app.on_startup(lambda: ready(entrance))
    app.on_shutdown(browsers.close)
    app.on_shutdown(archive.close)
    with suppress(KeyboardInterrupt):  # the usual end
        ui.run(
            host=settings.host.strip("[]"), port=settings.port, title="travas", show=False, reload=False, tailwind=False,
            show_welcome_message=False, reconnect_timeout=20, language="en-US", dark=None, favicon="🔒",
            uvicorn_logging_level="error", fd=listener.fileno(), http="h11",  # h11 limits the size of headers
        )  # fmt: skip


async def _not_found(request: Request, error: Exception) -> Response:
    """Return one line instead of NiceGUI's error page."""
    from starlette.responses import PlainTextResponse

    return PlainTextResponse("travas: there is nothing here\n", 404)
