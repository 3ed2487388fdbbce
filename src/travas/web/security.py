"""Who may use the web app: one browser that has opened the one-time link, on this machine, and pages of this app only.

Every request passes the `Gate`: the name of the host (against DNS rebinding), where the request comes from (against pages
of others), and the cookie that the link gave. Other users of the machine get `/health`, the sign-in page and static files.

A cookie reaches every port of its host, so the server of another user on this machine could collect it. So the app has a
host name of its own that only the owner knows, below `.localhost`, which browsers resolve to this machine.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from ..errors import ParameterError
from ..plots.html import render

_POLICY = {
    "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self' data:", "connect-src": "'self'",
    "worker-src": "'self'", "form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
}  # fmt: skip
WORKER = "/static/map_worker.js"
"""The only place where WebAssembly runs, Graphviz: a worker has the policy of its own file, so that no page needs it."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with `no-referrer`, browsers send no origin with forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def policy(path: str) -> str:
    """The content security policy of an answer: nothing but files of this app, and no inline scripts or styles."""
    scripts = {"script-src": "'self' 'wasm-unsafe-eval'"} if path == WORKER else {}
    return "; ".join(f"{name} {sources}" for name, sources in (_POLICY | scripts).items())


@attrs.define(eq=False)
class Access:
    """The secrets of one running server: a code that opens it once, and the value of the cookie that it is exchanged for."""

    host: str
    port: int
    renewed: Callable[[], None] = attrs.field(default=lambda: None, repr=False)
    code: str = attrs.field(factory=lambda: secrets.token_urlsafe(32), repr=False)
    token: str = attrs.field(factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def origin(self) -> str:
        """The address of the app."""
        return f"http://{self.host}:{self.port}"

    @property
    def link(self) -> str:
        """The address that signs a browser in, once."""
        return f"{self.origin}/open?code={self.code}"

    @property
    def cookie(self) -> str:
        """The name of the cookie: all ports of a host share their cookies."""
        return f"travas-{self.port}"

    def exchange(self, code: str) -> bool:
        """Whether this is the current code, which is replaced by a new one."""
        if not hmac.compare_digest(code.encode(), self.code.encode()):
            return False
        self.code = secrets.token_urlsafe(32)
        self.renewed()
        return True

    def refusal(self, request: Request) -> str:
        """Why a request is refused, whoever sends it; empty if it is not."""
        if request.headers.get("host") != f"{self.host}:{self.port}":
            return "open the link that travas serve has printed"
        site = request.headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and request.url.path != "/open":
            return "pages of others cannot use this app"
        if request.method not in ("GET", "HEAD") and request.headers.get("origin") != self.origin:
            return "only pages of this app can change anything"
        return ""

    def knows(self, request: Request) -> bool:
        """Whether the browser has signed in."""
        return hmac.compare_digest(request.cookies.get(self.cookie, "").encode(), self.token.encode())


class Gate:
    """The middleware in front of everything."""

    def __init__(self, app: Any, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = policy(path)
                headers.update(HEADERS)
                if not path.startswith("/static/"):
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await (self._answer(Request(scope, receive)) or self.app)(scope, receive, sent)

    def _answer(self, request: Request) -> Response | None:
        """Return an answer at once; None if the request may pass."""
        path = request.url.path
        if path == "/health":
            return PlainTextResponse("")
        if why := self.access.refusal(request):
            return PlainTextResponse(f"travas: {why}\n", 403)
        if path == "/open" and request.method == "GET":
            return self._open(request)
        if path.startswith("/static/") or self.access.knows(request):
            return None
        return _entrance("", 401)

    def _open(self, request: Request) -> Response:
        """Exchange the code for the cookie. The page then goes on by itself: a redirect from elsewhere brings no cookie."""
        if self.access.knows(request):
            return RedirectResponse("/", 303)
        if not self.access.exchange(request.query_params.get("code", "")):
            return _entrance("", 403)
        answer = _entrance("/", 200)
        answer.set_cookie(self.access.cookie, self.access.token, httponly=True, samesite="strict")
        return answer


def _entrance(target: str, status: int) -> Response:
    return Response(render(__package__, "entrance.html", {"target": target}), status, media_type="text/html")


def listener(host: str, port: int) -> socket.socket:
    """Return a socket on loopback that listens; raises ParameterError if the address or the port cannot be used."""
    if not _is_loopback(host):
        tunnel = f"from another one, open an SSH tunnel: ssh -L {port or 8080}:127.0.0.1:{port or 8080} THIS-MACHINE"
        raise ParameterError(f"host is {host!r}: the web app is for this machine only; {tunnel}", field="host")
    opened = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        if os.name == "posix":  # elsewhere another program could take the port as well
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(128)
    except (OSError, OverflowError) as error:
        opened.close()
        why = getattr(error, "strerror", None) or "not a port"
        raise ParameterError(f"port {port} of {host} cannot be used ({why}); use another port", field="port") from None
    return opened


def own_name(folder: Path) -> str:
    """The host name of the app, in a folder of the owner: the same at the next start, so that bookmarks stay."""
    kept = folder / "host"
    if not kept.exists():
        kept.write_text(f"travas-{secrets.token_hex(8)}.localhost", encoding="ascii")
    return kept.read_text(encoding="ascii")


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False
