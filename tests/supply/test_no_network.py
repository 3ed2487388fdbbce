"""Nothing is sent over the network: every command runs in a process that notes each socket that is not of loopback."""

import json
import subprocess
import sys
from pathlib import Path

from travas.outputs.write import write_hospital_log

SCRIPT = """
import json, sys
tried = []

def note(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"):
        address = arguments[1]
        if isinstance(address, tuple) and not str(address[0]).startswith(("127.", "::1", "localhost")):
            tried.append([event, str(address)])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        if str(arguments[0]) not in ("localhost", "127.0.0.1", "::1", "None"):
            tried.append([event, str(arguments[0])])

sys.addaudithook(note)
from travas.cli import main as cli
codes = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["travas", *words]
    try:
        cli.main()
    except SystemExit as stop:
        codes.append(int(stop.code or 0))
print("RESULT " + json.dumps([codes, tried]))
"""

RELEASE = ["hospital.csv", "--epsilon", "1", "--delta", "1e-6"]
COMMANDS = [
    ["--version"],
    ["doctor", "hospital.csv"],
    ["anonymize", *RELEASE, "-o", "release.json"],
    ["anonymize", *RELEASE, "-o", "release.xes.gz"],
    ["synthesize", *RELEASE, "-o", "synthetic.parquet"],
    ["verify", "release.json.guarantee.json", "release.json", "--curve"],
    ["compare", "hospital.csv", "release.xes.gz"],
    ["audit", "hospital.csv", "release.xes.gz", "--epsilon", "1", "--delta", "1e-6"],
    ["forecast", "--epsilon", "1", "--delta", "1e-6"],
    ["report", "release.json.guarantee.json", "release.json", "-o", "report.html"],
    ["budget", "show"],
]


ATTEMPT = 'import socket; one = socket.socket(); one.setblocking(False); one.connect_ex(("192.0.2.1", 9)); one.close()'


def noted(script: str, commands: list[list[str]], folder: Path) -> tuple[list[int], list[list[str]]]:
    words = [sys.executable, "-c", script, json.dumps(commands)]
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    codes, tried = json.loads(ran.stdout.rpartition("RESULT ")[2])
    return codes, tried


def test_no_command_opens_a_socket_beyond_loopback(tmp_path: Path) -> None:
    write_hospital_log(tmp_path / "hospital.csv")
    codes, tried = noted(SCRIPT, COMMANDS, tmp_path)
    assert codes == [0] * len(COMMANDS) and tried == []


def test_an_attempt_is_noted(tmp_path: Path) -> None:
    """The oracle: one socket to an address that is not in use."""
    _, tried = noted(SCRIPT.replace("codes = []", f"codes = []\n{ATTEMPT}"), [["--version"]], tmp_path)
    assert len(tried) == 1 and "192.0.2.1" in tried[0][1]
