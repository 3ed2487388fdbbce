"""What the page answers to those who are not its browser: foreign pages, foreign people, crafted requests."""

from __future__ import annotations

import http.client
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Server, serving

from conftest import Run

LOG = b"case_id,activity,timestamp\n" + b"".join(b"%d,visit,2020-01-01\n" % case for case in range(300))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), "--upload-limit", 0.0001) as running:
        yield running


def ask(
    server: Server, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read()
    connection.close()
    return found


def cookie(server: Server) -> str:
    _, headers, _ = ask(server, "GET", "/")
    return headers["Set-Cookie"].partition(";")[0]


def test_every_answer_has_the_policy(server: Server) -> None:
    for path in ("/", "/nowhere", "/download/release.json", "/_nicegui/none"):
        _, headers, _ = ask(server, "GET", path)
        policy = headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy and "default-src 'none'" in policy
        assert "http" not in policy and "*" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    _, headers, page = ask(server, "GET", "/")
    assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Lax" in headers["Set-Cookie"]
    assert headers["Cache-Control"] == "no-store"
    assert b"https://" not in page.replace(b"https://nicegui.io", b"")


def test_other_names_and_other_pages_are_refused(server: Server) -> None:
    assert ask(server, "GET", "/", Host="evil.example")[0] == 403  # DNS rebinding
    assert ask(server, "GET", "/", Host=f"localhost:{server.port}")[0] == 200
    mine = cookie(server)
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}"):
        assert ask(server, "POST", "/upload?name=a.csv", LOG, Origin=origin, Cookie=mine)[0] == 403
    socket = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"}
    key = {"Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    assert ask(server, "GET", path, Origin="http://evil.example", **socket, **key)[0] == 403
    assert ask(server, "GET", path, Host="evil.example", **socket, **key)[0] == 403


def test_uploads_need_a_session_and_keep_to_their_place(server: Server) -> None:
    assert ask(server, "POST", "/upload?name=a.csv", LOG)[0] == 403
    assert ask(server, "POST", "/upload?name=a.csv", LOG, Cookie=f"travas-session-{server.port}=guess")[0] == 403
    mine = cookie(server)
    before = {path for path in server.storage.parent.rglob("*") if path.is_file()}
    for name in ("../../evil.csv", "..%2f..%2fevil.csv", "%2fetc%2fevil.csv", "C:%5Cevil.csv", "a%00b.csv"):
        assert ask(server, "POST", f"/upload?name={name}", LOG, Cookie=mine)[0] == 200
    new = {path for path in server.storage.parent.rglob("*") if path.is_file()} - before
    assert len(new) == 1  # the last one: a new log takes the place of the old
    (kept,) = new
    assert kept.name.startswith("log-") and kept.stat().st_mode & 0o777 == 0o600
    assert kept.is_relative_to(server.storage) and not list(server.storage.rglob("*.partial"))


def test_uploads_have_a_limit(server: Server) -> None:
    mine = cookie(server)
    assert ask(server, "POST", "/upload?name=a.csv", b"x" * 200_000, Cookie=mine)[0] == 413
    assert ask(server, "POST", "/upload?name=a.csv", b"x", Cookie=mine, Content_Length="99999999999")[0] == 413
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    pieces = (b"x" * 10_000 for _ in range(50))  # no length is announced
    connection.request("POST", "/upload?name=a.csv", pieces, {"Cookie": mine}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    assert not list(server.storage.rglob("*.partial"))


@pytest.mark.parametrize(
    "name", ["..%2f..%2fetc%2fpasswd", "release.exe", "release", ".lock", "log-00.csv", "%00", "release.json%00"]
)
def test_downloads_are_of_a_fixed_list(server: Server, name: str) -> None:
    status, _, body = ask(server, "GET", f"/download/{name}", Cookie=cookie(server))
    assert status == 404 and b"root:" not in body


def test_on_a_network_a_token_is_needed(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0") as server:
        token = server.line.partition("token=")[2].split()[0]
        assert len(token) == 32
        assert ask(server, "GET", "/")[0] == 401
        assert ask(server, "GET", "/?token=wrong")[0] == 401
        assert ask(server, "GET", "/_nicegui/static/x.js")[0] == 401
        assert ask(server, "POST", f"/upload?name=a.csv&token={token}", LOG)[0] == 401
        status, headers, _ = ask(server, "GET", f"/?token={token}")
        assert status == 303 and headers["Location"] == "/"
        given = headers["Set-Cookie"].partition(";")[0]
        assert ask(server, "GET", "/", Cookie=given)[0] == 200


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


def test_bad_options_are_one_line(travas: Run, tmp_path: Path, server: Server) -> None:
    for words, why in (
        (("--port", 0), "port is 0"),
        (("--port", server.port), "cannot be used"),
        (("--folder", tmp_path / "gone"), "no such directory"),
        (("--host", "999.1.1.1", "--port", 8999), "cannot be used"),
    ):
        ran = travas("serve", "--no-open", *words)
        assert ran.code == 2 and why in ran.err and len(ran.err.splitlines()) == 1
