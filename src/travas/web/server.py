"""Put the page together and serve it, until Ctrl-C."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress

from ..budget.ledger import Ledger
from ..errors import MissingExtraError, ParameterError
from .settings import Settings


def serve(settings: Settings, ledger: Ledger, ready: Callable[[], None]) -> None:
    """Serve the page at the settings' address; `ready` is called when it is there. Uploads of dead servers are deleted."""
    if os.name != "posix":
        raise ParameterError("the page needs Linux or macOS: it relies on their rights and locks of files")
    _check_free(settings)
    try:
        from nicegui import app, ui
    except ImportError:
        raise MissingExtraError("the web page", "web") from None

    from .files import add_routes
    from .guard import Guard
    from .page import add_page
    from .sessions import Sessions
    from .storage import Storage

    sessions = Sessions(Storage(), settings.minutes_kept)
    app.add_middleware(Guard, settings=settings, sessions=sessions)
    add_routes(app, settings)
    add_page(settings, ledger)
    app.timer(10, sessions.sweep)
    app.on_startup(ready)
    app.on_shutdown(sessions.close)
    with suppress(KeyboardInterrupt):  # the usual end
        ui.run(
            host=settings.host.strip("[]"), port=settings.port, title="travas", show=False, reload=False, tailwind=False,
            show_welcome_message=False, reconnect_timeout=20, language="en-US", dark=False, favicon="🔒",
            uvicorn_logging_level="error",
        )  # fmt: skip


def _check_free(settings: Settings) -> None:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host.strip("[]"), settings.port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "not an address"
            raise ParameterError(
                f"{settings.host}:{settings.port} cannot be used ({reason}); give another --port or --host"
            ) from None
