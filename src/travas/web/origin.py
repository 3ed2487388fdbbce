"""Where a request comes from, by its headers: from a foreign page or name, or from the page itself."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from .settings import Settings

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


def foreign(connection: HTTPConnection, settings: Settings) -> str:
    """Return why a request does not come from the page itself or from the user; empty if it does.

    Browsers send `Sec-Fetch-Site` to loopback and HTTPS addresses only, and not with web sockets, which always have an
    `Origin`. So it is required on loopback, and `Origin` is required of web sockets.
    """
    host, origin = connection.headers.get("host", "").lower(), connection.headers.get("origin")
    if settings.loopback and host.removesuffix(f":{settings.port}") not in _LOOPBACK_NAMES:
        return f"this page is at {settings.address} only"
    socket = connection.scope["type"] == "websocket"
    if (origin is None and socket) or (origin is not None and origin.lower().partition("://")[2] != host):
        return "requests from other pages are refused"
    site = connection.headers.get("sec-fetch-site")
    if site is None:
        missing = settings.loopback and not socket
        return "the request has no Sec-Fetch-Site header; use a current browser" if missing else ""
    if site in ("same-origin", "none") or _enters(connection):
        return ""
    return f"requests from other pages are refused; open {settings.address} in a new tab"


def _enters(connection: HTTPConnection) -> bool:
    """Whether a tab is led to `/open`, as by the redirect file, which browsers count as another site."""
    headers, scope = connection.headers, connection.scope
    leads = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return leads and scope.get("method") == "GET" and scope["path"] == "/open"
