"""The entrance: the link with its one-time code, the file that leads a browser to it, and the page that exchanges the code.

The code comes after `#`, the part of an address that a browser never sends. The page at `/open` reads it, exchanges it for
the browser's key with a request of its own origin, and redirects. It is the same for everyone and starts nothing.
"""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from ..plots.html import render
from .access import CODE_HEADER, KEY_HEADER, STORED_KEY, Access
from .settings import Settings

ENTERED = "travas-entered"
"""Set in `sessionStorage` between the exchange and the page, so that a browser without cookies is not redirected in a loop."""

_SCRIPT = f"""
const say = (words) => {{ document.getElementById("words").textContent = words; }};
const enter = async (name, secret) => {{
  if (!secret) return false;
  const answer = await fetch("/enter", {{method: "POST", headers: {{[name]: secret}}}});
  if (answer.ok) localStorage.setItem("{STORED_KEY}", await answer.text());
  return answer.ok;
}};
const open = async () => {{
  const code = location.hash.slice(1), key = localStorage.getItem("{STORED_KEY}");
  history.replaceState(null, "", location.pathname);
  if (location.pathname !== "/open" && sessionStorage.getItem("{ENTERED}")) {{
    sessionStorage.removeItem("{ENTERED}");
    say("travas needs a cookie: allow cookies for this address and reload the page.");
  }} else if (await enter("{KEY_HEADER}", key) || await enter("{CODE_HEADER}", code)) {{
    sessionStorage.setItem("{ENTERED}", "1");
    location.replace(location.pathname === "/open" ? "/" : location.pathname);
  }} else if (code) {{
    say("This link has expired or has been used: open the newest link of travas serve.");
  }} else if (key) {{
    say("The server that this page belonged to has ended: open the link of the one that runs now.");
  }} else {{
    say("This browser has no key: open the link that travas serve printed, or the window that it opened.");
  }}
}};
open().catch(() => say("The server does not answer: is travas serve still running?"));
"""

_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()

POLICY = (
    f"default-src 'none'; script-src 'sha256-{_HASH}'; style-src 'unsafe-inline'; connect-src 'self'; img-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


def entrance_page(status: int) -> Response:
    """The page that exchanges a code, or shows a browser without a key what to do."""
    page = render(__package__, "entrance.html", {"script": Markup(_SCRIPT)})
    return HTMLResponse(page, status, {"Content-Security-Policy": POLICY})


def add_entrance(app: Any, settings: Settings, access: Access) -> None:
    """`GET /open`, and `POST /enter` with a code or a key as header: it answers with the key and sets the cookie."""

    @app.get("/open")  # type: ignore[untyped-decorator]
    async def open_() -> Response:
        return entrance_page(200)

    @app.post("/enter")  # type: ignore[untyped-decorator]
    async def enter(request: Request) -> Response:
        known = request.headers.get(KEY_HEADER, "")
        key = known if access.is_key(known) else access.exchange(request.headers.get(CODE_HEADER, ""))
        if key is None:
            return PlainTextResponse("travas: neither a key nor a current code\n", 403)
        answer = PlainTextResponse(key)
        answer.set_cookie(settings.cookie, access.token, httponly=True, samesite="strict")
        return answer


class Entrance:
    """The link of a running server, and a file that leads to it and that only the owner can read."""

    def __init__(self, settings: Settings, access: Access, folder: Path) -> None:
        self.address, self._access, self.file = settings.address, access, folder / "open.html"
        self.write()

    @property
    def link(self) -> str:
        """The address with the current one-time code."""
        return f"{self.address}open#{self._access.code}"

    def write(self) -> None:
        """Write the file again, with the current code.

        Not by `outputs.atomic`, whose files others may read by the umask: this one is the owner's alone from the start.
        """
        partial = self.file.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(render(__package__, "opener.html", {"link": self.link}))
        partial.rename(self.file)
