"""What the web app answers to those who are not its browser: other users of the machine, foreign pages, crafted requests."""

from __future__ import annotations

import http.client
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Server, serving
from strangers import ask as ask_as_another_user
from strangers import can_read

from conftest import Run
from travas.web.locations import ROUTES

SCREENS = [route.format(draft="a", step="log", release="a") for route in ROUTES]
SAME = {"Sec_Fetch_Site": "same-origin"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def cookie(server: Server) -> str:
    return server.enter()[1]


def ask(
    server: Server, method: str, path: str, body: bytes | None = None, /, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in (SAME | headers).items()})
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read()
    connection.close()
    return found


def sessions(server: Server) -> int:
    """Each session has a folder."""
    return len([path for path in server.storage.glob("*/*") if path.is_dir()])


def test_another_user_gets_nothing_without_the_link(server: Server) -> None:
    before = sessions(server)
    for headers in ({}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}):
        for path in ("/", "/releases", "/upload", "/download/release.json", "/_nicegui/x.js", "/docs"):
            status, cookie, body = ask_as_another_user(server.port, path, headers)
            assert status in (401, 403) and cookie is None and "client_id" not in body
    assert ask_as_another_user(server.port, "/health") == (200, None, "")
    assert sessions(server) == before
    assert os.getuid() != 0 or not can_read(next(server.storage.glob("*/open.html")))


def test_every_answer_has_the_policy(server: Server, cookie: str) -> None:
    for path in (*SCREENS, "/open", "/nowhere", "/download/a/release.json", "/_nicegui/none", "/health"):
        for known in ("", cookie):
            _, headers, _ = ask(server, "GET", path, Cookie=known)
            policy = headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in policy and "default-src 'none'" in policy
            assert "http" not in policy and "*" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    _, headers, _ = ask(server, "GET", "/", Cookie=cookie)
    assert headers["Cache-Control"] == "no-store" and "Set-Cookie" not in headers


def test_the_link_is_for_one_browser(server: Server) -> None:
    code = server.link.partition("#")[2]
    for path in ("/", "/open"):
        _, headers, body = ask(server, "GET", path)
        assert "Set-Cookie" not in headers and code.encode() not in body
    assert ask(server, "POST", "/enter")[0] == 403
    assert ask(server, "POST", "/enter", X_Travas_Code="guess", X_Travas_Key="guess")[0] == 403
    status, headers, key = ask(server, "POST", "/enter", X_Travas_Code=code)
    assert status == 200 and "HttpOnly" in headers["Set-Cookie"] and "SameSite=strict" in headers["Set-Cookie"]
    assert key.decode() not in headers["Set-Cookie"] and server.link.partition("#")[2] != code
    assert ask(server, "POST", "/enter", X_Travas_Code=code)[0] == 403  # a second time
    assert ask(server, "POST", "/enter", X_Travas_Key=key.decode())[0] == 200  # when the cookie was lost


def test_other_names_and_other_pages_are_refused(server: Server, cookie: str) -> None:
    assert ask(server, "GET", "/", Host="evil.example", Cookie=cookie)[0] == 403  # DNS rebinding
    assert ask(server, "GET", "/", Host=f"localhost:{server.port}", Cookie=cookie)[0] == 200
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}"):
        assert ask(server, "POST", "/upload?name=a.csv", b"x", Origin=origin, Cookie=cookie)[0] == 403
    for path in (*SCREENS, "/enter", "/_nicegui/x.js", "/upload", "/download/a/b"):
        for site in ("cross-site", "same-site"):
            assert ask(server, "GET", path, Cookie=cookie, Sec_Fetch_Site=site)[0] == 403
    handshake = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13", "Cookie": cookie,
        "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    path, origin = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket", f"http://127.0.0.1:{server.port}"
    assert ask(server, "GET", path, Origin="http://evil.example", **handshake)[0] == 403
    assert ask(server, "GET", path, Host="evil.example", Origin=origin, **handshake)[0] == 403
    assert ask(server, "GET", path, **handshake)[0] == 403  # browsers always send an origin
    assert ask(server, "GET", path, Origin=origin, **handshake | {"Cookie": ""})[0] == 401


def test_only_a_tab_is_led_to_the_entrance_from_elsewhere(server: Server) -> None:
    led = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert ask(server, "GET", "/open", **led)[0] == 200
    assert ask(server, "POST", "/open", **led)[0] == 403 and ask(server, "GET", "/", **led)[0] == 403
    assert ask(server, "GET", "/open", **led | {"Sec_Fetch_Dest": "image"})[0] == 403


def test_uploads_checks_and_downloads_need_the_key_of_a_session(server: Server, cookie: str) -> None:
    for path in ("/upload?draft=a&name=a.csv", "/verify?number=a&name=a.json"):
        assert ask(server, "POST", path, b"x")[0] == 401
        for key in ("", "guess", server.enter()[0]):  # the last one is a key, but no socket has proven it
            assert ask(server, "POST", path, b"x", Cookie=cookie, X_Travas_Key=key)[0] == 403
    for name in ("..%2f..%2fetc%2fpasswd", "release.json", "guess/release.json", "%00"):
        assert ask(server, "GET", f"/download/{name}", Cookie=cookie)[0] == 404
    assert not list(server.storage.rglob("*.csv"))


def test_on_a_network_the_same_holds(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0") as server:
        code = server.line.partition("/open#")[2].split()[0]
        assert code == server.link.partition("#")[2]
        for path in (*SCREENS, f"/?token={code}", f"/#{code}", "/_nicegui/static/x.js"):
            assert ask(server, "GET", path)[0] == 401
        assert ask(server, "POST", "/upload?name=a.csv", b"x")[0] == 401
        status, headers, _ = ask(server, "POST", "/enter", X_Travas_Code=code)
        assert status == 200
        assert ask(server, "GET", "/", Cookie=headers["Set-Cookie"].partition(";")[0])[0] == 200


def test_what_a_killed_server_left_is_deleted_at_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / f"travas-web-{os.getuid()}" / "left"
    left.mkdir(parents=True)
    (left / "log.csv").write_text("CANARY")
    with serving(tmp_path) as server:
        assert not left.exists() and server.storage.stat().st_mode & 0o777 == 0o700
        with serving(tmp_path):  # a second server does not touch the first one's
            assert len(list(server.storage.iterdir())) == 2
        assert len(list(server.storage.iterdir())) == 1
    assert not list(server.storage.iterdir())


def serve_with(scratch: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """`travas serve` that looks for a browser."""
    words = [str(Path(sys.executable).parent / "travas"), "serve", "--port", "0"]
    hidden = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    kept = {name: value for name, value in os.environ.items() if name not in hidden and "PYTEST" not in name}
    own = {"TMPDIR": str(scratch), "TRAVAS_LEDGER": str(scratch / "ledger.db")}
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=kept | own | environment)


def test_the_browser_gets_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    """A command line can be read by every user in `ps`, so the secret is in the file. The app does not wait for its end."""
    opener, seen = tmp_path / "browser", tmp_path / "seen"
    opener.write_text(f'#!/bin/sh\necho "$@" > {seen}.part && mv {seen}.part {seen}\nexec sleep 60 >/dev/null 2>&1\n')
    opener.chmod(0o755)
    process = serve_with(tmp_path, {"BROWSER": f"{opener} %s"})
    try:
        end = time.monotonic() + 120
        while not seen.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        file = Path(seen.read_text().strip().removeprefix("file://"))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        code = file.read_text().partition("#")[2].partition('"')[0]
        assert len(code) >= 32
        command_lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        assert not any(code.encode() in line for line in command_lines)
    finally:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=55)
    assert process.returncode == 0 and code not in out and not file.exists()


def test_a_machine_without_a_browser_gets_the_link(tmp_path: Path) -> None:
    """A browser of the terminal, which has no scripts, does not count."""
    (tmp_path / "w3m").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "w3m").chmod(0o755)
    process = serve_with(tmp_path, {"PATH": str(tmp_path), "TERM": "xterm"})
    try:
        assert process.stdout is not None
        assert re.match(r"travas is running at http://127\.0\.0\.1:\d+/open#\S{43} ", process.stdout.readline())
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)


def test_bad_options_are_refused(travas: Run, tmp_path: Path, server: Server) -> None:
    for words in (
        ("--port", -1), ("--port", server.port), ("--folder", tmp_path / "gone"), ("--host", "999.1.1.1", "--port", 0),
    ):  # fmt: skip
        ran = travas("serve", "--no-open", *words)
        assert ran.code == 2 and len(ran.err.splitlines()) == 1
