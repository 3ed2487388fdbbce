"""Where a request comes from, by its headers: malformed, from a foreign page or name, or from the page itself."""

from __future__ import annotations

import re

from starlette.requests import HTTPConnection

from .settings import Settings

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:(?P<port>[0-9]{1,5}))?", re.ASCII | re.IGNORECASE)
_ORIGIN = re.compile(rf"(null|[a-z][a-z0-9+.-]*://({_HOST.pattern})?)", re.ASCII | re.IGNORECASE)
_SITES = ("same-origin", "same-site", "cross-site", "none")
_LENGTH = re.compile("[0-9]{1,18}", re.ASCII)


def malformed(connection: HTTPConnection) -> str:
    """Return the name of a malformed or repeated header; empty if all are well-formed."""
    for name, well_formed in (
        ("host", _HOST.fullmatch),
        ("origin", _ORIGIN.fullmatch),
        ("content-length", _LENGTH.fullmatch),
        ("sec-fetch-site", lambda value: value in _SITES),
    ):
        values = connection.headers.getlist(name)
        if len(values) > 1 or not all(map(well_formed, values)) or (name == "host" and not values):
            return name
    return ""


def foreign(connection: HTTPConnection, settings: Settings) -> str:
    """Return why a request does not come from the page itself or from the user; empty if it does.

    Browsers send `Sec-Fetch-Site` to loopback and HTTPS addresses only, and not with web sockets, which always have an
    `Origin`. So it is required on loopback, and `Origin` is required of web sockets.
    """
    host, origin = connection.headers["host"], connection.headers.get("origin")
    if settings.loopback and _name(host) not in _LOOPBACK_NAMES:
        return f"this page is at {settings.address} only"
    socket = connection.scope["type"] == "websocket"
    if (origin is None and socket) or (origin is not None and origin.lower().partition("://")[2] != host.lower()):
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


def _name(host: str) -> str:
    match = _HOST.fullmatch(host)
    return match["name"].lower() if match else ""
