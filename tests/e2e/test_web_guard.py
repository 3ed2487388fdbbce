"""What the page answers to those who are not its browser: foreign pages, foreign people, crafted requests."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Server, browsing, serving
from web_flow import alert, heading, opened, press, release, saved, to_columns, to_release

from conftest import Run
from travas.web.locations import ROUTES

SCREENS = [route.format(draft="a", step="log", release="a") for route in ROUTES]
LOG = b"case_id,activity,timestamp\n" + b"".join(b"%d,visit,2020-01-01\n" % case for case in range(300))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), "--upload-limit", 0.0001) as running:
        yield running


SAME = {"Sec_Fetch_Site": "same-origin"}


def ask(
    server: Server, method: str, path: str, body: bytes | None = None, /, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in (SAME | headers).items()})
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read()
    connection.close()
    return found


@pytest.fixture(scope="module")
def cookie(server: Server) -> str:
    return server.enter()[1]


@pytest.fixture(scope="module")
def tab(browser: Any, server: Server) -> Iterator[Any]:
    """A browser with a session."""
    context = browser.new_context()
    yield opened(context, server)
    context.close()


@pytest.fixture(scope="module")
def mine(tab: Any) -> dict[str, str]:
    """The headers of that browser."""
    key = tab.evaluate("localStorage.getItem('travas-key')")
    (token,) = tab.context.cookies()
    return {"Cookie": f"{token['name']}={token['value']}", "X_Travas_Key": key}


@pytest.fixture(scope="module")
def sending(tab: Any) -> str:
    """Where a file for the draft of that browser is sent, up to its name."""
    return f"/upload?draft={tab.url.split('/')[-2]}&name="


def test_every_answer_has_the_policy(server: Server, cookie: str) -> None:
    for path in (*SCREENS, "/open", "/nowhere", "/download/a/release.json", "/_nicegui/none", "/health"):
        for known in ("", cookie):
            _, headers, _ = ask(server, "GET", path, Cookie=known)
            policy = headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in policy and "default-src 'none'" in policy
            assert "http" not in policy and "*" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    _, headers, page = ask(server, "GET", "/", Cookie=cookie)
    assert headers["Cache-Control"] == "no-store" and "Set-Cookie" not in headers
    assert b"https://" not in page.replace(b"https://nicegui.io", b"")


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


def test_other_names_and_other_pages_are_refused(server: Server, cookie: str, mine: dict[str, str]) -> None:
    assert ask(server, "GET", "/", Host="evil.example", Cookie=cookie)[0] == 403  # DNS rebinding
    assert ask(server, "GET", "/", Host=f"localhost:{server.port}", Cookie=cookie)[0] == 200
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}"):
        assert ask(server, "POST", "/upload?name=a.csv", LOG, Origin=origin, **mine)[0] == 403
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
    assert ask(server, "GET", "/open", **led | {"Sec_Fetch_Dest": "iframe"})[0] == 403


def test_uploads_need_a_key_and_keep_to_their_place(
    server: Server, mine: dict[str, str], cookie: str, sending: str
) -> None:
    for headers in ({}, {"X_Travas_Key": mine["X_Travas_Key"]}):
        assert ask(server, "POST", "/upload?name=a.csv", LOG, **headers)[0] == 401
    for key in ("", "guess", server.enter()[0]):  # the last one is a key, but no socket has proven it
        assert ask(server, "POST", f"{sending}a.csv", LOG, Cookie=cookie, X_Travas_Key=key)[0] == 403
    for draft in ("", "guess"):
        assert ask(server, "POST", f"/upload?draft={draft}&name=a.csv", LOG, **mine)[0] == 403
    before = {path for path in server.storage.parent.rglob("*") if path.is_file()}
    for name in ("../../evil.csv", "..%2f..%2fevil.csv", "%2fetc%2fevil.csv", "C:%5Cevil.csv", "a%00b.csv"):
        assert ask(server, "POST", f"{sending}{name}", LOG, **mine)[0] == 200
    new = {path for path in server.storage.parent.rglob("*") if path.is_file()} - before
    assert len(new) == 1  # the last one: a new log takes the place of the old
    (kept,) = new
    assert kept.name.startswith("log-") and kept.stat().st_mode & 0o777 == 0o600
    assert kept.is_relative_to(server.storage) and not list(server.storage.rglob("*.partial"))


def test_files_to_check_need_a_key_and_keep_to_their_place(server: Server, tab: Any, mine: dict[str, str]) -> None:
    assert ask(server, "POST", "/verify?number=a&name=a.json", b"{}")[0] == 401
    stranger = {"Cookie": mine["Cookie"], "X_Travas_Key": "guess"}
    assert ask(server, "POST", "/verify?number=a&name=a.json", b"{}", **stranger)[0] == 403
    for number in ("", "..", "0" * 16, "%2e%2e%2f"):
        assert ask(server, "POST", f"/verify?number={number}&name=a.json", b"{}", **mine)[0] == 404
    other = tab.context.new_page()
    other.goto(f"{server.address}/check")
    heading(other, "Check a file")
    (folder,) = server.storage.rglob("check-*")
    address = f"/verify?number={folder.name.removeprefix('check-')}&name="
    before = set(server.storage.parent.rglob("*"))
    assert ask(server, "POST", f"{address}..%2f..%2fevil.json.guarantee.json", b"{}", **mine)[0] == 200
    assert ask(server, "POST", f"{address}large.json", b"x" * 200_000, **mine)[0] == 413
    (kept,) = set(server.storage.parent.rglob("*")) - before
    assert kept.parent == folder and kept.name.endswith(".json.guarantee.json")
    assert ask(server, "POST", f"{address}b.json", b"{}", **mine)[0] == 200
    assert ask(server, "POST", f"{address}c.json", b"{}", **mine)[0] == 413  # two files are enough
    other.close()


def test_uploads_have_a_limit(server: Server, mine: dict[str, str], sending: str) -> None:
    assert ask(server, "POST", f"{sending}a.csv", b"x" * 200_000, **mine)[0] == 413
    assert ask(server, "POST", f"{sending}a.csv", b"x", Content_Length="99999999999", **mine)[0] == 413
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    pieces = (b"x" * 10_000 for _ in range(50))  # no length is announced
    headers = {name.replace("_", "-"): value for name, value in (SAME | mine).items()}
    connection.request("POST", f"{sending}a.csv", pieces, headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    assert not list(server.storage.rglob("*.partial"))


@pytest.mark.parametrize("name", ["..%2f..%2fetc%2fpasswd", "release.json", "guess/release.json", ".lock", "%00"])
def test_downloads_need_a_ticket(server: Server, name: str, mine: dict[str, str]) -> None:
    status, _, body = ask(server, "GET", f"/download/{name}", **mine)
    assert status == 404 and b"root:" not in body


def test_a_ticket_is_for_one_download(browser: Any, server: Server, tmp_path: Path) -> None:
    context = browser.new_context(accept_downloads=True)
    one = opened(context, server)
    press(one, "Try it with a made-up hospital log")
    to_release(one)
    release(one)
    addresses: list[str] = []
    one.on("download", lambda download: addresses.append(download.url))
    assert saved(one, "release.json", tmp_path, "r.json").stat().st_size
    (token,) = context.cookies()
    path = addresses[0].removeprefix(server.address)
    assert path.startswith("/download/")
    assert ask(server, "GET", path, Cookie=f"{token['name']}={token['value']}")[0] == 404
    context.close()


def test_a_used_link_and_a_lost_key_are_one_sentence(browser: Any, server: Server) -> None:
    used = server.link
    context = browser.new_context()
    opened(context, server).close()
    for address, words in (
        (used, "This link has expired or has been used: open the newest link of travas serve."),
        (
            server.address,
            "This browser has no key: open the link that travas serve printed, or the window that it opened.",
        ),
    ):
        other = browser.new_context()
        one = other.new_page()
        one.goto(address)
        one.get_by_text(words, exact=True).wait_for()
        other.close()
    again = context.new_page()
    again.goto(used)  # of use to nobody else, but this browser has its key
    heading(again, "Home")
    context.close()


def test_one_browser_has_one_session_and_there_is_a_limit(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path, "--max-sessions", 1) as server:
        first, second = browser.new_context(), browser.new_context()
        one = opened(first, server)
        press(one, "Try it with a made-up hospital log")
        to_columns(one)
        tab = first.new_page()
        tab.goto(one.url)
        heading(tab, "Columns")
        late = second.new_page()
        late.goto(server.link)
        late.get_by_role("alert").wait_for()
        assert alert(late).startswith("1 sessions are open, which is the limit") and "--max-sessions" in alert(late)
        assert late.locator("input[type=file]").count() == 0
        first.close()
        second.close()


def test_on_a_network_the_same_holds(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0") as server:
        code = server.line.partition("/open#")[2].split()[0]
        assert code == server.link.partition("#")[2]
        plain = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        plain.request("GET", "/")  # browsers send no Sec-Fetch-Site to such addresses
        assert plain.getresponse().status == 401
        plain.close()
        for path in (*SCREENS, f"/?token={code}", f"/#{code}", "/_nicegui/static/x.js"):
            assert ask(server, "GET", path)[0] == 401
        assert ask(server, "POST", "/upload?name=a.csv", LOG)[0] == 401
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


@pytest.mark.parametrize("start", [b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"GET /"], ids=["header", "address"])
def test_a_request_without_end_is_refused(server: Server, start: bytes) -> None:
    """It would be kept in memory, and needs no secret."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(start + b"a" * 200_000)
        assert raw.recv(100).startswith(b"HTTP/1.1 400")


def serve_with(scratch: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """`travas serve` that looks for a browser."""
    words = [str(Path(sys.executable).parent / "travas"), "serve", "--port", "0"]
    hidden = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    kept = {name: value for name, value in os.environ.items() if name not in hidden and "PYTEST" not in name}
    own = {"TMPDIR": str(scratch), "TRAVAS_LEDGER": str(scratch / "ledger.db")}
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=kept | own | environment)


def test_the_browser_is_opened_when_the_port_is_ours(tmp_path: Path) -> None:
    """What the browser finds at the port is never another user's server, and the app does not wait for its end."""
    opener, seen = tmp_path / "browser", tmp_path / "seen"
    opener.write_text(
        f"""#!{sys.executable}
import pathlib, re, socket, sys, time
port = int(re.search(r":([0-9]+)/open#", pathlib.Path(sys.argv[1].removeprefix("file://")).read_text())[1])
with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
    raw.sendall(b"GET /health HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n")
    pathlib.Path({str(tmp_path / "part")!r}).write_bytes(raw.recv(15))
pathlib.Path({str(tmp_path / "part")!r}).rename({str(seen)!r})
time.sleep(20)
"""
    )
    opener.chmod(0o755)
    process = serve_with(tmp_path, {"BROWSER": f"{opener} %s"})
    try:
        end = time.monotonic() + 60
        while not seen.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        assert seen.read_bytes() == b"HTTP/1.1 200 OK"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=19) == 0  # the browser is still there
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def test_a_machine_without_a_browser_gets_the_link(tmp_path: Path) -> None:
    """A browser of the terminal, which has no scripts, does not count."""
    (tmp_path / "bin").mkdir()
    for text in ([], ["w3m", "lynx", "www-browser"]):
        for name in text:
            (tmp_path / "bin" / name).write_text("#!/bin/sh\nexec sleep 60\n")
            (tmp_path / "bin" / name).chmod(0o755)
        process = serve_with(tmp_path, {"PATH": str(tmp_path / "bin"), "TERM": "xterm"})
        try:
            assert process.stdout is not None
            assert re.match(r"travas is running at http://127\.0\.0\.1:\d+/open#\S{43} ", process.stdout.readline())
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)


def test_bad_options_are_one_line(travas: Run, tmp_path: Path, server: Server) -> None:
    for words, why in (
        (("--port", -1), "port is -1"),
        (("--port", server.port), "cannot be used"),
        (("--max-sessions", 0), "max_sessions is 0"),
        (("--folder", tmp_path / "gone"), "no such directory"),
        (("--host", "999.1.1.1", "--port", 0), "cannot be used"),
        (("--host", "999.1.1.1", "--port", 8999), "cannot be used"),
    ):
        ran = travas("serve", "--no-open", *words)
        assert ran.code == 2 and why in ran.err and len(ran.err.splitlines()) == 1
