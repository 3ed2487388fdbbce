"""The middleware in front of every request: access control and response headers.

Without the token there is nothing but `/health` and the entrance, which is the same for everyone; with it there is an empty
page, and what is shown there needs the browser's key (page.py). All responses carry a content-security policy.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response

from .access import Access
from .entrance import entrance_page
from .locations import Location
from .origin import foreign
from .settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",  # NiceGUI's own scripts: docs/web.md
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


_WITHOUT_TOKEN = ("/open", "/enter")


class Guard:
    """ASGI middleware without buffering."""

    def __init__(self, app: Any, settings: Settings, access: Access) -> None:
        self.app, self.settings, self.access = app, settings, access

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        answer = self._answer(HTTPConnection(scope))
        if answer is not None and scope["type"] == "websocket":
            await receive()
            if "websocket.http.response" not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": 1008})
                return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith("/_nicegui/"):
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await (answer or self.app)(scope, receive, send_with_headers)

    def _answer(self, connection: HTTPConnection) -> Response | None:
        """Return an immediate response; None if the request may pass."""
        path = connection.scope["path"]
        if path == "/health" and connection.scope["type"] == "http":
            return Response(status_code=200)
        why = foreign(connection, self.settings)
        if why:
            return PlainTextResponse(f"travas: {why}\n", 403)
        if path in _WITHOUT_TOKEN or self.access.is_token(connection.cookies.get(self.settings.cookie, "")):
            return None
        if Location.parse(path) is not None:
            return entrance_page(401)
        return PlainTextResponse("travas: open the link that travas serve printed\n", 401)
