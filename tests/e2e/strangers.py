"""Another user of the same machine: what they can run, and a web server of theirs. As root, they are `nobody`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from browser import free_port

NOBODY = 65534

_DROP = f"""
import encodings.idna, os
if os.getuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
"""  # in the process itself: `nobody` may not be able to start this Python

_ASK = (
    f"import http.client, json, sys\n{_DROP}"
    + """
port, path, headers = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
connection.request("GET", path, headers=headers)
answer = connection.getresponse()
print(json.dumps([answer.status, answer.getheader("Set-Cookie"), answer.read().decode()]))
"""
)

_SERVE = (
    f"import http.server, json, sys, urllib.parse\n{_DROP}"
    + """
port, seen = int(sys.argv[1]), []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        wanted = dict(urllib.parse.parse_qsl(address.query))
        if address.path == "/seen":
            body = json.dumps(seen)
        else:
            seen.append(self.headers.get("Cookie", ""))
            tag = '<img src="%s?%d" onload="loaded++" onerror="failed++">'
            images = [tag % (wanted["image"], n) for n in range(int(wanted.get("images", 0)))]
            body = "<!doctype html><title>stranger</title><script>loaded = failed = 0</script>" + "".join(images)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if "cookie" in wanted:
            self.send_header("Set-Cookie", wanted["cookie"])
        self.end_headers()
        self.wfile.write(body.encode())
    def log_message(self, *arguments):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
)


def ask(port: int, path: str, headers: dict[str, str] | None = None) -> tuple[int, str | None, str]:
    """What a request of another user gets: status, cookie and body."""
    command = [sys.executable, "-c", _ASK, str(port), path, json.dumps(headers or {})]
    ran = subprocess.run(command, capture_output=True, text=True, cwd="/", check=True)
    status, cookie, body = json.loads(ran.stdout)
    return status, cookie, body


def can_read(path: Path) -> bool:
    """Whether another user can read a file."""
    assert os.getuid() == 0, "only root can act as another user"
    command = ["cat", str(path)]
    ran = subprocess.run(command, capture_output=True, cwd="/", user=NOBODY, group=NOBODY, extra_groups=[])
    return ran.returncode == 0


@dataclass(frozen=True)
class Stranger:
    """A web server of another user, on another port of the same address."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def cookies(self) -> list[str]:
        """The cookies that came with requests."""
        with urllib.request.urlopen(f"{self.address}seen", timeout=120) as answer:
            return list(json.load(answer))


@contextmanager
def stranger() -> Iterator[Stranger]:
    """A server of another user, while it is needed."""
    found = Stranger(free_port())
    process = subprocess.Popen([sys.executable, "-c", _SERVE, str(found.port)], cwd="/")
    try:
        for _ in range(200):
            try:
                found.cookies()
                break
            except OSError:
                time.sleep(0.1)
        yield found
    finally:
        process.kill()
        process.wait()
