"""The guard in front of every request: who may come in, and what the browser may do with what it gets.

Foreign pages are kept out by the Host and Origin headers (also of web sockets), foreign people, where the page is on a
network, by a token, and one browser from another's data by a cookie. All responses carry a content-security policy.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from .sessions import Sessions
from .settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

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


class Guard:
    """ASGI middleware: it streams, buffers nothing, and knows the session before the page does."""

    def __init__(self, app: Any, settings: Settings, sessions: Sessions) -> None:
        self.app, self.settings, self.sessions = app, settings, sessions

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        answer = self._refusal(connection) or self._token_taken(connection)
        if answer is not None and scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        session = self.sessions.get(connection.cookies.get(self._cookie("session")))
        fresh = session is None and scope["type"] == "http" and scope["path"] == "/" and answer is None
        if fresh:
            session = self.sessions.create()
        scope.setdefault("state", {})["session"] = session

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if not scope["path"].startswith("/_nicegui/"):
                    headers["Cache-Control"] = "no-store"
                if fresh and session is not None:
                    headers.append("Set-Cookie", self._set_cookie("session", session.id))
            await send(message)

        await (answer or self.app)(scope, receive, send_with_headers)

    def _cookie(self, name: str) -> str:
        return f"travas-{name}-{self.settings.port}"  # browsers do not tell ports apart

    def _set_cookie(self, name: str, value: str) -> str:
        return f"{self._cookie(name)}={value}; Path=/; HttpOnly; SameSite=Lax"

    def _refusal(self, connection: HTTPConnection) -> Response | None:
        host = connection.headers.get("host", "")
        if self.settings.loopback and urlsplit(f"//{host}").hostname not in _LOOPBACK_NAMES:
            return PlainTextResponse(f"travas: this page is at {self.settings.address} only\n", 403)
        origin = connection.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return PlainTextResponse("travas: requests from other pages are refused\n", 403)
        return None

    def _token_taken(self, connection: HTTPConnection) -> Response | None:
        """The token comes once in the address, then in a cookie; without either there is no answer but this one."""
        if not self.settings.token:
            return None
        given = connection.query_params.get("token", "")
        if self._is_token(given) and connection.scope["path"] == "/":
            answer = RedirectResponse("/", 303)
            answer.headers.append("Set-Cookie", self._set_cookie("token", given))
            return answer
        if self._is_token(connection.cookies.get(self._cookie("token"), "")):
            return None
        return PlainTextResponse("travas: open the address with the token that was printed at the start\n", 401)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.settings.token.encode())
