"""What the browser tests and the screenshots share: a server in a separate process, and Debian's Chromium."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

from servers import missing

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def chromium() -> str | None:
    """Where a Chromium is, if there is one."""
    names = (os.environ.get("TRAVAS_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


@dataclass(frozen=True)
class Server:
    """A running `travas serve`."""

    port: int
    process: subprocess.Popen[str]
    storage: Path
    line: str

    @property
    def link(self) -> str:
        """The address with the current one-time code, as the owner can read it."""
        (file,) = self.storage.glob("*/open.html")
        return file.read_text().partition("url=")[2].partition('"')[0]

    @property
    def address(self) -> str:
        return self.link.partition("/open")[0]

    def children(self) -> list[str]:
        """The processes that work for it, as the system lists them."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        pids = path.read_text().split()
        commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids if Path(f"/proc/{pid}").exists()}
        return [pid for pid, command in commands.items() if b"spawn_main" in command]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(scratch: Path, *words: object) -> Iterator[Server]:
    """`travas serve` with these options, its uploads under `scratch`; it must end by itself when it is interrupted."""
    port = free_port()
    command = [str(Path(sys.executable).parent / "travas"), "serve", "--port", str(port), "--no-open", *map(str, words)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={name: value for name, value in os.environ.items() if "PYTEST" not in name}
        | {"TMPDIR": str(scratch), "TRAVAS_LEDGER": str(scratch / "ledger.db")},
        cwd=scratch,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        _wait_for(f"http://127.0.0.1:{port}/health", process)
        yield Server(port, process, scratch / f"travas-web-{os.getuid()}", line)
    finally:
        killed = process.poll() == -signal.SIGKILL  # by the test
        process.send_signal(signal.SIGINT)
        try:
            rest, _ = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert "Traceback" not in rest, rest
        assert killed or process.returncode == 0, rest


def _wait_for(address: str, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except HTTPError:
            return
        except (URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("travas serve did not come up")


@contextmanager
def browsing() -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    if chromium() is None:
        missing("Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield browser
        browser.close()
