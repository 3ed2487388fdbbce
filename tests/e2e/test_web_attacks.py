"""Attacks on the page by another user of the machine, by a foreign page and by a file. Each succeeded once."""

from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import Server, browsing, free_port, serving
from strangers import Stranger, ask, can_read, stranger
from web_flow import content, heading, opened, press, to_columns, upload

from travas.web.locations import ROUTES

SCREENS = [route.format(draft="a", step="log", release="a") for route in ROUTES]
SECRET = "diagnosis of the mayor"
LOG = f"case_id,activity\n1,{SECRET}\n".encode()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def other() -> Iterator[Stranger]:
    with stranger() as running:
        yield running


@pytest.fixture
def victim(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    yield context
    context.close()


@contextmanager
def thief(browser: Any, server: Server, cookies: str, address: str) -> Iterator[Any]:
    """A tab of another browser that has these cookies, after it has opened an address that it has learnt."""
    context = browser.new_context()
    for cookie in filter(None, cookies.split("; ")):
        name, _, value = cookie.partition("=")
        context.add_cookies([{"name": name, "value": value, "url": server.address}])
    tab = context.new_page()
    tab.goto(address)
    tab.get_by_text(re.compile("this browser has no key", re.IGNORECASE)).wait_for()
    yield tab
    context.close()


def sessions(server: Server) -> int:
    """Each session has a folder."""
    return len([path for path in server.storage.glob("*/*") if path.is_dir()])


def test_1_cookies_that_another_port_received_open_nothing(
    browser: Any, victim: Any, server: Server, other: Stranger
) -> None:
    tab = opened(victim, server)
    upload(tab, content("log.csv", LOG))
    to_columns(tab)
    victim.new_page().goto(other.address)
    stolen = other.cookies()[-1]
    assert "travas" in stolen  # cookies do not know ports: this cannot be prevented
    before = sessions(server)
    address = tab.url
    with thief(browser, server, stolen, address) as tab:
        assert SECRET not in tab.content() and tab.get_by_role("heading", name="Columns").count() == 0
        assert tab.locator("input[type=file]").count() == 0
        assert tab.get_by_text("this browser has no key for this page").count() == 1
        headers = {"Cookie": stolen, "Sec-Fetch-Site": "same-origin"}
        assert ask(server.port, "/download/release.json", headers)[0] == 404
    assert sessions(server) == before


def test_2_nothing_secret_is_on_a_command_line(browser: Any, tmp_path: Path) -> None:
    """A stand-in for the browser writes down its command line, which every user can read in `ps`."""
    opener, seen, port = tmp_path / "browser", tmp_path / "seen", free_port()
    opener.write_text(f'#!/bin/sh\necho "$@" > {seen}.part && mv {seen}.part {seen}\n')
    opener.chmod(0o755)
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "travas"), "serve", "--port", str(port)], stdout=subprocess.PIPE, text=True,
        env={name: value for name, value in os.environ.items() if "PYTEST" not in name}
        | {"BROWSER": f"{opener} %s", "TMPDIR": str(tmp_path), "TRAVAS_LEDGER": str(tmp_path / "l.db")},
    )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while not seen.exists() and time.monotonic() < end:
            time.sleep(0.1)
        address = seen.read_text().strip()
        assert address.startswith("file:///") and "#" not in address and "token" not in address
        file = Path(address.removeprefix("file://"))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 and file.stat().st_uid == os.getuid()
        assert os.getuid() != 0 or not can_read(file)
        code = file.read_text().partition("#")[2].partition('"')[0]
        assert len(code) >= 32
        command_lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        assert not any(code.encode() in line for line in command_lines)
        context = browser.new_context()
        tab = context.new_page()
        tab.goto(address)
        heading(tab, "Home")
        assert code not in tab.url and code not in file.read_text()
        context.close()
    finally:
        process.send_signal(2)
        out, _ = process.communicate(timeout=30)
    assert code not in out and not file.exists()


def test_3_a_planted_session_is_not_taken_over(browser: Any, victim: Any, server: Server, other: Stranger) -> None:
    _, cookie, _ = ask(server.port, "/", {"Sec-Fetch-Site": "none"})
    planted = (cookie or f"travas-session-{server.port}=0123456789abcdef0123456789abcdef").partition(";")[0]
    victim.new_page().goto(f"{other.address}?cookie={planted}")
    assert victim.cookies(server.address)[0]["name"] == planted.partition("=")[0]
    tab = opened(victim, server)
    upload(tab, content("log.csv", LOG))
    to_columns(tab)
    with thief(browser, server, planted, tab.url) as stolen:
        assert SECRET not in stolen.content() and stolen.get_by_role("heading", name="Columns").count() == 0


def test_3_a_planted_token_does_not_lock_out(victim: Any, server: Server, other: Stranger) -> None:
    tab = opened(victim, server)
    press(tab, "Try it with a made-up hospital log")
    to_columns(tab)
    victim.new_page().goto(f"{other.address}?cookie=travas-token-{server.port}=planted")
    tab.reload()
    heading(tab, "Columns")  # the key in localStorage has brought the cookie back


def test_4_another_user_gets_nothing_without_the_link(server: Server) -> None:
    before = sessions(server)
    for headers in ({}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}):
        for path in (*SCREENS, "/upload", "/download/release.json", "/_nicegui/x.js", "/docs", "/openapi.json"):
            status, cookie, body = ask(server.port, path, headers)
            assert status in (401, 403) and cookie is None and "client_id" not in body
        status, cookie, body = ask(server.port, "/_nicegui_ws/socket.io/?EIO=4&transport=polling", headers)
        assert status in (401, 403)
    assert ask(server.port, "/health") == (200, None, "")
    assert sessions(server) == before


def memory(pid: int) -> int:
    """Bytes that a process and those that it started have in memory."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
        except OSError:
            continue
    total, left = 0, [pid]
    while left:
        one = left.pop()
        left += parents.get(one, [])
        try:
            found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{one}/status").read_text())
        except OSError:
            continue
        total += 1024 * int(found[1]) if found else 0
    return total


@contextmanager
def watched(pid: int) -> Iterator[list[int]]:
    """Memory, looked at all the time."""
    seen, done = [memory(pid)], threading.Event()

    def look() -> None:
        while not done.wait(0.02):
            seen.append(memory(pid))

    thread = threading.Thread(target=look)
    thread.start()
    yield seen
    done.set()
    thread.join()


@pytest.mark.parametrize("site", ["127.0.0.1", "localhost"], ids=["same-site", "cross-site"])
def test_6_images_on_a_foreign_page_start_no_session(victim: Any, server: Server, other: Stranger, site: str) -> None:
    tab = opened(victim, server)
    before = sessions(server)
    foreign = victim.new_page()
    foreign.goto(f"http://{site}:{other.port}/?images=600&image={server.address}/", wait_until="commit")
    foreign.wait_for_function("loaded + failed >= 600", timeout=120_000)
    assert sessions(server) == before
    started = time.monotonic()
    tab.reload()
    heading(tab, "Choose an event log")
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "header",
    ["Host: [", "Host: a b", "Host: me@127.0.0.1", "Origin: http://[", "Origin: http://[::1", "Sec-Fetch-Site: nonsense",
     "Host: 127.0.0.1\r\nHost: localhost", "Content-Length: ²", "Content-Length: " + "9" * 5000],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["", "Connection: Upgrade\r\nUpgrade: websocket\r\n"], ids=["http", "socket"])
def test_7_malformed_headers_are_a_bad_request(server: Server, header: str, kind: str) -> None:
    """That there is no traceback is checked when the server ends."""
    extra = kind and kind + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    host = "" if header.startswith("Host") else f"Host: 127.0.0.1:{server.port}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(f"GET / HTTP/1.1\r\n{host}{header}\r\n{extra}\r\n".encode("latin-1"))
        assert raw.recv(100).startswith(b"HTTP/1.1 400")
